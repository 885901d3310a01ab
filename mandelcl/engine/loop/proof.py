"""Bounds on rounding for the kernel that proves fills of border tracing.

docs/decisions/0008-border.md derives them.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.base.exact import root_below
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name

_LEAST = Fraction(1, 10**30)  # far above what underflow in float can lose
_MARGIN = Fraction(1, 1 << 17)  # of the escape radius: for rounding in |z|² and in its bounds


def bounds(job: Job) -> npt.NDArray[np.float32]:
    """Return the kernel's prove_bounds, in its order, each rounded to the side on which proofs stay valid."""
    errors = by_name(job.number).error_bounds(job.view, job.formula.degree, job.radius_squared, job.rounding)
    radius = root_below(job.radius_squared)
    return np.array(
        (
            _up(job.view.lattice.stretch * (1 + Fraction(1, 1 << 20))),
            _up(errors.unit),
            _up(errors.step + _LEAST),
            _up(errors.relative),
            _up(errors.far),
            -_up(-radius * (1 - _MARGIN)),
            _up(radius * (1 + _MARGIN)),
        ),
        np.float32,
    )


def _up(value: Fraction) -> np.float32:
    """Return a float that is not less than the value."""
    rounded: np.float32 = np.nextafter(np.float32(float(min(value, Fraction(10**30)))), np.float32(np.inf))
    return rounded
