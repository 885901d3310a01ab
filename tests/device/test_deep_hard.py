"""Hard cases of perturbation as users meet them: against exact integers in every pixel, or refused in one line."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.counts import MOST_NARROW
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.engine.computing.settings import Settings
from mandelcl.opencl.device import Device
from mandelcl.perturbation.confirming import confirm
from mandelcl.perturbation.exact import exact_count, fraction_bits
from mandelcl.perturbation.kept import ReferenceKey
from mandelcl.perturbation.reference_jobs import reference_and_table
from mandelcl.rendering.render import render
from tests.device import deep

PLACES = Path(__file__).parents[1] / "host" / "deep_places.json"
TIP, BRANCH = (Fraction(-2), Fraction(0)), (Fraction(0), Fraction(1))
# In the seahorse valley there is a minibrot of period 998, 10^−15 in size.
SEAHORSE = Fraction("-0.74364388703715887078"), Fraction("0.13182590420531229282")


@cache
def exact(view: View, iterations: int, radius_squared: Fraction) -> Words:
    """Return the counts of exact arithmetic; each view is computed once for all devices."""
    counts = np.empty((view.height, view.width), np.uint32)
    for row in range(view.height):
        for column in range(view.width):
            count = exact_count(view.point(column, row), iterations, radius_squared, fraction_bits(view.pitch))
            assert count is not None
            counts[row, column] = count
    return counts


def at(centre: deep.Point, exponent: int, width: int = 4, height: int = 3) -> View:
    """Return a view 10^−exponent across."""
    return deep.around(centre, Fraction(1, 10**exponent), width, height)


def minibrot(sizes: Fraction, width: int, height: int) -> tuple[View, int]:
    """Return a view of a minibrot of a minibrot, so many times its size across, and an iteration limit for it."""
    centre, size, period = deep.minibrot(2)
    return deep.around(centre, sizes * max(map(abs, size)), width, height), 40 * period


@cache
def nucleus_998() -> deep.Point:
    return deep.nucleus(*SEAHORSE, 998, 400)


def turned(degrees: int) -> tuple[View, int]:
    """Return a view of a minibrot, turned."""
    (re, im), size, period = deep.minibrot(1)
    zoom = Fraction(4, 3) / max(map(abs, size))
    return View.centred(re, im, zoom, 7, 5, Fraction(degrees)), 40 * period


# Views of which double gets every pixel right, and float most, with a limit, by functions: nuclei take a while to find.
CASES: dict[str, Callable[[], tuple[View, int]]] = {
    "one pixel": lambda: minibrot(Fraction(1, 100), 1, 1),
    "one column": lambda: minibrot(Fraction(3), 1, 14),
    "one row": lambda: minibrot(Fraction(3), 14, 1),
    "around a minibrot": lambda: minibrot(Fraction(300), 5, 4),
    "R = 25": lambda: minibrot(Fraction(3), 5, 4),
    "R = 10^6": lambda: minibrot(Fraction(3), 5, 4),
    "turned by 30 degrees": lambda: turned(30),
    "turned by 217 degrees": lambda: turned(217),
    "in a minibrot of period 998": lambda: (at(nucleus_998(), 17), 200_000),
    "deep in a minibrot of period 998": lambda: (at(nucleus_998(), 40), MOST_NARROW),
    "deep inside the set": lambda: (at((Fraction(-1, 10), Fraction(1, 10)), 30, 2, 2), 3000),
    "a centre that escapes": lambda: (at((Fraction(1, 10**16), 1 + Fraction(1, 10**16)), 17), 2000),
    "far out": lambda: (at((Fraction(10**30), Fraction(1)), 30), 2000),
    "nothing but the set, as a dot": lambda: (View.centred(0, 0, Fraction(1, 10**400), 3, 3), 2000),
    "the tip, R = 3": lambda: (at(TIP, 400), 2000),
    "a branch at 1e37": lambda: (at(BRANCH, 37, 3, 2), 2000),
    "a branch at 1e46": lambda: (at(BRANCH, 46, 3, 2), 2000),
    "a branch at 1e307": lambda: (at(BRANCH, 307, 3, 2), 2000),
    "a branch at 1e325": lambda: (at(BRANCH, 325, 3, 2), 2000),
}
RADII_SQUARED = {"R = 25": Fraction(625), "R = 10^6": Fraction(10**12), "the tip, R = 3": Fraction(9)}


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_counts_are_exact(device: Device, number: str, case: str) -> None:
    view, iterations = CASES[case]()
    radius_squared = RADII_SQUARED.get(case, Fraction(4))
    job = Job(view, iterations, number=number, method="perturbation", radius_squared=radius_squared)
    field, report = render(job, device)
    assert report.method == "perturbation"
    true = exact(view, iterations, field.job.radius_squared)
    if number == "double":
        np.testing.assert_array_equal(field.counts, true)
    assert np.mean(field.counts == true) >= 0.75
    np.testing.assert_allclose(field.counts, true, rtol=2e-3)


@pytest.mark.full
def test_early_escaping_reference_serves_later_escaping_pixels(device: Device, number: str) -> None:
    view, iterations = CASES["a centre that escapes"]()
    field, _ = render(Job(view, iterations, number=number, method="perturbation"), device)
    reference = field.job.reference
    assert reference is not None
    orbit, _ = reference_and_table(ReferenceKey(reference, iterations, field.job.radius_squared))
    assert orbit.ended == "escaped"
    assert field.counts.max() > orbit.length


@pytest.mark.full
@pytest.mark.parametrize(
    ("least", "factor"), [({"double": 0.97, "float": 0.75}, 1), ({"double": 0.97, "float": 0.75}, 30)]
)
def test_most_counts_are_exact_among_filaments(
    device: Device, number: str, least: dict[str, float], factor: int
) -> None:
    """The minibrot of period 998 and its surroundings are as hard as places get at their depth."""
    view = deep.around(nucleus_998(), Fraction(factor * 38, 10**16), 8, 6)
    field, _ = render(Job(view, 20_000, number=number, method="perturbation"), device)
    right = field.counts == exact(view, 20_000, Fraction(4))
    assert right.mean() >= least[number]


@pytest.mark.full
@pytest.mark.usefixtures("builds_perturbation")
def test_points_beyond_r_near_the_tip_are_certified_as_outside(device: Device, number: str) -> None:
    """Half of the view has |c| > 2, by 10^−400: no number tells, and the difference from the reference does."""
    view = at(TIP, 400)
    job = Job(view, 2000, number=number, method="perturbation", planes=("counts", "certified"))
    true = exact(view, 2000, Fraction(4))
    assert (true == 1).any()
    proved, report = render(job, device)
    assert report.certified is not None
    assert report.certified.share == 1
    np.testing.assert_array_equal(proved.counts, true)
    field, _ = render(job, device, Settings(certify_for=0))
    certified = field.planes["certified"] == 1
    np.testing.assert_array_equal(field.counts[certified], true[certified])
    assert certified[true == 1].all()


@pytest.mark.full
def test_smooth_values_do_not_depend_on_the_radius(device: Device, number: str) -> None:
    view, iterations = minibrot(Fraction(3), 9, 7)
    job = Job(view, iterations, number=number, method="perturbation", planes=("counts", "smooth"))
    near, _ = render(job, device)
    far, _ = render(replace(job, radius_squared=Fraction(128**2)), device)
    assert near.smooth is not None
    assert far.smooth is not None
    escaped = (near.counts < iterations) & (far.counts < iterations)
    assert escaped.sum() > 30
    sums = near.counts.astype(np.float64) + near.smooth, far.counts.astype(np.float64) + far.smooth
    np.testing.assert_allclose(sums[0][escaped], sums[1][escaped], rtol=1e-3 if number == "float" else 1e-5)


@pytest.mark.long
@pytest.mark.parametrize("case", ["1e50", "4e533"])
def test_launches_are_short_at_any_limit(device: Device, number: str, case: str) -> None:
    place = json.loads(PLACES.read_text())[case]
    view = View.centred(place["re"], place["im"], place["zoom"], 160, 120)
    job = Job(view, 10**9, number=number, method="perturbation")
    _, report = render(job, device, Settings(budget=0.02))
    assert report.launches > 3
    assert report.as_dict()["longest_launch_ms"] < 500 * report.kernel_s


@pytest.mark.long
def test_ten_thousand_digits(device: Device, number: str) -> None:
    """Near c = i; coordinates of so many digits, and counts checked exactly in two pixels on as many cores."""
    view = at((BRANCH[0] + Fraction(1, 10**10_001), BRANCH[1]), 10_000, 8, 6)
    job = Job(view, 100_000, number=number, method="perturbation", reference=Reference.of(view))
    field, _ = render(job, device)
    assert len(np.unique(field.counts)) > 1
    counts = {pixel: int(field.counts[pixel[1], pixel[0]]) for pixel in [(0, 0), (5, 4)]}
    found = confirm(field.job, counts, processes=min(2, os.cpu_count() or 1))
    assert (found.agreeing, found.undecided) == (2, ())
