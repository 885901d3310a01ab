"""A device's context and queues: memory, and the commands that are enqueued."""

import contextlib
import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import DeviceError
from mandelcl.core import timeline
from mandelcl.opencl import preopen
from mandelcl.opencl.api import Buffer, Event, Kernel, Mapping, Shape, cl, opencl_errors, stamps
from mandelcl.opencl.commands import Commands


class Queues:
    """What a device computes and copies with: a context, an in-order queue for kernels and one for copies.

    They are made when first used. Messages name the device by `label`; `commands` records what is enqueued while a
    trace is recorded, under a shorter `title`. Unless it is `timed`, no event has times.
    """

    def __init__(self, handle: cl.Device, label: str, title: str, timed: bool = True) -> None:
        self.handle, self.label = handle, label
        self._timed = timed
        self.commands = Commands(title, stamps)
        self._made: dict[str, Any] = {}
        self._making = threading.RLock()

    @property
    def pins(self) -> bool:
        """Whether memory that its driver allocates and keeps in place is what it copies to fastest."""
        return bool(self.handle.type & cl.device_type.GPU)

    @property
    def shares_memory(self) -> bool:
        """Whether its kernels write to the host's memory itself, as those of a CPU do."""
        return bool(self.handle.type & cl.device_type.CPU) and not self.pins

    @property
    def context(self) -> cl.Context:
        """The device's context, made when first asked for."""
        context: cl.Context = self._once("context", self._new_context)
        return context

    @property
    def queue(self) -> cl.CommandQueue:
        """The device's in-order queue, with event times where they can be trusted."""
        queue: cl.CommandQueue = self._once("queue", self._new_queue)
        return queue

    @property
    def copy_queue(self) -> cl.CommandQueue:
        """A second queue, so that results come back while kernels run."""
        queue: cl.CommandQueue = self._once("copy queue", self._new_queue)
        return queue

    def _new_context(self) -> cl.Context:
        begun = preopen.context(self.handle.int_ptr)
        return cl.Context.from_int_ptr(begun, retain=False) if begun else cl.Context([self.handle])

    def _new_queue(self) -> Any:
        if not self._timed:
            return cl.CommandQueue(self.context)
        return cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what has been made under a name, or make it: once, however many threads ask for it."""
        made = self._made.get(name)
        if made is None:
            with self._making, opencl_errors(self):
                made = self._made[name] = self._made.get(name) or make()
        return made

    def allocate(self, size: int) -> Buffer:
        """Return `size` bytes of the device's memory, not initialised."""
        with opencl_errors(self):
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size)

    def upload(self, array: npt.NDArray[Any]) -> Buffer:
        """Return device memory that holds the array's bytes, for kernels to read."""
        with opencl_errors(self):
            return cl.Buffer(self.context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)

    def host_memory(self, shape: Shape) -> npt.NDArray[np.uint32]:
        """Return host memory for 32-bit words that this device will copy to, not initialised.

        For a GPU, while there is enough, the driver allocates it and keeps it in place (`ALLOC_HOST_PTR`, mapped), so
        that the device writes to it directly. It is released with the array.
        """
        if self.pins:
            with contextlib.suppress(DeviceError):
                return self._pinned(shape)
        return np.empty(shape, np.uint32)

    def _pinned(self, shape: Shape) -> npt.NDArray[np.uint32]:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        maps: Any = cl.map_flags.READ | cl.map_flags.WRITE
        with opencl_errors(self):
            buffer = cl.Buffer(self.context, flags, 4 * math.prod(shape))
            mapped: Any = cl.enqueue_map_buffer(self.copy_queue, buffer, maps, 0, shape, np.uint32)
        array: npt.NDArray[np.uint32] = mapped[0]
        return array

    def wrap_host_array(self, array: npt.NDArray[Any]) -> Buffer:
        """Return a buffer whose bytes are those of an array, which must be kept as long as kernels may write to it."""
        with opencl_errors(self):
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR, hostbuf=array)

    def map(self, buffer: Buffer, array: npt.NDArray[Any]) -> tuple[Mapping, Event]:
        """Start to make what kernels wrote to a buffer over an array visible in the array, while other kernels run.

        Returns the event after which it is, and what is then to be given to `release`.
        """
        before = timeline.since()
        flags: Any = cl.map_flags.READ
        with opencl_errors(self):
            size = (array.nbytes,)
            mapped: Any = cl.enqueue_map_buffer(self.copy_queue, buffer, flags, 0, size, np.uint8, is_blocking=False)
            event: Event = mapped[1]
            self.copy_queue.flush()
        return mapped[0].base, self.commands.noted(before, event, "show", array.nbytes, "copies") if before else event

    def unmap(self, mapping: Mapping) -> None:
        """Let kernels write again to what has been shown."""
        with opencl_errors(self):
            mapping.release(self.copy_queue)
            self.copy_queue.flush()

    def finish(self) -> None:
        """Return when nothing runs any more."""
        with opencl_errors(self):
            self.queue.finish()
            self.copy_queue.finish()

    def clear(self, buffer: Buffer, size: int) -> Event:
        """Enqueue the zeroing of a buffer's first `size` bytes, a multiple of 4."""
        return self.fill(buffer, 0, size)

    def fill(self, buffer: Buffer, word: int, size: int) -> Event:
        """Enqueue the filling of a buffer's first `size` bytes, a multiple of 4, with a 32-bit word."""
        before = timeline.since()
        with opencl_errors(self):
            event = cl.enqueue_fill_buffer(self.queue, buffer, np.array([word], np.uint32), 0, size)
        return self.commands.noted(before, event, "fill", size)

    def launch(self, kernel: Kernel, size: Shape, local: Shape | None, *arguments: Any) -> Event:
        """Enqueue a kernel over `size` work-items in work-groups of `local` (None: as the driver likes)."""
        before = timeline.since()
        with opencl_errors(self):
            event = kernel(self.queue, size, local, *arguments)
        return self.commands.noted(before, event, kernel.function_name) if before else event

    def launch_beside(self, kernel: Kernel, size: Shape, local: Shape | None, *arguments: Any) -> Event:
        """Enqueue a kernel among the copies: it waits for no other kernel, and the copies behind it wait for it."""
        before = timeline.since()
        with opencl_errors(self):
            event = kernel(self.copy_queue, size, local, *arguments)
        return self.commands.noted(before, event, kernel.function_name, 0, "copies") if before else event

    def read(self, buffer: Buffer, array: npt.NDArray[Any]) -> Event:
        """Enqueue the copy of a buffer's beginning to the array; it is there once the event has ended."""
        before = timeline.since()
        with opencl_errors(self):
            event: Event = cl.enqueue_copy(self.queue, array, buffer, is_blocking=False)
            self.queue.flush()
        return self.commands.noted(before, event, "read", array.nbytes) if before else event

    def fetch(self, buffer: Buffer, array: npt.NDArray[Any]) -> Event:
        """Start the copy of a buffer's beginning to the array while kernels run, which must not write to the buffer."""
        before = timeline.since()
        with opencl_errors(self):
            event: Event = cl.enqueue_copy(self.copy_queue, array, buffer, is_blocking=False)
            self.copy_queue.flush()
        return self.commands.noted(before, event, "copy back", array.nbytes, "copies") if before else event

    def write(self, buffer: Buffer, array: npt.NDArray[Any]) -> Event:
        """Enqueue the copy of an array to a buffer's beginning; the array must not be changed until the event ends.

        The caller keeps the event that long: pyopencl waits when one is dropped that holds an array.
        """
        before = timeline.since()
        with opencl_errors(self):
            event: Event = cl.enqueue_copy(self.queue, buffer, array, is_blocking=False)
        return self.commands.noted(before, event, "write", array.nbytes) if before else event

    def flush(self) -> None:
        """Have the driver begin with what is enqueued."""
        with opencl_errors(self):
            self.queue.flush()

    def wait(self, event: Event) -> None:
        """Return when an event of this device has ended."""
        with timeline.span("wait for the device", "wait"), opencl_errors(self):
            event.wait()
        self.commands.ended(event)
