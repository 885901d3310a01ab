"""Where a reference of a Julia set may end: nothing is lost there when orbits beside it begin anew beside that of 0.

That is so where its z is as good as 0, and also where the orbits are as they are in any case. Near an attracting cycle
they all go the same way. Far enough along an expanding orbit, no two pixels are near each other any more. What is asked
follows from the rounded values of the reference alone, with IEEE 754's products in the order that is written, so the
place found is the same on every machine.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from mandelcl.base.exact import floor_log2
from mandelcl.formulas.line import Line
from mandelcl.perturbation.exact_places import Rounded

_LESS = 128  # bits by which |Z| is below radius² where it is as good as 0
_MORE = 256  # bits by which the derivative is above 1/radius³ where the orbit has gone far enough
_BITS = 53
_ATTRACTING = 1 - 2.0**-8  # at most the square of a cycle's multiplier


class JuliaEnd:
    """Looks along an orbit, from the line of a phase on, for a place where it may end.

    These are the places at which |Z| < radius²·2^−128; at which |dZ_n/dZ_m| > 2^256/radius³, where m is 1 for orbits of
    0, otherwise 0; and at which Z is again where it was at n = 1, 2, 4, 8 …, whichever was last, to 52 bits and with a
    derivative since then below 1.
    """

    def __init__(self, lines: Sequence[Line], phase: int, radius: Fraction) -> None:
        self._degrees, self._phase = [line.degree for line in lines], phase
        bits = min(0, floor_log2(radius))
        self._least, self._most = 2 * bits - _LESS, 2 * (_MORE - 3 * bits)
        self._n = self._kept_at = 0
        self._kept: tuple[Rounded, Rounded] = (0, 0), (0, 0)
        self._since_start = self._since_kept = 0.5, 1  # squares of derivatives, and their exponents

    def begins(self, re: Rounded, im: Rounded) -> None:
        """Take the first place, from which the derivative is taken unless it is 0."""
        if re[0] or im[0]:
            self._go_on(re, im)

    def meets(self, re: Rounded, im: Rounded) -> bool:
        """Return whether the next value, (k, e) for k·2^e in both parts, is such a place."""
        self._n += 1
        top = _top(re, im)
        if top is None or top <= self._least or self._since_start[1] > self._most:
            return True
        whole_cycles = (self._n - self._kept_at) % len(self._degrees) == 0
        attracts = self._since_kept[1] <= 0 and math.ldexp(*self._since_kept) < _ATTRACTING
        if whole_cycles and attracts and _are_close((re, im), self._kept, top - _BITS):
            return True
        if self._n >= 2 * self._kept_at:
            self._kept, self._kept_at, self._since_kept = (re, im), self._n, (0.5, 1)
        self._go_on(re, im)
        return False

    def _go_on(self, re: Rounded, im: Rounded) -> None:
        """Take the derivative of the line from a place on: a line of degree d has d·|z|^(d − 1)."""
        top = _top(re, im) or 0
        x, y = (math.ldexp(k, e - top) for k, e in (re, im))
        degree, square = self._degrees[(self._phase + self._n) % len(self._degrees)], x * x + y * y
        factor = float(degree * degree)
        for _ in range(1, degree):
            factor *= square
        by = 2 * top * (degree - 1)
        self._since_start = _normal(self._since_start[0] * factor, self._since_start[1] + by)
        self._since_kept = _normal(self._since_kept[0] * factor, self._since_kept[1] + by)


def _top(re: Rounded, im: Rounded) -> int | None:
    """Return the exponent of the power of two above both parts; None where both are 0."""
    return max((k.bit_length() + e for k, e in (re, im) if k), default=None)


def _are_close(z: tuple[Rounded, Rounded], other: tuple[Rounded, Rounded], unit: int) -> bool:
    """Return whether both parts are the same to within a unit of 2^unit."""
    return all(abs(_whole(one, unit) - _whole(two, unit)) <= 1 for one, two in zip(z, other, strict=True))


def _whole(value: Rounded, unit: int) -> int:
    """Return a number in units of 2^unit, rounded down."""
    k, e = value
    return k << e - unit if e >= unit else k >> unit - e


def _normal(mantissa: float, exponent: int) -> tuple[float, int]:
    """Return a positive number with a mantissa from 1/2 to 1."""
    fraction, shift = math.frexp(mantissa)
    return fraction, exponent + shift
