"""The reference orbit once more, in whole numbers alone: no doubles, no exponents, no blocks."""

from fractions import Fraction
from math import floor, nextafter


def toward_zero(value: Fraction) -> float:
    """Return a number below 2^400 as a double, rounded toward zero; 0 below 2^−900."""
    if abs(value) < Fraction(1, 1 << 900):
        return 0.0
    nearest = float(value)  # division of Python's integers rounds to nearest
    return nextafter(nearest, 0) if abs(Fraction(nearest)) > abs(value) else nearest


def orbit(
    c: tuple[Fraction, Fraction], bits: int, radius: Fraction, iterations: int, radius_squared: Fraction
) -> tuple[list[tuple[int, int]], str]:
    """Return Z_0 to Z_M in units of 2^−bits, and why it ends there.

    The derivative has 2^−100 as its unit, so it is exact to some 30 digits where it is near 1.
    """
    c_re, c_im = (round(part * (1 << bits)) for part in c)
    outside = floor(radius_squared * (1 << 2 * bits))
    reach, drop = floor(radius**2 * (1 << 4 * bits)), 2 * bits + 200
    z_re, z_im, d_re, d_im = 0, 0, 0, 0
    values = [(0, 0)]
    for _ in range(iterations):
        product = (z_re * d_re - z_im * d_im, z_re * d_im + z_im * d_re)
        d_re, d_im = (2 * product[0] >> bits) + (1 << 100), 2 * product[1] >> bits
        z_re, z_im = (z_re * z_re - z_im * z_im >> bits) + c_re, (2 * z_re * z_im >> bits) + c_im
        values.append((z_re, z_im))
        square = z_re * z_re + z_im * z_im
        if square > outside:
            return values, "escaped"
        if square << drop < reach * (d_re * d_re + d_im * d_im):
            return values, "period"
    return values, "cap"
