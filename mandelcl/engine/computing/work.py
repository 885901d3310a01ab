"""The protocol `Work`: a running job, on whatever devices. Renders are built on it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from mandelcl.base.errors import NEVER, Token
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.core.report import LateText, LaunchLog, Report
from mandelcl.engine.device_output import Array, Delivered, MakeOutput


class Finished(NamedTuple):
    """A block with its values: results, words × height × width, or the form in which they are delivered.

    A block whose values turn out to have been wrong is yielded again, with a higher `revision`. Whoever consumes blocks
    replaces what it had of that block.
    """

    block: Block
    values: Delivered
    revision: int = 0


Results: TypeAlias = Iterator[Finished]

# Returns whether there is memory for another band; with a true argument, waits until there is.
Room: TypeAlias = Callable[[bool], bool]


def boundless(_wait: bool) -> bool:
    """Return True: there is always room."""
    return True


# Returns where a block's results, of a shape and type, are best put: contiguous memory; None if it does not matter.
Place: TypeAlias = Callable[[Block, tuple[int, ...], np.dtype[Any]], Array | None]


def anywhere(_block: Block, _shape: tuple[int, ...], _dtype: np.dtype[Any]) -> None:
    """Return None: results may be anywhere."""


class Work(Protocol):
    """A resolved job on one device, a crew of several, or a cluster.

    `rate` is iterations a second when no orbit escapes, `band_rows` how many rows a band, from which blocks are cut,
    should have, and `warnings` lines for the user. `log` has the totals of the blocks that were yielded.
    """

    job: Job
    log: LaunchLog
    rate: float
    band_rows: int
    warnings: tuple[str, ...]

    @property
    def seconds(self) -> float:
        """Seconds since it began, or was last reset."""

    @property
    def name(self) -> str:
        """The devices' names."""

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        """Yield the blocks of some bands as they finish, and again where they are corrected: see `Finished`.

        Bands are taken one by one, in order, when there is `room`, so urgent ones may come first. Results may come to
        the `place` of their block. Raises CancelledError at most a launch after `cancel` is set; the work may then be
        reset. Where a run ends early, `suspect` in `log` has the blocks whose values may be wrong.
        """

    def run_listed(self, pixels: PixelList, cancel: Token = NEVER) -> Results:
        """Yield the results of the pixels of a list, part by part, as `run` does; no borders are traced for them.

        The block of a part has one row, and its columns are places in the list.
        """

    def run_lists(self, jobs: Iterable[Job], pixels: PixelList, cancel: Token = NEVER) -> Iterator[Results]:
        """Yield what `run_listed` does for each of some jobs, which differ from this one in the view alone.

        Consume each before the next. `log` is that of the job whose results were yielded last. Reset the work before it
        runs anything else.
        """

    def acquire(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return uninitialised host memory to which copies are fast. It returns to the pool when no array views it."""

    def set_output(self, make: MakeOutput) -> bool:
        """Have the next blocks of `run` yielded in the form that `make` returns for the device; return whether so.

        They are not where it returns None, nor where several devices, which check each other, exchange results. A reset
        ends it.
        """

    def reset(self, job: Job) -> None:
        """Take another job in the same number and rounding, such as another view; results of the old one are dropped.

        Raises InvalidInputError for a job of another number, rounding or unresolved algorithm.
        """

    def report(self, counts_sha256: LateText | None, stages: dict[str, float]) -> Report:
        """Return the report of what has been done so far."""

    def close(self) -> None:
        """Release what belongs to this work alone, such as processes."""


class WorkStage:
    """A stage over the blocks of another work (a `Work` but for `run` and `report`): what it leaves out is the other's.

    A stage makes values on the host, so it has no device output. Listed pixels are those of the other work.
    """

    def __init__(self, work: Work) -> None:
        self._work = work
        self._begin()

    def _begin(self) -> None:
        """Copy the work's properties of its job."""
        work = self._work
        self.job, self.log, self.rate = work.job, work.log, work.rate
        self.band_rows, self.warnings = work.band_rows, work.warnings

    @property
    def seconds(self) -> float:
        """Seconds since it began, or was last reset."""
        return self._work.seconds

    @property
    def name(self) -> str:
        """The devices' names."""
        return self._work.name

    def run_listed(self, pixels: PixelList, cancel: Token = NEVER) -> Results:
        """Yield the results of the pixels of a list, as the work computes them."""
        return self._work.run_listed(pixels, cancel)

    def run_lists(self, jobs: Iterable[Job], pixels: PixelList, cancel: Token = NEVER) -> Iterator[Results]:
        """Yield the results of the pixels of a list for each of some jobs, as the work computes them."""
        return self._work.run_lists(jobs, pixels, cancel)

    def acquire(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return host memory, as the work lends it."""
        return self._work.acquire(shape, dtype)

    def set_output(self, make: MakeOutput) -> bool:  # noqa: ARG002 - as Work has it
        """Return False."""
        return False

    def reset(self, job: Job) -> None:
        """Take another job that the work can take."""
        self._work.reset(job)
        self._begin()

    def close(self) -> None:
        """Release what belongs to the work alone."""
        self._work.close()
