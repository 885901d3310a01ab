"""Where a reference of version 2 may end: the first n at which some c within its radius has z_n = 0, to first order.

A change of c by δ moves z_n by B·δ + M·δ̄. Both follow from the rounded values of the reference alone, in whole numbers,
so the place found is the same on every machine. Doubles decide first, with a bound on their error, in a tenth of the
time. Whole numbers decide the few places of which doubles cannot tell.
"""

import math
from array import array
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from mandelcl.base.exact import floor_log2
from mandelcl.formulas.differential import STILL, Change, Differential, Parts
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Add, Store
from mandelcl.perturbation.exact_places import double_of
from mandelcl.perturbation.folded_powers import FoldedPower, folded_powers
from mandelcl.perturbation.integers import DOUBLE_BITS

_Part: TypeAlias = tuple[int, int]  # (k, e) for k·2^e

_DIGITS = 64  # of B and M
_BITS = 192  # of z beyond those that its size needs
_DEGREE = 10  # a line's values are no smaller than z to this power
_RADIUS_BITS = 53
_LEAST, _MOST = 2.0**-200, 2.0**200  # |B| + |M| without its exponent
_MOST_EXPONENT = 900  # of 1 and of the radius without that exponent
_LARGE = 2.0**60  # values from here on are left to whole numbers, too
_LEAST_FACTOR = -700  # the exponent of z^(degree − 1), below which a value is left to whole numbers
_OFF = 2.0**-51  # a product of doubles by a power of another is off by less than so much for each of its factors
_MOST_ERROR = 2.0**-30  # the largest error of use, as a share of |B| + |M|
_DOUBT = 2.0**-44  # of what is compared, for the roundings of the comparison
_CLEAR = 256.0  # whole numbers refuse a value at once that is larger than this times (|B| + |M|)·radius


class ExactPeriodSearch:
    """Looks along an orbit for n with |B̄·z − M·z̄| < radius·||B|² − |M|²|."""

    def __init__(self, lines: Sequence[Line], phase: int, centre: tuple[Fraction, Fraction], radius: Fraction) -> None:
        self._whole = _WholeChange(lines, phase, centre, radius)
        powers = folded_powers(lines)
        self._doubles = None if powers is None else _DoubleChange(powers, phase, radius)
        self._waiting = array("d"), array("d")  # both parts of what the whole numbers have not seen

    def meets(self, re: _Part, im: _Part) -> bool:
        """Return whether the next value is such a place."""
        x, y = double_of(re), double_of(im)
        if self._doubles is not None and x and y:
            return self.find([x], [y]) is not None
        return self._decided(re, im)

    def find(self, re: list[float], im: list[float]) -> int | None:
        """Return the index of the first such place among the next values, or None. No part may be 0."""
        assert self._doubles is not None, "only folded powers have places in batches"
        start = 0
        while start < len(re):
            found, met = self._doubles.find(re[start:], im[start:])
            end = start + found
            for waiting, values in zip(self._waiting, (re, im), strict=True):
                waiting.extend(values[start:end])
            if met or (end < len(re) and self._decided(_whole_part(re[end]), _whole_part(im[end]))):
                return end
            start = end + 1
        return None

    def _decided(self, re: _Part, im: _Part) -> bool:
        """Return by whole numbers whether the next value is such a place, and have doubles go on from there."""
        for x, y in zip(*self._waiting, strict=True):
            self._whole.advance(_whole_part(x), _whole_part(y))
        for waiting in self._waiting:
            del waiting[:]
        found = self._whole.meets(re, im)
        if self._doubles is not None:
            self._doubles.begin(self._whole.change, double_of(re), double_of(im), self._whole.n)
        return found


class _WholeChange:
    """B and M in whole numbers: what decides."""

    def __init__(self, lines: Sequence[Line], phase: int, centre: tuple[Fraction, Fraction], radius: Fraction) -> None:
        # Of each operation, whether it stores, and whether one behind it asks for z: `add` alone does not.
        self._lines = [
            [
                (operation, isinstance(operation, Store), not all(isinstance(other, Add) for other in line[n + 1 :]))
                for n, operation in enumerate(line)
            ]
            for line in map(tuple, lines)
        ]
        self._phase, self._centre, self.n = phase, centre, 0
        self.change: Change = STILL
        self._kept: dict[int, tuple[Differential, Parts]] = {}  # rules and c for values of so many bits
        self._re, self._im = (0, 0), (0, 0)
        self._radius_exponent = floor_log2(radius) + 1 - _RADIUS_BITS
        scaled = radius / Fraction(2) ** self._radius_exponent
        self._radius = -(-scaled.numerator // scaled.denominator)

    def meets(self, re: _Part, im: _Part) -> bool:
        """Go on to the next value, and return whether it is a place that is looked for."""
        self.advance(re, im)
        return self._reaches()

    def advance(self, re: _Part, im: _Part) -> None:
        """Go on to the next value."""
        size = max((k.bit_length() + e for k, e in (self._re, self._im) if k), default=0)
        bits = _BITS + _DEGREE * max(0, -size)
        z = _in_units(self._re, bits), _in_units(self._im, bits)
        if bits not in self._kept:
            re_c, im_c = (round(part * (1 << bits)) for part in self._centre)
            self._kept[bits] = Differential(bits, _DIGITS), (re_c, im_c)
        (rules, c), change = self._kept[bits], self.change
        stored, kept = z, change
        for operation, stores, goes_on in self._lines[(self._phase + self.n) % len(self._lines)]:
            if stores:
                stored, kept = z, change
                continue
            change = operation.differential(rules, z, stored, change, kept)
            if goes_on:
                z = operation.integers(z, stored, c, bits)
        self.change, self._re, self._im, self.n = change, re, im, self.n + 1

    def _reaches(self) -> bool:
        a, b, p, q, exponent = self.change
        sizes = [k.bit_length() + e for k, e in (self._re, self._im) if k]
        if not sizes:
            return any(self.change[:4])
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


class _DoubleChange:
    """B and M as doubles with an exponent, and a bound on the errors of both together."""

    def __init__(self, lines: Sequence[FoldedPower], phase: int, radius: Fraction) -> None:
        self._lines, self._phase = lines, phase
        self._radius_exponent = floor_log2(radius)
        self._radius = float(radius / Fraction(2) ** self._radius_exponent)
        self._least = [math.exp2(_LEAST_FACTOR / (line.degree - 1)) for line in lines]
        self._b = self._m = 0j
        self._error, self._exponent = 0.0, 0
        self._x = self._y = 0.0
        self._n = 0

    def begin(self, change: Change, x: float, y: float, n: int) -> None:
        """Go on from a change in whole numbers at x + y·i, the n-th value."""
        *parts, exponent = change
        drop = max(part.bit_length() for part in parts) - DOUBLE_BITS
        a, b, p, q = (float(int(part >> drop if drop > 0 else part)) for part in parts)
        self._b, self._m = complex(a, b), complex(p, q)
        self._exponent = exponent + max(0, drop)
        self._error = (abs(self._b) + abs(self._m)) * _OFF
        self._x, self._y, self._n = x, y, n

    def find(self, re: list[float], im: list[float]) -> tuple[int, bool]:
        """Return (k, True) if the k-th of some next values meets, and (how many there are, False) if none does.

        (k, False) for a lower k says that it cannot be told of the k-th; the search is to `begin` again there.
        """
        b, m, error, px, py = self._b, self._m, self._error, self._x, self._y
        one, radius = self._scales()
        lines, first = self._lines, self._phase + self._n
        k, met = 0, False
        for k, (x, y) in enumerate(zip(re, im, strict=True)):
            line = lines[(first + k) % len(lines)]
            regular = px and py and self._least[(first + k) % len(lines)] < abs(px) + abs(py) < _LARGE
            if not regular and self._n + k:
                break
            for reflection in line.reflections:
                if reflection.always or (px if reflection.of_re else py) < 0:
                    b, m = m.conjugate(), b.conjugate()
                    if reflection.of_re:
                        b, m, px = -b, -m, -px
                    else:
                        py = -py
            z = complex(px, py)
            factor = z + z if line.degree == 2 else line.degree * z ** (line.degree - 1)
            b, m = b * factor, m * factor
            off = _OFF * line.degree
            error = error * abs(factor) * (1 + off) + (abs(b) + abs(m)) * off
            if line.adds:
                b += one
            reach = abs(b) + abs(m)
            error += reach * _OFF
            if not _LEAST < reach < _MOST:
                if not 0 < reach < math.inf:
                    break
                up = math.frexp(reach)[1]
                scale = 2.0**-up
                b, m, error, reach = b * scale, m * scale, error * scale, reach * scale
                self._exponent += up
                one, radius = self._scales()
            px, py = x, y
            if max(abs(x), abs(y)) > _CLEAR * radius * (reach + error):
                continue
            if error > reach * _MOST_ERROR:
                break
            z = complex(x, y)
            left = abs(b.conjugate() * z - m * z.conjugate())
            right = radius * abs(abs(b) ** 2 - abs(m) ** 2)
            # The error of the whole numbers, of 64 bits, is far below that of doubles.
            doubt = (reach * abs(z) + radius * reach * reach) * (5 * error / reach + _DOUBT)
            if abs(left - right) <= doubt:
                break
            if left < right:
                met = True
                break
        else:
            k = len(re)
        self._b, self._m, self._error, self._x, self._y = b, m, error, px, py
        self._n += k
        return k, met

    def _scales(self) -> tuple[float, float]:
        """Return 1 and the radius, without the exponent of the change."""
        one = math.ldexp(1.0, -self._exponent) if self._exponent > -_MOST_EXPONENT else math.inf
        return one, math.ldexp(self._radius, min(self._radius_exponent + self._exponent, _MOST_EXPONENT))


def _in_units(value: _Part, bits: int) -> int:
    """Return a number in units of 2^−bits, rounded down."""
    k, e = value
    return k << e + bits if e + bits >= 0 else k >> -e - bits


def _whole_part(value: float) -> _Part:
    """Return a double as (k, e)."""
    mantissa, exponent = math.frexp(value)
    return int(mantissa * 2.0**DOUBLE_BITS), exponent - DOUBLE_BITS
