"""The definition of a count in numpy: needs no compiler, and checks the one that is compiled."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from mandelcl.job import SMOOTH_RADIUS_SQUARED, Job
from tests.oracle import exact_fma
from tests.oracle.formats import encode
from tests.oracle.smooth import Smooth

Reals = npt.NDArray[np.floating]
MultiplyAdd = Callable[[Reals, Reals, Reals], Reals]
_CHUNK = 1 << 14


def _separate(a: Reals, b: Reals, c: Reals) -> Reals:
    return a * b + c


class Arithmetic:
    """The operations of an orbit in one number and rounding, on arrays."""

    def __init__(self, number: str, rounding: str) -> None:
        self.number = number
        self.dtype = np.dtype(np.float32 if number == "float" else np.float64)
        self.fused = rounding == "fused"
        fused = exact_fma.fma_float if number == "float" else exact_fma.fma_double
        self.multiply_add: MultiplyAdd = fused if self.fused else _separate

    def points(self, job: Job, pixels: npt.NDArray[np.int64]) -> tuple[Reals, Reals]:
        """Return c, re and im, of the pixels with these indices, row by row."""
        view = job.view
        rows, columns = np.divmod(pixels, view.width)
        pitch, re, im = (
            np.full(pixels.shape, encode(value, self.number), self.dtype)
            for value in (view.pitch, view.lattice.re, view.lattice.im)
        )
        return (
            self.multiply_add((columns - view.lattice.column).astype(self.dtype), pitch, re),
            self.multiply_add((-(rows - view.lattice.row)).astype(self.dtype), pitch, im),
        )

    def norm(self, x: Reals, y: Reals) -> Reals:
        """Return |z|²."""
        return self.multiply_add(x, x, y * y)

    def step(self, x: Reals, y: Reals, cx: Reals, cy: Reals) -> tuple[Reals, Reals]:
        """Return z² + c."""
        re = self.multiply_add(x, x, self.multiply_add(-y, y, cx)) if self.fused else (x * x - y * y) + cx
        return re, self.multiply_add(x + x, y, cy)


def counts(job: Job) -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width)."""
    return smooth_steps(job, limit=0).counts


def smooth_steps(job: Job, limit: int) -> Smooth:
    """Return what `oracle.smooth_steps` returns."""
    arithmetic = Arithmetic(job.number, job.rounding)
    shape = (job.view.height, job.view.width)
    result = Smooth(np.full(shape, job.iterations, np.uint32), np.full(shape, job.iterations, np.uint32))
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for first in range(0, job.view.pixels, _CHUNK):
            pixels = np.arange(first, min(first + _CHUNK, job.view.pixels), dtype=np.int64)
            _advance(arithmetic, job, pixels, limit, result)
    return result


def _advance(arithmetic: Arithmetic, job: Job, pixels: npt.NDArray[np.int64], limit: int, result: Smooth) -> None:
    """Write the results of some pixels; their orbits are dropped from the arrays as they escape."""
    radius_squared = arithmetic.dtype.type(encode(job.radius_squared, job.number))
    cx, cy = arithmetic.points(job, pixels)
    x, y = np.zeros_like(cx), np.zeros_like(cy)
    for n in range(job.iterations):
        outside = ~(arithmetic.norm(x, y) <= radius_squared)
        if outside.any():
            result.counts.flat[pixels[outside]] = n
            _carry_on(arithmetic, (x[outside], y[outside], cx[outside], cy[outside]), pixels[outside], n, limit, result)
            pixels = pixels[~outside]
            x, y, cx, cy = (values[~outside] for values in (x, y, cx, cy))
            if not pixels.size:
                return
        x, y = arithmetic.step(x, y, cx, cy)


def _carry_on(
    arithmetic: Arithmetic,
    orbits: tuple[Reals, Reals, Reals, Reals],
    pixels: npt.NDArray[np.int64],
    count: int,
    limit: int,
    result: Smooth,
) -> None:
    """Carry orbits that escaped at `count` on to the smooth radius."""
    radius_squared = arithmetic.dtype.type(encode(SMOOTH_RADIUS_SQUARED, arithmetic.number))
    x, y, cx, cy = orbits
    for m in range(count, count + limit + 1):
        norm = arithmetic.norm(x, y)
        result.steps.flat[pixels] = m
        result.norms.flat[pixels] = norm.astype(np.float32)
        within = norm <= radius_squared
        if not within.any():
            return
        pixels = pixels[within]
        x, y, cx, cy = (values[within] for values in (x, y, cx, cy))
        x, y = arithmetic.step(x, y, cx, cy)
