"""A plane's values as heights, which a grey picture shows."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mandelcl.colour.turns import BEND, BENDS
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, SMOOTH, lacks, ordered

Heights = npt.NDArray[np.float64]
_ALONE = (COUNTS.name, SMOOTH.name)  # what grows without bound towards the set


def require_height(plane: str) -> None:
    """Raise InvalidInputError for a plane that there is not."""
    ordered([plane])


def heights(job: Job, rows: Rows, plane: str, transfer: str) -> Heights:
    """Return the heights of pixels: a bend of a plane's values, each at least 0.

    That of `smooth` is the continuous count; of a complex plane it is the length. In a plane that counts, the set is
    higher than all else. Raises InvalidInputError where the field has not the plane.
    """
    if plane not in rows:
        raise lacks("the height map", plane)
    values = rows[plane]
    height = np.abs(values).astype(np.float64) if plane != SMOOTH.name else rows[COUNTS.name] + (values - np.float64(1))
    bent = BENDS[transfer](np.maximum(height, 0) + BEND)
    if plane in _ALONE:
        bent[rows[COUNTS.name] == np.uint32(job.iterations)] = np.inf
    return bent


def span_of(job: Job, rows: Rows, plane: str, transfer: str) -> tuple[float, float]:
    """Return the least and the largest height outside the set; 0 and 1 where all is inside."""
    outside = heights(job, rows, plane, transfer)[rows[COUNTS.name] != np.uint32(job.iterations)]
    return (float(outside.min()), float(outside.max())) if outside.size else (0.0, 1.0)


def levels(heights: Heights, span: Sequence[float]) -> npt.NDArray[np.float32]:
    """Return heights as values from 0 to 1, those outside the span as its ends."""
    low, high = span
    return np.clip((heights - low) / max(high - low, np.finfo(np.float64).tiny), 0, 1).astype(np.float32)
