"""However the work is cut, the bits are the same: blocks, rows, launches, lanes, vectors, strides, work-groups."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyopencl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.counts import MAX_ITERATIONS, MOST_NARROW
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_output import fresh
from mandelcl.engine.program import Program
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl.api import Kernel
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.targets import SetPace, Target, expected, planes

# Every value of each choice, in few builds: lanes, vectors, stride, steps written out, lane columns.
BUILDS = [
    (1, 1, 1, 1, 1),
    (1, 2, 7, 7, 1),
    (1, 5, 32, 4, 1),
    (2, 1, 16, 16, 2),
    (2, 3, 2, 1, 1),
    (4, 5, 1, 1, 4),
    (4, 2, 32, 32, 1),
    (8, 1, 7, 1, 8),
    (8, 3, 16, 4, 2),
    (16, 2, 2, 2, 16),
    (16, 3, 16, 16, 4),
    (16, 1, 32, 2, 1),
]
SHAPES = [(1, 1), (1, 7), (5, 3), (16, 4)]
# Limits, and how many iterations orbits are told to have made; None: nearly all.
LATE = [(MOST_NARROW, None), (MAX_ITERATIONS, None), (MAX_ITERATIONS, (1 << 32) - 100), (MAX_ITERATIONS, 3 << 40)]
KINDS = [("float", "fused"), ("float", "separate"), ("double", "fused"), ("double", "separate")]


def builds(target: Target) -> list[Variant]:
    """Return a share of the builds: the kinds of arithmetic divide them among themselves."""
    shapes = [SHAPES[(k + k // len(KINDS)) % len(SHAPES)] for k in range(len(BUILDS))]
    variants = [Variant(*build, *shape) for build, shape in zip(BUILDS, shapes, strict=True)]
    if default_variant(target.device, target.number).lanes == 1:  # such compilers take minutes for wide vectors
        return [variant for variant in variants if variant.orbits == 1]
    return variants[KINDS.index((target.number.name, target.rounding)) :: len(KINDS)]


def check(job: Job, got: Words) -> None:
    np.testing.assert_array_equal(got, expected(job))


def test_builds_cover_every_choice() -> None:
    lanes, vectors, strides, _, columns = (set(values) for values in zip(*BUILDS, strict=True))
    assert lanes == {1, 2, 4, 8, 16}
    assert vectors == {1, 2, 3, 5}
    assert strides == {1, 2, 7, 16, 32}
    assert columns == {1, 2, 4, 8, 16}


@pytest.mark.full
def test_variants(target: Target) -> None:
    job = target.job(views.seahorses(61, 37), 300)
    for variant in builds(target):
        counts, launches = planes(job, target.device, variant, (29, 16), SetPace((5, 16, 1), (1, 3, 9)))
        assert launches > 6, "no survivors were made"
        check(job, counts[0])


def test_smooth_in_pieces(target: Target) -> None:
    job = target.job(views.whole(47, 31), 200, planes=("counts", "smooth"))
    at_once, _ = planes(job, target.device)
    in_pieces, launches = planes(job, target.device, None, (20, 31), SetPace((31, 7), (1, 2)))
    assert launches > 6
    check(job, at_once[0])
    out = at_once[0] < 200
    np.testing.assert_array_equal(in_pieces[0], at_once[0])
    np.testing.assert_array_equal(in_pieces[1:, out], at_once[1:, out])


@st.composite
def small_views(draw: st.DrawFn) -> View:
    width, height = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    re = draw(st.fractions(-2, 1, max_denominator=10**6))
    im = draw(st.fractions(-1, 1, max_denominator=10**6))
    pitch = Fraction(4) / 2 ** draw(st.integers(1, 16)) / height
    return View.upright(re, im, pitch, width, height, draw(st.integers(-50, 50)), draw(st.integers(-50, 50)))


turns = st.lists(st.integers(1, 40), min_size=1, max_size=4).map(tuple)


@pytest.mark.full
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data(), view=small_views(), max_iterations=st.integers(1, 600), rows=turns, strides=turns)
def test_any_split(
    target: Target,
    data: st.DataObject,
    view: View,
    max_iterations: int,
    rows: tuple[int, ...],
    strides: tuple[int, ...],
) -> None:
    job = target.job(view, max_iterations)
    variant = data.draw(st.sampled_from(builds(target)), "variant")
    block = data.draw(st.tuples(st.integers(1, view.width), st.integers(1, view.height)), "block")
    counts, _ = planes(job, target.device, variant, block, SetPace(rows, strides))
    check(job, counts[0])


@pytest.mark.parametrize("block_pixels", [1, 7, 100, 10_000])
def test_block_sizes(target: Target, block_pixels: int) -> None:
    job = target.job(views.seahorses(23, 11), 120)
    field, _ = render(job, target.device, Settings(block_pixels=block_pixels))
    check(job, field.counts)


@pytest.mark.parametrize("budget", [1e-9, 1e-4, 10.0])
def test_budgets(target: Target, budget: float) -> None:
    job = target.job(views.whole(37, 23), 400)
    field, report = render(job, target.device, Settings(budget=budget))
    check(job, field.counts)
    if budget < 1e-6:
        assert report.launches > 10


@pytest.mark.parametrize("limit", [1, 64, 256])
def test_work_group_limits(target: Target, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    own, asked = Device.group_limit, []

    def group_limit(device: Device, kernel: Kernel) -> int:
        asked.append(kernel)
        return min(limit, own(device, kernel))

    monkeypatch.setattr(Device, "group_limit", group_limit)
    variant = replace(builds(target)[0], local_columns=32, local_rows=32)
    job = target.job(views.whole(37, 23), 200)
    counts, launches = planes(job, target.device, variant, None, SetPace((23,), (1, 2)))
    check(job, counts[0])
    assert len(asked) == launches > 3


def test_largest_iteration_limit(target: Target) -> None:
    """Everything escapes early, however far the iteration limit."""
    view = View.upright(Fraction(1, 2), Fraction(1), Fraction(1, 10), 19, 17)
    for max_iterations in (MOST_NARROW, 2**31, 2**31 - 1):
        job = target.job(view, max_iterations, planes=("counts", "smooth"))
        field, _ = render(job, target.device)
        check(job, field.counts)
        check(job, planes(job, target.device, None, (19, 17), SetPace((5,), (1,)))[0][0])


@pytest.mark.full
@pytest.mark.parametrize(("max_iterations", "before"), LATE)
def test_counts_near_the_end_of_words(target: Target, max_iterations: int, before: int | None) -> None:
    """Survivors are told that they are far on: counts neither begin anew at 0 nor go beyond the limit."""
    view, left = views.whole(47, 31), 2
    truth = expected(target.job(view, 1000)).astype(np.uint64)
    for variant in builds(target):
        job = target.job(view, max_iterations)
        program = Program(target.device, job, variant)
        block, memory = Block(0, 0, view.width, view.height), program.allocate(view.pixels, view.width)
        launch = program.launch_block(memory, block, 0, block.height, 1)
        launch.wait(target.device)
        started = program.strides - left if before is None else before // variant.stride
        launch = program.launch_survivors(memory, block, launch.survivors, started, left)
        launch.wait(target.device)
        results, copied = memory.read_results(block, fresh, guarded=False)
        target.device.wait(copied)
        beyond = np.minimum(truth - variant.stride + started * variant.stride, max_iterations)
        undecided = truth > (1 + left) * variant.stride
        beyond[undecided] = max_iterations
        decided = np.ones(truth.shape, np.bool_) if before is None else ~undecided
        found = job.counts.of(results)
        np.testing.assert_array_equal(found[decided], np.where(truth <= variant.stride, truth, beyond)[decided])


def test_two_renders_at_once(target: Target) -> None:
    jobs = [target.job(views.whole(47, 31), 200), target.job(views.seahorses(37, 51), 100)] * 2
    counts: dict[int, Words] = {}

    def work(k: int) -> None:
        for _ in range(3):
            counts[k] = render(jobs[k], target.device, Settings(block_pixels=500, budget=1e-3))[0].counts

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, job in enumerate(jobs):
        check(job, counts[k])


@pytest.mark.long
def test_every_build(target: Target) -> None:
    """All builds in every arithmetic."""
    job = target.job(views.seahorses(61, 37), 300)
    wide = default_variant(target.device, target.number).lanes > 1
    for build in BUILDS:
        if wide or build[0] == build[1] == 1:
            counts, _ = planes(job, target.device, Variant(*build, 1, 1), (29, 16), SetPace((5, 16, 1), (1, 3, 9)))
            check(job, counts[0])


def test_a_device_has_one_context_for_all_threads(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    made = pyopencl.Context

    def slowly(handles: list[pyopencl.Device]) -> object:
        time.sleep(0.05)
        return made(handles)

    monkeypatch.setattr(pyopencl, "Context", slowly)
    fresh = next(found for found in discover() if found.spec == device.spec)
    barrier = threading.Barrier(4)

    def ask(_k: int) -> tuple[object, object, object]:
        barrier.wait()
        return fresh.context, fresh.queue, fresh.copy_queue

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1
