"""Cosine and sine of any angle in degrees, in whole numbers, so that every machine gives the same result."""

from fractions import Fraction
from functools import cache

BITS = 128  # both are multiples of 2^−BITS
_GUARD = 64  # guard bits, so that rounding is correct
_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def cosine_and_sine(degrees: Fraction) -> tuple[Fraction, Fraction]:
    """Return (cos, sin) of an angle, each rounded to nearest at 2^−128; multiples of 90 degrees are exact.

    The sine and cosine of less than 45 degrees are Taylor's series, in units of 2^−192; π is Machin's formula
    (1706), 16·arctan(1/5) − 4·arctan(1/239).
    """
    quarter = round(degrees / 90)
    rest = degrees - 90 * quarter
    cosine, sine = _series(rest)
    turned_cosine, turned_sine = _QUARTERS[quarter % 4]
    return turned_cosine * cosine - turned_sine * sine, turned_sine * cosine + turned_cosine * sine


def _series(degrees: Fraction) -> tuple[Fraction, Fraction]:
    """Return (cos, sin) of at most 45 degrees, rounded."""
    one = 1 << (BITS + _GUARD)
    angle = round(degrees * _pi() / 180)
    sums, term, n = [one, 0], one, 0
    while term:
        n += 1
        term = term * angle // (n * one)
        sums[n % 2] += -term if n % 4 in (2, 3) else term
    cosine, sine = (Fraction(round(Fraction(total, 1 << _GUARD)), 1 << BITS) for total in sums)
    return cosine, sine


@cache
def _pi() -> int:
    """Return π in units of 2^−(BITS + _GUARD), to about a unit."""
    one = 1 << (BITS + 2 * _GUARD)
    return (16 * _inverse_tangent(5, one) - 4 * _inverse_tangent(239, one)) >> _GUARD


def _inverse_tangent(inverse: int, one: int) -> int:
    """Return arctan(1/inverse) in units of 1/one."""
    power = one // inverse
    total, n = power, 1
    while power:
        power //= inverse * inverse
        n += 2
        total += (power // n) if n % 4 == 1 else -(power // n)
    return total
