"""An orbit with its derivative, on the host, pixel by pixel: what the planes `distance` and `last` are made of."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from mandelcl.base.arithmetic import Complex
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.methods import direct, perturbation
from tests.oracle.derivatives import formula
from tests.oracle.derivatives.arithmetic import FollowedDerivatives, derivatives
from tests.oracle.derivatives.formula import Derivative
from tests.oracle.derivatives.replay import DerivativeReplay

Orbit: TypeAlias = tuple[Complex, Complex, Derivative, Derivative]  # z, c, the derivative, and how the point moves

_LEAST = np.float32(2.0**-100)


@dataclass(frozen=True, slots=True)
class Left:
    """Where an escaped orbit left the smooth radius.

    The step, |z|², the slope of |z|²/2 by re and by im of the point, times 2^−k of the lattice, and z.
    """

    count: int
    step: int
    norm: np.float32
    slope: tuple[np.float32, np.float32]
    last: tuple[np.float32, np.float32]


def left_by_direct(job: Job, column: int, row: int, limit: int) -> Left | None:
    """Return where the orbit of a pixel of a resolved job left the smooth radius; None where it does not escape.

    It is iterated from its start in the job's own arithmetic, and from the first z outside for `limit` steps at most.
    """
    number = by_name(job.number)
    arithmetic, followed = number.arithmetic(job.rounding), derivatives(number, job.rounding)
    radius_squared = arithmetic.encode(job.radius_squared)
    with np.errstate(all="ignore"):
        z, c = direct.start(job, arithmetic, column, row)
        move = moves(job, followed)
        d, n = formula.start(job.formula, followed, move), 0
        while n < job.iterations:
            if (n or not job.formula.begins_inside) and arithmetic.outside(z, radius_squared):
                break
            d = formula.step(job.formula, followed, followed.point(z), followed.point(c), d, move, n)
            z, n = job.formula.step(arithmetic, z, c, n), n + 1
        if n == job.iterations:
            return None
        orbit = followed.far_from(z), followed.far_from(c), d, move
        return carried_on(job, followed, orbit, n, limit)


def left_by_perturbation(job: Job, column: int, row: int, limit: int) -> Left | None:
    """Return the same of a resolved job by perturbation."""
    replay, point = DerivativeReplay(job), perturbation.point(job, column, row)
    turn, derivative, constant = replay.derivative(*point)
    if not turn.outside:
        return None
    followed = derivatives(by_name(job.number), job.rounding)
    z, c, d = (
        tuple(followed.far.encode(Fraction(part)) for part in value)
        for value in (turn.w, constant, replay.plain(derivative))
    )
    return carried_on(job, followed, ((z[0], z[1]), (c[0], c[1]), (d,), moves(job, followed)), turn.n, limit)


def moves(job: Job, derivatives: FollowedDerivatives) -> Derivative:
    """Return how far the point is taken to move: 2^−k along re, and along im where the formula is not analytic."""
    unit = derivatives.unit(job.view.lattice.scale)
    return (unit,) if job.formula.analytic else (unit, derivatives.turned(unit))


def carried_on(job: Job, derivatives: FollowedDerivatives, orbit: Orbit, n: int, limit: int) -> Left:
    """Return where an orbit that escaped at step n leaves the smooth radius."""
    z, c, d, move = orbit
    far, count = derivatives.far, n
    smooth_radius_squared = far.encode(SMOOTH_RADIUS_SQUARED)
    while not far.outside(z, smooth_radius_squared) and n < count + limit:
        d = formula.step(job.formula, derivatives, z, c, d, move, n)
        z, n = job.formula.step(far, z, c, n), n + 1
    norm = derivatives.to_float(far.multiply_add(z[0], z[0], far.multiply(z[1], z[1])))
    last = kept(derivatives.to_float(z[0])), kept(derivatives.to_float(z[1]))
    return Left(count, n, norm, _slope(derivatives, z, d), last)


def _slope(derivatives: FollowedDerivatives, z: Complex, d: Derivative) -> tuple[np.float32, np.float32]:
    conjugate = z[0], derivatives.far.negate(z[1])
    re, im = derivatives.parts(derivatives.times(conjugate, d[0]))
    by_im = -im if len(d) == 1 else derivatives.parts(derivatives.times(conjugate, d[1]))[0]
    return kept(re), kept(by_im)


def kept(part: Any) -> np.float32:
    """Return a part of a vector as it is kept: no denormal number, and one infinity in place of all and of NaN."""
    if not np.isfinite(part):
        return np.float32(np.inf)
    return np.float32(0) if abs(part) < _LEAST else np.float32(part)
