"""Return maps on every device: the counts of the replay, however the work is cut."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.reference import MAP_VERSION, MAPPED_VERSION
from mandelcl.engine.methods import perturbation
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl.device import Device
from mandelcl.perturbation.counting import CountTask, exact_counts
from tests.device.targets import SetPace, planes
from tests.return_maps import BOTH_SIDES, MINIBROT, NEAR_NEUTRAL, NESTED, Place

_MOST_TURNS = 40_000


def _job(place: Place, iterations: int, width: int = 7, height: int = 5, version: int = MAP_VERSION) -> Job:
    view = place.view(width, height)
    reference = place.reference(version)
    return Job(
        view, iterations=iterations, method="perturbation", number="double", rounding="fused", reference=reference
    )


pytestmark = pytest.mark.parametrize("number", ["double"])  # which is what return maps take


@pytest.fixture(autouse=True)
def double(device: Device, number: str) -> None:
    """Skip devices without it."""
    if by_name(number).needs_fp64 and not device.fp64:
        pytest.skip("this device has no double")


@cache
def _replayed(job: Job) -> Words:
    counts = np.empty((job.view.height, job.view.width), np.uint32)
    for row in range(job.view.height):
        for column in range(job.view.width):
            count = perturbation.count(job, column, row, _MOST_TURNS)
            assert count is not None
            counts[row, column] = count
    return counts


def _assert_counts_are_replayed(job: Job, device: Device, distinct: int) -> None:
    counts = _replayed(job)
    assert len(np.unique(counts)) > distinct
    assert (counts == job.iterations).any()
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], counts)


def _in_pieces(job: Job, device: Device) -> Iterator[Words]:
    """Yield the planes of a job by several numbers of lanes, each with launches and blocks of its own."""
    wide = default_variant(device, by_name("double")).lanes > 1
    for lanes, turns in zip((1, 4, 8) if wide else (1,), (7, 50, 400), strict=False):
        shape = Variant(lanes, 1, 64, 1, min(lanes, 4), 1, 1)
        results, _ = planes(job, device, shape, (7, 4), SetPace((3, 2), (turns,)))
        yield results


def test_counts_are_those_of_the_replay(device: Device) -> None:
    _assert_counts_are_replayed(_job(MINIBROT, 7_000_000), device, 20)


@pytest.mark.full
def test_bits_do_not_depend_on_lanes_launches_or_blocks(device: Device) -> None:
    job = _job(MINIBROT, 7_000_000)
    for results in _in_pieces(job, device):
        np.testing.assert_array_equal(results[0], _replayed(job))


@pytest.mark.full
def test_orbits_near_a_neutral_cycle(device: Device) -> None:
    job = _job(NEAR_NEUTRAL, 59 * 600, 3, 2)
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], _replayed(job))
    assert (results[0] == job.iterations).all()


def _mapped(width: int = 7, height: int = 5) -> Job:
    """Return a job whose orbits come into a map and leave it."""
    job = _job(NESTED, NESTED.iterations, width, height, MAPPED_VERSION)
    return replace(job, planes=("counts", "smooth", "last"))


def test_counts_beside_mapped_places_are_those_of_the_replay(device: Device) -> None:
    _assert_counts_are_replayed(_mapped(5, 3), device, 5)


@pytest.mark.full
def test_bits_beside_mapped_places_do_not_depend_on_lanes_launches_or_blocks(device: Device) -> None:
    job = _mapped()
    expected, _ = planes(job, device)
    for results in _in_pieces(job, device):
        for found, plane in zip(results, expected, strict=True):
            np.testing.assert_array_equal(found, plane)


@pytest.mark.full
def test_counts_beside_mapped_places_are_exact(device: Device) -> None:
    job = _mapped()
    (counts, *_), _ = planes(job, device)
    task = replace(CountTask.of(job), period=5249)
    pixels = [(column, row) for row in range(0, 5, 2) for column in range(0, 7, 2)]
    points = [job.view.point(column, row) for column, row in pixels]
    assert [counts[row, column] for column, row in pixels] == exact_counts(task, points)


def _certified(job: Job) -> Job:
    return replace(job, planes=("counts", "certified"))


@pytest.mark.parametrize(("place", "iterations"), [(MINIBROT, 7_000_000), (NEAR_NEUTRAL, 59 * 200_000)])
def test_certified_counts_are_exact(device: Device, place: Place, iterations: int) -> None:
    job = _certified(_job(place, iterations, 8, 5))
    (counts, proved), _ = planes(job, device)
    task = replace(CountTask.of(job), period={MINIBROT: 16045, NEAR_NEUTRAL: 59}[place])
    points = [job.view.point(column, row) for row, column in np.argwhere(proved)]
    assert len(points) > counts.size // 3
    assert len(np.unique(counts[proved == 1])) > 5
    assert counts[proved == 1].tolist() == exact_counts(task, points)


@pytest.mark.full
@pytest.mark.parametrize("iterations", [NESTED.iterations, 700_003])
def test_certified_counts_beside_mapped_places_are_exact(device: Device, iterations: int) -> None:
    """At the smaller limit most orbits are still inside, some with too few iterations left for a step of the map."""
    job = _certified(replace(_mapped(), iterations=iterations))
    (counts, proved), _ = planes(job, device)
    task = replace(CountTask.of(job), period=5249)
    points = [job.view.point(column, row) for row, column in np.argwhere(proved)]
    assert len(points) > counts.size // 2
    assert counts[proved == 1].tolist() == exact_counts(task, points)


@pytest.mark.full
@pytest.mark.parametrize("job", [_job(MINIBROT, 7_000_000), _mapped()], ids=["nodes", "mapped"])
def test_proofs_do_not_depend_on_lanes_or_launches(device: Device, job: Job) -> None:
    job = _certified(job)
    expected, _ = planes(job, device)
    assert 0 < expected[1].sum() < expected[1].size
    lanes = 4 if default_variant(device, by_name("double")).lanes > 1 else 1
    found, _ = planes(job, device, Variant(lanes, 1, 64, 1, lanes, 1, 1), (7, 4), SetPace((3, 2), (50,)))
    np.testing.assert_array_equal(found, expected)


def _at_the_side(x: int, y: int, width: int, height: int) -> Job:
    """Return a view of the first components of `BOTH_SIDES`, at a pixel of 480×270, with a reference of the whole."""
    re, im = BOTH_SIDES.view(480, 270).point(x, y)
    view = View.centred(re, im, 40 * Fraction(BOTH_SIDES.zoom), width, height)
    return replace(_job(BOTH_SIDES, 10**15), view=view)


@pytest.mark.full
@pytest.mark.parametrize("corner", [(60, 240), (460, 20)])
def test_orbits_that_cycles_attract_are_known_before_their_first_step(device: Device, corner: tuple[int, int]) -> None:
    """At the limit there would be 4·10¹⁰ steps of the map."""
    job = _at_the_side(*corner, 6, 4)
    results, launches = planes(job, device, pace=SetPace((job.view.height,), (1,)))
    counts = results[0].astype(np.uint64) | (results[1].astype(np.uint64) << np.uint64(32))
    assert (counts == job.iterations).all()
    assert launches == 1
    certified, _ = planes(_certified(job), device)
    assert certified[2].all()


@pytest.mark.full
def test_no_orbit_that_escapes_is_taken_for_attracted(device: Device) -> None:
    """Across a component's border every orbit is as the replay has it."""
    job = replace(_job(BOTH_SIDES, 27078 * 3300), view=BOTH_SIDES.view(4, 3))
    results, _ = planes(job, device)
    counts = _replayed(job)
    assert 0 < (counts == job.iterations).sum() < counts.size
    np.testing.assert_array_equal(results[0], counts)


@pytest.mark.full
def test_orbits_that_never_leave_are_found_before_the_limit(device: Device) -> None:
    job = _job(MINIBROT, 7_000_000, 24, 18)
    results, _ = planes(job, device)
    inside = results[0] == job.iterations
    far = replace(job, iterations=10**9)
    later, _ = planes(far, device)
    assert 0 < (later[0] == far.iterations).sum() <= inside.sum()
    escaped = ~inside
    np.testing.assert_array_equal(later[0][escaped], results[0][escaped])
