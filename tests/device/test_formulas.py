"""Julia sets and the burning ship: every pixel of every device equals the oracle's, in every number.

Each formula is built twice: with smooth colouring for the jobs of which each step is tested, and without for those
whose orbits stay outside.
"""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat, by_name
from mandelcl.formulas import Formula
from mandelcl.opencl.device import Device
from mandelcl.rendering.render import render
from tests.device.comparing import check, check_rendered, truth_of
from tests.device.targets import Target
from tests.oracle.cases import JULIAS, RETURNS_AFTER, SHIP, returning_fixed_job, returning_job

Case = tuple[Formula, View, int, Fraction]  # and cap and R²

FIXED = ("fp128", "fixed:8")
GRID = View.upright(Fraction(0), Fraction(0), Fraction(1, 8), 33, 29, 16, 14)  # 2, −2, i, 1 and 0 are pixels
WIDE = View.centred(Fraction(1, 100), Fraction(0), Fraction(6, 7), 37, 23)  # some pixels lie outside from the start
NEAR = View.centred(Fraction("-0.03"), Fraction("0.7"), Fraction(25), 23, 17)
SHIPS = [
    (View.centred(Fraction(-1, 2), Fraction(-1, 2), Fraction(1), 37, 23), 90),
    (View.centred(Fraction("-1.76"), Fraction("-0.03"), Fraction(40), 29, 19), 200),  # the armada
    (View.upright(Fraction(1), Fraction("-1.7320508075688772"), Fraction(1, 1 << 22), 23, 17, 11, 8), 60),  # 1 − i√3
]
ON_THE_CIRCLE = [JULIAS["2i"], JULIAS["-2"]]  # |c| = 2: at R = 2 each step must be tested, as it must for the ship
INSIDE = [JULIAS["0.25"], JULIAS["-0.75 + 0.1i"], JULIAS["0"]]
SMALL = View.upright(Fraction(0), Fraction(0), Fraction(3, 8), 13, 11, 6, 5)
SMALL_SHIP = View.centred(Fraction(-1, 2), Fraction(-1, 2), Fraction(1), 17, 11)


def radii(number: NumberFormat) -> tuple[Fraction, Fraction, Fraction]:
    """Return R² of R = 2, of 3, or the largest that the number has, and the number just below 4."""
    return Fraction(4), min(Fraction(9), number.largest_radius_squared or Fraction(9)), number.least_radius_squared()


def each_step(number: NumberFormat) -> Iterator[Case]:
    two, _, least = radii(number)
    for julia in ON_THE_CIRCLE:
        yield from ((julia, WIDE, 60, two), (julia, GRID, 60, two), (julia, GRID, 60, least))
    yield from ((SHIP, view, max_iterations, two) for view, max_iterations in SHIPS)
    yield from ((SHIP, view, max_iterations, least) for view, max_iterations in SHIPS[::2])


def staying_outside(number: NumberFormat) -> Iterator[Case]:
    two, three, least = radii(number)
    for julia in INSIDE:
        yield from ((julia, WIDE, 90, two), (julia, GRID, 60, least))
    yield from ((julia, GRID, 60, three) for julia in JULIAS.values())
    yield INSIDE[1], NEAR, 200, three
    yield from ((SHIP, view, max_iterations, three) for view, max_iterations in SHIPS)


@pytest.mark.full
@pytest.mark.parametrize("cases", [each_step, staying_outside], ids=lambda cases: str(cases.__name__))
def test_every_pixel(target: Target, cases: object) -> None:
    assert callable(cases)
    kept = ("counts", "smooth") if cases is each_step else ("counts",)
    for formula, view, max_iterations, radius_squared in cases(target.number):
        check(
            target.job(view, max_iterations, formula=formula, radius_squared=radius_squared, planes=kept), target.device
        )


@pytest.mark.full
@pytest.mark.parametrize("name", RETURNS_AFTER)
def test_orbits_that_return_from_outside(target: Target, name: str) -> None:
    """An orbit is outside at a step and inside at the next: who looks only at every second one has another count."""
    job = returning_job(target.number.name, target.rounding, name)
    assert truth_of(job).counts[3, 5] == RETURNS_AFTER[name]
    check(job, target.device)


def test_renders(device: Device) -> None:
    """In the device's own shape and choice of rounding; some counts are 0."""
    job = Job(WIDE, 200, formula=INSIDE[1])
    field, report = render(job, device)
    counts = truth_of(job.resolved(report.number, report.rounding)).counts
    np.testing.assert_array_equal(field.counts, counts)
    assert counts[0, 0] == 0
    assert report.number == "float"
    assert report.iterations_total == int(counts.sum(dtype=np.uint64))


# Fixed point: fp128 where each step is tested, 8 words where orbits stay outside


@pytest.mark.full
def test_every_pixel_of_fp128(device: Device) -> None:
    two, _, least = radii(by_name("fp128"))
    cases: list[Case] = [(julia, SMALL, 30, radius) for julia in ON_THE_CIRCLE for radius in (two, least)]
    cases += [(SHIP, SMALL_SHIP, 40, radius_squared) for radius_squared in (two, least)]
    for formula, view, max_iterations, radius_squared in cases:
        check(Job(view, max_iterations, radius_squared, formula, "fp128", "fixed", planes=("counts", "smooth")), device)


@pytest.mark.long
def test_every_pixel_of_eight_words(device: Device) -> None:
    _, three, least = radii(by_name("fixed:8"))
    cases: list[Case] = [(julia, SMALL, 40, three) for julia in (INSIDE[1], *ON_THE_CIRCLE)]
    cases += [(INSIDE[0], SMALL, 40, least), (SHIP, SMALL_SHIP, 40, three)]
    for formula, view, max_iterations, radius_squared in cases:
        check(Job(view, max_iterations, radius_squared, formula, "fixed:8", "fixed"), device)


@pytest.mark.full
def test_fp128_orbits_that_return_from_outside(device: Device) -> None:
    job = returning_fixed_job()
    assert truth_of(job).counts[3, 5] == RETURNS_AFTER["burning-ship"]
    check(job, device)


@pytest.mark.long
@pytest.mark.parametrize("number", FIXED)
@pytest.mark.parametrize("formula", [*JULIAS.values(), SHIP], ids=str)
def test_fixed_renders(device: Device, formula: Formula, number: str) -> None:
    """In the device's own shape, and larger."""
    for view in (GRID, NEAR):
        for radius_squared in radii(by_name(number)):
            job = Job(view, 200, radius_squared, formula, number, "fixed", planes=("counts", "smooth"))
            check_rendered(job, device)
