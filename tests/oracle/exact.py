"""The definition of a count in pure Python: each operation's exact result is rounded once. For tiny pictures."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
import numpy.typing as npt

from mandelcl.job import SMOOTH_RADIUS_SQUARED, Job
from tests.oracle import reading
from tests.oracle.formats import (
    FORMATS,
    Format,
    Value,
    absolute,
    add,
    at_most,
    fma,
    multiply,
    negate,
    round_quotient,
    to_float,
)
from tests.oracle.smooth import Smooth

Point = tuple[Value, Value]


def counts(job: Job) -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width), of a float or double job."""
    fmt = FORMATS[job.number]
    radius_squared = _rounded(job.radius_squared, fmt)
    out = np.empty((job.view.height, job.view.width), np.uint32)
    for row, column in np.ndindex(out.shape):
        norms = islice(_norms(job, column, row), job.iterations)
        escape = (n for n, norm in enumerate(norms) if not at_most(norm, radius_squared))
        out[row, column] = next(escape, job.iterations)
    return out


def smooth_steps(job: Job, limit: int) -> Smooth:
    """Return what `oracle.smooth_steps` returns."""
    fmt = FORMATS[job.number]
    radius_squared = _rounded(SMOOTH_RADIUS_SQUARED, fmt)
    result = Smooth(counts(job), np.full((job.view.height, job.view.width), job.iterations, np.uint32))
    for row, column in np.ndindex(result.counts.shape):
        count = int(result.counts[row, column])
        if count == job.iterations:
            continue
        norms = islice(_norms(job, column, row), count, count + limit + 1)
        for m, norm in enumerate(norms, count):
            result.steps[row, column], last = m, norm
            if not at_most(norm, radius_squared):
                break
        result.norms[row, column] = to_float(_narrowed(last))
    return result


def _rounded(value: Fraction, fmt: Format) -> Value:
    return round_quotient(value.numerator, value.denominator, fmt)


def _narrowed(value: Value) -> Value:
    """Return a value rounded to float."""
    return (
        value if isinstance(value, float) else _rounded(Fraction(value[0]) * Fraction(2) ** value[1], FORMATS["float"])
    )


def _along(count: int, step: Value, start: Value, job: Job) -> Value:
    """Return count·step + start."""
    fmt = FORMATS[job.number]
    if job.rounding == "fused":
        return fma((count, 0), step, start, fmt)
    return add(multiply((count, 0), step, fmt), start, fmt)


def _point(job: Job, column: int, row: int) -> Point:
    """Return the point of a pixel."""
    lattice, fmt = job.view.lattice, FORMATS[job.number]
    x, u = column - lattice.column, lattice.row - row
    re, im = _rounded(lattice.re, fmt), _rounded(lattice.im, fmt)
    pitch = reading.upright_pitch(job)
    if pitch is not None:
        step = _rounded(pitch, fmt)
        return _along(x, step, re, job), _along(u, step, im, job)
    a, b, c, d = (_rounded(entry, fmt) for entry in reading.matrix(job))
    return _along(x, a, _along(u, b, re, job), job), _along(x, c, _along(u, d, im, job), job)


def _norms(job: Job, column: int, row: int) -> Iterator[Value]:
    """Yield |z_n|² of a pixel for n = 0, 1, …"""
    fmt, formula = FORMATS[job.number], reading.formula(job)
    z: Point = ((0, 0), (0, 0))
    c = _point(job, column, row)
    if formula.constant is not None:
        z, c = c, (_rounded(formula.constant[0], fmt), _rounded(formula.constant[1], fmt))
    fused = job.rounding == "fused"
    step, norm = (_step_fused, _norm_fused) if fused else (_step_separate, _norm_separate)
    if formula.cubes:
        step = _cube_fused if fused else _cube_separate
    while True:
        yield norm(*z, fmt)
        if formula.folds:
            z = absolute(z[0]), absolute(z[1])
        z = step(*z, c, fmt)


def _norm_fused(x: Value, y: Value, fmt: Format) -> Value:
    return fma(x, x, multiply(y, y, fmt), fmt)


def _norm_separate(x: Value, y: Value, fmt: Format) -> Value:
    return add(multiply(x, x, fmt), multiply(y, y, fmt), fmt)


def _step_fused(x: Value, y: Value, c: Point, fmt: Format) -> Point:
    return fma(x, x, fma(negate(y), y, c[0], fmt), fmt), fma(add(x, x, fmt), y, c[1], fmt)


def _step_separate(x: Value, y: Value, c: Point, fmt: Format) -> Point:
    difference = add(multiply(x, x, fmt), negate(multiply(y, y, fmt)), fmt)
    return add(difference, c[0], fmt), add(multiply(add(x, x, fmt), y, fmt), c[1], fmt)


def _cube_fused(x: Value, y: Value, c: Point, fmt: Format) -> Point:
    u, v = fma(x, x, negate(multiply(y, y, fmt)), fmt), multiply(add(x, x, fmt), y, fmt)
    return fma(u, x, fma(negate(v), y, c[0], fmt), fmt), fma(u, y, fma(v, x, c[1], fmt), fmt)


def _cube_separate(x: Value, y: Value, c: Point, fmt: Format) -> Point:
    u, v = add(multiply(x, x, fmt), negate(multiply(y, y, fmt)), fmt), multiply(add(x, x, fmt), y, fmt)
    re = add(multiply(u, x, fmt), negate(multiply(v, y, fmt)), fmt)
    im = add(multiply(u, y, fmt), multiply(v, x, fmt), fmt)
    return add(re, c[0], fmt), add(im, c[1], fmt)
