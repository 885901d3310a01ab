"""A job in progress, on whatever devices: what renders are built on."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeAlias

from mandelcl.block import Block
from mandelcl.cancelling import NEVER, Token
from mandelcl.engine.delivery import Delivered
from mandelcl.job import Job
from mandelcl.report import LaunchLog, Report

if TYPE_CHECKING:
    from mandelcl.shading.colour import Colouring

# Blocks with their results, words × height × width, as they finish; or with their pixels, where those are made of them.
Results: TypeAlias = Iterator[tuple[Block, Delivered]]

# Returns whether there is memory for another band; with a true argument, waits until there is.
Room: TypeAlias = Callable[[bool], bool]


def boundless(_wait: bool) -> bool:
    """Return True: there is always room."""
    return True


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

    def run(self, bands: Iterable[Block], room: Room = boundless, *, cancel: Token = NEVER) -> Results:
        """Yield blocks of some bands with their results, as they finish.

        Bands are taken one by one, in order, when there is `room`, so urgent ones may come first. Raises CancelledError
        at most a launch after `cancel` is set; the work may then be reset.
        """

    def shade(self, colouring: "Colouring") -> bool:
        """Have blocks yielded with their pixels in a colouring, made on the device; return whether they will be.

        They are not where that gains nothing, or a device would not give the host's bytes. A reset ends it.
        """

    def reset(self, job: Job) -> None:
        """Take another job in the same number and rounding, such as another view; results of the old one are dropped.

        Raises InvalidInputError for a job of another number, rounding or unsettled algorithm.
        """

    def report(self, counts_sha256: str, stages: dict[str, float]) -> Report:
        """Return the report of what has been done so far."""

    def close(self) -> None:
        """Release what belongs to this work alone, such as processes."""
