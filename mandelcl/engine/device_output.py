"""How the results of finished blocks leave the device."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine import verdicts
from mandelcl.opencl.api import Buffer, Event, Kernel
from mandelcl.opencl.arguments import arguments
from mandelcl.opencl.building import kernel
from mandelcl.opencl.device import Device

Array: TypeAlias = npt.NDArray[Any]

# The values of a finished block: its results, words × height × width, or an output made of them.
Delivered: TypeAlias = Array

# Returns host memory for what leaves the device of a block, as an array of this shape and type, row after row.
HostMemory: TypeAlias = Callable[[Block, tuple[int, ...], np.dtype[Any]], Array]
GPU_VECTORS, CPU_VECTORS = (4, 128), (8, 64)  # pixels of a work-item, and work-items of a work-group


class DeviceOutput(Protocol):
    """An array that a kernel makes of a block's results on the device, and that leaves the device in their place.

    Rows and columns are those of the block; there may be other dimensions before or behind them.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The array's type."""

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return the array's shape."""

    def bytes_for(self, pixels: int) -> int:
        """Return the bytes of device memory for the array of this many pixels; a little more than it has."""

    def start(self, results: Buffer, block: Block, made: Buffer) -> Event:
        """Start the kernel that makes the array of a block, on the copy queue. The results are complete."""


def fresh(_block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return new host memory."""
    return np.empty(shape, dtype)


# Returns the output for a job on a device; None if there is none, or it gains nothing.
MakeOutput: TypeAlias = Callable[[Device, Job], DeviceOutput | None]


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """Where a block's results go: to memory that `host` provides, or nowhere, so that they stay on the device.

    A device that shares the host's memory makes them there; from others they are copied. With `totals` the device sums
    them up for the log. With a `form` the device makes something else of them, which leaves it in their place.
    """

    host: HostMemory | None = fresh
    totals: bool = True
    form: DeviceOutput | None = None


TO_HOST = OutputPlan()
NOWHERE = OutputPlan(host=None, totals=False)  # results stay on the device, where only their computation matters


class KernelOutput(ABC):
    """A `DeviceOutput` made by one kernel, with a vector of pixels for each work-item.

    A kind of output defines its array's type and shape, whose axis `row_axis` is the rows, and the bytes of a pixel;
    the name of its kernel, the source text and the arguments. `vectors` are by default those of the device's type.
    """

    dtype: np.dtype[Any]
    pixel_bytes: int
    kernel_name: ClassVar[str]
    row_axis: ClassVar[int] = 0

    def __init__(self, device: Device, vectors: tuple[int, int] | None = None) -> None:
        self._device = device
        self._lanes, self._local = vectors or (GPU_VECTORS if device.type == "gpu" else CPU_VECTORS)

    @abstractmethod
    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return the array's shape."""

    @abstractmethod
    def text(self) -> str:
        """Return the source text of the kernel."""

    @abstractmethod
    def arguments_for(self, block: Block, made: Buffer) -> dict[str, Any]:
        """Return the kernel's arguments by name, without `results`, for a block's array."""

    def bytes_for(self, pixels: int) -> int:
        """Return the size of a buffer for this many pixels, in whole vectors."""
        return -(-pixels // self._lanes) * self._lanes * self.pixel_bytes

    def start(self, results: Buffer, block: Block, made: Buffer) -> Event:
        """Start the kernel that makes the array of a block, beside others. The results must be complete."""
        values = {"results": results} | self.arguments_for(block, made)
        local = min(self._device.group_limit(self._kernel), self._local)
        items = -(-block.pixels // (self._lanes * local)) * local
        kernel_arguments = arguments(self.kernel_name, values)
        return self._device.launch_beside(self._kernel, (items,), (local,), *kernel_arguments)

    def made(self, results: Words) -> Array:
        """Return the array of the host's results, words × pixels, as of one row, without the axis of rows."""
        return self.made_of_rows(results[:, None]).squeeze(self.row_axis)

    def made_of_rows(self, results: Words) -> Array:
        """Return the array of the host's results, words × rows × columns, as of a picture's first block."""
        _, rows, columns = results.shape
        device, block = self._device, Block(0, 0, columns, rows)
        buffer, found = device.allocate(self.bytes_for(block.pixels)), np.zeros(self.shape(rows, columns), self.dtype)
        self.start(device.upload(np.ascontiguousarray(results)), block, buffer)
        device.wait(device.fetch(buffer, found))
        return found

    def key(self, own_text: str) -> str:
        """Return the key of the kernel's verdict. `own_text` is the text of its test (`verdicts.text_of`)."""
        return verdicts.key_of(self._device, self.text(), own_text)

    def passes(self, own_text: str, name: str, gives_answers: Callable[[], bool]) -> bool:
        """Return whether the kernel gives the host's bytes, as `verdicts.passes` does."""
        return verdicts.passes(self.key(own_text), name, gives_answers)

    @cached_property
    def _kernel(self) -> Kernel:
        return kernel(self._device, self.text(), self.kernel_name)
