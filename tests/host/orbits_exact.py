"""Orbits and their differences to hundreds of bits, for tests of what is computed beside a reference."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.perturbation.orbit import AT_LIMIT, Orbit
from mandelcl.perturbation.table import TableLevel

_BITS = 700  # that are kept of a number's larger part
_TINY_BITS = 900

# A nucleus of period 998 to sixty digits: never escapes, and |Z| dips to 1e-59 at each period.
PERIOD_998 = (
    Fraction("-0.743643887037158870778064543493642575047609962321255060213887"),
    Fraction("0.131825904205312292821097354874767265262988599679042974937476"),
)
NEAR_PERIOD_2 = (Fraction(-1) + Fraction(1, 10**400), Fraction(1, 10**420))


@dataclass(frozen=True, slots=True)
class Number:
    """The complex number (x + i·y)·2^e, of 700 bits: exact where tests are concerned."""

    x: int
    y: int = 0
    e: int = 0

    def __add__(self, other: "Number") -> "Number":
        if not (other.x or other.y):
            return self
        if not (self.x or self.y):
            return other
        low, high = sorted((self, other), key=lambda number: number.e)
        shift = high.e - low.e
        return Number((high.x << shift) + low.x, (high.y << shift) + low.y, low.e)._trimmed()

    def __mul__(self, other: "Number") -> "Number":
        return Number(
            self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x, self.e + other.e
        )._trimmed()

    def __neg__(self) -> "Number":
        return Number(-self.x, -self.y, self.e)

    def __sub__(self, other: "Number") -> "Number":
        return self + -other

    def scaled(self, bits: int) -> "Number":
        """Return this times 2^bits."""
        return Number(self.x, self.y, self.e + bits)

    def _trimmed(self) -> "Number":
        extra = max(self.x.bit_length(), self.y.bit_length()) - _BITS
        return self if extra <= 0 else Number(self.x >> extra, self.y >> extra, self.e + extra)

    @property
    def size(self) -> float:
        """The logarithm of the absolute value; minus infinity of 0."""
        square = self.x * self.x + self.y * self.y
        return math.log2(square) / 2 + self.e if square else -math.inf

    @property
    def modulus(self) -> "Number":
        """The absolute value, at most 2^-300 of it too large."""
        shift = 600
        square = (self.x * self.x + self.y * self.y) << 2 * shift
        return Number(math.isqrt(square) + 1 if square else 0, 0, self.e - shift)._trimmed()


ZERO, ONE = Number(0), Number(1)


def number(x: float | Fraction, y: float | Fraction = 0.0, exponent: int = 0) -> Number:
    """Return (x + i·y)·2^exponent of two fractions whose denominators are powers of two."""
    (a, c), (b, d) = x.as_integer_ratio(), y.as_integer_ratio()
    bits = max(c, d).bit_length() - 1
    return Number(a * ((1 << bits) // c), b * ((1 << bits) // d), exponent - bits)


def value(orbit: Orbit, index: int) -> Number:
    """Return Z at an index as it is stored."""
    x, y, exponent = orbit.tiny.get(index, (float(orbit.re[index]), float(orbit.im[index]), 0))
    return number(x, y, exponent)


def stored(values: Sequence[Number]) -> Orbit:
    """Return values rounded toward 0 as a reference orbit keeps them."""
    tiny = {}
    re, im = np.zeros(len(values)), np.zeros(len(values))
    for index, value in enumerate(values):
        bits = max(value.x.bit_length(), value.y.bit_length())
        if bits and bits + value.e <= -_TINY_BITS:
            tiny[index] = (_truncated(value.x, -bits), _truncated(value.y, -bits), bits + value.e)
        else:
            re[index], im[index] = _truncated(value.x, value.e), _truncated(value.y, value.e)
    return Orbit(re, im, tiny, AT_LIMIT)


def _truncated(x: int, e: int) -> float:
    extra = max(0, abs(x).bit_length() - 53, -1074 - e)
    return math.ldexp(abs(x) >> extra, e + extra) * (-1 if x < 0 else 1)


def orbit_values(c: tuple[Fraction, Fraction], iterations: int, bits: int) -> list[Number]:
    """Return Z_0 … Z_iterations of z² + c, each to so many bits after the point."""
    a, b = (round(part * (1 << bits)) for part in c)
    x = y = 0
    values = []
    for _ in range(iterations + 1):
        values.append(Number(x, y, -bits))
        x, y = ((x * x - y * y) >> bits) + a, ((x * y) >> (bits - 1)) + b
    return values


def coefficients(level: TableLevel, record: int) -> list[Number]:
    """Return A, B, D, E, F of a record."""
    rows = zip(level.mantissas[::2, record], level.mantissas[1::2, record], level.exponents[:, record], strict=True)
    return [number(float(x), float(y), int(e)) for x, y, e in rows]
