"""The count of a single pixel, worked out on the host: slow, exact, and independent of every device."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from mandelcl.job import Job
from mandelcl.numbers import FixedFormat, IeeeFormat, by_name

Point: TypeAlias = tuple[Any, Any]
# z₀, from z to the next z, and whether a z is outside.
Arithmetic: TypeAlias = tuple[Point, Callable[[Point], Point], Callable[[Point], bool]]


def count(job: Job, column: int, row: int, most: int) -> int | None:
    """Return the count of a pixel of a resolved job; None where that would take more than `most` iterations.

    The arithmetic is the job's own, to the last bit: correctly rounded operations for float and double, digits as
    whole numbers for fixed point. An orbit that comes back to a z that it had, to the last bit, never escapes; z is
    kept for that after 1, 2, 4, 8 … iterations (Brent, BIT 20, 1980).
    """
    z, step, outside = _arithmetic(job, (column - job.view.lattice.column, job.view.lattice.row - row))
    kept: Point | None = None
    keep_at = 1
    with np.errstate(all="ignore"):
        for n in range(1, min(most, job.iterations) + 1):
            z = step(z)
            if outside(z):
                return n
            if z == kept:
                return job.iterations
            if n == keep_at:
                kept, keep_at = z, 2 * n
    return job.iterations if most >= job.iterations else None


def _arithmetic(job: Job, offset: tuple[int, int]) -> Arithmetic:
    number = by_name(job.number)
    if isinstance(number, FixedFormat):
        return _fixed(job, number, offset)
    assert isinstance(number, IeeeFormat)
    return (_fused if job.rounding == "fused" else _separate)(job, number, offset)


def _encoded(job: Job, number: IeeeFormat) -> list[Fraction]:
    """Return anchor, pitch and R² as the number has them."""
    view = job.view
    return [number.round(x) for x in (view.lattice.re, view.lattice.im, view.pitch, job.radius_squared)]


def _separate(job: Job, number: IeeeFormat, offset: tuple[int, int]) -> Arithmetic:
    kind = np.float64 if number.needs_fp64 else np.float32
    re, im, pitch, radius = (kind(float(value)) for value in _encoded(job, number))
    cx, cy = re + kind(offset[0]) * pitch, im + kind(offset[1]) * pitch

    def step(z: Point) -> Point:
        x, y = z
        return (x * x - y * y) + cx, (x + x) * y + cy

    def outside(z: Point) -> bool:
        x, y = z
        return not x * x + y * y <= radius

    return (kind(0), kind(0)), step, outside


def _fused(job: Job, number: IeeeFormat, offset: tuple[int, int]) -> Arithmetic:
    """Return the arithmetic on whole multiples of the least denormal: far quicker than fractions."""
    places = number.max_exponent + number.precision - 2  # a multiple's unit is 2 to minus this
    re, im, pitch, radius = (int(value * 2**places) for value in _encoded(job, number))
    largest = 1 << (places + number.max_exponent + 1)

    def fma(a: int, b: int, c: int) -> int:
        exact = a * b + (c << places)
        dropped = max(exact.bit_length() - number.precision, places)
        floor, half = exact >> dropped, 1 << (dropped - 1)
        rest = exact - (floor << dropped)
        return (floor + (rest > half or (rest == half and floor & 1))) << (dropped - places)

    columns, rows = (int(number.round(Fraction(k))) << places for k in offset)
    cx, cy = fma(columns, pitch, re), fma(rows, pitch, im)

    def step(z: Point) -> Point:
        x, y = z
        return fma(x, x, fma(-y, y, cx)), fma(2 * x, y, cy)

    def outside(z: Point) -> bool:
        x, y = z
        # Beyond the largest number the device has infinity, or none at all; neither is inside.
        return abs(x) >= largest or abs(y) >= largest or fma(x, x, fma(y, y, 0)) > radius

    return (0, 0), step, outside


def _fixed(job: Job, number: FixedFormat, offset: tuple[int, int]) -> Arithmetic:
    view = job.view
    pitch, rest = number.load(view.pitch), number.rest(view.pitch)
    anchor = (number.load(view.lattice.re), number.load(view.lattice.im))
    cx, cy = (number.point(k, part, pitch, rest) for k, part in zip(offset, anchor, strict=True))
    zero, radius = number.load(Fraction(0)), number.load(job.radius_squared)

    def step(z: Point) -> Point:
        return number.step(z, (cx, cy))

    def outside(z: Point) -> bool:
        return number.outside(z, radius)

    return (zero, zero), step, outside
