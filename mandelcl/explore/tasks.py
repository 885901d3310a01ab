"""What devices of the explorer are to compute: views, by pieces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mandelcl.core.block import Block
from mandelcl.core.job import Job

if TYPE_CHECKING:
    from mandelcl.explore.device_slots import DeviceSlot


@dataclass(frozen=True, slots=True)
class ResolvedTask:
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


class ViewTask(Protocol):
    """A view that devices compute."""

    def order(self) -> Mapping[str, Any]:
        """Return what a worker is told of it: its job, its pane, its generation and its levels."""

    def resolved(self, slot: "DeviceSlot", facts: ResolvedTask) -> None:
        """Take note of the job as a device has resolved it."""

    def waiting(self, iterations: int) -> None:
        """Take note that so many iterations of its reference are done."""

    def next(self, slot: "DeviceSlot") -> Piece | None:
        """Return what a device is to compute next; None where there is nothing for it."""

    def done(self, slot: "DeviceSlot", piece: Piece, frames: memoryview, seconds: float, iterations: int) -> None:
        """Take the frames of a piece, and what it took; raises WireError where they cannot be right."""

    def returned(self, piece: Piece) -> None:
        """Take a piece back that a device has not computed."""

    def refused(self, slot: "DeviceSlot", why: str) -> None:
        """Take note that a device cannot do it."""
