"""The multiprecision article's first version of fp128, on Python integers, to the last bit.

cl/study_sign_magnitude.cl defines it. A real is an int here, in units of 2^−96.
"""

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import WORD_MASK, Words
from mandelcl.core.job import Job
from mandelcl.core.numbers.fixed import FP128

ORDER = "sign-magnitude"


def counts(job: Job, pixels: npt.NDArray[np.int64]) -> Words:
    """Return the counts of an upright job's pixels, given row by row."""
    lattice, width = job.view.lattice, job.view.width
    re, im, pitch, limit = (
        round(value * 2**FP128.fraction_bits) for value in (lattice.re, lattice.im, job.view.pitch, job.radius_squared)
    )
    places = (divmod(index, width) for index in pixels.tolist())
    points = ((re + (column - lattice.column) * pitch, im + (lattice.row - row) * pitch) for row, column in places)
    return np.array([_count(cx, cy, limit, job.iterations) for cx, cy in points], np.uint32)


def _count(cx: int, cy: int, limit: int, max_iterations: int) -> int:
    x = y = 0
    for n in range(max_iterations):
        xx, yy = product(x, x), product(y, y)
        if xx + yy > limit:
            return n
        xy = product(x, y)
        x, y = xx - yy + cx, xy + xy + cy
    return max_iterations


def product(x: int, y: int) -> int:
    """Return x·y, cut off: products of words that weigh a unit or more, and the upper halves of the next ones."""
    x0, x1, x2, x3 = _words(x)
    y0, y1, y2, y3 = _words(y)
    magnitude = ((x3 * y3) << 96) + ((x2 * y3 + x3 * y2) << 64) + ((x1 * y3 + x2 * y2 + x3 * y1) << 32)
    magnitude += x0 * y3 + x1 * y2 + x2 * y1 + x3 * y0
    magnitude += ((x0 * y2) >> 32) + ((x1 * y1) >> 32) + ((x2 * y0) >> 32)
    return magnitude if (x < 0) == (y < 0) else -magnitude


def _words(x: int) -> tuple[int, int, int, int]:
    """Return the words of |x|, least significant first."""
    magnitude = abs(x)
    return (
        magnitude & WORD_MASK,
        magnitude >> 32 & WORD_MASK,
        magnitude >> 64 & WORD_MASK,
        magnitude >> 96,
    )
