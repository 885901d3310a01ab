"""Height maps: a plane's values as grey levels."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mandelcl.colour.cycles import BEND, BENDS
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, SMOOTH, lacks, ordered

Heights = npt.NDArray[np.float64]
_ALONE = (COUNTS.name, SMOOTH.name)  # planes that grow without bound towards the set


def require_height(plane: str) -> None:
    """Raise InvalidInputError for an unknown plane."""
    ordered([plane])


def heights(job: Job, rows: Rows, plane: str, transfer: str) -> Heights:
    """Return the heights of pixels: a bend of a plane's values, each at least 0.

    For `smooth` the value is the continuous count, for a complex plane the absolute value. In a plane of counts, the
    set is higher than everything else. Raises InvalidInputError if the field lacks the plane.
    """
    if plane not in rows:
        raise lacks("the height map", plane)
    values = rows[plane]
    height = np.abs(values).astype(np.float64) if plane != SMOOTH.name else rows[COUNTS.name] + (values - np.float64(1))
    bent = BENDS[transfer](np.maximum(height, 0) + BEND)
    if plane in _ALONE:
        bent[rows[COUNTS.name] == job.iterations] = np.inf
    return bent


def span_of(job: Job, rows: Rows, plane: str, transfer: str) -> tuple[float, float]:
    """Return the smallest and the largest height outside the set, or 0 and 1 if all pixels are inside."""
    outside = heights(job, rows, plane, transfer)[rows[COUNTS.name] != job.iterations]
    return (float(outside.min()), float(outside.max())) if outside.size else (0.0, 1.0)


def levels(heights: Heights, span: Sequence[float]) -> npt.NDArray[np.float32]:
    """Return heights scaled to 0 … 1, clipped to the span."""
    low, high = span
    return np.clip((heights - low) / max(high - low, np.finfo(np.float64).tiny), 0, 1).astype(np.float32)
