"""Perturbation on every device: to the last bit the counts of the replay, however the work is cut."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from mandelcl.algorithms.subdivision import Plan
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.job import Job
from mandelcl.methods import perturbation
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Device
from mandelcl.perturbation.exact import exact_count, fraction_bits
from mandelcl.words import Words
from tests.device import deep
from tests.device.targets import SetPace, name_of, planes, traced

NUMBERS = ("double", "float")
MOST_TURNS = 1 << 14


@pytest.fixture(params=NUMBERS)
def number(request: pytest.FixtureRequest, device: Device) -> str:
    """Return each number that a device has."""
    name: str = request.param
    if by_name(name).needs_fp64 and not device.fp64:
        pytest.skip(f"{name_of(device)} has no double precision")
    return name


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


@pytest.mark.parametrize("depth", [1, 2])
def test_counts_are_those_of_the_replay(device: Device, number: str, depth: int) -> None:
    job = minibrot(depth, number)
    counts = replayed(job)
    assert len(np.unique(counts)) > 30
    assert (counts == job.iterations).any()
    results, _ = planes(job, device)
    np.testing.assert_array_equal(results[0], counts)


def test_neither_lanes_nor_launches_nor_blocks_change_a_bit(device: Device, number: str) -> None:
    job = minibrot(2, number)
    counts = replayed(job)
    for shape, turns in zip(shapes(device, number), (1, 3, 50, 7), strict=False):
        results, launches = planes(job, device, shape, (7, 4), SetPace((3, 2), (turns,)))
        np.testing.assert_array_equal(results[0], counts)
        assert launches > 4


def test_borders_are_traced_with_the_same_bits(device: Device, number: str) -> None:
    job = replace(minibrot(1, number, 40, 33, Fraction(3, 2)), algorithm="border")
    expected, _ = planes(job, device)
    for early in (0, 640):
        results, found, _ = traced(job, device, Plan(first=4, smallest=4, early=early, trust="all"))
        np.testing.assert_array_equal(results[0], expected[0])
        assert found.computed < found.pixels


@cache
def exact(job: Job) -> Words:
    """Return the counts of exact arithmetic."""
    view = job.view
    bits = fraction_bits(view.pitch)
    counts = [
        exact_count(view.lattice.point(column, row), job.iterations, job.radius_squared, bits)
        for row in range(view.height)
        for column in range(view.width)
    ]
    assert None not in counts
    return np.array(counts, np.uint32).reshape(view.height, view.width)


# What is not proved, at most: float has few bits to spare.
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


def test_certified_pixels_are_the_same_ones_however_the_work_is_cut(device: Device, number: str) -> None:
    job = replace(minibrot(2, number), planes=("counts", "smooth", "certified"))
    expected, _ = planes(job, device)
    for shape, turns in zip(shapes(device, number), (1, 3, 50, 7), strict=False):
        results, _ = planes(job, device, shape, (7, 4), SetPace((3, 2), (turns,)))
        np.testing.assert_array_equal(results, expected)
