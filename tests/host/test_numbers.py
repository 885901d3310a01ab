"""float and double: exact values become the right bits, and what a number cannot show is said."""

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base import names
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.numbers import DOUBLE, FLOAT, NUMBERS, IeeeFormat, by_name
from mandelcl.core.numbers.format import guard_bits
from tests import oracle

ieee = pytest.mark.parametrize("number", [FLOAT, DOUBLE], ids=lambda number: number.name)
LARGEST = {"float": Fraction(2**128 - 2**104), "double": Fraction(2**1024 - 2**971)}
LEAST = {"float": Fraction(1, 2**149), "double": Fraction(1, 2**1074)}


def decode(number: IeeeFormat, value: Fraction) -> float:
    words = number.encode(value)
    assert words.dtype == np.uint32
    assert words.shape == (number.words,)
    (decoded,) = struct.unpack("<f" if number is FLOAT else "<d", words.astype("<u4").tobytes())
    return float(decoded)


def check(number: IeeeFormat, value: Fraction) -> None:
    expected = oracle.encode(value, number.name)
    if math.isinf(expected):
        with pytest.raises(OverflowError):
            number.round(value)
        with pytest.raises(InvalidInputError, match=f"the pitch is too large for {number.name}"):
            number.encode(value, "the pitch")
    else:
        assert number.round(value) == Fraction(expected)
        assert decode(number, value) == expected


@ieee
@settings(deadline=None)
@given(numerator=st.integers(-(10**50), 10**50), denominator=st.integers(1, 10**50), scale=st.integers(-1200, 1200))
def test_any_fraction(number: IeeeFormat, numerator: int, denominator: int, scale: int) -> None:
    check(number, Fraction(numerator, denominator) * Fraction(2) ** scale)


@ieee
@settings(deadline=None)
@given(mantissa=st.integers(0, 2**54), exponent=st.integers(-1080, 1000), nudge=st.integers(-2, 2))
def test_near_halfway(number: IeeeFormat, mantissa: int, exponent: int, nudge: int) -> None:
    unit = Fraction(2) ** exponent
    check(number, (mantissa + Fraction(1, 2)) * unit + nudge * unit / 10**30)


@ieee
def test_encoding_at_the_edges_of_the_range(number: IeeeFormat) -> None:
    largest, least, ulp = LARGEST[number.name], LEAST[number.name], Fraction(2) ** (1 - number.precision)
    half_step = largest * ulp / 4
    for value in (
        0,
        least,
        least / 2,
        least * 3 / 2,
        least * Fraction(51, 100),
        largest,
        largest + half_step,
        2 * largest,
    ):
        check(number, Fraction(value))
        check(number, -Fraction(value))
    for value in (1 + ulp / 2, 1 + ulp * 3 / 2, 1 - ulp / 4, 2 - ulp / 2):
        check(number, Fraction(value))
    assert number.round(largest) == largest
    assert number.round(least / 2) == 0


def test_names() -> None:
    assert by_name("float") is FLOAT
    assert by_name("double") is DOUBLE
    assert list(NUMBERS)[:2] == ["float", "double"]
    assert tuple(NUMBERS) == names.NUMBERS
    for name in ("", "Float", "half", "auto"):
        with pytest.raises(InvalidInputError, match=r"unknown number .*float, double"):
            by_name(name)


def test_low_word_first() -> None:
    assert FLOAT.encode(Fraction(1)).tolist() == [0x3F800000]
    assert DOUBLE.encode(Fraction(1) + Fraction(1, 2**52)).tolist() == [1, 0x3FF00000]
    assert (FLOAT.reals_words, DOUBLE.reals_words) == (2, 4)
    assert (FLOAT.needs_fp64, DOUBLE.needs_fp64) == (False, True)


# What a number resolves


def test_guard_bits_grow_with_the_limit() -> None:
    guards = [guard_bits(max_iterations) for max_iterations in (1, 2, 1000, 10**6, 2**32 - 2)]
    assert guards == sorted(guards)
    assert 2 <= guards[0] < guards[-1] <= 20


@ieee
@pytest.mark.parametrize("max_iterations", [1, 1000, 100_000])
def test_unresolved_begins_where_the_rule_says(number: IeeeFormat, max_iterations: int) -> None:
    """Around a coordinate of 1 to 2 the last place is 2^(1 − precision); pixels must be 2^guard of them apart."""
    least = Fraction(2) ** (1 - number.precision + guard_bits(max_iterations))
    fine = View.upright(Fraction(-3, 2), Fraction(0), least, 4, 3)
    assert number.unresolved(fine, max_iterations) is None
    closer = View.upright(Fraction(-3, 2), Fraction(0), least * Fraction(999, 1000), 4, 3)
    reason = number.unresolved(closer, max_iterations)
    assert reason is not None
    assert f"{number.name} does not resolve pixels" in reason


@ieee
def test_neighbours_that_are_resolved_differ(number: IeeeFormat) -> None:
    for zoom in range(0, 60, 3):
        view = View.centred(
            Fraction("-0.7436438870371587"), Fraction("0.1318259042053119"), Fraction(2) ** zoom, 64, 64
        )
        if number.unresolved(view, 1000) is None:
            points = [view.point(k, k) for k in range(64)]
            for part in (0, 1):
                assert len({number.round(point[part]) for point in points}) == 64


@ieee
def test_near_zero_is_resolved_no_finer(number: IeeeFormat) -> None:
    """An orbit of small c may still have a z of some size."""
    tiny = View.upright(Fraction(0), Fraction(0), Fraction(1, 2**200), 5, 5, 2, 2)
    assert number.unresolved(tiny, 100)


@ieee
def test_values_out_of_range(number: IeeeFormat) -> None:
    limit = 1 << number.precision
    if limit < 1 << 31:
        assert number.cannot_hold(View.upright(Fraction(0), Fraction(0), Fraction(1, limit), limit + 1, 1)) is None
        beyond = View.upright(Fraction(0), Fraction(0), Fraction(1, limit), limit + 2, 1)
        assert number.cannot_hold(beyond) == f"{number.name} holds at most {limit} pixels a side"
        assert number.unresolved(beyond, 10) == number.cannot_hold(beyond)
        offset = View.upright(Fraction(0), Fraction(0), Fraction(1), 3, 3, row=limit + 1)
        assert number.cannot_hold(offset)
    far = View.upright(Fraction(2) ** (number.max_exponent + 1), Fraction(0), Fraction(1), 2, 2)
    assert number.cannot_hold(far) == f"{number.name} does not reach the coordinates"
    assert (
        number.cannot_hold(View.upright(Fraction(2) ** (number.max_exponent - 1), Fraction(0), Fraction(1), 2, 2))
        is None
    )
