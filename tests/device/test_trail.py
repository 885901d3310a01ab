"""Stripe averages, the triangle inequality and traps: every device's bits, and what they are of exact iterates."""

from fractions import Fraction
from functools import cache

import gmpy2
import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.planes import WINDOW, first_words, values_of
from mandelcl.engine.job_text import SMOOTH_LIMIT
from mandelcl.formulas import Formula, Julia, formula_named
from mandelcl.opencl.device import Device, discover
from tests.device import deep
from tests.device.comparing import quick_variant
from tests.device.targets import SetPace, Target, planes
from tests.oracle.trail import words_by_direct

NAMES = ("stripe-1", "stripe-5", "triangle", "trap-point", "trap-cross", "trap-circle")
KEPT = ("counts", "smooth", *NAMES)
WHOLE = View.centred("-0.75", 0, "1.3", 13, 9)
VALLEY = View.centred("-0.7436", "0.1318", 2000, 11, 9, rotation=30)
SHIPS = View.centred("-1.76", "-0.03", 40, 11, 9)
HYBRID = Formula.parse("sqr absx add / negx absy sqr add")
ITERATIONS = 300


@cache
def expected(job: Job) -> dict[tuple[str, int, int], tuple[int, ...]]:
    """Return the words of each plane of every third pixel, as the host has them; once for all devices."""
    pixels = [(x, y) for y in range(job.view.height) for x in range(y % 3, job.view.width, 3)]
    found = {(name, x, y): words_by_direct(job, name, x, y, SMOOTH_LIMIT) for name in NAMES for x, y in pixels}
    return {where: (job.iterations, 0, 0, 0) if words is None else words for where, words in found.items()}


def check(job: Job, device: Device) -> None:
    """Check every word of some pixels, computed in launches so small that most orbits are saved in between."""
    variant = quick_variant(device, job.number)
    words, launches = planes(job, device, variant, (7, 5), SetPace((7, 16, 1), (1, 2, 5)))
    assert launches > 2
    first, wanted = first_words(job.planes), expected(job)
    found = {(name, x, y): tuple(words[first[name] : first[name] + 4, y, x].tolist()) for name, x, y in wanted}
    assert found == wanted
    assert sum(value[1] != 0 for value in wanted.values()) > len(NAMES)


@pytest.mark.full
def test_every_word(target: Target) -> None:
    """The Mandelbrot set where products are fused, the burning ship where they are not."""
    formula, view = ("mandelbrot", VALLEY) if target.rounding == "fused" else ("burning-ship", SHIPS)
    check(target.job(view, ITERATIONS, formula=formula_named(formula), planes=KEPT, method="direct"), target.device)


@pytest.mark.long
@pytest.mark.parametrize("formula", [HYBRID, Julia("-0.8", "0.156"), formula_named("multibrot-5")], ids=str)
def test_every_word_of_other_formulas(device: Device, formula: Formula) -> None:
    radius_squared = max(Fraction(4), formula.least_radius_squared())
    check(Job(WHOLE, ITERATIONS, radius_squared, formula, "float", "separate", "direct", planes=KEPT), device)


@pytest.mark.parametrize("number", ["fp128", pytest.param("fixed:8", marks=pytest.mark.long)])
def test_every_word_in_fixed_point(device: Device, number: str) -> None:
    check(Job(WHOLE, 60, number=number, rounding="fixed", method="direct", planes=KEPT), device)


@pytest.mark.long
def test_every_word_beside_distances(target: Target) -> None:
    """Orbits that carry derivatives, and are listed, have the same last iterates."""
    job = target.job(VALLEY, ITERATIONS, planes=(*KEPT, "distance", "last"), method="direct")
    check(job, target.device)


@cache
def deep_job(number: str) -> Job:
    """Return a job beside a minibrot, where orbits take long steps, single ones, and go on as they are."""
    centre, size, period = deep.minibrot(1)
    return deep.job(deep.around(centre, 8 * abs(size[0]), 13, 9), 40 * period, number, planes=KEPT)


@cache
def first_words_by_perturbation(number: str) -> Words:
    device = min(discover(), key=lambda device: not device.fp64)
    return planes(deep_job(number), device)[0]


@pytest.mark.full
@pytest.mark.usefixtures("builds_perturbation")
@pytest.mark.parametrize("other", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_device_has_the_same_bits_by_perturbation(device: Device, other: bool) -> None:
    """Whatever the lanes and the launches are. Devices with double take both numbers in turn."""
    able = [found.spec for found in discover() if found.fp64]
    number = "double" if device.fp64 and (able.index(device.spec) % 2 == 0) != other else "float"
    job = deep_job(number)
    words, launches = planes(job, device, quick_variant(device, number), (7, 5), SetPace((7, 16, 1), (1, 3, 30)))
    assert launches > 2
    assert np.array_equal(words, first_words_by_perturbation(number))


def exact_planes(job: Job, column: int, row: int) -> dict[str, float]:
    """Return the planes of a pixel of z² + c from exact iterates, by sines and roots."""
    with gmpy2.context(precision=900):
        re, im = (gmpy2.mpfr(gmpy2.mpq(part)) for part in job.view.point(column, row))
        c = gmpy2.mpc(re, im)
        iterates = [c]
        while gmpy2.norm(iterates[-1]) <= SMOOTH_RADIUS_SQUARED:
            iterates.append(iterates[-1] * iterates[-1] + c)
        size = float(gmpy2.log(abs(iterates[-1])))
        points = [complex(z) for z in iterates[-WINDOW - 1 :]]
        constant = complex(c)
    share = 1 - np.log2(size / np.log(128))
    terms = {
        "stripe-1": [(1 + np.sin(np.angle(z))) / 2 for z in points],
        "stripe-5": [(1 + np.sin(5 * np.angle(z))) / 2 for z in points],
        "triangle": [
            (abs(z) - abs(abs(z - constant) - abs(constant))) / (2 * min(abs(z - constant), abs(constant)))
            for z in points
        ],
        "trap-point": [abs(z) for z in points],
        "trap-cross": [min(abs(z.real), abs(z.imag)) for z in points],
        "trap-circle": [abs(abs(z) - 1) for z in points],
    }
    whole = {name: (min if name.startswith("trap") else np.mean) for name in terms}
    return {
        name: float(share * whole[name](values[1:]) + (1 - share) * whole[name](values[:-1]))
        for name, values in terms.items()
    }


@pytest.mark.full
@pytest.mark.parametrize("method", ["direct", "perturbation"])
def test_near_exact_iterates(method: str) -> None:
    """At depth, the steps that find the last iterates again are others than those that found the count."""
    device = min(discover(), key=lambda device: not device.fp64)
    job = deep_job("double" if device.fp64 else "float")
    if method == "direct":
        job = Job(
            View.centred("-0.7436", "0.1318", 200, 13, 9),
            2000,
            number="fp128",
            rounding="fixed",
            method="direct",
            planes=KEPT,
        )
    variant = quick_variant(device, job.number) if method == "direct" else None  # kernels that other tests build, too
    found = values_of(job.planes, planes(job, device, variant)[0], job.facts)
    outside = np.argwhere(found["counts"] < job.iterations)[::3]
    assert len(outside) > 5
    errors = [
        abs(found[name][y, x] - value) for y, x in outside for name, value in exact_planes(job, int(x), int(y)).items()
    ]
    assert np.median(errors) < 1e-5
    assert np.percentile(errors, 95) < 1e-2
