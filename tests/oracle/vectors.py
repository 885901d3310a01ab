"""The definition of a count in numpy: needs no compiler, and checks the one that is compiled."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from tests.oracle import exact_fma, reading
from tests.oracle.formats import encode
from tests.oracle.smooth import Smooth

Reals = npt.NDArray[np.floating]
MultiplyAdd = Callable[[Reals, Reals, Reals], Reals]
_CHUNK = 1 << 14


def _separate(a: Reals, b: Reals, c: Reals) -> Reals:
    return a * b + c


class Arithmetic:
    """The operations of an orbit in one number and rounding, on arrays."""

    def __init__(self, job: Job) -> None:
        self.number = job.number
        self.dtype = np.dtype(np.float32 if job.number == "float" else np.float64)
        self.fused = job.rounding == "fused"
        fused = exact_fma.fma_float if job.number == "float" else exact_fma.fma_double
        self.multiply_add: MultiplyAdd = fused if self.fused else _separate
        self.formula = reading.formula(job)

    def encode(self, value: Fraction, count: int) -> Reals:
        """Return a value, rounded to nearest, so many times."""
        return np.full(count, encode(value, self.number), self.dtype)

    def points(self, job: Job, pixels: npt.NDArray[np.int64]) -> tuple[Reals, Reals]:
        """Return re and im of the pixels with these indices, row by row."""
        lattice, total = job.view.lattice, len(pixels)
        rows, columns = np.divmod(pixels, job.view.width)
        x, u = (columns - lattice.column).astype(self.dtype), (lattice.row - rows).astype(self.dtype)
        re, im = self.encode(lattice.re, total), self.encode(lattice.im, total)
        pitch = reading.upright_pitch(job)
        if pitch is not None:
            step = self.encode(pitch, total)
            return self.multiply_add(x, step, re), self.multiply_add(u, step, im)
        a, b, c, d = (self.encode(entry, total) for entry in reading.matrix(job))
        re, im = self.multiply_add(u, b, re), self.multiply_add(u, d, im)
        return self.multiply_add(x, a, re), self.multiply_add(x, c, im)

    def start(self, job: Job, pixels: npt.NDArray[np.int64]) -> tuple[Reals, Reals, Reals, Reals]:
        """Return z₀ and c, re and im each, of the pixels with these indices."""
        re, im = self.points(job, pixels)
        if self.formula.constant is None:
            return np.zeros_like(re), np.zeros_like(im), re, im
        cx, cy = (self.encode(part, len(pixels)) for part in self.formula.constant)
        return re, im, cx, cy

    def norm(self, x: Reals, y: Reals) -> Reals:
        """Return |z|²."""
        return self.multiply_add(x, x, y * y)

    def step(self, x: Reals, y: Reals, cx: Reals, cy: Reals, n: int = 0) -> tuple[Reals, Reals]:
        """Return the z that follows z, the n-th of its orbit."""
        stored = x, y
        for step in self.formula.line(n):
            if step.name == "store":
                stored = x, y
            elif step.name == "sqr":
                x, y = self._square(x, y, cx, cy) if step.adds else self._square_alone(x, y)
            elif step.name in ("mul", "rot"):
                by = stored if step.name == "mul" else tuple(self.encode(part, len(x)) for part in step.turn)
                zero = np.zeros_like(x)
                x, y = self._product(x, y, by[0], by[1], *((cx, cy) if step.adds else (zero, zero)))
            elif step.name == "add":
                x, y = x + cx, y + cy
            else:
                change = np.abs if step.name.startswith("abs") else np.negative
                x, y = (change(x), y) if step.name.endswith("x") else (x, change(y))
        return x, y

    def _square(self, x: Reals, y: Reals, cx: Reals, cy: Reals) -> tuple[Reals, Reals]:
        re = self.multiply_add(x, x, self.multiply_add(-y, y, cx)) if self.fused else (x * x - y * y) + cx
        return re, self.multiply_add(x + x, y, cy)

    def _square_alone(self, x: Reals, y: Reals) -> tuple[Reals, Reals]:
        return self.multiply_add(x, x, -(y * y)), (x + x) * y

    def _product(self, u: Reals, v: Reals, x: Reals, y: Reals, cx: Reals, cy: Reals) -> tuple[Reals, Reals]:
        if not self.fused:
            return (u * x - v * y) + cx, (u * y + v * x) + cy
        re = self.multiply_add(u, x, self.multiply_add(-v, y, cx))
        return re, self.multiply_add(u, y, self.multiply_add(v, x, cy))


def counts(job: Job) -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width)."""
    return smooth_steps(job, limit=0).counts


def smooth_steps(job: Job, limit: int) -> Smooth:
    """Return what `oracle.smooth_steps` returns."""
    arithmetic = Arithmetic(job)
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
    x, y, cx, cy = arithmetic.start(job, pixels)
    for n in range(job.iterations):
        outside = ~(arithmetic.norm(x, y) <= radius_squared)
        if outside.any():
            result.counts.flat[pixels[outside]] = n
            _carry_on(arithmetic, (x[outside], y[outside], cx[outside], cy[outside]), pixels[outside], n, limit, result)
            pixels = pixels[~outside]
            x, y, cx, cy = (values[~outside] for values in (x, y, cx, cy))
            if not pixels.size:
                return
        x, y = arithmetic.step(x, y, cx, cy, n)


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
        x, y = arithmetic.step(x, y, cx, cy, m)
