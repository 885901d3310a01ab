"""The arithmetic of derivatives for fixed point on the host, to the last bit what cl/derivative_fixed.cl gives.

A derivative is (re, im, e), whole numbers: (re + i·im)·2^(e − 29), the larger part from 2²⁷ to 2²⁹ in size.
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mandelcl.base.arithmetic import Arithmetic, Complex

if TYPE_CHECKING:
    from mandelcl.core.numbers.fixed import FixedFormat

Scaled: TypeAlias = tuple[int, int, int]
Point: TypeAlias = tuple[Any, ...]  # both parts, and an exponent where that is not 0

_NOTHING = -(1 << 28)
_LEAST = -90  # the exponent below which a point's mantissa is not normalised
_SMALL = -80  # the exponent below which a part counts as 0


class FixedDerivatives:
    """Derivatives with an exponent; points are rounded to float, in which an orbit also goes on to the smooth radius.

    `plain` is the arithmetic of float in which each operation is rounded alone.
    """

    def __init__(self, number: "FixedFormat", plain: Arithmetic) -> None:
        self.plain: Arithmetic = plain
        self.far: Arithmetic = plain
        self._number = number

    def zero(self) -> Scaled:
        """Return 0."""
        return 0, 0, _NOTHING

    def unit(self, k: int) -> Scaled:
        """Return 2^−k."""
        return 1 << 28, 0, 1 - k

    def turned(self, a: Scaled) -> Scaled:
        """Return i·a, for an a that is real."""
        return a[1], a[0], a[2]

    def point(self, z: Complex) -> tuple[Any, ...]:
        """Return z by its first two digits, or by later ones where these have few bits, with an exponent."""
        few, k = 2.0 ** -(22 + self._number.bits), 0
        re, im = (self._leading(part, k) for part in z)
        while max(abs(re), abs(im)) < few and k < self._number.digits - 1:
            k += 1
            re, im = (self._leading(part, k) for part in z)
        return re, im, -self._number.bits * k

    def far_from(self, z: Complex) -> Complex:
        """Return z as an orbit goes on with it to the smooth radius: its first digit."""
        unit = np.float32(2.0**-self._number.bits)
        return np.float32(z[0][0]) * unit, np.float32(z[1][0]) * unit

    def constant(self, re: Fraction, im: Fraction) -> Point:
        """Return a constant, as the number holds it, as a point."""
        arithmetic = self._number.arithmetic("fixed")
        return self.point((arithmetic.encode(re), arithmetic.encode(im)))

    def point_square(self, z: Point) -> Point:
        """Return z², each operation rounded alone."""
        x, y, e = _whole(z)
        return x * x - y * y, (x + x) * y, e + e

    def point_product(self, a: Point, b: Point) -> Point:
        """Return a·b, each operation rounded alone."""
        (x, y, e), (u, v, f) = _whole(a), _whole(b)
        return x * u - y * v, x * v + y * u, e + f

    def point_sum(self, a: Point, b: Point) -> Point:
        """Return a + b at the larger exponent."""
        (x, y, e), (u, v, f) = _whole(a), _whole(b)
        by_a, by_b = (np.float32(2.0 ** max(k - max(e, f), -126)) for k in (e, f))
        return x * by_a + u * by_b, y * by_a + v * by_b, max(e, f)

    def point_turn_re(self, z: Point, where: bool) -> Point:
        """Return z with the sign of its real part turned."""
        return (-z[0] if where else z[0]), *z[1:]

    def point_turn_im(self, z: Point, where: bool) -> Point:
        """Return z with the sign of its imaginary part turned."""
        return z[0], (-z[1] if where else z[1]), *z[2:]

    def add(self, a: Scaled, b: Scaled) -> Scaled:
        """Return a + b."""
        e = max(a[2], b[2])
        by_a, by_b = min(e - a[2], 31), min(e - b[2], 31)
        return _normal((a[0] >> by_a) + (b[0] >> by_b), (a[1] >> by_a) + (b[1] >> by_b), e)

    def twice(self, a: Scaled) -> Scaled:
        """Return 2·a."""
        return a[0], a[1], a[2] + 1

    def times(self, z: tuple[Any, ...], a: Scaled) -> Scaled:
        """Return z·a, where z may have an exponent."""
        return _normal(*_product(z, a))

    def square(self, z: Point, a: Scaled, turned: bool) -> Scaled:
        """Return 2·z·a, with the sign of its imaginary part turned where `turned` says so."""
        return self.turn_im(self.twice(self.times(z, a)), turned)

    def square_add(self, z: Point, a: Scaled, turned: bool, move: Scaled) -> Scaled:
        """Return the same plus move, where the product is not normalised."""
        return self.add(self.turn_im(self.twice(_product(z, a)), turned), move)

    def turn_re(self, a: Scaled, where: bool) -> Scaled:
        """Return a with the sign of its real part turned."""
        return (-a[0] if where else a[0]), a[1], a[2]

    def turn_im(self, a: Scaled, where: bool) -> Scaled:
        """Return a with the sign of its imaginary part turned."""
        return a[0], (-a[1] if where else a[1]), a[2]

    def parts(self, a: Scaled) -> tuple[np.float32, np.float32]:
        """Return both parts, rounded to float."""
        if a[2] < _SMALL:
            return np.float32(0), np.float32(0)
        power = np.float32(2.0 ** min(a[2] - 29, 127))
        with np.errstate(over="ignore"):
            return np.float32(a[0]) * power, np.float32(a[1]) * power

    def to_float(self, value: np.float32) -> np.float32:
        """Return a part of what goes on to the smooth radius, which is one."""
        return value

    def _leading(self, digits: list[int], k: int) -> Any:
        unit = np.float32(2.0**-self._number.bits)
        upper = np.float32(digits[k]) * unit
        return upper if k == self._number.digits - 1 else upper + np.float32(digits[k + 1]) * (unit * unit)


def _product(z: tuple[Any, ...], a: Scaled) -> Scaled:
    """Return z·a, not normalised."""
    re, im, e = _of_point(*z)
    return _high(re, a[0]) - _high(im, a[1]), _high(re, a[1]) + _high(im, a[0]), e + a[2] + 1


def _whole(z: Point) -> tuple[Any, Any, int]:
    """Return both parts and the exponent of a point."""
    return z[0], z[1], (z[2] if len(z) > 2 else 0)


def _high(a: int, b: int) -> int:
    """Return 4·a·b / 2³², rounded down."""
    return (4 * a * b) >> 32


def _normal(re: int, im: int, e: int) -> Scaled:
    larger = max(abs(re), abs(im))
    if not larger:
        return 0, 0, _NOTHING
    by = 29 - math.frexp(float(np.float32(larger)))[1]  # a float's exponent: where that is rounded up, one less
    return (re << by, im << by, e - by) if by >= 0 else (re >> -by, im >> -by, e - by)


def _of_point(re: np.float32, im: np.float32, e: int = 0) -> Scaled:
    """Return a point as a derivative is written; parts are rounded towards 0."""
    larger = float(max(abs(re), abs(im)))
    if larger == 0:
        return 0, 0, _NOTHING
    by = max(math.frexp(larger)[1], _LEAST)
    return int(math.ldexp(float(re), 29 - by)), int(math.ldexp(float(im), 29 - by)), e + by
