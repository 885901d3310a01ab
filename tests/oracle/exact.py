"""The definition of a count in pure Python: each operation's exact result is rounded once. For tiny pictures."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import count, islice

import numpy as np
import numpy.typing as npt

from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
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
        first = int(result.counts[row, column])
        if first == job.iterations:
            continue
        norms = islice(_norms(job, column, row), first, first + limit + 1)
        for m, norm in enumerate(norms, first):
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


def _along(steps: int, step: Value, start: Value, job: Job) -> Value:
    """Return steps·step + start."""
    fmt = FORMATS[job.number]
    if job.rounding == "fused":
        return fma((steps, 0), step, start, fmt)
    return add(multiply((steps, 0), step, fmt), start, fmt)


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
    norm = _norm_fused if fused else _norm_separate
    for n in count():
        yield norm(*z, fmt)
        z = _line(formula.line(n), z, c, fmt, fused)


def _line(line: tuple[reading.Step, ...], z: Point, c: Point, fmt: Format, fused: bool) -> Point:
    """Return what the operations of a line make of z."""
    stored = z
    for step in line:
        x, y = z
        if step.name == "store":
            stored = z
        elif step.name == "sqr" and step.adds:
            z = (_step_fused if fused else _step_separate)(x, y, c, fmt)
        elif step.name == "sqr":
            square = add(multiply(x, x, fmt), negate(multiply(y, y, fmt)), fmt)
            z = fma(x, x, negate(multiply(y, y, fmt)), fmt) if fused else square, multiply(add(x, x, fmt), y, fmt)
        elif step.name in ("mul", "rot"):
            by = stored if step.name == "mul" else (_rounded(step.turn[0], fmt), _rounded(step.turn[1], fmt))
            z = (_product_fused if fused else _product_separate)(z, by, c if step.adds else ((0, 0), (0, 0)), fmt)
        elif step.name == "add":
            z = add(x, c[0], fmt), add(y, c[1], fmt)
        else:
            change = {"abs": absolute, "neg": negate}[step.name[:-1]]
            z = (change(x), y) if step.name.endswith("x") else (x, change(y))
    return z


def _norm_fused(x: Value, y: Value, fmt: Format) -> Value:
    return fma(x, x, multiply(y, y, fmt), fmt)


def _norm_separate(x: Value, y: Value, fmt: Format) -> Value:
    return add(multiply(x, x, fmt), multiply(y, y, fmt), fmt)


def _step_fused(x: Value, y: Value, c: Point, fmt: Format) -> Point:
    return fma(x, x, fma(negate(y), y, c[0], fmt), fmt), fma(add(x, x, fmt), y, c[1], fmt)


def _step_separate(x: Value, y: Value, c: Point, fmt: Format) -> Point:
    difference = add(multiply(x, x, fmt), negate(multiply(y, y, fmt)), fmt)
    return add(difference, c[0], fmt), add(multiply(add(x, x, fmt), y, fmt), c[1], fmt)


def _product_fused(a: Point, b: Point, c: Point, fmt: Format) -> Point:
    (u, v), (x, y) = a, b
    return fma(u, x, fma(negate(v), y, c[0], fmt), fmt), fma(u, y, fma(v, x, c[1], fmt), fmt)


def _product_separate(a: Point, b: Point, c: Point, fmt: Format) -> Point:
    (u, v), (x, y) = a, b
    re = add(multiply(u, x, fmt), negate(multiply(v, y, fmt)), fmt)
    im = add(multiply(u, y, fmt), multiply(v, x, fmt), fmt)
    return add(re, c[0], fmt), add(im, c[1], fmt)
