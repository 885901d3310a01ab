"""The right counts of some pixels, without OpenCL: numpy for float and double, whole numbers for the rest.

All follow the tables of docs/exactness.md operation by operation. Wider numbers would be wrong: after some thousand
steps along the edge of the set rounding in the 112th bit decides when an orbit leaves.
"""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.arithmetic import Complex
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat, by_name
from mandelcl.engine.methods import direct
from mandelcl.engine.methods.direct import start
from mandelcl.lab.studies import sign_magnitude

Reals = npt.NDArray[np.floating]
Operation = Callable[[Reals, Reals, Reals], Reals]

_WORK = 4_000_000  # pixels times limit, about, of a sample: a second or two
_INTEGER_WORK = 200_000
_LEAST, _MOST = 64, 1 << 16
_SPLITTER = 134217729.0  # 2²⁷ + 1


def sample(job: Job) -> npt.NDArray[np.int64]:
    """Return the indices, row by row, of pixels to recompute: all of a small picture, otherwise a random sample."""
    number = by_name(job.number)
    work = _WORK if number.is_native else _INTEGER_WORK
    pixels = max(_LEAST, min(_MOST, work // job.iterations))
    if job.view.pixels <= pixels:
        return np.arange(job.view.pixels, dtype=np.int64)
    drawn = np.random.default_rng(1).integers(0, job.view.pixels, pixels)  # the same ones each time
    return np.unique(drawn)


def counts(job: Job, pixels: npt.NDArray[np.int64], order: str = "") -> Words:
    """Return the counts of a resolved job's pixels.

    `order` is by default the job's rounding. Other orders of operations are `published`, the HPC report's, and that of
    `sign_magnitude`.
    """
    if order == sign_magnitude.ORDER:
        return sign_magnitude.counts(job, pixels)
    number = by_name(job.number)
    if not number.is_native:
        return _integer_counts(job, pixels)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return _native_counts(job, number, pixels, order or job.rounding)


class Arrays:
    """Float or double on arrays, in the order of a rounding or of the HPC report."""

    def __init__(self, number: NumberFormat, order: str) -> None:
        self._round = number.arithmetic("separate")
        self._order = "separate" if order == "hypot" else order
        self._by_hypot = order == "hypot"
        self._dtype = np.float64 if number.needs_fp64 else np.float32
        fused = fused_double if number.needs_fp64 else fused_float
        self.multiply_add: Operation = separate if self._order == "separate" else fused

    def encode(self, value: Fraction) -> Reals:
        """Return a value as an array of one."""
        return np.full(1, self._round.encode(value), self._dtype)

    def along(self, count: Any, pitch: Fraction, start: Reals) -> Reals:
        """Return start + count·pitch."""
        return self.multiply_add(count.astype(self._dtype), self.encode(pitch), start)

    def add(self, a: Reals, b: Reals) -> Reals:
        """Return a + b."""
        return a + b

    def subtract(self, a: Reals, b: Reals) -> Reals:
        """Return a − b."""
        return a - b

    def multiply(self, a: Reals, b: Reals) -> Reals:
        """Return a·b."""
        return a * b

    def negate(self, a: Reals) -> Reals:
        """Return −a."""
        return -a

    def absolute(self, a: Reals) -> Reals:
        """Return |a|."""
        return np.abs(a)

    def less(self, a: Reals, b: Reals) -> npt.NDArray[np.bool_]:
        """Return where a < b."""
        return a < b

    def square_add(self, z: Complex, c: Complex) -> Complex:
        """Return z² + c."""
        (x, y), (cx, cy) = z, c
        if self._order == "separate":
            return (x * x - y * y) + cx, (x + x) * y + cy
        if self._order == "published":
            return self.multiply_add(x, x, -(y * y)) + cx, self.multiply_add(np.full_like(x, 2), x * y, cy)
        return self.multiply_add(x, x, self.multiply_add(-y, y, cx)), self.multiply_add(x + x, y, cy)

    def complex_square(self, z: Complex) -> Complex:
        """Return z²."""
        x, y = z
        return (x * x - y * y if self._order == "separate" else self.multiply_add(x, x, -(y * y))), (x + x) * y

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        """Return a·b."""
        (x, y), (u, v) = a, b
        if self._order == "separate":
            return x * u - y * v, x * v + y * u
        return self.multiply_add(x, u, -(y * v)), self.multiply_add(x, v, y * u)

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        """Return a·b + c."""
        (x, y), (u, v), (re, im) = a, b, c
        if self._order == "separate":
            return (x * u - y * v) + re, (x * v + y * u) + im
        return (
            self.multiply_add(x, u, self.multiply_add(-y, v, re)),
            self.multiply_add(x, v, self.multiply_add(y, u, im)),
        )

    def outside(self, z: Complex, radius_squared: Reals) -> npt.NDArray[np.bool_]:
        """Return where not |z|² ≤ R²; by hypot, where |z| ≥ 2."""
        x, y = z
        if self._by_hypot:
            return np.asarray(np.hypot(x, y) >= 2)
        return ~(self.multiply_add(x, x, y * y) <= radius_squared)


def _native_counts(job: Job, number: NumberFormat, pixels: npt.NDArray[np.int64], order: str) -> Words:
    """Return counts in float or double."""
    arrays = Arrays(number, order)
    rows, columns = np.divmod(pixels, job.view.width)
    z, c = ([np.broadcast_to(part, pixels.shape) for part in pair] for pair in start(job, arrays, columns, rows))
    limit, steps = arrays.encode(job.radius_squared), itertools.count()

    def step(z: Complex, c: Complex) -> Complex:
        return job.formula.step(arrays, z, c, next(steps))

    return escape_counts((z[0], z[1]), (c[0], c[1]), step, lambda z: arrays.outside(z, limit), job.iterations)


def escape_counts(
    z: Complex,
    c: Complex,
    step: Callable[[Complex, Complex], Complex],
    outside: Callable[[Complex], npt.NDArray[np.bool_]],
    max_iterations: int,
) -> Words:
    """Return the least n below the limit at which each orbit is outside, else the iteration limit: test, then step.

    z₀ and c are pairs of arrays of one length. Orbits are dropped as they escape.
    """
    counts = np.full(np.shape(c[0]), max_iterations, np.uint32)
    place: npt.NDArray[np.int64] = np.arange(counts.size)
    for n in range(max_iterations if counts.size else 0):
        gone = outside(z)
        if gone.any():
            counts[place[gone]] = n
            place = place[~gone]
            z, c = (z[0][~gone], z[1][~gone]), (c[0][~gone], c[1][~gone])
            if not place.size:
                break
        z = step(z, c)
    return counts


def separate(a: Reals, b: Reals, c: Reals) -> Reals:
    """Return a·b + c, each operation rounded."""
    return a * b + c


def fused_float(a: Reals, b: Reals, c: Reals) -> Reals:
    """Return a·b + c of float32, rounded once: the product is exact in double, and the sum is rounded to odd there."""
    return _odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)).astype(np.float32)


def fused_double(a: Reals, b: Reals, c: Reals) -> Reals:
    """Return a·b + c of float64, rounded once, where no part of it over- or underflows, as within the disc.

    S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57(4), 2008: the
    exact product as high and low part, the low parts summed to odd, one rounding at the end.
    """
    high = a * b
    a_high, b_high = (_SPLITTER * v - (_SPLITTER * v - v) for v in (a, b))
    a_low, b_low = a - a_high, b - b_high
    low = a_low * b_low - (((high - a_high * b_high) - a_low * b_high) - a_high * b_low)
    middle, rest = _exact_sum(c, low)
    total, small = _exact_sum(high, middle)
    return total + _odd_sum(rest, small)


def _exact_sum(a: Reals, b: Reals) -> tuple[Reals, Reals]:
    """Return the rounded sum of two arrays and what rounding lost (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _odd_sum(a: Reals, b: Reals) -> Reals:
    """Return a + b in double; where that is inexact, of its two neighbours the one whose last bit is set."""
    total, lost = _exact_sum(a, b)
    even = (np.ascontiguousarray(total).view(np.int64) & 1) == 0
    towards = np.where(lost > 0, np.inf, -np.inf)
    return np.where((lost != 0) & even & np.isfinite(total), np.nextafter(total, towards), total)


def _integer_counts(job: Job, pixels: npt.NDArray[np.int64]) -> Words:
    """Return counts in the fixed point's own digits."""
    count = direct.count  # fixed point has no other method
    places = (divmod(index, job.view.width) for index in pixels.tolist())
    return np.array([count(job, column, row, job.iterations) for row, column in places], np.uint32)
