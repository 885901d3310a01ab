"""Fields that other programs computed, with their locations."""

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
_NO_PLACE = "the file has no location"

# note(text) takes a sentence about something in the file that was changed or left out.
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A field of another program.

    `placed` says whether its job shows the field's location; otherwise it shows just any view of its size. Its job is
    not resolved, because the arithmetic of its counts is unknown. `notes` are sentences on what was not converted.
    """

    field: Field
    placed: bool
    notes: tuple[str, ...] = ()


def job_of(place: ForeignPlace, width: int, height: int, iterations: int) -> Job:
    """Return a job that draws a location. Raises InvalidInputError if there is none of this size and iteration limit.

    R is the location's own, or 2 if smooth colours refuse that; smooth colours do not depend on it.
    """
    squared = (place.radius or _LEAST_RADIUS) ** 2
    squared = squared if _LEAST_RADIUS**2 <= squared <= SMOOTH_RADIUS_SQUARED else _LEAST_RADIUS**2
    squared = max(squared, place.formula.least_radius_squared())
    return Job(place.view(width, height), iterations, squared, place.formula)


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a field: a job for its view, whether that shows its location, and what its counts depend on."""

    job: Job
    placed: bool
    radius: Fraction | None

    @property
    def formula(self) -> Formula:
        """The iterated formula."""
        return self.job.formula


def origin_of(text: str | None, width: int, height: int, iterations: int, note: Note) -> Origin:
    """Return the origin of a field from the text of its location; without one, any view of its size."""
    why = _NO_PLACE
    if text is not None:
        try:
            place = place_in(text)
            for line in place.notes:
                note(line)
            return Origin(job_of(place, width, height, iterations), True, place.radius)
        except MandelclError as error:
            why = str(error)
    note(f"its location is left out: {why}")
    return Origin(Job(View.centred(0, 0, 1, width, height), iterations, formula=MANDELBROT), False, None)


def require_memory(pixels: int, bytes_each: int) -> None:
    """Raise FileError if a field does not fit into memory."""
    if pixels * bytes_each > available_bytes():
        raise FileError(f"it has {pixels} pixels, which do not fit into memory")
