"""The direct method: an orbit is iterated from its start, here on the host, pixel by pixel, in exact arithmetic."""

from typing import Any

import numpy as np

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import DISTANCE, trails


def count(job: Job, column: int, row: int, most: int) -> int | None:
    """Return the count of a pixel of a resolved job; None if that would take more than `most` iterations.

    The arithmetic is the job's own, to the last bit. An orbit that comes back to a z that it had, to the last bit,
    never escapes; z is kept for that after 1, 2, 4, 8 … iterations, or turns of the formula's lines (Brent, BIT 20,
    1980).
    """
    arithmetic = by_name(job.number).arithmetic(job.rounding)
    radius_squared = arithmetic.encode(job.radius_squared)
    kept: Complex | None = None
    keep_at, phases = 1, len(job.formula.lines)
    with np.errstate(all="ignore"):
        z, c = start(job, arithmetic, column, row)
        if not job.formula.begins_inside and arithmetic.outside(z, radius_squared):
            return 0
        for n in range(1, min(most, job.iterations) + 1):
            z = job.formula.step(arithmetic, z, c, n - 1)
            if arithmetic.outside(z, radius_squared):
                return min(n, job.iterations)
            if n % phases == 0 and z == kept:
                return job.iterations
            if n == keep_at * phases:
                kept, keep_at = z, 2 * keep_at
    return job.iterations if most >= job.iterations else None


def state_words(job: Job) -> int:
    """Return how many words a saved state has: z, its derivatives for distances, an earlier z for last iterates."""
    number = by_name(job.number)
    columns = (1 if job.formula.analytic else 2) if DISTANCE.name in job.planes else 0
    states = 2 if trails(job.planes) else 1
    return states * number.reals_words + columns * number.derivative_words


def words(job: Job) -> Words | None:
    """Return what the kernels of a resolved job read, where derivatives are by a power of two: its exponent."""
    if DISTANCE.name not in job.planes:
        return None
    return np.array([job.view.lattice.scale], np.int32).view(np.uint32)


def start(job: Job, arithmetic: Arithmetic, column: Any, row: Any) -> tuple[Complex, Complex]:
    """Return z₀ and the constant c of a pixel's orbit, or of as many as the arithmetic takes at once."""
    parameters = tuple((arithmetic.encode(re), arithmetic.encode(im)) for re, im in job.formula.parameters)
    return job.formula.start(arithmetic, point(job.view, arithmetic, column, row), parameters)


def point(view: View, arithmetic: Arithmetic, column: Any, row: Any) -> Complex:
    """Return the point of a pixel as cl/map_lattice.cl computes it: along the rows, then along the columns."""
    lattice = view.lattice
    right, up = column - lattice.column, lattice.row - row
    a, b, c, d = lattice.matrix
    re, im = arithmetic.encode(lattice.re), arithmetic.encode(lattice.im)
    if lattice.is_upright:
        return arithmetic.along(right, a, re), arithmetic.along(up, a, im)
    re = arithmetic.along(right, a, arithmetic.along(up, -b, re))
    return re, arithmetic.along(right, c, arithmetic.along(up, -d, im))
