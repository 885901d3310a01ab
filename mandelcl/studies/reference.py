"""What the counts of some pixels must be, computed without OpenCL: numpy for float and double, integers for the rest.

All follow the tables of docs/exactness.md operation by operation. Wider numbers would not do: after some thousand
steps along the edge of the set rounding in the 112th bit decides when an orbit leaves.
"""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.job import Job
from mandelcl.methods import direct as pixel
from mandelcl.numbers import FLOAT, IeeeFormat, by_name

Counts = npt.NDArray[np.uint32]
Reals = npt.NDArray[np.floating]
Operation = Callable[[Reals, Reals, Reals], Reals]

_WORK = 4_000_000  # pixels times cap, about, that a sample may cost: a second or two
_INTEGER_WORK = 200_000
_LEAST, _MOST = 64, 1 << 16
_SPLITTER = 134217729.0  # 2²⁷ + 1


def sample(job: Job) -> npt.NDArray[np.int64]:
    """Return the places, row by row, of pixels to recompute: all of a small picture, else some all over it."""
    number = by_name(job.number)
    work = _WORK if isinstance(number, IeeeFormat) else _INTEGER_WORK
    wanted = max(_LEAST, min(_MOST, work // job.iterations))
    if job.view.pixels <= wanted:
        return np.arange(job.view.pixels, dtype=np.int64)
    drawn = np.random.default_rng(1).integers(0, job.view.pixels, wanted)  # the same ones each time
    return np.unique(drawn)


def counts(job: Job, pixels: npt.NDArray[np.int64], order: str = "") -> Counts:
    """Return the counts of a resolved job's pixels; `order` is the job's rounding, or `published` (see `hpc_order`)."""
    number = by_name(job.number)
    if not isinstance(number, IeeeFormat):
        return _integer_counts(job, pixels)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return _ieee_counts(job, number, pixels, order or job.rounding)


def _ieee_counts(job: Job, number: IeeeFormat, pixels: npt.NDArray[np.int64], order: str) -> Counts:
    """Return counts in float or double: test, then step, orbits dropped as they escape."""
    dtype = np.float32 if number is FLOAT else np.float64
    multiply_add = separate if order == "separate" else fused_float if number is FLOAT else fused_double
    view = job.view

    def real(value: Fraction) -> Reals:
        return np.full(1, float(number.round(value)), dtype)

    rows, columns = np.divmod(pixels, view.width)
    cx = multiply_add((columns - view.lattice.column).astype(dtype), real(view.pitch), real(view.lattice.re))
    cy = multiply_add((view.lattice.row - rows).astype(dtype), real(view.pitch), real(view.lattice.im))
    limit = real(job.radius_squared)
    found = np.full(pixels.shape, job.iterations, np.uint32)
    place: npt.NDArray[np.int64] = np.arange(len(pixels))
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    for n in range(job.iterations):
        within = multiply_add(x, x, y * y) <= limit
        if not within.all():
            found[place[~within]] = n
            place = place[within]
            x, y, cx, cy = (values[within] for values in (x, y, cx, cy))
            if not place.size:
                break
        x, y = _step(multiply_add, order, x, y, cx, cy)
    return found


def _step(multiply_add: Operation, order: str, x: Reals, y: Reals, cx: Reals, cy: Reals) -> tuple[Reals, Reals]:
    if order == "separate":
        return (x * x - y * y) + cx, (x + x) * y + cy
    if order == "published":
        return multiply_add(x, x, -(y * y)) + cx, multiply_add(np.full_like(x, 2), x * y, cy)
    return multiply_add(x, x, multiply_add(-y, y, cx)), multiply_add(x + x, y, cy)


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


def _integer_counts(job: Job, pixels: npt.NDArray[np.int64]) -> Counts:
    """Return counts in the fixed point's own digits."""
    places = (divmod(each, job.view.width) for each in pixels.tolist())
    return np.array([pixel.count(job, column, row, job.iterations) for row, column in places], np.uint32)
