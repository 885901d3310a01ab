"""What devices of the explorer are to compute: views, by pieces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mandelcl.core.block import Block
from mandelcl.core.job import Job

if TYPE_CHECKING:
    from mandelcl.explore.seats import Seat


@dataclass(frozen=True, slots=True)
class Settled:
    """What a device has made of a task's job: how fast it may be, and how many orbits fill it."""

    job: Job
    spec: str
    name: str
    warnings: tuple[str, ...]
    pixels_per_s: float
    saturation: int
    gpu: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of a task at a level, counted from the view's first pixel at that level."""

    level: int
    block: Block


class Task(Protocol):
    """A view that devices compute."""

    def order(self) -> Mapping[str, Any]:
        """Return what a worker is told of it: its job, its pane, its generation and its levels."""

    def settled(self, seat: "Seat", facts: Settled) -> None:
        """Take note of the job as a device has settled it."""

    def waiting(self, iterations: int) -> None:
        """Take note that so many iterations of its reference are done."""

    def next(self, seat: "Seat") -> Piece | None:
        """Return what a device is to compute next; None where there is nothing for it."""

    def done(self, seat: "Seat", piece: Piece, frames: memoryview, seconds: float, iterations: int) -> None:
        """Take the frames of a piece, and what it took; raises WireError where they cannot be right."""

    def returned(self, piece: Piece) -> None:
        """Take a piece back that a device has not computed."""

    def refused(self, seat: "Seat", why: str) -> None:
        """Take note that a device cannot do it."""
