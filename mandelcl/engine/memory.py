"""Device memory for the results of a block and for survivors. It is kept from job to job."""

from contextlib import suppress

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine.device_output import Array, DeviceOutput, HostMemory
from mandelcl.engine.methods import method_of
from mandelcl.opencl.api import Buffer, Event, Mapping
from mandelcl.opencl.device import Device

_CPU_LIST_BYTES = 1 << 24
_GPU_LIST_BYTES = 1 << 28
_LIST_SHARE = 32  # a list may take this fraction of the device's memory; there are up to six
_LEAST_SCRATCH_WORDS = 1 << 12
_MOST_SPARE = 4  # blocks whose memory is kept: two in flight, one being copied back, one of another shape


class Memory:
    """Device memory for one block of a resolved job: its results and, allocated on first use, two lists of survivors.

    The block has at most `pixels` pixels. A list holds `capacity` orbits, at least the `width` of a row; by default as
    many as suit the device, at most `orbits`. Results are made in a buffer of its own or, for a while, in an array.
    """

    def __init__(self, device: Device, job: Job, pixels: int, width: int, orbits: int | None = None) -> None:
        self.pixels = pixels
        self.words = job.words
        self.orbit_bytes = orbit_bytes(job)
        self._device = device
        self._results_bytes = 4 * job.words * pixels
        self.capacity = max(width, min(orbits or pixels, pixels, _list_capacity(device, self.orbit_bytes)))
        self._own: Buffer | None = None
        self._over: tuple[Buffer, Array] | None = None
        self._mapped: Mapping | None = None
        self.survivor_total = device.allocate(4)
        self._lists: list[Buffer] = []
        self._scratch: dict[str, tuple[int, Buffer]] = {}
        self._words: dict[str, Words] = {}

    @property
    def results(self) -> Buffer:
        """The buffer that results are made in."""
        if self._over is not None:
            return self._over[0]
        if self._own is None:
            self._own = self._device.allocate(self._results_bytes)
        return self._own

    @property
    def made_in_place(self) -> bool:
        """Whether results are made in an array."""
        return self._over is not None

    def use_host_array(self, array: Array, guarded: bool) -> bool:
        """Have the device write the next block's results into an array; return whether it can.

        This lasts until `use_own_buffer`. With `guarded` the array is first filled with NO_COUNT.
        """
        if guarded:
            array.fill(NO_COUNT)
        with suppress(DeviceError):
            self._over = self._device.wrap_host_array(array), array
        return self._over is not None

    def use_own_buffer(self) -> None:
        """Have results made in the memory's own buffer. No earlier launch may still run."""
        if self._mapped is not None:
            self._device.unmap(self._mapped)
        self._over = self._mapped = None

    def lists(self) -> list[Buffer]:
        """Return the two lists of survivors: the one last written first."""
        if not self._lists:
            size = self.orbit_bytes * self.capacity
            self._lists = [self._device.allocate(size), self._device.allocate(size)]
        return self._lists

    def scratch(self, name: str, words: int) -> Buffer:
        """Return a buffer of at least this many words; the same one for the same name until it must grow."""
        room, buffer = self._scratch.get(name, (0, None))
        if buffer is None or room < words:
            room = max(_LEAST_SCRATCH_WORDS, 1 << (words - 1).bit_length())
            buffer = self._device.allocate(4 * room)
            self._scratch[name] = room, buffer
        return buffer

    def host_words(self, name: str, words: int = 1) -> Words:
        """Return this many words of host memory for the device to copy to; the same for the same name.

        If a GPU's driver copies to memory that is not its own, the host may have to wait for the copy.
        """
        kept = self._words.get(name)
        if kept is None or kept.size < words:
            kept = self._words[name] = self._device.host_memory((1 << (words - 1).bit_length(),))
        return kept[:words]

    def guard(self) -> None:
        """Enqueue filling the results with NO_COUNT, so that pixels that are never written can be recognised.

        An array in which they are made has been filled.
        """
        if self._over is None:
            self._device.fill(self.results, NO_COUNT, self._results_bytes)

    def swap_lists(self) -> None:
        """Make the list written next the other one."""
        self._lists.reverse()

    def read_results(self, block: Block, host: HostMemory, guarded: bool) -> tuple[Words, Event]:
        """Return the results of a block, words × height × width, and the event after which they are there.

        The block's last launch must have been waited for. They come to memory that `host` provides, unless they are
        made in an array. With `guarded`, words that are not copied stay NO_COUNT.
        """
        if self._over is not None:
            self._mapped, event = self._device.map(*self._over)
            return self._over[1], event
        results: Words = host(block, (self.words, block.height, block.width), np.dtype(np.uint32))
        if guarded:
            results.fill(NO_COUNT)
        return results, self._device.fetch(self.results, results)

    def read_form(self, block: Block, host: HostMemory, form: DeviceOutput) -> tuple[Array, Event]:
        """Return the output that a form makes of a block's results, and the event after which it is complete.

        The block's last launch must have been waited for. A device that shares the host's memory makes it there where
        that has room, and is then made in place.
        """
        array, size = host(block, form.shape(block.height, block.width), form.dtype), form.bytes_for(block.pixels)
        if self._device.shares_memory and size == array.nbytes:
            made = self._device.wrap_host_array(array)
            form.start(self.results, block, made)
            self._over = made, array
            self._mapped, event = self._device.map(made, array)
            return array, event
        made = self.scratch("form", -(-size // 4))
        form.start(self.results, block, made)
        return array, self._device.fetch(made, array)


class DevicePool:
    """Device memory that is free for the next block or job. The oldest is released first."""

    def __init__(self) -> None:
        self._kept: list[Memory] = []

    def take(self, device: Device, job: Job, pixels: int, width: int) -> Memory:
        """Return memory for a block of a job: some that is kept, or new."""
        shape = job.words, orbit_bytes(job)
        for memory in self._kept:
            fits = memory.pixels >= pixels and memory.capacity >= width
            if fits and (memory.words, memory.orbit_bytes) == shape:
                self._kept.remove(memory)
                return memory
        return Memory(device, job, pixels, width)

    def give(self, memory: Memory) -> None:
        """Take back memory that is free again."""
        self._kept.append(memory)
        del self._kept[:-_MOST_SPARE]

    def clear(self) -> None:
        """Release all of it."""
        self._kept.clear()


def orbit_bytes(job: Job) -> int:
    """Return the bytes of a saved orbit of a resolved job: its pixel's index and its state."""
    return 4 * (1 + method_of(job).state_words(job))


def _list_capacity(device: Device, orbit_bytes: int) -> int:
    """Return how many orbits a list may hold: many more than saturate the device, few enough for its memory.

    A CPU shares the host's memory, and a few orbits saturate it.
    """
    most = _GPU_LIST_BYTES if device.type == "gpu" else _CPU_LIST_BYTES
    size = min(most, device.max_alloc_bytes, device.memory_bytes // _LIST_SHARE)
    return max(1, size // orbit_bytes)
