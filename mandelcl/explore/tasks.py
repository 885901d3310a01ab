"""The tasks of the explorer's devices: views, computed in pieces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mandelcl.core.block import Block
from mandelcl.core.job import Job

if TYPE_CHECKING:
    from mandelcl.explore.device_slots import DeviceSlot


@dataclass(frozen=True, slots=True)
class ResolvedTask:
    """A task's job as resolved by a device, with the device's expected speed and the number of orbits that fill it."""

    job: Job
    spec: str
    name: str
    warnings: tuple[str, ...]
    pixels_per_s: float
    saturation: int
    gpu: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of a task at a level. It is counted from the view's first pixel at that level."""

    level: int
    block: Block


class ViewTask(Protocol):
    """A view that devices compute."""

    def order(self) -> Mapping[str, Any]:
        """Return the message for a worker: its job, its pane, its generation and its levels."""

    def resolved(self, slot: "DeviceSlot", facts: ResolvedTask) -> None:
        """Note the job as resolved by a device."""

    def waiting(self, iterations: int) -> None:
        """Note the number of iterations of its reference that are done."""

    def next(self, slot: "DeviceSlot") -> Piece | None:
        """Return the next piece for a device, or None if there is nothing for it."""

    def done(self, slot: "DeviceSlot", piece: Piece, frames: memoryview, seconds: float, iterations: int) -> None:
        """Take the frames of a piece, with its time and iterations. Raises WireError if they are invalid."""

    def returned(self, piece: Piece) -> None:
        """Take back a piece that a device has not computed."""

    def refused(self, slot: "DeviceSlot", why: str) -> None:
        """Note that a device cannot do the task."""
