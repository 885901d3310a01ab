"""The pool of host memory for results. It is touched in advance and, for GPUs, pinned.

A copy to untouched memory waits until the system has found its pages, which takes several times as
long as the copy. A copy to pinned memory (`Device.host_memory`) is even faster.
"""

import math
import weakref
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.machine import available_bytes, new
from mandelcl.base.words import Words
from mandelcl.opencl.device import Device

_MOST_BYTES = 1 << 31
_SHARE = 8  # of what the system has left, at most this fraction
_MOST_WASTE = 4  # buffers larger than this many times the request are not reused


class HostPool:
    """Lends host memory for the results of a device, and lends it again once no array views it any more.

    It holds at most `most` bytes, lent or not; by default an eighth of what the system has left, 2 GiB at most. One
    thread asks for memory; arrays may be dropped in any.
    """

    def __init__(self, device: Device, most: int | None = None) -> None:
        self._device, self._most = device, most
        self.clear()

    def clear(self) -> None:
        """Release the free memory. Memory in use is released with the arrays that view it."""
        self._free: list[Words] = []  # that given back last at the end
        self._held = 0
        self._returned: deque[Words] = deque()

    def acquire(self, shape: Sequence[int], dtype: npt.DTypeLike = np.uint32) -> npt.NDArray[Any]:
        """Return an array of memory, not initialised.

        It comes back when the array and all that view it are dropped. Where too much is lent, it is new, and does not.
        Raises MemoryError if the system has too little left.
        """
        dtype = np.dtype(dtype)
        size = math.prod(shape) * dtype.itemsize
        memory = self._memory(-(-size // 4)) if size else None
        if memory is None:
            return new(tuple(shape), dtype)
        pooled = _PooledArray(memory, tuple(shape), dtype)
        weakref.finalize(pooled, self._returned.append, memory).atexit = False
        return np.asarray(pooled)

    def _memory(self, words: int) -> Words | None:
        """Return a buffer of at least this many words, free or new; None if that would be too much."""
        while self._returned:
            self._free.append(self._returned.popleft())
        fitting = [memory for memory in self._free if words <= memory.size <= _MOST_WASTE * words]
        if fitting:
            best = min(fitting, key=lambda memory: memory.size)
            self._free = [memory for memory in self._free if memory is not best]
            return best
        available = available_bytes()
        if self._most is None:
            self._most = int(min(_MOST_BYTES, available / _SHARE))
        while self._free and self._held + 4 * words > self._most:
            self._held -= self._free.pop(0).nbytes
        if self._held + 4 * words > self._most or 4 * words > available:
            return None
        self._held += 4 * words
        return self._device.host_memory((words,))


class _PooledArray:
    """The base of arrays over memory of the pool. It lives as long as the last of them."""

    def __init__(self, memory: Words, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        address = memory.__array_interface__["data"]
        self.__array_interface__ = {"version": 3, "data": address, "shape": shape, "typestr": dtype.str}
