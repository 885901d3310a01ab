"""Counts without rounding worth the name: fixed point with as many bits as asked for."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.job import Job


def truth_counts(job: Job, bits: int = 256) -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width), of a job in integers of 2^−bits; its number and rounding are ignored.

    Errors start at 2^−bits and grow with the orbit: ask for more bits until nothing changes.
    """
    radius_squared = _fixed(job.radius_squared, 2 * bits)
    out = np.empty((job.view.height, job.view.width), np.uint32)
    for row, column in np.ndindex(out.shape):
        re, im = job.view.point(column, row)
        out[row, column] = _count(_fixed(re, bits), _fixed(im, bits), radius_squared, job.iterations, bits)
    return out


def _fixed(value: Fraction, bits: int) -> int:
    return round(value * (1 << bits))


def _count(cx: int, cy: int, radius_squared: int, cap: int, bits: int) -> int:
    x = y = 0
    for n in range(cap):
        xx, yy = x * x, y * y
        if xx + yy > radius_squared:
            return n
        x, y = ((xx - yy) >> bits) + cx, (x * y >> (bits - 1)) + cy
    return cap
