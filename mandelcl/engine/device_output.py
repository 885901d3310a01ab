"""How the results of finished blocks leave the device."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.opencl.api import Buffer, Event
from mandelcl.opencl.device import Device

Array: TypeAlias = npt.NDArray[Any]

# A block as it is delivered: its results, words × height × width, or what a form makes of them.
Delivered: TypeAlias = Array

# Returns host memory for what leaves the device of a block, as an array of this shape and type, row after row.
HostMemory: TypeAlias = Callable[[Block, tuple[int, ...], np.dtype[Any]], Array]


class DeviceOutput(Protocol):
    """What leaves a device in place of a block's results: an array that a kernel makes of them, for one job.

    Rows and columns are those of the block; there may be other dimensions before or behind them.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The array's type."""

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return the array's shape."""

    def bytes_for(self, pixels: int) -> int:
        """Return the bytes of device memory in which the array of so many pixels is made; a little more than it has."""

    def start(self, results: Buffer, total: int, made: Buffer) -> Event:
        """Have the array of `total` pixels made among the copies; what wrote the results has ended."""


def fresh(_block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return new host memory."""
    return np.empty(shape, dtype)


# Returns the form for a job on a device; None where there is none, or it gains nothing.
MakeOutput: TypeAlias = Callable[[Device, Job], DeviceOutput | None]


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """What becomes of a block's results: they come to memory that `host` provides, or stay on the device.

    A device that shares the host's memory makes them there; from others they are copied. With `totals` the device sums
    them up for the log. With a `form` the device makes something else of them, which leaves it in their place.
    """

    host: HostMemory | None = fresh
    totals: bool = True
    form: DeviceOutput | None = None


TO_HOST = OutputPlan()
NOWHERE = OutputPlan(host=None, totals=False)  # results stay on the device, where only their computation matters
