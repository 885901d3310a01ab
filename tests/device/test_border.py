"""Border tracing gives the field of escape time: strict always, by default on every view tried, on every device."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.block import Block, whole_of
from mandelcl.core.job import Job
from mandelcl.core.report import LaunchLog
from mandelcl.engine import choose, rate, resolve, selftest
from mandelcl.engine.loop import border, border_in_flight, survey
from mandelcl.engine.loop.schedule import BlockQueue, Pace
from mandelcl.engine.loop.subdivision import DivisionPlan
from mandelcl.engine.program import Execution, Program
from mandelcl.engine.resolve import connected_below
from mandelcl.engine.variant import default_variant
from mandelcl.formulas import MANDELBROT, BurningShip, Formula, Julia, Multibrot3
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.device import views
from tests.device.comparing import quick_variant
from tests.device.targets import ALL_AT_ONCE, SetPace, Target, direct, expected, planes, traced
from tests.device.test_splits import builds, check, small_views, turns
from tests.queues import tiled

PLANS = [
    DivisionPlan(first=3, split=2, smallest=2, trust="nothing"),
    DivisionPlan(first=5, split=3, smallest=4, early=20),
    DivisionPlan(first=1, split=4, smallest=2, depth=3, steps=50),
    DivisionPlan(first=7, split=2, smallest=6, steps=0),
]
# Blocks with a side that no grid divides, with a side that is all border, and least ones.
SIZES = [(1, 1), (1, 47), (47, 1), (2, 31), (3, 3), (3, 59), (4, 5), (37, 53), (64, 64), (65, 33), (101, 7)]


def differing(job: Job, device: Device, plan: DivisionPlan) -> int:
    """Return how many pixels are not those of escape time."""
    return int((traced(job, device, plan)[0][0] != planes(job, device)[0][0]).sum())


@pytest.mark.full
@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_same_counts_as_escape(target: Target, plan: DivisionPlan) -> None:
    for sized in (views.whole, views.seahorses, views.real_axis):
        job = target.job(sized(97, 61), 300)
        counts, found, _ = traced(job, target.device, plan)
        check(job, counts[0])
        assert found.levels
        if sized is views.whole:
            assert found.computed < found.pixels, "nothing was filled"


@pytest.mark.parametrize("trust", ["nothing", "outside"])
def test_sizes(target: Target, trust: str) -> None:
    for width, height in SIZES:
        job = target.job(views.whole(width, height), 100)
        counts, found, _ = traced(job, target.device, DivisionPlan(first=4, smallest=2, trust=trust))
        check(job, counts[0])
        assert found.pixels in (0, width * height)


@pytest.mark.full
def test_every_pixel_is_computed_once(target: Target) -> None:
    """With nothing trusted and nothing proved all pixels are computed, and each is counted once."""
    for plan in (
        DivisionPlan(first=6, smallest=3),
        DivisionPlan(first=3, split=3, smallest=2),
        DivisionPlan(first=2, split=2, depth=1),
    ):
        job = target.job(views.whole(83, 59), 50)
        counts, found, _ = traced(job, target.device, replace(plan, steps=0, trust="nothing"))
        check(job, counts[0])
        assert found.computed == found.pixels == 83 * 59


@pytest.mark.full
@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=st.data(),
    view=small_views(),
    max_iterations=st.integers(1, 600),
    first=st.integers(1, 9),
    split=st.integers(2, 4),
    smallest=st.integers(2, 6),
    early=st.integers(0, 100),
    rows=turns,
    strides=turns,
)
def test_any_subdivision(
    target: Target,
    data: st.DataObject,
    view: View,
    max_iterations: int,
    first: int,
    split: int,
    smallest: int,
    early: int,
    rows: tuple[int, ...],
    strides: tuple[int, ...],
) -> None:
    job = target.job(view, max_iterations, strict=True, algorithm="border")
    own = default_variant(target.device, target.number)
    variant = data.draw(st.sampled_from([own, builds(target)[-1]]), "variant")  # four kernels are built for each
    block = data.draw(st.tuples(st.integers(1, view.width), st.integers(1, view.height)), "block")
    plan = DivisionPlan(first, split, smallest, early=early, trust="nothing")
    check(job, traced(job, target.device, plan, variant, block, SetPace(rows, strides))[0][0])


@pytest.mark.full
def test_in_many_launches(target: Target) -> None:
    job = target.job(views.whole(61, 43), 400)
    counts, found, launches = traced(job, target.device, PLANS[0], None, None, SetPace((1, 3), (1, 2, 5)))
    assert launches > 10 * len(found.levels), "levels were not cut"
    check(job, counts[0])


@pytest.mark.full
def test_smooth(target: Target) -> None:
    """Insides are filled in all planes; what escapes is computed, for each pixel has its own fraction."""
    job = target.job(views.whole(97, 61), 300, planes=("counts", "smooth"))
    counts, found, _ = traced(job, target.device, DivisionPlan(first=8, smallest=3))
    np.testing.assert_array_equal(counts, planes(job, target.device)[0])
    inside = int((counts[0] == 300).sum())
    assert found.pixels - inside <= found.computed < found.pixels


@pytest.mark.full
@pytest.mark.parametrize("number", ["fixed:2", "fp128", "fixed:5"])
def test_fixed_point(device: Device, number: str) -> None:
    for sized in (views.whole, views.seahorses):
        job = Job(sized(41, 29), 60, number=number, rounding="fixed")
        for plan in (DivisionPlan(first=4, smallest=3), DivisionPlan(first=4, smallest=3, trust="nothing")):
            counts, found, _ = traced(job, device, plan)
            np.testing.assert_array_equal(counts, planes(job, device)[0])
            assert sized is views.seahorses or found.computed < found.pixels


def test_the_whole_set_in_one_rectangle(target: Target) -> None:
    """A border of one count, with the set inside: the rectangle that holds c = 0 is never filled below the limit."""
    view = View.centred(Fraction(0), Fraction(0), Fraction(1, 9), 37, 37)
    job = target.job(view, 50)
    truth = expected(job)
    assert np.unique(np.concatenate([truth[0], truth[-1], truth[:, 0], truth[:, -1]])).tolist() == [1]
    assert truth.max() > 1
    check(job, traced(job, target.device, DivisionPlan(first=1, smallest=30, steps=0, trust="all"))[0][0])


@pytest.mark.full
def test_filaments(device: Device) -> None:
    """A border alone is deceived here; what is trusted by default is not, and what is proved cannot be."""
    pitch = Fraction(4398046511104, 8461482822085935)
    view = View.upright(Fraction(0.003023278907738505), Fraction(0.6847988642820052), pitch, 256, 256)
    job = Job(view, 541, number="float", rounding="separate")
    alone = DivisionPlan(first=32, smallest=4, steps=0, trust="all")
    assert differing(job, device, alone) > 0
    assert differing(job, device, replace(alone, steps=4096, trust="outside")) == 0
    assert differing(job, device, replace(alone, steps=4096, trust="nothing")) == 0


def test_place_at_the_precision_limit_of_a_number(target: Target) -> None:
    """Where rounding decides counts, proofs fail rather than err."""
    for name in views.DEEP:
        for beyond in (1, 8):
            view = views.deepest(target.number, name, 64, 48, 400)
            job = target.job(
                replace(view, lattice=Lattice.upright(view.lattice.re, view.lattice.im, view.pitch / beyond)), 400
            )
            for trust in ("nothing", "outside"):
                check(job, traced(job, target.device, DivisionPlan(first=8, smallest=3, trust=trust))[0][0])


def random_differences(total: int, size: int, plan: DivisionPlan, formula: Formula = MANDELBROT) -> tuple[int, int]:
    """Return how many of so many random views differ, and how many pixels in all, on the fastest device."""
    devices = choose.matching(())
    wrong: list[int] = []
    for view, max_iterations in views.random_views(5, total, size, size, formula.degree):
        choice = choose.fastest(Job(view, min(max_iterations, 2000), formula=formula), devices)
        wrong.append(differing(choice.job, choice.device, plan))
    return sum(count > 0 for count in wrong), sum(wrong)


# The default's target is a pixel in ten million; here are two hundred thousand, and six hundred million.
@pytest.mark.parametrize(
    ("total", "size", "most"), [(20, 72, 0), pytest.param(10_000, 250, 60, marks=pytest.mark.long)]
)
def test_random_views(total: int, size: int, most: int) -> None:
    assert random_differences(total, size, DivisionPlan(first=8, smallest=4, trust="nothing")) == (0, 0)
    assert random_differences(total, size, DivisionPlan(first=8, smallest=4))[1] <= most


@pytest.mark.full
@pytest.mark.parametrize(("total", "size", "most"), [(4, 72, 0), pytest.param(1000, 250, 10, marks=pytest.mark.long)])
def test_random_views_of_the_cubic(total: int, size: int, most: int) -> None:
    strict = DivisionPlan(first=8, smallest=4, trust="nothing")
    assert random_differences(total, size, strict, Multibrot3()) == (0, 0)
    assert random_differences(total, size, DivisionPlan(first=8, smallest=4), Multibrot3())[1] <= most


@pytest.mark.full
def test_same_counts_as_escape_for_the_cubic(target: Target) -> None:
    variant = quick_variant(target.device, target.number.name)
    for view in (View.centred(0, 0, "1.4", 97, 61), View.centred("0.3849", "0.0003", 400, 97, 61)):
        job = target.job(view, 300, formula=Multibrot3())
        for plan in PLANS[:2]:
            counts, found, _ = traced(job, target.device, plan, variant)
            check(job, counts[0])
            assert found.computed < found.pixels, "nothing was filled"


@pytest.mark.long
@pytest.mark.parametrize(("formula", "number"), [(Multibrot3(), "fixed:5"), (Julia(-1, 0), "fp128")])
def test_fixed_point_of_others(device: Device, formula: Formula, number: str) -> None:
    job = Job(View.centred("0.2", "0.3", 5, 41, 29), 60, Fraction(4), formula, number, "fixed")
    counts, found, _ = traced(job, device, DivisionPlan(first=4, smallest=3, trust="nothing"))
    np.testing.assert_array_equal(counts, planes(job, device)[0])
    assert found.computed < found.pixels


@pytest.mark.full
def test_missing_bounds_prove_nothing(device: Device) -> None:
    """A formula that bounds no spread may be traced by a rule that trusts borders: what is not filled is computed."""
    job = Job(View.centred("-0.45", "-0.5", 1, 97, 61), 90, Fraction(4), BurningShip(), "float", "separate")
    variant = quick_variant(device, "float")
    truth = planes(job, device, variant)[0][0]
    for trust, fills in (("nothing", False), ("outside", True)):
        counts, found, _ = traced(job, device, DivisionPlan(first=8, smallest=4, trust=trust), variant)
        assert (found.computed < found.pixels) == fills
        assert (counts[0] != truth).sum() <= (found.pixels - found.computed) // 10
        if not fills:
            np.testing.assert_array_equal(counts[0], truth)


JULIAS = {
    "rabbit": (Julia("-0.123", "0.745"), "1.25"),
    "dendrite": (Julia(0, 1), "1.25"),
    "dust": (Julia("0.285", "0.01"), "1"),
    "cubic": (Multibrot3().julia("0.3", "0.5"), "1.25"),
}


@pytest.mark.parametrize(
    "name", ["rabbit", "dust", *(pytest.param(name, marks=pytest.mark.long) for name in ("dendrite", "cubic"))]
)
def test_same_counts_as_escape_for_julia_sets(target: Target, name: str) -> None:
    """Each pixel, by proofs alone and by borders: of dust, borders of the counts that its critical orbit has passed."""
    formula, zoom = JULIAS[name]
    job = target.job(View.centred("0.07", "0.05", zoom, 97, 61), 300, formula=formula)
    below = connected_below(job)
    assert (below < 300) == (name == "dust")
    variant = quick_variant(target.device, target.number.name)
    for plan in (PLANS[0], replace(PLANS[1], below=below)):
        counts, found, _ = traced(job, target.device, plan, variant)
        check(job, counts[0])
        assert found.computed < found.pixels, "nothing was filled"


def test_component_of_a_julia_set_is_not_filled(device: Device) -> None:
    """The critical orbit has left after 2 steps: {count > 2} is two pieces, of which a rectangle holds one."""
    formula, root = Julia(0, 6), Fraction(97, 56)  # √3, about: ±√3(1 − i) are led to 0
    view = View.centred(root, -root, 4 / Fraction("2.1"), 41, 41)
    job = Job(view, 50, Fraction(100), formula, "float", "separate")
    variant = quick_variant(device, "float")
    truth = planes(job, device, variant)[0][0]
    assert np.unique(np.concatenate([truth[0], truth[-1], truth[:, 0], truth[:, -1]])).tolist() == [2]
    assert truth.max() > 3
    assert connected_below(job) == 2
    plan = DivisionPlan(first=1, smallest=30, steps=0)
    for below, wrong in ((2, False), (3, True)):
        counts, _, _ = traced(job, device, replace(plan, below=below), variant)
        assert ((counts[0] != truth).sum() > 100) == wrong
    assert border.default_plan(Program(device, direct(job))).below == 2


@pytest.mark.parametrize(("total", "size", "most"), [(8, 72, 0), pytest.param(1000, 250, 10, marks=pytest.mark.long)])
def test_random_views_of_julia_sets(total: int, size: int, most: int) -> None:
    """Each c is the middle of a view on the edge of the Mandelbrot set, so half of the sets are connected."""
    devices, wrong, connected = choose.matching(()), 0, 0
    for k, (place, max_iterations) in enumerate(views.random_views(6, total, size, size)):
        re, im = place.point(size // 2, size // 2)
        formula = Julia(round(re, 6), round(im, 6))
        view = View.centred(
            Fraction(k % 7, 5) - Fraction(3, 5), Fraction(k % 5, 4) - Fraction(1, 2), 4 ** (k % 6), size, size
        )
        choice = choose.fastest(Job(view, min(max_iterations, 2000), formula=formula), devices)
        below = connected_below(choice.job)
        connected += below == choice.job.iterations
        assert differing(choice.job, choice.device, DivisionPlan(first=8, smallest=4, trust="nothing")) == 0
        wrong += differing(choice.job, choice.device, DivisionPlan(first=8, smallest=4, below=below))
    assert wrong <= most
    assert total // 8 < connected < total


@pytest.mark.parametrize("algorithm", ["border", "auto"])
def test_rendered(target: Target, algorithm: str) -> None:
    job = target.job(views.whole(211, 127), 500)
    field, report = render(replace(job, algorithm=algorithm, strict=True), target.device)
    np.testing.assert_array_equal(field.counts, render(job, target.device)[0].counts)
    if algorithm == "auto":  # too small to be worth it
        assert (field.job.algorithm, field.job.strict, report.algorithm) == ("escape", False, "escape")
        assert report.pixels_computed == job.view.pixels
    else:
        assert field.job.algorithm == report.algorithm == "border"
        assert 0 < report.pixels_computed < job.view.pixels


def test_auto_selects_border_for_large_uniform_views(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole set at a high limit is traced; a place that is uniform only when tiny is not, nor a short job.

    How fast the device is has no part in it.
    """
    for least in ("_LEAST_WORK", "_LEAST_WORK_GPU"):
        monkeypatch.setattr(resolve, least, 1e6)
    rates = iter((1e12, 1e9, 1e6))
    monkeypatch.setattr(rate, "pace", lambda program, budget: Pace(budget, next(rates), program.saturation))

    def resolved(sized: Callable[[int, int], View], max_iterations: int, smooth: bool = False) -> str:
        planes = ("counts", "smooth")[: 1 + smooth]
        job = Job(
            sized(1024, 1024), max_iterations, number="float", rounding="separate", algorithm="auto", planes=planes
        )
        return survey.fastest(job, [device]).job.algorithm

    for sized, max_iterations, smooth, algorithm in (
        (views.whole, 5000, False, "border"),
        (views.whole, 5000, True, "border"),
        (views.seahorses, 400, False, "escape"),
    ):
        rates = iter((1e12, 1e9, 1e6))
        assert [resolved(sized, max_iterations, smooth) for _ in range(3)] == [algorithm] * 3
    for least in ("_LEAST_WORK", "_LEAST_WORK_GPU"):
        monkeypatch.setattr(resolve, least, 1e12)
    assert resolved(views.whole, 5000) == "escape"


def test_fill_callback_receives_filled_rectangles(target: Target) -> None:
    """The rectangles that are told of cover all that was not computed, and each is of the count it was filled with."""
    job = target.job(views.whole(97, 61), 300, algorithm="border")
    filled = np.zeros((61, 97), np.bool_)
    truth = expected(job)

    def watch(block: Block, corners: Words, proved: Words, answers: Words) -> None:
        assert (block.x, block.y, block.width, block.height) == (0, 0, 97, 61)
        for (x0, y0, x1, y1), by_proof, count in zip(corners.tolist(), proved.tolist(), answers.tolist(), strict=True):
            if count != NO_COUNT:
                edge = 0 if by_proof != NO_COUNT else 1
                place = np.s_[y0 + edge : y1 + 1 - edge, x0 + edge : x1 + 1 - edge]
                assert (truth[place] == count).all()
                filled[place] = True

    program = Program(target.device, job)
    log = LaunchLog()
    plan = DivisionPlan(first=8, smallest=3)
    list(border.run(program, BlockQueue.of([Block(0, 0, 97, 61)]), ALL_AT_ONCE, log, plan, watch))
    # A line that was computed may come to lie in a rectangle that is proved at a finer level.
    assert log.pixels_filled <= int(filled.sum()) < job.view.pixels
    assert log.pixels_filled > 0.8 * filled.sum()


@pytest.mark.parametrize(
    "plan", [DivisionPlan(first=8, split=4, smallest=3), DivisionPlan(first=64, split=2, smallest=2, trust="nothing")]
)
@pytest.mark.parametrize("block", [None, (40, 61)])
@pytest.mark.parametrize("shortcuts", [True, False])
def test_device_lists_mixed_rectangles_like_the_host(
    target: Target, plan: DivisionPlan, block: tuple[int, int] | None, shortcuts: bool
) -> None:
    """The device lists the rectangles itself: the same field, and as many pixels filled as where the host does it."""
    job = target.job(views.whole(97, 61), 300, algorithm="border")
    limit = selftest.result(target.device, target.number, job.rounding, formula=job.formula).loop_limit
    program = Program(target.device, job, None, Execution(shortcuts=shortcuts, loop_limit=limit, guarded=True))
    width, height = block or (97, 61)
    pieces = list(tiled([whole_of(job.view)], width, height))
    if not all(border_in_flight.suits(program, piece, ALL_AT_ONCE, plan) for piece in pieces):
        pytest.skip("the driver ends loops before the iteration limit")
    log, found = LaunchLog(), np.zeros((job.view.height, job.view.width), np.uint32)
    for piece, results in border.run(program, BlockQueue.of(pieces), ALL_AT_ONCE, log, plan):
        found[piece.y : piece.y + piece.height, piece.x : piece.x + piece.width] = results[0]
    np.testing.assert_array_equal(found, expected(job))
    _, asked, _ = traced(job, target.device, plan, block=block)
    assert log.pixels_filled == asked.pixels - asked.computed
