"""What the counts must be, independent of the kernels: C where there is a compiler, else numpy.

Three implementations of the definition in docs/decisions and the design, each checked against the next:
`compiled` (C, every iteration tested), `vectors` (numpy) and `exact` (integers, for tiny pictures). `truth` is
the mathematics without rounding, and `published` the arithmetic of the five published programs.
"""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.core.job import Job
from tests.oracle import compiled, vectors
from tests.oracle.formats import FORMATS, encode
from tests.oracle.smooth import Smooth
from tests.oracle.truth import truth_counts

__all__ = ["LEAST_DOUBLE", "LEAST_FLOAT", "Smooth", "counts", "encode", "smooth_steps", "truth_counts"]

# The number just below 4, as R²: escape at |z|² >= 4.
LEAST_FLOAT = Fraction(4) - Fraction(1, 1 << 22)
LEAST_DOUBLE = Fraction(4) - Fraction(1, 1 << 51)


def counts(job: Job) -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width), of a job in float or double, fused or separate."""
    _require_defined(job)
    return compiled.counts(job) if compiled.available() else vectors.counts(job)


def smooth_steps(job: Job, limit: int = 1000) -> Smooth:
    """Return the counts and, of each escaped orbit, the step and |z|² at which it left the smooth radius.

    An orbit goes on from z_count to the first m with !(|z_m|² <= 128²), compared in the number, or to
    m = count + limit.
    """
    _require_defined(job)
    return compiled.smooth_steps(job, limit) if compiled.available() else vectors.smooth_steps(job, limit)


def _require_defined(job: Job) -> None:
    """Refuse what the definition does not cover: unresolved jobs, R² not finite, pixels that are not exact."""
    view = job.view
    if job.number not in FORMATS or job.rounding not in ("fused", "separate"):
        raise ValueError(f"no oracle for {job.number!r}, {job.rounding!r}")
    if encode(job.radius_squared, job.number) == float("inf"):
        raise ValueError("R² is not finite in the number")
    ends = (
        -view.lattice.column,
        view.width - 1 - view.lattice.column,
        view.lattice.row,
        view.lattice.row - view.height + 1,
    )
    if max(map(abs, ends)) > 1 << FORMATS[job.number].precision:
        raise ValueError("pixel offsets are not exact in the number")
