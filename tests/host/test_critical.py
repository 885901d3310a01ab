"""How long a critical orbit stays is never said to be longer than it does, and to be shorter only where it is hard."""

import random
from fractions import Fraction

import pytest

from mandelcl.formulas import FORMULAS, Julia, formula_named
from mandelcl.formulas.critical import iterations_inside

FOUR = Fraction(4)


def exactly(degree: int, constant: tuple[Fraction, Fraction], radius_squared: Fraction, max_iterations: int) -> int:
    """Return the count of 0, in ratios whose length grows with every step."""
    x = y = Fraction(0)
    for n in range(max_iterations):
        if x * x + y * y > radius_squared:
            return n
        re, im = x, y
        for _ in range(degree - 1):
            re, im = re * x - im * y, re * y + im * x
        x, y = re + constant[0], im + constant[1]
    return max_iterations


@pytest.mark.parametrize("degree", [2, 3, 8])
def test_orbits_that_leave(degree: int) -> None:
    max_iterations = {2: 11, 3: 7, 8: 4}[degree]
    drawn = random.Random(degree)
    counts = set()
    for _ in range(150):
        c = Fraction(drawn.randrange(-999, 500), 512), Fraction(drawn.randrange(-999, 999), 512)
        radius_squared = Fraction(drawn.randrange(16, 64), 4)
        count = exactly(degree, c, radius_squared, max_iterations)
        assert iterations_inside(degree, c, radius_squared, max_iterations) == count
        counts.add(count)
    assert len(counts) >= 3


@pytest.mark.parametrize(
    ("degree", "re", "im"),
    [(2, "-0.123", "0.745"), (2, "0", "0"), (2, "-1", "0"), (2, "-0.74", "0.01"), (3, "0.3", "0.5"), (8, "0.5", "0.3")],
)
def test_orbits_that_are_attracted_stay_for_ever(degree: int, re: str, im: str) -> None:
    assert iterations_inside(degree, (Fraction(re), Fraction(im)), FOUR, 10**9) == 10**9


def test_orbits_that_leave_late() -> None:
    """Near c = 1/4 one passes slowly, after some π/√ε steps (Feigenbaum's scaling of the tangent bifurcation)."""
    count = iterations_inside(2, (Fraction(1, 4) + Fraction(1, 10**6), Fraction(0)), FOUR, 10**6)
    assert count == pytest.approx(3141, rel=0.01)


def test_undecided_critical_orbit_counts_as_escaping() -> None:
    """c = i is led into a repelling cycle: no disc lasts, and a bit a step is lost. The orbit of −2 touches |z| = 2."""
    assert 2000 < iterations_inside(2, (Fraction(0), Fraction(1)), FOUR, 10**6) < 10**6
    assert iterations_inside(2, (Fraction(0), Fraction(1)), FOUR, 1000) == 1000
    assert iterations_inside(2, (Fraction(-2), Fraction(0)), FOUR, 1000) == 1
    assert iterations_inside(2, (Fraction(1, 4), Fraction(0)), FOUR, 10**6) == 1 << 16


def test_connected_julia_sets() -> None:
    """From 0 all of them; of Julia sets those whose critical orbit stays."""
    nothing: tuple[Fraction, ...] = ()
    assert formula_named("multibrot-5").connected_below(nothing, FOUR, 77) == 77
    for formula, below in ((Julia(-1, 0), 77), (Julia("0.4", "0.4"), 9), (FORMULAS["multibrot-3"].julia(0, 1), 77)):
        assert formula.connected_below(formula.parameters[0], FOUR, 77) == below
