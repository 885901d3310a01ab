"""A long step is never further from its iterations, in hundreds of bits, than its bounds say."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.perturbation.bounds import Bounds
from mandelcl.perturbation.table import NO_STEP, TableLevel, build
from tests.host.orbits_exact import NEAR_PERIOD_2, PERIOD_998, Number, coefficients, number, orbit_values, stored

unhurried = settings(deadline=None, max_examples=150)
ITERATIONS = 2000


@dataclass(frozen=True)
class Place:
    """A reference and how far points may be from it."""

    c: tuple[Fraction, Fraction]
    radius: Fraction
    bits: int


PLACES = {
    "period 998": Place(PERIOD_998, Fraction(1, 10**22), 600),
    "wide": Place(PERIOD_998, Fraction(1, 10**9), 600),
    "near period 2": Place(NEAR_PERIOD_2, Fraction(1, 10**500), 4000),
    "i": Place((Fraction(0), Fraction(1)), Fraction(1, 10**30), 600),
    "antenna": Place((Fraction(-2) + Fraction(1, 10**30), Fraction(0)), Fraction(1, 10**40), 600),
}


@cache
def values_of(place: str) -> list[Number]:
    here = PLACES[place]
    return orbit_values(here.c, 40 if place == "antenna" else ITERATIONS, here.bits)


@cache
def levels_of(place: str, step_bits: int, unit_bits: int) -> tuple[TableLevel, ...]:
    """Return the table beside a place, its coefficients rounded to the number that has that unit."""
    levels = build(stored(values_of(place)), PLACES[place].radius, step_bits, unit_bits=unit_bits).levels
    if unit_bits == 24:
        levels = tuple(
            replace(level, mantissas=level.mantissas.astype(np.float32).astype(np.float64)) for level in levels
        )
    return levels


def bounds_of(level: TableLevel) -> Bounds:
    assert level.bounds is not None
    return level.bounds


def log_of(key: int) -> float:
    """Return the logarithm of the number that a key is."""
    return (key >> 8) + math.log2(0.5 + (key & 255) / 512)


def log_sum(*logs: float) -> float:
    most = max(logs)
    return most + math.log2(sum(2.0 ** max(log - most, -1000.0) for log in logs))


def iterated(values: Sequence[Number], t: Number, c: Number) -> Number:
    """Return where the iterations lead after the first, exact one."""
    z = t + c
    for value in values:
        z = z * (value.scaled(1) + z) + c
    return z


def allowed(level: TableLevel, record: int, t: Number, c: Number, unit_bits: int) -> float:
    """Return the logarithm of how far a step may be off, but for the rounding of its own sums."""
    bounds, a = bounds_of(level), coefficients(level, record)[0]
    by_t, by_c = max(t.size, -1e9), max(c.size, -1e9)
    of_a = a.size + by_t + math.log2(max(float(bounds.a_error[record]), 1e-300)) - unit_bits
    of_b = log_of(int(bounds.b_error[record])) + by_c
    keys = bounds.left_out[:, record]
    left = [log_of(int(key)) + (3 - power) * by_t + power * by_c for power, key in enumerate(keys)]
    return log_sum(of_a, of_b, *left)


def error(place: str, level: TableLevel, record: int, t: Number, c: Number) -> float:
    """Return the logarithm of how far a step is from the iterations."""
    a, b, d, e, f = coefficients(level, record)
    start, length = int(level.start[record]), int(level.length[record])
    right = iterated(values_of(place)[start + 1 : start + length], t, c)
    return ((a * t + b * c + (d * t + e * c) * t + f * c * c) - right).size


def usable(levels: Sequence[TableLevel]) -> list[tuple[TableLevel, int]]:
    """Return the records that are steps of several iterations and can be used."""
    return [
        (level, int(record))
        for level in levels
        for record in np.flatnonzero((level.key != NO_STEP) & (level.length > 1))
    ]


def threshold(level: TableLevel, record: int) -> Number:
    """Return the largest part that t may have."""
    key = int(level.key[record])
    return number(0.5 + (key & 255) / 512 - 2.0**-52, 0.0, key >> 8)


unit = st.floats(-1, 1, allow_subnormal=False)
shares = st.tuples(unit, unit, st.one_of(st.just(0), st.integers(0, 60)))


@unhurried
@given(
    st.sampled_from(sorted(PLACES)),
    st.sampled_from([(14, 53), (22, 53), (10, 53), (10, 24), (8, 24)]),
    st.integers(0, 10**6),
    shares,
    shares,
)
def test_step_errors_stay_within_their_bounds(
    place: str,
    setting: tuple[int, int],
    which: int,
    t_share: tuple[float, float, int],
    c_share: tuple[float, float, int],
) -> None:
    records = usable(levels_of(place, *setting))
    level, record = records[which % len(records)]
    x, y, less = t_share
    t = threshold(level, record) * number(x, y, -less)
    x, y, less = c_share
    radius = PLACES[place].radius
    size = max(1.0, math.hypot(x, y) * (1 + 1e-9))
    scale = number(Fraction(int(radius * 2**2000), 2**2000))
    c = scale * number(x / size, y / size, -less)
    assert error(place, level, record, t, c) <= allowed(level, record, t, c, setting[1])
    a, _, d, e, _ = coefficients(level, record)
    assert (a + (d * t).scaled(1) + e * c).size <= log_of(int(bounds_of(level).gain[record]))


@pytest.mark.parametrize("place", sorted(PLACES))
@pytest.mark.parametrize(("step_bits", "unit_bits"), [(14, 53), (10, 24)])
def test_bounds_are_finite_and_near_the_error(place: str, step_bits: int, unit_bits: int) -> None:
    """At the corners of what a step admits the error comes within a factor of 16 of the bound somewhere."""
    nearest = -math.inf
    for level, record in usable(levels_of(place, step_bits, unit_bits)):
        assert (bounds_of(level).left_out[:, record] < (1 << 31) - 1).all()
        size = threshold(level, record)
        for corner in (number(1, 1), number(1, -1), number(-1, 1)):
            t = size * corner
            nearest = max(
                nearest, error(place, level, record, t, Number(0)) - allowed(level, record, t, Number(0), unit_bits)
            )
    assert -4 < nearest <= 0
