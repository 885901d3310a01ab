"""Values of a plane that advance a palette in place of the count.

Of `distance` it is how steep the continuous count is, as in Kalles Fraktaler's colours by distance: √8 times the counts
that a pixel of a picture 640 pixels wide spans, 1024 at most. Of the planes of last iterates it is their value.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted
from mandelcl.colour.cycles import BELOW_A_CYCLE, BENDS, Places
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import DISTANCE, TRAILS, lacks

MEASURED = (DISTANCE.name, *(plane.name for plane in TRAILS))
_STEEPEST = 1024.0
_WIDTH = 640
# Default lengths of a cycle: of steepness in the units of a bend, and of a plane's value.
_CYCLES = {"linear": 64.0, "root2": 8.0, "root4": 3.0, "log": 3.0}
_CYCLE = 0.5


@dataclass(frozen=True, slots=True)
class Evenly:
    """Histogram equalisation of a plane's values: quantiles of a picture's values, and the strength from 0 to 1."""

    knots: tuple[float, ...]
    strength: float


def require_measured(plane: str) -> None:
    """Raise InvalidInputError for a plane that cannot advance a palette."""
    if plane not in MEASURED:
        raise InvalidInputError(f"{quoted(plane)} cannot advance a palette; use one of {', '.join(MEASURED)}")


def usual_of(plane: str, transfer: str | None) -> tuple[str, float]:
    """Return the default bend of a plane's values, and the default length of a cycle in units of it."""
    if plane == DISTANCE.name:
        bend = transfer or "log"
        return bend, _CYCLES[bend]
    return transfer or "linear", _CYCLE


def measures(job: Job, rows: Rows, plane: str) -> npt.NDArray[np.float64]:
    """Return the values of pixels that advance a palette. Raises InvalidInputError if the field lacks the plane."""
    if plane not in rows:
        raise lacks("the colouring", plane)
    if plane != DISTANCE.name:
        return np.asarray(rows[plane], np.float64)
    degree = next(degree for degree in job.formula.degrees if degree > 1)
    parts = rows[plane]
    distance = np.hypot(parts.real.astype(np.float64), parts.imag)
    steepness = math.sqrt(8) * job.view.width / (_WIDTH * math.log(degree))
    return np.asarray(np.minimum(steepness / np.maximum(distance, steepness / _STEEPEST), _STEEPEST))


def places_by(
    job: Job, rows: Rows, plane: str, bend: str, length: float, offset: float, size: int, even: Evenly | None = None
) -> Places:
    """Return the place of each pixel among the `size` places of a cycle of this length, by a plane's bent values."""
    value = np.maximum(measures(job, rows, plane), 0)
    phase = _bent(value, bend) / length
    if even is not None:
        knots = np.array(even.knots)
        evenly = np.interp(value, knots, np.linspace(0, 1, len(knots)))
        np.minimum(evenly, BELOW_A_CYCLE, out=evenly)
        rest = phase - _bent(np.maximum(knots[:1], 0), bend) / length
        phase = even.strength * evenly + (1 - even.strength) * rest
    phase += offset % 1
    phase -= np.floor(phase)
    return np.minimum((phase * size).astype(np.int64), size - 1)


def _bent(value: npt.NDArray[np.float64], bend: str) -> npt.NDArray[np.float64]:
    return np.asarray(np.log1p(value) if bend == "log" else BENDS[bend](value))
