"""Shared memory for a worker's results. A pipe would copy them twice."""

import importlib
import mmap
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from mandelcl.base.system import system
from mandelcl.base.words import Words


class SharedBuffers:
    """`count` buffers of `size` bytes each, shared by two processes; memory is taken only when they are written to.

    The memory belongs to these two processes alone: however they end, it is freed.
    """

    def __init__(self, size: int, count: int, descriptor: int | None = None, tag: str = "") -> None:
        self._size, self._count = size, count
        self._descriptor, self._tag = descriptor, tag
        self._memory = _named(size * count, tag) if descriptor is None else mmap.mmap(descriptor, size * count)

    @classmethod
    def make(cls, size: int, count: int) -> "SharedBuffers | None":
        """Return new buffers of at least `size` bytes; None if the system cannot share memory between two processes."""
        size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        with suppress(OSError):
            if system() == "win32":
                return cls(size, count, tag=f"mandelcl-{secrets.token_hex(16)}")
            descriptor = _unnamed()
            if descriptor is None:
                return None
            try:
                os.truncate(descriptor, size * count)
                return cls(size, count, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
        return None

    @classmethod
    def inherited(cls, order: Mapping[str, Any]) -> "SharedBuffers":
        """Return the buffers that the parent process has described."""
        return cls(order["size"], order["count"], order["descriptor"], order["tag"])

    @property
    def order(self) -> dict[str, Any]:
        """The description of the buffers for the other process."""
        return {"size": self._size, "count": self._count, "descriptor": self._descriptor, "tag": self._tag}

    @property
    def descriptors(self) -> list[int]:
        """The file descriptors that the other process is to inherit."""
        return [] if self._descriptor is None else [self._descriptor]

    @property
    def numbers(self) -> range:
        """The numbers of the buffers."""
        return range(self._count)

    def words(self, number: int, shape: tuple[int, ...]) -> Words:
        """Return the beginning of a buffer as an array of this shape. Raises ValueError if it does not fit."""
        size = 4 * int(np.prod(shape))
        return np.frombuffer(self._memory, np.uint32, size // 4, self._offset(number, size)).reshape(shape)

    def copy_of(self, number: int, size: int) -> memoryview:
        """Return a copy of a buffer's first bytes; the buffer can be used again. Raises ValueError as `words` does."""
        data: Any = np.frombuffer(self._memory, np.uint8, size, self._offset(number, size)).copy()
        return memoryview(data)

    def _offset(self, number: int, size: int) -> int:
        if number not in self.numbers or not 0 <= size <= self._size:
            raise ValueError(f"there is no buffer {number} of {size} bytes")
        return number * self._size

    def close(self) -> None:
        """Release the buffers; an array that still uses them keeps the memory until it is gone."""
        for descriptor in self.descriptors:
            os.close(descriptor)
        with suppress(BufferError):
            self._memory.close()


def _unnamed() -> int | None:
    """Return the descriptor of new unnamed memory of size 0; None if the system has none."""
    system: Any = os  # Linux has it
    if hasattr(system, "memfd_create"):
        return int(system.memfd_create("mandelcl results"))
    try:  # the module behind multiprocessing.shared_memory, whose memory always has a name
        memory = importlib.import_module("_posixshmem")
    except ImportError:
        return None
    name = f"/mandelcl-{secrets.token_hex(8)}"  # macOS takes 31 characters
    descriptor = int(memory.shm_open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600))
    memory.shm_unlink(name)
    return descriptor


def _named(size: int, tag: str) -> mmap.mmap:
    """Return memory that Windows knows by an unguessable tag for as long as a process has it open."""
    new: Any = mmap.mmap  # elsewhere it takes no tag
    memory: mmap.mmap = new(-1, size, tagname=tag)
    return memory
