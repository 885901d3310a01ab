"""Memory that a worker writes its results to and its parent reads them from: a pipe would copy them twice, slowly."""

import mmap
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from mandelcl.words import Words


class SharedBuffers:
    """`count` buffers of `size` bytes each, shared by two processes; memory is taken only when they are written to.

    The memory belongs to these two processes alone: however they end, it is freed.
    """

    def __init__(self, descriptor: int, size: int, count: int) -> None:
        self._descriptor = descriptor
        self._size, self._count = size, count
        self._memory = mmap.mmap(descriptor, size * count)

    @classmethod
    def make(cls, size: int, count: int) -> "SharedBuffers | None":
        """Return new buffers of at least `size` bytes; None on systems where a process cannot inherit memory."""
        if not hasattr(os, "memfd_create"):  # other than Linux
            return None
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        with suppress(OSError):
            descriptor = os.memfd_create("mandelcl results")
            try:
                os.truncate(descriptor, size * count)
                return cls(descriptor, size, count)
            except BaseException:
                os.close(descriptor)
                raise
        return None

    @classmethod
    def inherited(cls, order: Mapping[str, int]) -> "SharedBuffers":
        """Return the buffers that the parent process has described."""
        return cls(order["descriptor"], order["size"], order["count"])

    @property
    def order(self) -> dict[str, int]:
        """What a process that inherits the descriptor has to know."""
        return {"descriptor": self._descriptor, "size": self._size, "count": self._count}

    @property
    def numbers(self) -> range:
        """The numbers of the buffers."""
        return range(self._count)

    @property
    def descriptor(self) -> int:
        """The file descriptor that the other process is to inherit."""
        return self._descriptor

    def words(self, number: int, shape: tuple[int, ...]) -> Words:
        """Return the beginning of a buffer as an array of this shape; raises ValueError where it does not fit."""
        size = 4 * int(np.prod(shape))
        return np.frombuffer(self._memory, np.uint32, size // 4, self._offset(number, size)).reshape(shape)

    def copy_of(self, number: int, size: int) -> memoryview:
        """Return a copy of a buffer's first bytes, so that it may be written to again; raises ValueError as `words`."""
        data: Any = np.frombuffer(self._memory, np.uint8, size, self._offset(number, size)).copy()
        return memoryview(data)

    def _offset(self, number: int, size: int) -> int:
        if number not in self.numbers or not 0 <= size <= self._size:
            raise ValueError(f"there is no buffer {number} of {size} bytes")
        return number * self._size

    def close(self) -> None:
        """Release the buffers; an array that still uses them keeps the memory until it is gone."""
        os.close(self._descriptor)
        with suppress(BufferError):
            self._memory.close()
