"""The count of a single pixel, worked out on the host: slow, exact, and independent of every device."""

from fractions import Fraction

import numpy as np

from mandelcl.fixed import FixedFormat, by_name
from mandelcl.job import Job
from mandelcl.known_answers import fma
from mandelcl.numbers import IeeeFormat


def count(job: Job, column: int, row: int, most: int) -> int | None:
    """Return the count of a pixel of a resolved job; None where that would take more than `most` iterations.

    The arithmetic is the job's own, to the last bit: correctly rounded operations for float and double, digits as
    whole numbers for fixed point.
    """
    number = by_name(job.number)
    offset = column - job.view.anchor_column, job.view.anchor_row - row
    limit = min(most, job.iterations)
    if isinstance(number, FixedFormat):
        escaped = _fixed(job, number, offset, limit)
    else:
        assert isinstance(number, IeeeFormat)
        with np.errstate(all="ignore"):
            escaped = (
                _fused(job, number, offset, limit) if job.rounding == "fused" else _separate(job, number, offset, limit)
            )
    if escaped is not None:
        return min(escaped, job.iterations)
    return job.iterations if limit == job.iterations else None


def _encoded(job: Job, number: IeeeFormat) -> list[np.float32 | np.float64]:
    """Return anchor, pitch and R² as the number has them."""
    kind = np.float64 if number.needs_fp64 else np.float32
    view = job.view
    return [kind(float(number.round(x))) for x in (view.anchor_re, view.anchor_im, view.pitch, job.radius_squared)]


def _separate(job: Job, number: IeeeFormat, offset: tuple[int, int], most: int) -> int | None:
    re, im, pitch, radius = _encoded(job, number)
    kind = type(pitch)
    cx, cy = re + kind(offset[0]) * pitch, im + kind(offset[1]) * pitch
    x, y = kind(0), kind(0)
    for n in range(1, most + 1):
        x, y = (x * x - y * y) + cx, (x + x) * y + cy
        if not x * x + y * y <= radius:
            return n
    return None


def _fused(job: Job, number: IeeeFormat, offset: tuple[int, int], most: int) -> int | None:
    re, im, pitch, radius = _encoded(job, number)
    kind = type(pitch)
    cx, cy = (fma(number, kind(k), pitch, part) for k, part in zip(offset, (re, im), strict=True))
    x, y = kind(0), kind(0)
    for n in range(1, most + 1):
        x, y = fma(number, x, x, fma(number, -y, y, cx)), fma(number, x + x, y, cy)
        if not fma(number, x, x, y * y) <= radius:
            return n
    return None


def _fixed(job: Job, number: FixedFormat, offset: tuple[int, int], most: int) -> int | None:
    view = job.view
    pitch, rest = number.load(view.pitch), number.rest(view.pitch)
    anchor = (number.load(view.anchor_re), number.load(view.anchor_im))
    c = tuple(number.point(k, part, pitch, rest) for k, part in zip(offset, anchor, strict=True))
    zero, radius = number.load(Fraction(0)), number.load(job.radius_squared)
    z = (zero, zero)
    for n in range(1, most + 1):
        z = number.step(z, (c[0], c[1]))
        if number.outside(z, radius):
            return n
    return None
