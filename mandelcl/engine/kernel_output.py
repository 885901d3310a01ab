"""Outputs that one kernel makes of a block's results: how it is launched, and whether it gives the host's bytes."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from mandelcl.base.words import Words
from mandelcl.engine import verdicts
from mandelcl.engine.arguments import arguments
from mandelcl.engine.building import kernel
from mandelcl.engine.device_output import Array
from mandelcl.opencl.api import Buffer, Event, Kernel
from mandelcl.opencl.device import Device

GPU_VECTORS, CPU_VECTORS = (4, 128), (8, 64)  # pixels of a work-item, and work-items of a work-group


class KernelOutput(ABC):
    """What one kernel makes of a block's results, a vector of pixels a work-item (a `DeviceOutput`).

    A kind of output says its array's type and shape, of which `row_axis` is the rows, and how many bytes a pixel has;
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
    def arguments_for(self, total: int, made: Buffer) -> dict[str, Any]:
        """Return the kernel's arguments by name, but for `results`, for so many pixels of an array."""

    def bytes_for(self, pixels: int) -> int:
        """Return the size of a buffer for so many pixels, in whole vectors."""
        return -(-pixels // self._lanes) * self._lanes * self.pixel_bytes

    def start(self, results: Buffer, total: int, made: Buffer) -> Event:
        """Have the array of `total` pixels made, beside other kernels; what wrote the results must have ended."""
        values = {"results": results} | self.arguments_for(total, made)
        local = min(self._device.group_limit(self._kernel), self._local)
        items = -(-total // (self._lanes * local)) * local
        kernel_arguments = arguments(self.kernel_name, values)
        return self._device.launch_beside(self._kernel, (items,), (local,), *kernel_arguments)

    def made(self, results: Words) -> Array:
        """Return the array of results that the host has, words × pixels, as one without rows."""
        device, total = self._device, results.shape[1]
        buffer, found = device.allocate(self.bytes_for(total)), np.zeros(self.shape(1, total), self.dtype)
        self.start(device.upload(np.ascontiguousarray(results)), total, buffer)
        device.wait(device.fetch(buffer, found))
        return found.squeeze(self.row_axis)

    def key(self, own_text: str) -> str:
        """Return what the test of the kernel is remembered by; `own_text` is that of the test (`verdicts.text_of`)."""
        return verdicts.key_of(self._device, self.text(), own_text)

    def passes(self, own_text: str, name: str, gives_answers: Callable[[], bool]) -> bool:
        """Return whether the kernel gives the host's bytes, as `verdicts.passes` does."""
        return verdicts.passes(self.key(own_text), name, gives_answers)

    @cached_property
    def _kernel(self) -> Kernel:
        return kernel(self._device, self.text(), self.kernel_name)
