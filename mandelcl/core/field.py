"""The result of a job: numbers, no colour."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import InvalidInputError, MandelclError, require_type
from mandelcl.base.machine import available_bytes, new
from mandelcl.base.text import quoted
from mandelcl.base.words import sha256
from mandelcl.core.counts import Counts
from mandelcl.core.job import Job
from mandelcl.core.planes import CERTIFIED, COUNTS, DISTANCE, LAST, SMOOTH, dtype_of

if TYPE_CHECKING:
    from xarray import Dataset

# Returns memory of a shape and type, not initialised.
Acquire: TypeAlias = Callable[[tuple[int, ...], np.dtype[Any]], npt.NDArray[Any]]

# Rows of a field: the values of each plane of its job, by name.
Rows: TypeAlias = Mapping[str, npt.NDArray[Any]]


class RowSource(Protocol):
    """Where the rows of a field come from, whether or not all of them are in memory."""

    @property
    def job(self) -> Job:
        """The job that the rows belong to."""

    def rows(self, top: int, bottom: int) -> Rows:
        """Return the planes of rows top … bottom − 1, by name; it may be called from several threads.

        Counts may be of a narrower type than a field's.
        """


@dataclass(frozen=True, slots=True, repr=False)
class Field:
    """What was computed of a view: the planes that its job names, each height × width.

    Those that `render` returns are read-only; copy what you want to change. Counts may lie in memory of a session,
    which takes it for another field once nothing views this one any more, and never before.

    `counts` is uint32, or uint64 at an iteration limit above 2³² − 2; a pixel is inside the set where its count is the
    job's iteration limit. `smooth`, where the job asked for it, is float32: counts + smooth − 1 is a continuous count.
    It lies mostly in (0, 1], has been seen from −0.32 to 2.38, and is 0 inside. `distance` and `last` are complex64.
    """

    job: Job
    planes: Rows

    def __post_init__(self) -> None:
        require_type(self.job, Job, "a field's job")
        require_type(self.planes, Mapping, "a field's planes")
        if tuple(self.planes) != self.job.planes:
            given = quoted(tuple(self.planes))
            raise InvalidInputError(f"a field has the planes of its job, {', '.join(self.job.planes)}, not {given}")

    def __repr__(self) -> str:
        view = self.job.view
        return f"<Field of {view.width}x{view.height}: {', '.join(self.planes)}; iteration limit {self.job.iterations}>"

    @property
    def counts(self) -> Counts:
        """The iteration counts."""
        return self.planes[COUNTS.name]

    @property
    def smooth(self) -> npt.NDArray[np.float32] | None:
        """The smooth fractions; None where the job did not ask for them."""
        return self.planes.get(SMOOTH.name)

    @property
    def distance(self) -> npt.NDArray[np.complex64] | None:
        """The distance estimates in pixels, as vectors away from the set; None where the job did not ask for them.

        The real part leads to the right, the imaginary part up; 0 inside. Their length is |z|·ln|z|/|z′|: the set is
        between half and twice as far for z² + c. mandelcl/base/distance.py has the formula.
        """
        return self.planes.get(DISTANCE.name)

    @property
    def last(self) -> npt.NDArray[np.complex64] | None:
        """The z at which orbits left the smooth radius; 0 inside; None where the job did not ask for them."""
        return self.planes.get(LAST.name)

    @property
    def certified(self) -> npt.NDArray[np.uint8] | None:
        """1 where the count is proved to be that of exact arithmetic, else 0; None where the job did not ask for it."""
        return self.planes.get(CERTIFIED.name)

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """True where the orbit did not escape below the iteration limit."""
        return np.equal(self.counts, self.job.iterations)

    def rows(self, top: int, bottom: int) -> Rows:
        """Return the planes of some rows."""
        return {name: values[top:bottom] for name, values in self.planes.items()}

    def counts_sha256(self) -> str:
        """Return the SHA-256 of the counts as little-endian uint32, or uint64, row by row."""
        return sha256(self.counts, self.job.counts.dtype)

    def to_xarray(self) -> "Dataset":
        """Return the planes as an `xarray.Dataset`, each a variable over `y` and `x`; nothing is copied.

        `x` and `y` are pixels to the right of the picture's middle and above it. Of an upright view, `re` and `im` are
        the nearest doubles to its points, as long as these are within 1/2048 of a pixel; deeper there are none. Exact
        are the attributes, texts that `View` and `fractions.Fraction` read: a pixel's point is centre_re + centre_im·i
        plus x times `step_right` plus y times `step_up`, each (re, im). `pitch` is the least distance between pixels,
        and `job` the whole job as JSON. Raises MandelclError without the extra `notebook`.
        """
        from mandelcl.core.labelled import dataset

        return dataset(self.job, self.planes)


def allocate(job: Job, counts: Acquire = new) -> dict[str, npt.NDArray[Any]]:
    """Return planes for a job, not initialised; raises MandelclError if there is not the memory.

    `counts` provides that of the counts, and raises MemoryError if it cannot.
    """
    shape = (job.view.height, job.view.width)
    types = {name: dtype_of(name, job.counts).newbyteorder("=") for name in job.planes}
    needed = job.view.pixels * sum(dtype.itemsize for dtype in types.values())
    try:
        if len(types) > 1 and needed > available_bytes():
            raise MemoryError
        return {name: (counts if name == COUNTS.name else np.empty)(shape, dtype) for name, dtype in types.items()}
    except (MemoryError, ValueError):
        raise MandelclError(
            f"a field of {job.view.width}x{job.view.height} needs {needed / 2**30:.1f} GiB of memory, "
            "more than there is; choose a smaller size, or draw it to files with render_to"
        ) from None
