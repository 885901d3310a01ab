"""Perturbation on every device: to the last bit the counts of the replay, however the work is cut."""

from collections import OrderedDict
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.counts import MOST_NARROW
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import by_name
from mandelcl.core.reference import Reference
from mandelcl.engine.job_text import SMOOTH_LIMIT
from mandelcl.engine.loop.subdivision import DivisionPlan
from mandelcl.engine.methods import perturbation
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device
from mandelcl.perturbation import orbit, reference_jobs
from mandelcl.perturbation.exact import exact_count, fraction_bits
from tests.device import deep
from tests.device.targets import SetPace, name_of, planes, traced

MOST_TURNS = 1 << 14


@pytest.fixture
def one_number(request: pytest.FixtureRequest, device: Device, number: str) -> None:
    """Take one number a device, but in long runs: kernels of many shapes take their compilers a minute."""
    own = "float" if not device.fp64 or device.platform.startswith("Portable") else "double"
    if number != own and not request.config.getoption("--long"):
        pytest.skip("long: run with --long")


@cache
def replayed(job: Job) -> Words:
    """Return the counts of all pixels, replayed on the host."""
    counts = np.empty((job.view.height, job.view.width), np.uint32)
    for row in range(job.view.height):
        for column in range(job.view.width):
            count = perturbation.count(job, column, row, MOST_TURNS)
            assert count is not None
            counts[row, column] = count
    return counts


@cache
def minibrot(depth: int, number: str, width: int = 12, height: int = 9, sizes: Fraction = Fraction(3)) -> Job:
    """Return a job that shows a minibrot and its surroundings, so many times its size across."""
    centre, size, period = deep.minibrot(depth)
    return deep.job(deep.around(centre, sizes * max(map(abs, size)), width, height), 40 * period, number)


def shapes(device: Device, number: str) -> list[Variant]:
    """Return shapes of kernels of all widths; one lane where compilers take minutes for more."""
    wide = default_variant(device, by_name(number)).lanes > 1
    return [Variant(lanes, 1, 64, 1, min(lanes, 4), 1, 1) for lanes in ((1, 4, 8, 16) if wide else (1,))]


@pytest.mark.full
@pytest.mark.parametrize("depth", [1, 2])
def test_counts_are_those_of_the_replay(device: Device, number: str, depth: int) -> None:
    job = minibrot(depth, number)
    counts = replayed(job)
    assert len(np.unique(counts)) > 30
    assert (counts == job.iterations).any()
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], counts)


@pytest.mark.full
@pytest.mark.usefixtures("one_number", "builds_perturbation")
def test_bits_do_not_depend_on_lanes_launches_or_blocks(device: Device, number: str) -> None:
    job = minibrot(2, number)
    counts = replayed(job)
    for shape, turns in zip(shapes(device, number), (1, 3, 50, 7), strict=False):
        results, launches = planes(job, device, shape, (7, 4), SetPace((3, 2), (turns,)))
        np.testing.assert_array_equal(results[0], counts)
        assert launches > 4


class _Patient(SetPace):
    """Few launches: on their way to the largest iteration limit, orbits would take billions."""

    def next(self, previous: int, seconds: float, strides: int) -> int:
        assert self._launches < 1 << 11
        return super().next(previous, seconds, strides)


def within(across: Fraction, width: int, height: int, number: str) -> Job:
    """Return a job inside a minibrot, up to the largest limit, that shows so much of its size beside the nucleus."""
    centre, size, _ = deep.minibrot(2)
    whole = max(map(abs, size))
    reference = Reference.of(deep.around(centre, whole, width, height), *deep.BITS[number])
    view = deep.around((centre[0] + across * size[0], centre[1] + across * size[1]), across * whole, width, height)
    return deep.job(view, MOST_NARROW, number, reference=reference)


@pytest.mark.full
@pytest.mark.parametrize("kept", [("counts",), ("counts", "smooth", "certified")])
@pytest.mark.usefixtures("one_number")
def test_cycles_longer_than_a_launch_are_found(device: Device, number: str, kept: tuple[str, ...]) -> None:
    if len(kept) > 1 and not device.fp64:
        pytest.skip(f"{name_of(device)} takes two minutes for what gives the same bits elsewhere")
    job = replace(within(Fraction(1, 4), 4, 3, number), planes=kept)
    expected, at_once = planes(job, device)
    assert (expected[0] == MOST_NARROW).mean() > 0.5
    np.testing.assert_array_equal(expected[0], replayed(replace(job, planes=("counts",))))
    shape = shapes(device, number)[-1]
    for block, rows, turns in (((4, 3), 3, 1), ((3, 2), 1, 2)):
        results, launches = planes(job, device, shape, block, _Patient((rows,), (turns,)))
        np.testing.assert_array_equal(results, expected)
        assert launches > at_once + 10


@pytest.mark.full
@pytest.mark.usefixtures("one_number")
def test_borders_find_cycles_longer_than_a_launch(device: Device, number: str) -> None:
    job = replace(within(Fraction(1, 6), 24, 17, number), algorithm="border")
    expected, _ = planes(job, device)
    results, _, launches = traced(job, device, DivisionPlan(first=4, smallest=4), pace=_Patient((17,), (1,)))
    np.testing.assert_array_equal(results, expected)
    assert (results[0] == MOST_NARROW).mean() > 0.5
    assert launches > 50


@pytest.mark.full
def test_borders_are_traced_with_the_same_bits(device: Device, number: str) -> None:
    job = replace(minibrot(1, number, 40, 33, Fraction(3, 2)), algorithm="border")
    expected, _ = planes(job, device)
    for early in (0, 640):
        results, found, _ = traced(job, device, DivisionPlan(first=4, smallest=4, early=early, trust="all"))
        np.testing.assert_array_equal(results[0], expected[0])
        assert found.computed < found.pixels


@cache
def exact_at(view: View, column: int, row: int, iterations: int, radius_squared: Fraction) -> int:
    """Return the count of a pixel in exact arithmetic."""
    count = exact_count(view.lattice.point(column, row), iterations, radius_squared, fraction_bits(view.pitch))
    assert count is not None
    return count


@cache
def exact(job: Job) -> Words:
    """Return the counts of exact arithmetic."""
    view = job.view
    counts = [
        exact_at(view, column, row, job.iterations, job.radius_squared)
        for row in range(view.height)
        for column in range(view.width)
    ]
    return np.array(counts, np.uint32).reshape(view.height, view.width)


# What is not proved, at most: float has few bits to spare.
@pytest.mark.full
@pytest.mark.parametrize(
    ("depth", "open_share"), [(1, {"double": 0.05, "float": 0.4}), (2, {"double": 0.1, "float": 1})]
)
def test_certified_counts_are_exact(device: Device, number: str, depth: int, open_share: dict[str, float]) -> None:
    job = minibrot(depth, number)
    plain, _ = planes(job, device)
    results, _ = planes(replace(job, planes=("counts", "certified")), device)
    np.testing.assert_array_equal(results[0], plain[0])
    certified = results[1] != 0
    np.testing.assert_array_equal(results[0][certified], exact(job)[certified])
    assert np.mean(~certified) <= open_share[number]
    inside = results[0] == job.iterations
    assert number == "float" or certified[inside].mean() > 0.5


@pytest.mark.full
@pytest.mark.usefixtures("one_number")
def test_certified_pixels_do_not_depend_on_block_division(device: Device, number: str) -> None:
    if not device.fp64:
        pytest.skip(f"{name_of(device)} takes two minutes for what gives the same bits elsewhere")
    job = replace(minibrot(2, number), planes=("counts", "smooth", "certified"))
    expected, _ = planes(job, device)
    for shape, turns in zip(shapes(device, number)[:2], (1, 50), strict=False):
        results, _ = planes(job, device, shape, (7, 4), SetPace((3, 2), (turns,)))
        np.testing.assert_array_equal(results, expected)


@pytest.mark.full
def test_orbits_go_on_to_the_smooth_radius(device: Device, number: str) -> None:
    job = replace(minibrot(1, number), planes=("counts", "smooth"))
    results, _ = planes(job, device)
    counts = replayed(replace(job, planes=("counts",)))
    np.testing.assert_array_equal(results[0], counts)
    replay, norms = perturbation.replay(job), results[2].view(np.float32)
    for row, column in np.argwhere(counts < job.iterations):
        point = perturbation.point(job, int(column), int(row))
        step, norm = replay.smooth(*point, float(SMOOTH_RADIUS_SQUARED), SMOOTH_LIMIT)
        assert (results[1, row, column], norms[row, column]) == (step, np.float32(norm))


SEAHORSE = Fraction("-0.743643887037151"), Fraction("0.131825904205330")
WHOLE = View.upright(Fraction(-5, 2), Fraction(5, 4), Fraction(5, 2) / 9, 13, 9)
TIP = Fraction(-2), Fraction(0)
BRANCH = Fraction(0), Fraction(1)


def far(centre: deep.Point, exponent: int) -> View:
    """Return a view 10^−exponent across that is not square."""
    return deep.around(centre, Fraction(1, 10**exponent), 9, 5)


HARD: dict[str, tuple[View, int, dict[str, Any]]] = {
    "the whole set": (WHOLE, 300, {}),
    "the whole set, R = 625": (WHOLE, 300, {"radius_squared": Fraction(625**2)}),
    "an iteration limit of 1": (WHOLE, 1, {}),
    "the largest iteration limit": (WHOLE, MOST_NARROW, {}),
    "hardly deep": (far(SEAHORSE, 5), 2000, {}),
    "where direct ends": (far(SEAHORSE, 13), 8000, {}),
    "the tip at 1e50, R = 10": (far(TIP, 50), 300, {"radius_squared": Fraction(100)}),
    "the tip at 1e6000, R = 10": (far(TIP, 6000), 20000, {"radius_squared": Fraction(100)}),
    "a branch at 1e5000": (far(BRANCH, 5000), 20000, {}),
    "an orbit at 0": (far((Fraction(0), Fraction(0)), 30), 500, {}),
    "a reference that escapes": (far((Fraction(2, 5), Fraction(1, 3)), 20), 500, {}),
    "inside a minibrot of period 3": (far(deep.nucleus(Fraction(-7, 4), Fraction(0), 3, 500), 100), 20000, {}),
}


@pytest.mark.full
@pytest.mark.parametrize("case", HARD)
def test_hard_cases(device: Device, number: str, case: str) -> None:
    view, iterations, settings = HARD[case]
    job = deep.job(view, iterations, number, **settings)
    results, _ = planes(replace(job, planes=("counts", "certified")), device)
    np.testing.assert_array_equal(results[0], replayed(job))
    certified = np.argwhere(results[1] != 0)
    assert len(certified) > view.pixels / 4
    if iterations == MOST_NARROW or case == "hardly deep":
        return  # such orbits take the oracle minutes
    for row, column in certified[:: 1 + len(certified) // 4]:
        assert results[0, row, column] == exact_at(view, int(column), int(row), iterations, job.radius_squared)


@pytest.mark.full
def test_a_reference_may_lie_beside_the_view(device: Device, number: str) -> None:
    job = minibrot(1, number)
    own = job.reference
    assert own is not None
    reference_and_table = replace(own, re=own.re + 8 * own.radius, radius=10 * own.radius)
    results, _ = planes(replace(job, reference=reference_and_table, planes=("counts", "certified")), device)
    np.testing.assert_array_equal(results[0], replayed(replace(job, reference=reference_and_table)))
    certified = results[1] != 0
    np.testing.assert_array_equal(results[0][certified], exact(job)[certified])


@pytest.mark.full
@pytest.mark.parametrize("depth", [0, 2])
def test_a_view_known_to_be_inside_has_the_same_bytes(
    device: Device, number: str, depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (re, im), (a, b), _ = deep.minibrot(depth)
    centre = re - a / 10 - b / 10, im + a / 10 - b / 10
    job = deep.job(far(centre, 90), 20_000, number, planes=("counts", "smooth", "certified"))
    known, launches = planes(job, device)
    assert (launches, perturbation.all_inside(job)) == (1, True)
    assert (replayed(replace(job, planes=("counts",))) == job.iterations).all()
    monkeypatch.setattr(orbit, "all_stay", lambda *_: False)
    monkeypatch.setattr(reference_jobs, "_begun", OrderedDict())
    monkeypatch.setattr(reference_jobs, "kept_orbit", lambda key, *rest: orbit.reference_orbit(*key[:3], *rest))
    assert not perturbation.all_inside(job)
    iterated, _ = planes(job, device)
    assert known[:3].tobytes() == iterated[:3].tobytes()
    assert known[3].all()


def certified_with(share: str, job: Job, device: Device, monkeypatch: pytest.MonkeyPatch) -> Words:
    """Return the results of a job where counts pass with a share of the bound on their errors, or a multiple of it."""

    def assemble(*arguments: Any) -> str:
        text = own(*arguments)
        bounded.append(text.count(" + place.error)"))
        return text.replace(" + place.error)", f" + place.error * {share})")

    own, bounded = texts.assemble, list[int]()
    with monkeypatch.context() as patch:
        patch.setattr(texts, "assemble", assemble)
        results, _ = planes(job, device)
    assert max(bounded) == 2
    return results


@pytest.mark.full
@pytest.mark.usefixtures("one_number")
def test_error_bound_is_valid_and_tight_enough(device: Device, number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pixels that hardly pass are right; of those that a sixteenth of the bound lets pass, some are not."""
    if not device.fp64:
        pytest.skip(f"{name_of(device)} takes a minute for what gives the same bits elsewhere")
    wrong, hard = 0, 0
    for depth, sizes in ((1, 3), (2, 40), (2, 400)):
        job = replace(minibrot(depth, number, 320, 240, Fraction(sizes)), planes=("counts", "certified"))
        results = [certified_with(share, job, device, monkeypatch) for share in ("16.0f", "1.0f", "0.0625f")]
        safe, passed, loose = (words[1] != 0 for words in results)
        for pixels, expected in ((np.argwhere(passed & ~safe), True), (np.argwhere(loose & ~passed), False)):
            for row, column in pixels[:: 1 + len(pixels) // 100]:
                count = exact_at(job.view, int(column), int(row), job.iterations, job.radius_squared)
                right = count == results[1][0, row, column]
                assert right or not expected
                hard += expected
                wrong += not right
    assert hard > 50
    assert wrong > 0 or number == "float"  # float's bound has more room
