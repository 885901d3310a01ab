"""Cosine and sine of any angle, to nearest at 2^−128, against MPFR."""

import math
from fractions import Fraction

import gmpy2
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mandelcl.base.rotation import BITS, cosine_and_sine

unhurried = settings(deadline=None)
ratios = st.fractions(max_denominator=10**30)
huge = st.builds(lambda whole, part: whole + part, st.integers(-(10**60), 10**60), st.fractions(0, 1))
near_a_multiple = st.builds(
    lambda quarter, size, nudge: 45 * quarter + Fraction(nudge, 10**size),
    st.integers(-100, 100),
    st.integers(1, 60),
    st.integers(-5, 5),
)
angles = st.one_of(ratios, huge, near_a_multiple)


def truth(degrees: Fraction, function: str) -> Fraction:
    """Return the cosine or sine with an error below 2^−240; the quarters are taken off exactly."""
    quarter = math.floor(degrees / 90)
    rest = degrees - 90 * quarter
    if function == "sin":
        quarter -= 1  # sin x = cos(x − 90°)
    with gmpy2.context(gmpy2.get_context(), precision=256):
        angle = gmpy2.const_pi() * gmpy2.mpq(rest.numerator, rest.denominator) / 180
        value = (gmpy2.cos(angle), -gmpy2.sin(angle))[quarter % 2]
        ratio = gmpy2.mpq(value)
    exact = Fraction(int(ratio.numerator), int(ratio.denominator))
    return -exact if quarter % 4 in (2, 3) else exact


@unhurried
@given(angles)
@example(Fraction(30))
@example(Fraction(-91, 2))
@example(Fraction(1, 10**50))
@example(Fraction(-(10**100), 7))
def test_rotation_is_rounded_to_nearest(degrees: Fraction) -> None:
    unit, error = Fraction(1, 1 << BITS), Fraction(1, 1 << 240)
    for got, function in zip(cosine_and_sine(degrees), ("cos", "sin"), strict=True):
        exact = truth(degrees, function)
        assert (got / unit).denominator == 1
        below = abs(exact / unit - math.floor(exact / unit) - Fraction(1, 2)) * unit
        assume(below > error)  # MPFR knows which of the two is nearer
        assert got == round(exact / unit) * unit


@unhurried
@given(st.integers(-(10**40), 10**40))
def test_multiples_of_90_are_exact(quarter: int) -> None:
    cosine, sine = cosine_and_sine(Fraction(90) * quarter)
    assert [cosine, sine] == [[1, 0], [0, 1], [-1, 0], [0, -1]][quarter % 4]


@unhurried
@given(angles)
def test_squares_sum_to_one(degrees: Fraction) -> None:
    cosine, sine = cosine_and_sine(degrees)
    assert abs(cosine**2 + sine**2 - 1) <= Fraction(1, 1 << 126)


@unhurried
@given(angles, st.integers(-(10**9), 10**9))
def test_rotation_is_periodic(degrees: Fraction, turns: int) -> None:
    assert cosine_and_sine(degrees + 360 * turns) == cosine_and_sine(degrees)


@unhurried
@given(angles)
def test_rotation_is_symmetric(degrees: Fraction) -> None:
    cosine, sine = cosine_and_sine(degrees)
    assert cosine_and_sine(-degrees) == (cosine, -sine)
    assert cosine_and_sine(degrees + 180) == (-cosine, -sine)
    assert cosine_and_sine(90 - degrees) == (sine, cosine)


@pytest.mark.parametrize(("degrees", "sine"), [(30, Fraction(1, 2)), (150, Fraction(1, 2)), (210, Fraction(-1, 2))])
def test_rational_sines_are_exact(degrees: int, sine: Fraction) -> None:
    assert cosine_and_sine(Fraction(degrees))[1] == sine
