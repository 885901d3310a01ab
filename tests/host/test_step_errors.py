"""No step is off by more than its number says, and the bound is not far above what is seen."""

import math
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from mandelcl.base.arithmetic import Arithmetic
from mandelcl.base.view import View
from mandelcl.core.numbers import DOUBLE, FLOAT, NumberFormat, by_name
from mandelcl.core.numbers.fixed import FixedFormat
from mandelcl.core.numbers.ieee_arithmetic import Scalars
from mandelcl.formulas import MANDELBROT, Formula, Multibrot3
from tests.ratios import Complex, Ratios

FORMULAS = (MANDELBROT, Multibrot3())
KINDS = [
    *((number, rounding) for number in (FLOAT, DOUBLE) for rounding in ("fused", "separate")),
    *((by_name(name), "fixed") for name in ("fixed:5", "fixed:8")),
]
steps = pytest.mark.parametrize("formula", FORMULAS, ids=str)
kinds = pytest.mark.parametrize(("number", "rounding"), KINDS, ids=lambda kind: getattr(kind, "name", kind))


def arithmetic_of(number: NumberFormat, rounding: str) -> tuple[Arithmetic, Callable[[Any], Fraction]]:
    """Return a number's operations, and what turns a real of them into a fraction."""
    if isinstance(number, FixedFormat):
        digits = number.arithmetic(rounding)
        return digits, lambda value: digits.join(value) * number.last_unit  # type: ignore[attr-defined]
    return Scalars(number, rounding == "fused"), lambda value: Fraction(float(value))  # type: ignore[arg-type]


def size(z: Complex) -> float:
    return math.hypot(z[0], z[1])


def errors(
    number: NumberFormat, rounding: str, formula: Formula, least: float, unit: Fraction
) -> list[tuple[float, float]]:
    """Return of steps from z with least ≤ |z| ≤ 2 by how many units they are off, and |z|^degree + |c|."""
    random = Random(3)
    arithmetic, exactly = arithmetic_of(number, rounding)
    total = 400 if number.is_native else 60
    found: list[tuple[float, float]] = []
    while len(found) < total:
        parts = [Fraction(random.getrandbits(1200), 1 << 1198) - 2 for _ in range(4)]
        held = [arithmetic.encode(part) for part in parts]
        x, y, re, im = map(exactly, held)
        if least <= size((x, y)) <= 2:
            got = formula.step(arithmetic, (held[0], held[1]), (held[2], held[3]))
            exact = formula.step(Ratios(), (x, y), (re, im))
            off = [(exactly(part) - wanted) / unit for part, wanted in zip(got, exact, strict=True)]
            found.append((size((off[0], off[1])), size((x, y)) ** formula.degree + size((re, im))))
    return found


@steps
@kinds
def test_a_step_is_off_by_less_than_its_unit(number: NumberFormat, rounding: str, formula: Formula) -> None:
    unit = number.step_unit(formula.products)
    worst = max(off / reach for off, reach in errors(number, rounding, formula, 1, unit))
    assert 0.02 < worst < 1


@steps
@kinds
def test_orbit_distance_stays_within_bounds(number: NumberFormat, rounding: str, formula: Formula) -> None:
    """Both orbits' errors count, from z of any size, and what rounds c is on top."""
    bounds = number.error_bounds(View.centred(0, 0, 1, 9, 7), formula.degree, Fraction(4), rounding)
    unit = number.step_unit(formula.products)
    share, fixed = float(bounds.unit / unit), float(bounds.step / unit)
    for off, reach in errors(number, rounding, formula, 0, unit):
        assert 2 * off <= share * reach + fixed
