"""Any affine lattice, on every device and in every number: the oracle's pixels, levels, tiles, turned pictures."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.device.comparing import check, quick_variant, truth_of
from tests.device.targets import Target, planes
from tests.oracle.cases import MAPS

FIXED = ("fp128", "fixed:8")
MIDDLE = View.upright(Fraction(-3, 4), Fraction(1, 10), Fraction(1, 11), 37, 23, 17, 9)
ASIDE = View.upright(Fraction(-3, 4), Fraction(1, 10), Fraction(1, 400), 23, 17, -61, 133)  # the anchor is outside
# For fixed point, whose oracle is slow; the second is far beyond what double resolves.
SMALL = View.upright(Fraction(-3, 4), Fraction(1, 10), Fraction(1, 6), 17, 11, 8, 5)
DEEP = View.upright(Fraction(-2), Fraction(1, 10**21), Fraction(1, 3 * 10**20), 9, 7, 4, 30)
# A pitch m·2^−e with m < 2²⁴, and an anchor that every number has.
DYADIC = View.upright(Fraction(-3, 4), Fraction(3, 32), Fraction(1_234_567, 1 << 24), 21, 21, 10, 10)


def job_of(number: str, rounding: str, view: View, max_iterations: int = 90) -> Job:
    return Job(view, max_iterations, number=number, rounding=rounding, planes=("counts", "smooth"))


def words_of(job: Job, device: Device) -> npt.NDArray[Any]:
    """Return the words of a job: counts, and of escaped pixels the smooth ones."""
    words = planes(job, device, quick_variant(device, job.number))[0]
    words[1:, words[0] == job.iterations] = 0  # what is left of pixels inside is of no use to anybody
    return words


# Each map beside the oracle


def test_every_pixel(target: Target) -> None:
    for chart in MAPS.values():
        for view in (MIDDLE, ASIDE):
            check(job_of(target.number.name, target.rounding, chart(view)), target.device)


@pytest.mark.full
@pytest.mark.parametrize(
    "number", [pytest.param(each, marks=[pytest.mark.long] if each != "fp128" else []) for each in FIXED]
)
def test_every_pixel_of_fixed_point(device: Device, number: str) -> None:
    for chart in MAPS.values():
        for view in (SMALL, DEEP):
            check(job_of(number, "fixed", chart(view), 60), device)


def test_renders(device: Device) -> None:
    """In the device's own shape and choice of rounding."""
    view = View.centred("-0.7436", "0.1318", 400, 41, 29, rotation="-45.5")
    field, report = render(Job(view, 300), device)
    expected = truth_of(Job(view, 300, number=report.number, rounding=report.rounding)).counts
    np.testing.assert_array_equal(field.counts, expected)


# Turned pictures, without the oracle


def turning(device: Device, number: str, rounding: str) -> None:
    """Compare a square picture with itself, turned about its middle by whole quarters: its points are rounded alike."""
    assert (DYADIC.lattice.column, DYADIC.lattice.row) == (10, 10)
    upright = words_of(job_of(number, rounding, DYADIC), device)
    assert len(np.unique(upright[0])) > 9
    for quarters in (1, 2, 3, 4, -1):
        view = replace(DYADIC, lattice=DYADIC.lattice.rotated(Fraction(90 * quarters)))
        turned = words_of(job_of(number, rounding, view), device)
        np.testing.assert_array_equal(turned, np.rot90(upright, quarters, (1, 2)))


def test_quarters_turn_the_picture_counter_clockwise(target: Target) -> None:
    turning(target.device, target.number.name, target.rounding)


@pytest.mark.full
@pytest.mark.parametrize("number", ["fp128", pytest.param("fixed:8", marks=pytest.mark.long)])
def test_quarters_turn_the_picture_of_fixed_point(device: Device, number: str) -> None:
    turning(device, number, "fixed")


def test_turned_by_nothing_the_bytes_are_the_same(target: Target) -> None:
    number, rounding = target.number.name, target.rounding
    upright = words_of(job_of(number, rounding, View.centred("-0.7436", "0.1318", 400, 41, 29)), target.device)
    for degrees in (0, 360, "-7200"):
        view = View.centred("-0.7436", "0.1318", 400, 41, 29, rotation=degrees)
        assert words_of(job_of(number, rounding, view), target.device).tobytes() == upright.tobytes()


# Levels and tiles


def nesting(job: Job, device: Device) -> None:
    """Compare a view with every second and every fourth pixel of its finer levels, and with its coarser one."""
    words = words_of(job, device)
    for factor in (2, 4):
        finer = words_of(job.at(job.view.finer(factor)), device)
        np.testing.assert_array_equal(finer[:, ::factor, ::factor], words)
    coarser = words_of(job.at(job.view.coarser()), device)
    np.testing.assert_array_equal(coarser, words[:, ::2, ::2])


def tiling(job: Job, device: Device) -> None:
    """Compare tiles of a lattice, and parts that reach beyond it, with the same part of the whole."""
    words, view = words_of(job, device), job.view
    for column, row in ((0, 0), (1, 0), (1, 1)):
        part = words_of(job.at(view.tile(column, row, 8)), device)
        np.testing.assert_array_equal(part, words[:, 8 * row : 8 * row + 8, 8 * column : 8 * column + 8])
    larger = words_of(job.at(view.part(-3, -2, view.width + 5, view.height + 4)), device)
    np.testing.assert_array_equal(larger[:, 2:-2, 3:-2], words)


@pytest.mark.parametrize("chart", ["0", "30", "sheared"])
def test_levels_and_tiles(target: Target, chart: str) -> None:
    """Halving a number's pitch is exact in float and double, whatever the matrix."""
    even = replace(ASIDE, lattice=ASIDE.lattice.moved(1, 1))  # else a coarser one would have another anchor
    for view in (DYADIC, even):
        job = job_of(target.number.name, target.rounding, MAPS[chart](view))
        nesting(job, target.device)
        tiling(job, target.device)


@pytest.mark.parametrize("number", ["fp128", pytest.param("fixed:8", marks=pytest.mark.long)])
def test_levels_and_tiles_of_fixed_point(device: Device, number: str) -> None:
    """Where the pitches are multiples of the last place, as m·2^−e is."""
    pitch = DYADIC.pitch
    sheared = replace(DYADIC.lattice, matrix=(pitch, pitch / 8, -3 * pitch / 4, -pitch))
    for lattice in (DYADIC.lattice, DYADIC.lattice.rotated(Fraction(90)), sheared):
        job = job_of(number, "fixed", replace(DYADIC, lattice=lattice))
        nesting(job, device)
        tiling(job, device)
