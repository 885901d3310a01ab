"""What the Oclgrind test runs in a process of its own, where Oclgrind is the only device; prints one line of JSON.

Arguments: `check`, `check-fixed`, `check-first-version` or `check-perturbation` (every kernel, small jobs) or `break`
(a kernel that writes out of bounds), number and rounding.
"""

import json
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import values_of
from mandelcl.engine import selftest
from mandelcl.engine.loop.subdivision import DivisionPlan
from mandelcl.engine.methods import perturbation
from mandelcl.engine.narrowing import Counts16
from mandelcl.engine.shading_answers import results_of
from mandelcl.engine.smoothing import Smoothed
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.film.assembly import assembled
from mandelcl.film.frame_answers import case
from mandelcl.film.on_device import CPU_SHAPE, GPU_SHAPE, Assembler, KernelShape
from mandelcl.formulas import MANDELBROT, BurningShip, Julia, Multibrot3
from mandelcl.opencl.api import Buffer
from mandelcl.opencl.device import Device, discover
from mandelcl.opencl.programs import kernel_of
from tests.device import deep, views
from tests.device.comparing import truth_of
from tests.device.targets import SetPace, Target, planes, traced
from tests.device.test_sign_magnitude import computed
from tests.oracle.fixed import counts as fixed_counts
from tests.oracle.sign_magnitude import counts as first_version_counts

VARIANTS = (Variant(1, 1, 2, 2, 1, 4, 2), Variant(1, 2, 7, 1, 1, 2, 2), Variant(4, 2, 6, 3, 2, 2, 1))
ITERATIONS = 28
FIXED_ITERATIONS = 5  # a step in fixed point is many instructions, and each is watched
_kept: list[Buffer] = []


def keep_buffers() -> None:
    """Never free a buffer: Oclgrind 21.10 takes the marks of a freed buffer for those of the next one's memory."""
    for name in ("allocate", "upload"):
        own = getattr(Device, name)

        def keeping(device: Device, what: Any, own: Any = own) -> Buffer:
            _kept.append(own(device, what))
            return _kept[-1]

        setattr(Device, name, keeping)


def check(target: Target) -> dict[str, Any]:
    """Return how many launches there were and which variants were wrong; the self-test's verdict too."""
    launches, wrong = 0, []
    for smooth in (False, True):
        job = target.job(views.whole(9, 7), ITERATIONS, planes=("counts", "smooth")[: 1 + smooth])
        truth = truth_of(job)
        out = truth.counts < ITERATIONS
        for variant in VARIANTS:
            results, done = planes(job, target.device, variant, (9, 4), SetPace((5, 4), (1, 2)))
            right = np.array_equal(results[0], truth.counts)
            if smooth:
                right &= np.array_equal(results[1][out], truth.steps[out])
                right &= np.array_equal(results[2].view(np.float32)[out], truth.norms[out])
            launches += done
            wrong += [] if right else [repr(variant)]
            if smooth and variant is not VARIANTS[-1]:
                continue  # each kernel has been traced with; what smooth adds, one shows
            wrong += [] if _traces(job, target.device, variant, truth.counts) else [f"border, {variant!r}"]
    wrong += [] if _narrows(target.device) else ["narrow"]
    wrong += [] if _smooths(target.device) else ["smooth"]
    wrong += [f"frame, {shape}" for shape in (CPU_SHAPE, GPU_SHAPE) if not _makes_frames(target.device, shape)]
    done, bad = _other_axes(target)
    launches, wrong = launches + done, wrong + bad
    found = selftest.result(target.device, target.number, target.rounding)
    return {"launches": launches, "wrong": wrong, "passed": found.passed, "reason": found.reason}


def _narrows(device: Device) -> bool:
    """Return whether counts are narrowed to 16 bits, also those behind the last four."""
    counts, form = np.arange(1, 8, dtype=np.uint32), Counts16(device)
    made, found = device.allocate(form.bytes_for(7)), np.zeros(7, form.dtype)
    form.start(device.upload(counts), Block(0, 0, 7, 1), made)
    device.wait(device.fetch(made, found))
    return np.array_equal(found, counts)


def _smooths(device: Device) -> bool:
    """Return whether smooth fractions are the host's, also where the last work-item has too few pixels."""
    job = Job(views.whole(3, 3), 50, planes=("counts", "smooth"))
    results, form = results_of(job, 21, np.random.default_rng(4)), Smoothed(device, job)
    found, expected = form.values(form.made(results)), values_of(job.planes, results, job.facts)
    return all(np.array_equal(found[name], expected[name]) for name in job.planes)


def _makes_frames(device: Device, shape: KernelShape) -> bool:
    """Return whether frames are made, upright and turned."""
    random = np.random.default_rng(3)
    for turned in (False, True):
        how, base, deeper = case(random, turned, alone=False, scale=1.7, most=(14, 5))
        assert deeper is not None
        maker = Assembler(device, how.size, shape=shape)
        if not np.array_equal(maker.frame(how, maker.keep(base), maker.keep(deeper)), assembled(how, base, deeper)):
            return False
    return True


def _other_axes(target: Target) -> tuple[int, list[str]]:
    """Return the launches of other formulas and of a turned view, and which were wrong."""
    turned = View.centred(Fraction(-3, 4), Fraction(0), Fraction(8, 5), 9, 7, rotation=30)
    launches, wrong = 0, []
    whole = [(formula, views.whole(9, 7)) for formula in (Julia(0, 2), BurningShip(), Multibrot3())]
    for formula, view in (*whole, (MANDELBROT, turned)):
        job = target.job(view, 15, formula=formula, planes=("counts", "smooth"))
        truth = truth_of(job)
        results, done = planes(job, target.device, VARIANTS[2], (9, 4), SetPace((3, 2), (1, 2)))
        launches += done
        out = truth.counts < job.iterations
        right = np.array_equal(results[0], truth.counts) and np.array_equal(results[1][out], truth.steps[out])
        wrong += [] if right else [f"{formula}, {view}"]
    return launches, wrong


def _traces(job: Job, device: Device, variant: Variant, truth: Words) -> bool:
    """Return whether border tracing, cut into small launches, gives the counts, and reads none that it has not made."""
    plan = DivisionPlan(first=2, split=2, smallest=2, early=3, trust="nothing" if job.smooth else "outside")
    results, _, _ = traced(job, device, plan, variant, None, SetPace((1,), (1, 2)), clear=False)
    return np.array_equal(results[0], truth)


def check_fixed(target: Target) -> dict[str, Any]:
    """Return the same for fixed point, with digits of both kinds."""
    launches, wrong, self_tests = 0, [], []
    for double_digits in (False, True):
        for variant, smooth in ((VARIANTS[0], True), (VARIANTS[2], False)):
            job = target.job(views.whole(5, 3), FIXED_ITERATIONS, planes=("counts", "smooth")[: 1 + smooth])
            shape = replace(variant, double_digits=double_digits)
            results, done = planes(job, target.device, shape, (5, 2), SetPace((2, 1), (1, 2)))
            launches += done
            wrong += [] if np.array_equal(results[0], fixed_counts(job)) else [repr(shape)]
            if not _traces(job, target.device, shape, fixed_counts(job)):
                wrong.append(f"border, {shape!r}")
        shape = default_variant(target.device, target.number, double_digits)
        self_tests.append(selftest.result(target.device, target.number, target.rounding, shape))
    reason = "".join(found.reason for found in self_tests)
    return {"launches": launches, "wrong": wrong, "passed": all(found.passed for found in self_tests), "reason": reason}


def check_first_version(target: Target) -> dict[str, Any]:
    """Return the same for the article's first version of fp128, which has no self-test."""
    job = target.job(views.whole(5, 4), 7)
    counts, launches = computed(job, target.device, (5, 3), SetPace((2, 1), (1, 2)), stride=2)
    wrong = [] if np.array_equal(counts, first_version_counts(job)) else ["first version"]
    return {"launches": launches, "wrong": wrong, "passed": True, "reason": ""}


def check_perturbation(target: Target) -> dict[str, Any]:
    """Return the same for perturbation beside a minibrot's nucleus, all sources of orbits and all planes."""
    centre, size, _ = deep.minibrot(1)
    job = deep.job(deep.around(centre, 3 * max(map(abs, size)), 4, 3), 250, target.number.name)
    truth = np.array([[perturbation.count(job, x, y, 1 << 14) for x in range(4)] for y in range(3)])
    job, launches, wrong = replace(job, planes=("counts", "smooth", "certified")), 0, []
    for variant in (Variant(1, 1, 64, 1, 1, 2, 2), Variant(4, 1, 64, 1, 2, 1, 1)):
        results, done = planes(job, target.device, variant, (3, 3), SetPace((2, 1), (9, 30)))
        launches += done
        wrong += [] if np.array_equal(results[0], truth) else [repr(variant)]
        if not _traces(replace(job, planes=("counts",)), target.device, variant, truth):
            wrong.append(f"border, {variant!r}")
    return {"launches": launches, "wrong": wrong, "passed": True, "reason": ""}


def break_out(target: Target) -> dict[str, Any]:
    """Run a kernel with the faults that the checker is there to find."""
    device = target.device
    source = """kernel void broken(global uint *out, global uint *unwritten) {
      out[get_global_id(0) + 4] = 1;
      if (unwritten[0] == 3) out[1] = 2;
      out[2] = get_global_id(0);
    }"""
    kernel = kernel_of(device.build(source), "broken")
    event = device.launch(kernel, (4,), (1,), device.allocate(16), device.allocate(16))
    device.wait(event)
    return {}


def main() -> None:
    what, number, rounding = sys.argv[1:]
    (device,) = discover()
    keep_buffers()
    target = Target(device, by_name(number), rounding)
    checks = {
        "check": check,
        "check-fixed": check_fixed,
        "check-first-version": check_first_version,
        "check-perturbation": check_perturbation,
        "break": break_out,
    }
    found = checks[what](target)
    print(json.dumps({"platform": device.platform, "device": device.name, "driver": device.driver} | found))


if __name__ == "__main__":
    main()
