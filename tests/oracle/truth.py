"""Counts without rounding worth the name: fixed point with as many bits as asked for."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.core.job import Job
from tests.oracle import reading

Point = tuple[int, int]


def truth_counts(job: Job, bits: int = 256) -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width), of a job in integers of 2^−bits; its number and rounding are ignored.

    Errors start at 2^−bits and grow with the orbit: ask for more bits until nothing changes.
    """
    formula, radius_squared = reading.formula(job), _fixed(job.radius_squared, 2 * bits)
    out = np.empty((job.view.height, job.view.width), np.uint32)
    for row, column in np.ndindex(out.shape):
        point = _point(job.view.point(column, row), bits)
        z, c = ((0, 0), point) if formula.constant is None else (point, _point(formula.constant, bits))
        out[row, column] = _count(z, c, formula, radius_squared, job.iterations, bits)
    return out


def _fixed(value: Fraction, bits: int) -> int:
    return round(value * (1 << bits))


def _point(exact: tuple[Fraction, Fraction], bits: int) -> Point:
    return _fixed(exact[0], bits), _fixed(exact[1], bits)


def _count(z: Point, c: Point, formula: reading.Formula, radius_squared: int, max_iterations: int, bits: int) -> int:
    x, y = z
    for n in range(max_iterations):
        xx, yy = x * x, y * y
        if xx + yy > radius_squared:
            return n
        x, y = _line(formula.line(n), (x, y), c, bits)
    return max_iterations


def _line(line: tuple[reading.Step, ...], z: Point, c: Point, bits: int) -> Point:
    """Return what a line makes of z."""
    stored = z
    for step in line:
        x, y = z
        if step.name == "store":
            stored = z
        elif step.name == "sqr":
            z = (x * x - y * y) >> bits, x * y >> (bits - 1)
        elif step.name in ("mul", "rot"):
            u, v = stored if step.name == "mul" else _point(step.turn, bits)
            z = (x * u - y * v) >> bits, (x * v + y * u) >> bits
        elif step.name != "add":
            change = abs if step.name.startswith("abs") else int.__neg__
            z = (change(x), y) if step.name.endswith("x") else (x, change(y))
        if step.adds or step.name == "add":
            z = z[0] + c[0], z[1] + c[1]
    return z
