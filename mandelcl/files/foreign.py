"""Fields that other programs computed, and what is known of them."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from mandelcl.base.errors import FileError, MandelclError
from mandelcl.base.machine import available_bytes
from mandelcl.base.view import View
from mandelcl.core.field import Field
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.files.places import ForeignPlace, place_in
from mandelcl.formulas import MANDELBROT, Formula

_LEAST_RADIUS = Fraction(2)
_NO_PLACE = "no place is noted there"

# note(text) takes a sentence on what of a file is not as it says, or left out.
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A field of another program; `placed` says whether its job shows the place that it is of, or any view of its size.

    Its job is not resolved: nobody knows which arithmetic its counts are of. `notes` are sentences on what was not
    taken over.
    """

    field: Field
    placed: bool
    notes: tuple[str, ...] = ()


def job_of(place: ForeignPlace, width: int, height: int, iterations: int) -> Job:
    """Return a job that draws a place; raises InvalidInputError where there is none of that size and cap.

    R is the place's own, or 2 where smooth colours, which do not depend on it, refuse that.
    """
    squared = (place.radius or _LEAST_RADIUS) ** 2
    squared = squared if _LEAST_RADIUS**2 <= squared <= SMOOTH_RADIUS_SQUARED else _LEAST_RADIUS**2
    squared = max(squared, place.formula.least_radius_squared())
    return Job(place.view(width, height), iterations, squared, place.formula)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a field is from: a job for its view, whether that shows its place, and what its counts depend on."""

    job: Job
    placed: bool
    radius: Fraction | None

    @property
    def formula(self) -> Formula:
        """What was iterated."""
        return self.job.formula


def origin_of(text: str | None, width: int, height: int, iterations: int, note: Note) -> Origin:
    """Return the origin of a field, by the text of its place; a view of its size where there is none."""
    why = _NO_PLACE
    if text is not None:
        try:
            place = place_in(text)
            for line in place.notes:
                note(line)
            return Origin(job_of(place, width, height, iterations), True, place.radius)
        except MandelclError as error:
            why = str(error)
    note(f"its place is left out: {why}")
    return Origin(Job(View.centred(0, 0, 1, width, height), iterations, formula=MANDELBROT), False, None)


def require_memory(pixels: int, bytes_each: int) -> None:
    """Raise FileError where a field does not fit into memory."""
    if pixels * bytes_each > available_bytes():
        raise FileError(f"it has {pixels} pixels, for which there is not the memory")
