"""Regions that are known to stay: they do in exact arithmetic, and none that has a point outside is among them."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.core.reference import Reference
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.formulas.line import Line
from mandelcl.formulas.named import NAMED
from mandelcl.formulas.operations import Store
from mandelcl.perturbation import attraction, replay
from mandelcl.perturbation.attraction import all_stay
from mandelcl.perturbation.exact import exact_count, fraction_bits
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.orbit import AT_LIMIT, INSIDE, Orbit, reference_orbit
from mandelcl.perturbation.table import build
from tests.device import deep

FOUR = Fraction(4)
ROUND = [(Fraction(x, 5), Fraction(y, 5)) for x, y in ((5, 0), (3, 4), (0, 5), (-4, 3), (-5, 0), (-3, -4), (0, -5))]


def region(point: deep.Point, radius: Fraction) -> Reference:
    """Return the reference of a region."""
    return Reference(*point, radius, 14, 14)


def beside(depth: int, x: str, y: str) -> deep.Point:
    """Return the place in a minibrot that is where x + iy is in the whole set."""
    (re, im), (a, b), _ = deep.minibrot(depth)
    u, v = Fraction(x), Fraction(y)
    return re + u * a - v * b, im + u * b + v * a


def known(reference: Reference, radius_squared: Fraction = FOUR, steps: int = 1 << 12) -> bool:
    """Return whether a region is proved to stay after at most so many steps."""
    return reference_orbit(reference, steps, radius_squared).ended == INSIDE


@pytest.mark.parametrize(
    ("point", "digits"),
    [
        ((Fraction(-1, 10), Fraction(1, 10)), 50),
        ((Fraction(-1, 10), Fraction(1, 10)), 5000),
        ((Fraction(2499, 10000), Fraction(0)), 30),
        ((Fraction(-1), Fraction(1, 5)), 30),
        ((Fraction(-12, 100), Fraction(3, 4)), 30),
    ],
)
def test_reference_of_an_inside_view_ends_early(point: deep.Point, digits: int) -> None:
    ends_early(point, digits)


@pytest.mark.parametrize(
    ("depth", "x", "y", "digits"), [(1, "-0.1", "0.1", 60), (2, "-0.1", "0.1", 90), (2, "0.24", "0", 90)]
)
def test_reference_of_a_view_inside_a_minibrot_ends_early(depth: int, x: str, y: str, digits: int) -> None:
    ends_early(beside(depth, x, y), digits)


def ends_early(point: deep.Point, digits: int) -> None:
    reference = region(point, Fraction(1, 10**digits))
    orbit = reference_orbit(reference, 10**9, FOUR)
    assert (orbit.ended, orbit.length < 1 << 12) == (INSIDE, True)
    assert orbit.until(10**6) is orbit
    assert orbit.until(1000).ended == AT_LIMIT
    references = [(orbit, build(orbit, reference.radius, 14))]
    before = replay.Replay(references, MANDELBROT, reference, 0, "double", 4.0, 10**9)
    assert before.count(0.0, 0.0, 1) == 10**9


@pytest.mark.parametrize(
    ("point", "radius"),
    [
        ((Fraction(1, 4), Fraction(0)), "1e-40"),  # the cusp: points to its right escape
        ((Fraction(-3, 4), Fraction(0)), "1e-40"),
        ((Fraction(-2), Fraction(0)), "1e-40"),
        ((Fraction(-1, 10), Fraction(1, 10)), "0.4"),
        ((Fraction(26, 100), Fraction(0)), "1e-40"),
        (beside(1, "0.251", "0"), "1e-60"),
        (beside(1, "0.2", "0"), "1e-20"),
    ],
)
def test_region_with_outside_points_is_not_skipped(point: deep.Point, radius: str) -> None:
    orbit = reference_orbit(region(point, Fraction(1, 10**4000)), 3000, FOUR)
    for length in (100, 1000, orbit.length):
        assert not all_stay(orbit.re[: length + 1], orbit.im[: length + 1], Fraction(radius), FOUR)


@pytest.mark.full
def test_attracting_regions_stay_inside_in_exact_arithmetic() -> None:
    """On the edge of the largest of such discs, all points are inside; a little beyond there are some that are not."""
    draws = random.Random(7)
    found = 0
    for _ in range(60):
        point = Fraction(draws.uniform(-1.5, 0.4)), Fraction(draws.uniform(-0.9, 0.9))
        radius = max((Fraction(2) ** -k for k in range(2, 14) if known(region(point, Fraction(2) ** -k))), default=None)
        if radius is None:
            continue
        found += 1
        for x, y in ROUND:
            edge = point[0] + x * radius, point[1] + y * radius
            assert exact_count(edge, 10**6, FOUR, fraction_bits(radius)) == 10**6, (point, radius)
    assert found > 8


def test_small_escape_radius_is_respected() -> None:
    # z of c = −1 goes to −1 and back.
    reference = region((Fraction(-1), Fraction(1, 10**6)), Fraction(1, 10**20))
    assert known(reference, Fraction(11, 10))
    orbit = reference_orbit(reference, 1 << 12, FOUR)
    assert not all_stay(orbit.re, orbit.im, reference.radius, Fraction(99, 100))


def test_short_and_endless_orbits_prove_nothing() -> None:
    zero = np.zeros(3)
    assert not all_stay(zero, zero, Fraction(1), FOUR)
    assert not all_stay(np.array([0.0, -2.0, *[2.0] * 50]), np.zeros(52), Fraction(1, 10**9), FOUR)
    assert Orbit(zero, zero, {}, AT_LIMIT).until(1).length == 1


def ends_inside(text: str, point: deep.Point, radius: Fraction, phase: int = 0) -> bool:
    """Return whether a region is soon proved to stay under another formula."""
    return exact_orbit(region(point, radius), Formula.parse(text), phase, 2000, FOUR).ended == INSIDE


@pytest.mark.parametrize(
    ("formula", "re", "im"),
    [
        ("burning-ship", "-1.768025966302943913", "-0.034725856392697519"),
        ("burning-ship", "0.1", "0.12"),
        ("celtic", "-0.1", "0.12"),
        ("tricorn", "-0.1", "0.12"),
        ("multibrot-5", "-0.1", "0.12"),
        ("sqr add / absx sqr add", "0.1", "0.12"),
        ("store sqr mul add / absx absy sqr add / sqr add", "0.1", "0.12"),
    ],
)
def test_inside_view_of_any_formula_has_a_short_reference(formula: str, re: str, im: str) -> None:
    """The largest such region is inside as exact arithmetic says, on its edge too."""
    point = Fraction(re), Fraction(im)
    for phase in range(len(Formula.parse(formula).lines)):
        assert ends_inside(formula, point, Fraction(1, 10**20), phase)
    radii = (Fraction(1, 10**k) for k in range(1, 20))
    radius = next(radius for radius in radii if ends_inside(formula, point, radius))
    for x, y in ROUND:
        edge = point[0] + x * radius, point[1] + y * radius
        count = exact_count(edge, 500, FOUR, fraction_bits(radius), formula=Formula.parse(formula))
        assert count == 500, (edge, radius)


@pytest.mark.parametrize("name", ["burning-ship", "celtic", "multibrot-4", "sqr add / absx sqr add"])
def test_regions_with_outside_points_are_not_skipped_under_any_formula(name: str) -> None:
    formula = Formula.parse(name)
    for point in ((Fraction(1, 10), Fraction(3, 25)), (Fraction(-1, 10), Fraction(0))):
        orbit = exact_orbit(region(point, Fraction(1, 10**300)), formula, 0, 250, FOUR)
        assert all_stay(orbit.re, orbit.im, Fraction(1, 10**10), FOUR, formula.lines)
        assert not all_stay(orbit.re, orbit.im, Fraction(2), FOUR, formula.lines)


@pytest.mark.parametrize("name", sorted(NAMED))
def test_values_behind_a_line_are_no_farther_apart_than_its_spread(name: str) -> None:
    draws = random.Random(name)
    bits = 200
    for line in Formula.parse(name).lines:
        for _ in range(200):
            size = 2.0 ** draws.uniform(-20, 1)
            near = size * 2.0 ** draws.uniform(-30, 2), 2.0 ** draws.uniform(-40, 0)
            z, c = (complex(draws.uniform(-1, 1), draws.uniform(-1, 1)) for _ in range(2))
            w, k = (complex(draws.uniform(-1, 1), draws.uniform(-1, 1)) for _ in range(2))
            z, w, k = size * z / abs(z), near[0] * w / abs(w), near[1] * k / abs(k)
            ends = [_behind(line, a, b, bits) for a, b in ((z, c), (z + w, c + k))]
            apart = math.hypot(*(math.ldexp(x - y, -bits) for x, y in zip(*ends, strict=True)))
            step = size, (range(1, line.degree), near[1] * line.adds, 1.0)
            spread = attraction._spread([step], near[0], math.inf)
            assert apart <= spread * (1 + 2.0**-40) + 2.0**-50


def _behind(line: Line, z: complex, c: complex, bits: int) -> tuple[int, int]:
    """Return what a line makes of z, in units of 2^−bits."""
    whole = [(int(Fraction(a.real) * 2**bits), int(Fraction(a.imag) * 2**bits)) for a in (z, c)]
    value = stored = whole[0]
    for operation in line:
        value = operation.integers(value, stored, whole[1], bits)
        if isinstance(operation, Store):
            stored = value
    return value
