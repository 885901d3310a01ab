"""The first terms of a return map of a long base, in pairs of doubles, for many stretches of the base at once.

Beside the places Z_n, a difference v and the constant c go through an iteration as v ← 2·Z·v + v² + c. A stretch takes
them to P·v + Q·v² + R·c, to second order in v and first in c, and stretches compose. A pair has 106 bits, and products
of pairs are those of T. Dekker (Numer. Math. 18, 1971), by IEEE 754's operations in the order that is written: the same
on every machine.
"""

import math
from collections.abc import Sequence
from itertools import repeat
from operator import and_, rshift
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.perturbation.integers import BULK_BITS, DOUBLE_BITS, Doubles, WordIntegers, floors_of
from mandelcl.perturbation.map_jets import Whole
from mandelcl.perturbation.orbit import Exponents

_Pair: TypeAlias = tuple[Doubles, Doubles]  # hi + lo, |lo| at most half a unit of hi
_Complex: TypeAlias = tuple[_Pair, _Pair]
_Exponents: TypeAlias = npt.NDArray[np.int64]

_LANES = 4096  # stretches
_STEPS = 16  # between two looks at the sizes
_SPLITTER = 134217729.0  # 2^27 + 1
_TOP_BITS, _REST_BITS = 10, 43  # of a floor below what a double takes, and of the next one that fit beside them
_DIGITS = 160  # of what the stretches are put together with
_SMALL = 2.0**-10  # a part below this becomes a pair by itself, with as many digits
_STEP_ERROR, _PLACE_ERROR = 2.0**-99, 2.0**-102  # of a step, relative, and of a place
_WHOLE_BITS = 120  # behind the point of a number that a stretch ends with
_LEAST_EXPONENT = -(1 << 40)


class Jets(NamedTuple):
    """f_10, f_20 and f_01 of a map, each off by at most `error` of the sum of its terms' absolute values."""

    first: Whole
    second: Whole
    by_c: Whole
    error: float


def paired_jets(re: Sequence[int], im: Sequence[int], bits: int, sizes: Doubles, cancel: Token = NEVER) -> Jets:
    """Return the terms from Z_1 … Z_{p−1} in units of 2^−bits, whose absolute values are `sizes`."""
    stretches = _Stretches(_rows(re, bits), _rows(im, bits), len(re))
    total = Whole(1, 0, 0), Whole(0, 0, 0), Whole(1, 0, 0)
    for first, second, by_c in stretches.composed(cancel):
        a, b, d = total
        total = _times(first, a), _plus(_times(first, b), _times(second, _times(a, a))), _plus(_times(first, d), by_c)
    error = 8 * (len(re) * _STEP_ERROR + _PLACE_ERROR * float((1 / np.maximum(sizes, _SMALL)).sum()))
    return Jets(*total, error)


class _Stretches:
    """P, Q and R of stretches side by side, with exponents of their own; the last one may be shorter."""

    def __init__(self, re: _Pair, im: _Pair, count: int) -> None:
        self._z = re, im
        self._steps, lanes = re[0].shape
        self._short = count - self._steps * (lanes - 1)  # steps of the last one
        one, none = np.ones(lanes), np.zeros(lanes)
        self._p: _Complex = (one, none), (none, none)
        self._q = self._r = ((none, none), (none, none))
        self._p_e = self._q_e = self._r_e = np.zeros(lanes, np.int64)

    def composed(self, cancel: Token) -> list[tuple[Whole, Whole, Whole]]:
        """Return what each stretch does, in the order of the base."""
        lanes = len(self._p_e)
        last: list[tuple[Whole, Whole, Whole]] = []
        for step in range(self._steps):
            if step == self._short:
                last = self._done()[-1:]
                lanes -= 1
            if step % _STEPS == 0:
                stop_if(cancel)
                self._normalise()
            self._step(step)
        return self._done()[:lanes] + last

    def _step(self, step: int) -> None:
        (x, x_low), (y, y_low) = self._z
        twice: _Complex = (2 * x[step], 2 * x_low[step]), (2 * y[step], 2 * y_low[step])
        re, im = _product(twice, self._r)
        one = np.ldexp(1.0, _within(-self._r_e))
        self._r = _added(re, (one, np.zeros_like(one))), im
        square = _scaled(_product(self._p, self._p), np.ldexp(1.0, _within(2 * self._p_e - self._q_e)))
        re, im = _product(twice, self._q)
        self._q = _added(re, square[0]), _added(im, square[1])
        self._p = _product(twice, self._p)

    def _normalise(self) -> None:
        self._p, self._p_e = _normalised(self._p, self._p_e, np.full_like(self._p_e, _LEAST_EXPONENT))
        self._q, self._q_e = _normalised(self._q, self._q_e, 2 * self._p_e)
        self._r, self._r_e = _normalised(self._r, self._r_e, np.zeros_like(self._r_e))

    def _done(self) -> list[tuple[Whole, Whole, Whole]]:
        self._normalise()
        parts = [_wholes(*one) for one in ((self._p, self._p_e), (self._q, self._q_e), (self._r, self._r_e))]
        return list(zip(*parts, strict=True))


def _rows(values: Sequence[int], bits: int) -> _Pair:
    """Return numbers below 4 as pairs: (step, stretch), with 0 behind the last one."""
    top = floors_of(values, bits)
    mask = (1 << BULK_BITS) - 1
    if isinstance(values, WordIntegers):
        below = values.floors(bits - 2 * BULK_BITS) & mask
    else:
        following = map(and_, map(rshift, values, repeat(bits - 2 * BULK_BITS)), repeat(mask))
        below = np.fromiter(following, np.int64, len(values))
    rest = ((top & ((1 << _TOP_BITS) - 1)) << _REST_BITS) | (below >> (BULK_BITS - _REST_BITS))
    high = (top >> _TOP_BITS).astype(np.float64) * 2.0 ** (_TOP_BITS - BULK_BITS)
    low = rest.astype(np.float64) * 2.0 ** -(BULK_BITS + _REST_BITS)
    for place in np.flatnonzero(np.abs(high) < _SMALL).tolist():
        high[place], low[place] = _pair(values[place], bits)
    pair = _quick(high, low)
    steps = -(-len(values) // _LANES)
    lanes = -(-len(values) // steps)
    padded = (np.pad(part, (0, steps * lanes - len(part))) for part in pair)
    hi, lo = (np.ascontiguousarray(part.reshape(lanes, steps).T) for part in padded)
    return hi, lo


def _pair(value: int, bits: int) -> tuple[float, float]:
    """Return a number of units of 2^−bits as a pair, rounded down."""
    drop = max(0, value.bit_length() - DOUBLE_BITS)
    top = int(value >> drop)
    rest = int(value) - (top << drop)
    less = max(0, rest.bit_length() - DOUBLE_BITS)
    return math.ldexp(top, drop - bits), math.ldexp(rest >> less, less - bits)


def _quick(a: Doubles, b: Doubles) -> _Pair:
    s = a + b
    return s, b - (s - a)


def _added(x: _Pair, y: _Pair) -> _Pair:
    s = x[0] + y[0]
    own = s - x[0]
    return _quick(s, ((x[0] - (s - own)) + (y[0] - own)) + (x[1] + y[1]))


def _multiplied(x: _Pair, y: _Pair) -> _Pair:
    p = x[0] * y[0]
    (a, b), (c, d) = _split(x[0]), _split(y[0])
    return _quick(p, (((a * c - p) + a * d + b * c) + b * d) + (x[0] * y[1] + x[1] * y[0]))


def _split(x: Doubles) -> _Pair:
    large = _SPLITTER * x
    high = large - (large - x)
    return high, x - high


def _product(a: _Complex, b: _Complex) -> _Complex:
    (x, y), (u, v) = a, b
    less = _multiplied(y, v)
    return _added(_multiplied(x, u), (-less[0], -less[1])), _added(_multiplied(x, v), _multiplied(y, u))


def _scaled(z: _Complex, by: Doubles) -> _Complex:
    (x, x_low), (y, y_low) = z
    return (x * by, x_low * by), (y * by, y_low * by)


def _normalised(z: _Complex, exponent: _Exponents, least: _Exponents) -> tuple[_Complex, _Exponents]:
    """Return the same numbers with the larger part in [1/2, 1), or with an exponent of `least`."""
    sizes = np.maximum(np.abs(z[0][0]), np.abs(z[1][0]))
    own = np.where(sizes > 0.0, np.frexp(sizes)[1] + exponent, _LEAST_EXPONENT)
    taken = np.maximum(own, least)
    return _scaled(z, np.ldexp(1.0, _within(exponent - taken))), taken


def _within(exponent: _Exponents) -> Exponents:
    """Return exponents of which doubles have powers: those beyond are of what does not count."""
    return np.clip(exponent, -1000, 1000).astype(np.int32)


def _wholes(z: _Complex, exponent: _Exponents) -> list[Whole]:
    parts = [np.ldexp(part, _WHOLE_BITS).tolist() for pair in z for part in pair]
    return [
        Whole(int(x) + int(x_low), int(y) + int(y_low), e - _WHOLE_BITS)
        for x, x_low, y, y_low, e in zip(*parts, exponent.tolist(), strict=True)
    ]


def _times(a: Whole, b: Whole) -> Whole:
    re, im = a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re
    return _cut(Whole(re, im, a.exponent + b.exponent))


def _plus(a: Whole, b: Whole) -> Whole:
    tops = [max(one.re.bit_length(), one.im.bit_length()) + one.exponent for one in (a, b) if one.re or one.im]
    exponent = max(tops, default=0) - _DIGITS
    (x, y), (u, v) = a.at(exponent), b.at(exponent)
    return Whole(x + u, y + v, exponent)


def _cut(a: Whole) -> Whole:
    """Return a number to so many digits."""
    drop = max(0, max(a.re.bit_length(), a.im.bit_length()) - _DIGITS)
    return Whole(a.re >> drop, a.im >> drop, a.exponent + drop)
