"""Where a reference of version 2 may end: the first n at which some c within its radius has z_n = 0, to first order.

A change of c by δ moves z_n by B·δ + M·δ̄. Both follow from the rounded values of the reference alone, in whole numbers,
so the place found is the same on every machine.
"""

from collections.abc import Sequence
from fractions import Fraction

from mandelcl.base.exact import floor_log2
from mandelcl.formulas.differential import STILL, Change, Differential, Parts
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Add, Store

_DIGITS = 64  # of B and M
_BITS = 192  # of z beyond those that its size needs
_DEGREE = 10  # a line's values are no smaller than z to this power
_RADIUS_BITS = 53


class ExactPeriodSearch:
    """Looks along an orbit for n with |B̄·z − M·z̄| < radius·||B|² − |M|²|."""

    def __init__(self, lines: Sequence[Line], phase: int, centre: tuple[Fraction, Fraction], radius: Fraction) -> None:
        # Of each operation, whether it stores, and whether one behind it asks for z: `add` alone does not.
        self._lines = [
            [
                (operation, isinstance(operation, Store), not all(isinstance(other, Add) for other in line[n + 1 :]))
                for n, operation in enumerate(line)
            ]
            for line in map(tuple, lines)
        ]
        self._phase, self._centre, self._n = phase, centre, 0
        self._change: Change = STILL
        self._kept: dict[int, tuple[Differential, Parts]] = {}  # rules and c for values of so many bits
        self._re, self._im = (0, 0), (0, 0)
        self._radius_exponent = floor_log2(radius) + 1 - _RADIUS_BITS
        scaled = radius / Fraction(2) ** self._radius_exponent
        self._radius = -(-scaled.numerator // scaled.denominator)

    def meets(self, re: tuple[int, int], im: tuple[int, int]) -> bool:
        """Return whether the next value, (k, e) for k·2^e in both parts, is such a place."""
        size = max((k.bit_length() + e for k, e in (self._re, self._im) if k), default=0)
        bits = _BITS + _DEGREE * max(0, -size)
        z = _whole(self._re, bits), _whole(self._im, bits)
        if bits not in self._kept:
            re_c, im_c = (round(part * (1 << bits)) for part in self._centre)
            self._kept[bits] = Differential(bits, _DIGITS), (re_c, im_c)
        (rules, c), change = self._kept[bits], self._change
        stored, kept = z, change
        for operation, stores, goes_on in self._lines[(self._phase + self._n) % len(self._lines)]:
            if stores:
                stored, kept = z, change
                continue
            change = operation.differential(rules, z, stored, change, kept)
            if goes_on:
                z = operation.integers(z, stored, c, bits)
        self._change, self._re, self._im, self._n = change, re, im, self._n + 1
        return self._reaches()

    def _reaches(self) -> bool:
        a, b, p, q, exponent = self._change
        sizes = [k.bit_length() + e for k, e in (self._re, self._im) if k]
        if not sizes:
            return any(self._change[:4])
        reach = max(a.bit_length(), b.bit_length(), p.bit_length(), q.bit_length()) + exponent
        if max(sizes) > reach + self._radius_exponent + _RADIUS_BITS + 4:
            return False
        z_exponent = max(sizes) - _BITS
        (x, y) = (k << e - z_exponent if e >= z_exponent else k >> z_exponent - e for k, e in (self._re, self._im))
        determinant = abs(a * a + b * b - p * p - q * q)
        u, v = a * x + b * y - (p * x + q * y), a * y - b * x - (q * x - p * y)
        left, right = u * u + v * v, (self._radius * determinant) ** 2
        # |(u, v)|·2^(exponent + z_exponent) < radius·2^radius_exponent·determinant·2^(2·exponent)
        up = 2 * (self._radius_exponent + exponent - z_exponent)
        gap = right.bit_length() + up - left.bit_length()
        if abs(gap) > 1:
            return gap > 1
        return left < right << up if up >= 0 else left << -up < right


def _whole(value: tuple[int, int], bits: int) -> int:
    """Return a number in units of 2^−bits, rounded down."""
    k, e = value
    return k << e + bits if e + bits >= 0 else k >> -e - bits
