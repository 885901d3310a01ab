"""What renders are made of: a job under way, whoever does it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeAlias

from mandelcl.block import Block
from mandelcl.cancelling import NEVER, Token
from mandelcl.job import Job
from mandelcl.report import LaunchLog, Report
from mandelcl.words import Words

# Blocks with their results, words × height × width, as they finish.
Results: TypeAlias = Iterator[tuple[Block, Words]]

# Returns whether there is memory for another band; where its argument is set, only when there is.
Room: TypeAlias = Callable[[bool], bool]


def boundless(_wait: bool) -> bool:
    """Return True: there is always room."""
    return True


class Work(Protocol):
    """A resolved job on one device, a crew of several, or a cluster.

    `rate` is iterations a second where no orbit escapes; `band_rows` how many rows a band should have, of which blocks
    are cut; `warnings` what the user should know.
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

        Bands are taken one by one, in their order, when there is `room`, so what is urgent may come first. Raises
        CancelledError within a launch of the moment when `cancel` is set; the work may then be reset.
        """

    def reset(self, job: Job) -> None:
        """Take another job, in the same number and rounding, such as another view. Nothing of the old one comes then.

        Raises InvalidInputError for a job of another number, rounding or unsettled algorithm.
        """

    def report(self, iterations: int, counts_sha256: str, stages: dict[str, float]) -> Report:
        """Return the report of what has been done, by now; `iterations` is the sum of the counts."""

    def close(self) -> None:
        """Let go of what belongs to this work alone, such as processes."""
