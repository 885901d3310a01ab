"""The terms of a return map F = f^p about 0, from the places 1 … p of a reference.

F(w, c) is the sum of f_jk·t^j·c^k with t = w². Some are computed in integers, to any number of bits; all of them, up to
order 4 in t and 2 in c, as prefix sums in doubles, by real operations in the order that is written.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.perturbation.integers import Doubles, WordIntegers
from mandelcl.perturbation.native import Cut, Native, native_for

Pair: TypeAlias = tuple[Any, Any]  # parts, of one number or of many

ORDER = 4
TERMS = tuple((j, k) for j in range(ORDER + 1) for k in range(3) if 0 < j + k <= ORDER)

_AT_ONCE, _COLUMNS = 1 << 15, 128
SCANNED = 2.0**-48  # what a prefix sum in doubles is off by, an iteration and order
_BLOCK = 64  # iterations between two looks at the sizes of integers
_SPARE = 40  # bits that a coefficient may lose within a block
_LEAST = 2.0**-30  # of a product of 2|Z| within a block


@dataclass(frozen=True, slots=True)
class Whole:
    """(re + im·i)·2^exponent, in integers."""

    re: int
    im: int
    exponent: int

    def at(self, exponent: int) -> tuple[int, int]:
        """Return the parts in units of 2^exponent, rounded down."""
        up = self.exponent - exponent
        return (self.re << up, self.im << up) if up >= 0 else (self.re >> -up, self.im >> -up)


def in_map_units(jets: Sequence[Whole], w_bits: int) -> list[Whole]:
    """Return f_10, f_20, … for w times 2^w_bits."""
    return [Whole(jet.re, jet.im, jet.exponent + w_bits - 2 * j * w_bits) for j, jet in enumerate(jets, 1)]


def doubles_of(jets: Sequence[Whole], bits: int) -> list[complex]:
    """Return numbers as complex ones of doubles, from their parts in units of 2^−bits."""
    return [complex(*(math.ldexp(float(part), -bits) for part in jet.at(-bits))) for jet in jets]


def _mul(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _prefix_products(re: Doubles, im: Doubles, first: tuple[float, float]) -> Pair:
    """Return the products of `first` and the numbers up to each one: within columns, then from column to column."""
    rows = -(-len(re) // _COLUMNS)
    x, y = np.ones(rows * _COLUMNS), np.zeros(rows * _COLUMNS)
    x[: len(re)], y[: len(re)] = re, im
    x, y = (np.ascontiguousarray(part.reshape(_COLUMNS, rows).T) for part in (x, y))
    for row in range(1, rows):
        x[row], y[row] = _mul((x[row - 1], y[row - 1]), (x[row], y[row]))
    from_x, from_y = [], []
    a, b = first
    for u, v in zip(x[-1].tolist(), y[-1].tolist(), strict=True):
        from_x.append(a)
        from_y.append(b)
        a, b = a * u - b * v, a * v + b * u
    x, y = _mul((x, y), (np.array(from_x), np.array(from_y)))
    return x.T.reshape(-1)[: len(re)].copy(), y.T.reshape(-1)[: len(re)].copy()


def _sum(parts: Pair, first: tuple[float, float]) -> Pair:
    """Return the sums before each number and, behind them, of all."""
    x, y = (np.add.accumulate(np.concatenate([[start], part])) for start, part in zip(first, parts, strict=True))
    return x, y


def scan_error(period: int) -> float:
    """Return what the terms of a period are off by, as a share of the bounds that `GrowthSums` says of them."""
    return ORDER * period * SCANNED


@dataclass(frozen=True, slots=True)
class Scan:
    """Sums in doubles: A, and f_jk/A, for w times 2^w_bits and c times 2^c_bits."""

    a: tuple[float, float]
    shares: dict[tuple[int, int], tuple[float, float]]

    def terms(self, a: tuple[float, float]) -> tuple[complex, ...]:
        """Return f_jk for each of TERMS, with A from elsewhere, which has more bits than the product in doubles."""
        products = (_mul(a, self.shares[term]) for term in TERMS)
        return tuple(complex(*product) for product in products)


def scanned(re: Doubles, im: Doubles, w_bits: int, c_bits: int, cancel: Token = NEVER) -> Scan:
    """Return the sums over Z_1 … Z_{p−1}."""
    terms = sorted(TERMS, key=sum)
    t_unit, c_unit = 2.0 ** (-2 * w_bits), 2.0 ** (2 * w_bits - c_bits)
    totals = dict.fromkeys(terms, (0.0, 0.0))
    totals[1, 0], totals[0, 1] = (1.0, 0.0), (c_unit, 0.0)
    a = (1.0, 0.0)
    for top in range(0, len(re), _AT_ONCE):
        stop_if(cancel)
        x, y = re[top : top + _AT_ONCE], im[top : top + _AT_ONCE]
        ax, ay = _prefix_products(2 * x, 2 * y, a)
        before = np.concatenate([[a[0]], ax[:-1]]), np.concatenate([[a[1]], ay[:-1]])
        a = float(ax[-1]), float(ay[-1])
        by = 1 / (4 * (x * x + y * y))
        g = _mul(before, (2 * x * by, -2 * y * by))
        g = g[0] * t_unit, g[1] * t_unit
        by = c_unit / (ax * ax + ay * ay)
        sums: dict[tuple[int, int], Pair] = {}
        for term in terms:
            if term == (1, 0):
                continue
            part = (ax * by, -ay * by) if term == (0, 1) else _mul(g, _products(term, terms, sums, len(x)))
            summed = _sum(part, totals[term])
            totals[term] = float(summed[0][-1]), float(summed[1][-1])
            sums[term] = summed[0][:-1], summed[1][:-1]
    scale = 2.0**-w_bits
    return Scan((a[0] * scale, a[1] * scale), totals)


def _products(
    term: tuple[int, int], terms: Sequence[tuple[int, int]], sums: dict[tuple[int, int], Pair], count: int
) -> Pair:
    """Return the term of u², from those of lower order; u's term in t alone is 1."""
    x, y = np.zeros(count), np.zeros(count)
    for place, one in enumerate(terms):
        two = term[0] - one[0], term[1] - one[1]
        if two not in terms or terms.index(two) < place:
            continue
        if one == two == (1, 0):
            x = x + 1.0
            continue
        of_one = (1, 0) in (one, two)
        product = sums[two if one == (1, 0) else one] if of_one else _mul(sums[one], sums[two])
        times = 1.0 if one == two else 2.0
        x, y = x + times * product[0], y + times * product[1]
    return x, y


def whole_jets(
    re: Sequence[int],
    im: Sequence[int],
    bits: int,
    sizes: Doubles,
    order: int,
    digits: int,
    cancel: Token = NEVER,
    native: Native | None = None,
) -> list[Whole]:
    """Return f_10 … f_{order}0 from Z_1 … Z_{p−1} in units of 2^−bits, whose absolute values are `sizes`.

    They are computed by a kernel, that of `native` or of `native_for`, where the places are of words.

    Each is off by at most 8·j·p·2^−digits of what `GrowthSums` bounds it by, and what the errors of Z come to.
    """
    least = float(sizes.min())
    kept = min(bits, digits + _SPARE + max(0, 8 - int(np.frexp(least)[1])))
    drop = bits - kept
    if isinstance(re, WordIntegers) and isinstance(im, WordIntegers):
        native = native or native_for(bits)
        cut = Cut(drop, kept - 1, digits + _SPARE)
        found = None if native is None else native.jets((re, im), sizes, cut, order, cancel)
        if found is not None:
            return [Whole(*jet) for jet in found]
    values = [(1, 0), *[(0, 0)] * (order - 1)]
    scales = [0] * order
    pairs = [[(i, k - 1 - i, i != k - 1 - i) for i in range((k - 1) // 2 + 1)] if k else [] for k in range(order)]
    for first, last in _blocks(sizes):
        stop_if(cancel)
        values, scales = _normalised(values, scales, digits + _SPARE)
        shifts = [[(i, j, twice, scales[k] - scales[i] - scales[j]) for i, j, twice in pairs[k]] for k in range(order)]
        if order == 1:
            values = _linear(values[0], re[first:last], im[first:last], drop, kept)
        else:
            values = _block(values, re[first:last], im[first:last], drop, kept, shifts)
    return [Whole(x, y, scale) for (x, y), scale in zip(values, scales, strict=True)]


def whole_slope(
    re: Sequence[int], im: Sequence[int], bits: int, sizes: Doubles, digits: int, cancel: Token = NEVER
) -> Whole:
    """Return f_01, the derivative by c, in integers, as `whole_jets` does."""
    kept = min(bits, digits + _SPARE + max(0, 8 - int(np.frexp(float(sizes.min()))[1])))
    drop, less = bits - kept, kept - 1
    if isinstance(re, WordIntegers) and isinstance(im, WordIntegers):
        native, cut = native_for(bits), Cut(drop, less, digits + _SPARE)
        found = None if native is None else native.jets((re, im), sizes, cut, 1, cancel, by_c=True)
        if found is not None:
            return Whole(*found[0])
    x, y, scale = 1, 0, 0
    for first, last in _blocks(sizes):
        stop_if(cancel)
        (((x, y), *_), (scale, *_)) = _normalised([(x, y)], [scale], digits + _SPARE)
        one = 1 << -scale if scale <= 0 else 0
        for u, v in zip(re[first:last], im[first:last], strict=True):
            u, v = u >> drop, v >> drop
            x, y = (x * u - y * v >> less) + one, x * v + y * u >> less
    return Whole(x, y, scale)


def _blocks(sizes: Doubles) -> Iterator[tuple[int, int]]:
    """Yield stretches in which no product of 2|Z| from the start is tiny, but for its last factor."""
    first = 0
    product = 1.0
    for place, size in enumerate((2 * sizes).tolist()):
        product *= size
        if product < _LEAST or place - first == _BLOCK:
            yield first, place + 1
            first, product = place + 1, 1.0
    if first < len(sizes):
        yield first, len(sizes)


def _normalised(
    values: list[tuple[int, int]], scales: list[int], digits: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the same numbers with so many digits each; of 0, the scale is that of the one before, and as a product."""
    found, units = [], []
    for (x, y), scale in zip(values, scales, strict=True):
        length = max(x.bit_length(), y.bit_length())
        by = digits - length
        if not length:
            found.append((0, 0))
            units.append(-digits)
        else:
            found.append((x << by, y << by) if by >= 0 else (x >> -by, y >> -by))
            units.append(scale - by)
    return found, units


def _linear(
    value: tuple[int, int], re: Sequence[int], im: Sequence[int], drop: int, kept: int
) -> list[tuple[int, int]]:
    x, y = value
    less = kept - 1
    for u, v in zip(re, im, strict=True):
        u, v = u >> drop, v >> drop
        x, y = x * u - y * v >> less, x * v + y * u >> less
    return [(x, y)]


def _block(
    values: list[tuple[int, int]],
    re: Sequence[int],
    im: Sequence[int],
    drop: int,
    kept: int,
    shifts: list[list[tuple[int, int, bool, int]]],
) -> list[tuple[int, int]]:
    less = kept - 1
    for u, v in zip(re, im, strict=True):
        u, v = u >> drop, v >> drop
        following = []
        for (x, y), products in zip(values, shifts, strict=True):
            a, b = x * u - y * v >> less, x * v + y * u >> less
            for i, j, twice, shift in products:
                p, q = values[i]
                r, s = values[j]
                e, f = p * r - q * s, p * s + q * r
                shift -= twice
                if shift >= 0:
                    a, b = a + (e >> shift), b + (f >> shift)
                else:
                    a, b = a + (e << -shift), b + (f << -shift)
            following.append((a, b))
        values = following
    return values
