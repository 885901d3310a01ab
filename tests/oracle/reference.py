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
) -> tuple[list[tuple[Fraction, Fraction]], str]:
    """Return Z_0 to Z_M, each exact at 2^−bits, and why it ends there.

    The derivative has 2^−100 as its unit, so it is exact to some 30 digits where it is near 1.
    """
    unit = 1 << bits
    c_re, c_im = (round(part * unit) for part in c)
    z_re, z_im, d_re, d_im = 0, 0, 0, 0
    values = [(Fraction(0), Fraction(0))]
    for _ in range(iterations):
        product = (z_re * d_re - z_im * d_im, z_re * d_im + z_im * d_re)
        d_re, d_im = (2 * product[0] >> bits) + (1 << 100), 2 * product[1] >> bits
        z_re, z_im = (
            floor(Fraction(z_re * z_re - z_im * z_im, unit)) + c_re,
            floor(Fraction(2 * z_re * z_im, unit)) + c_im,
        )
        re, im = Fraction(z_re, unit), Fraction(z_im, unit)
        values.append((re, im))
        if re * re + im * im > radius_squared:
            return values, "escaped"
        if re * re + im * im < radius**2 * Fraction(d_re * d_re + d_im * d_im, 1 << 200):
            return values, "period"
    return values, "cap"
