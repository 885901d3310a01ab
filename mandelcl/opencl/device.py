"""OpenCL devices: discover them, read their properties, and hold a context and queues on each."""

import contextlib
import math
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl import timeline
from mandelcl.errors import BuildError, DeviceError, first_error
from mandelcl.opencl import runtimes
from mandelcl.opencl.commands import Commands
from mandelcl.opencl.quirks import quirks_of

RUNTIMES = runtimes.prepare()  # before pyopencl is imported: it decides which runtimes the loader sees

import pyopencl as cl  # noqa: E402 - see above

Buffer: TypeAlias = cl.Buffer
BuiltProgram: TypeAlias = cl.Program
Event: TypeAlias = cl.Event
Kernel: TypeAlias = cl.Kernel
Shape = tuple[int, ...]
_looked = False
_quiet = threading.Lock()  # what warnings do is a choice of the whole process
_TRUSTED_EVENT_NS = 1000  # times below a microsecond are not trusted


class Device:
    """One OpenCL device: its properties and, once used, its context and queues.

    `spec` is `platform:device`, the numbers under which the loader lists it.
    """

    def __init__(self, spec: str, handle: cl.Device) -> None:
        self.spec = spec
        self.handle = handle
        self.name: str = handle.name.strip()
        self.platform: str = handle.platform.name.strip()
        self.driver: str = handle.driver_version.strip()
        self.version: str = handle.version.strip()
        self.compute_units: int = handle.max_compute_units
        self.clock_mhz: int = handle.max_clock_frequency
        self.memory_bytes: int = handle.global_mem_size
        self.max_alloc_bytes: int = handle.max_mem_alloc_size
        self.max_group_size: int = handle.max_work_group_size
        self.timer_resolution_ns: int = handle.profiling_timer_resolution
        self.extensions = frozenset(handle.extensions.split())
        self.programs: dict[str, BuiltProgram] = {}  # by text, the one used last at the end; they go with the device
        self._quirks = quirks_of(self.platform, self.driver)
        self._made: dict[str, Any] = {}
        self.commands = Commands(f"{spec} {self.name}", _stamps)
        self._making = threading.RLock()

    def __repr__(self) -> str:
        return f"<Device {self.spec} {self.name} on {self.platform}>"

    @property
    def label(self) -> str:
        """The device as messages name it: spec, name and platform."""
        return f"{self.spec} {self.name} ({self.platform})"

    @property
    def type(self) -> str:
        """`cpu`, `gpu`, `accelerator` or `other`."""
        kinds = cl.device_type
        for kind, name in ((kinds.GPU, "gpu"), (kinds.CPU, "cpu"), (kinds.ACCELERATOR, "accelerator")):
            if self.handle.type & kind:
                return name
        return "other"

    @property
    def fp64(self) -> bool:
        """Whether kernels may use double."""
        return "cl_khr_fp64" in self.extensions

    @property
    def rounds_roots(self) -> bool:
        """Whether it can round divisions and square roots in float correctly; in double every device does."""
        return bool(self.handle.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)

    @property
    def watchdog(self) -> bool | None:
        """Whether the driver stops long kernels; None where it does not say."""
        if "cl_nv_device_attribute_query" not in self.extensions:
            return None
        return bool(self.handle.kernel_exec_timeout_nv)

    def vector_width(self, double: bool) -> int:
        """Return the elements of the device's own vectors; 1 on devices that vectorise across work-items."""
        width: int = self.handle.native_vector_width_double if double else self.handle.native_vector_width_float
        return max(1, min(16, width))

    @property
    def identity(self) -> str:
        """What must be the same for compiled kernels and probe results to be reused."""
        return "\n".join((self.platform, self.name, self.driver, self.version, self.handle.platform.version))

    @property
    def context(self) -> cl.Context:
        """The device's context, made when first asked for."""
        context: cl.Context = self._once("context", lambda: cl.Context([self.handle]))
        return context

    @property
    def queue(self) -> cl.CommandQueue:
        """The device's in-order queue, with event times."""
        queue: cl.CommandQueue = self._once("queue", self._new_queue)
        return queue

    @property
    def copy_queue(self) -> cl.CommandQueue:
        """A second queue, so that results come back while kernels run."""
        queue: cl.CommandQueue = self._once("copy queue", self._new_queue)
        return queue

    def _new_queue(self) -> Any:
        return cl.CommandQueue(self.context, properties=cl.command_queue_properties.PROFILING_ENABLE)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what has been made under a name, or make it: once, however many threads ask for it."""
        made = self._made.get(name)
        if made is None:
            with self._making, opencl_errors(self):
                made = self._made[name] = self._made.get(name) or make()
        return made

    @property
    def may_abort(self) -> bool:
        """Whether its driver is known to end the process rather than to report an error."""
        return any(quirk.may_abort for quirk in self._quirks)

    @property
    def keeps_binaries(self) -> bool:
        """Whether a compiled program's binary may be given to it again in a later run."""
        return all(quirk.keep_binaries for quirk in self._quirks)

    def build(self, source: str, options: tuple[str, ...] = ()) -> cl.Program:
        """Return the source built for this device; raises BuildError with the compiler's log."""
        with timeline.span("compile"):
            return self._built(cl.Program(self.context, source), options, cache_dir=False)

    def load(self, binary: bytes) -> cl.Program:
        """Return a program from the binary of an earlier build; raises BuildError where the driver refuses it."""
        try:
            program = cl.Program(self.context, [self.handle], [binary])
        except cl.Error as error:
            raise BuildError(f"{self.label} refuses a binary: {_code(error)}", device=self.label) from error
        with timeline.span("load binary"):
            return self._built(program)

    def allocate(self, size: int) -> cl.Buffer:
        """Return `size` bytes of the device's memory, not initialised."""
        with opencl_errors(self):
            return cl.Buffer(self.context, cl.mem_flags.READ_WRITE, size)

    def upload(self, array: npt.NDArray[Any]) -> cl.Buffer:
        """Return device memory that holds the array's bytes, for kernels to read."""
        with opencl_errors(self):
            return cl.Buffer(self.context, cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR, hostbuf=array)

    def host_memory(self, shape: Shape) -> npt.NDArray[np.uint32]:
        """Return host memory for 32-bit words that this device will copy to, not initialised.

        For a GPU, while there is enough, the driver allocates it and keeps it in place (`ALLOC_HOST_PTR`, mapped), so
        that the device writes to it directly. It is released with the array.
        """
        if self.type == "gpu":
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

    def clear(self, buffer: cl.Buffer, size: int) -> cl.Event:
        """Enqueue the zeroing of a buffer's first `size` bytes, a multiple of 4."""
        return self.fill(buffer, 0, size)

    def fill(self, buffer: cl.Buffer, word: int, size: int) -> cl.Event:
        """Enqueue the filling of a buffer's first `size` bytes, a multiple of 4, with a 32-bit word."""
        before = timeline.since()
        with opencl_errors(self):
            event = cl.enqueue_fill_buffer(self.queue, buffer, np.array([word], np.uint32), 0, size)
        return self.commands.noted(before, event, "fill", size)

    def launch(self, kernel: cl.Kernel, size: Shape, local: Shape | None, *arguments: Any) -> cl.Event:
        """Enqueue a kernel over `size` work-items in work-groups of `local` (None: as the driver likes)."""
        before = timeline.since()
        with opencl_errors(self):
            event = kernel(self.queue, size, local, *arguments)
        return self.commands.noted(before, event, kernel.function_name) if before else event

    def read(self, buffer: cl.Buffer, array: npt.NDArray[Any]) -> cl.Event:
        """Enqueue the copy of a buffer's beginning to the array; it is there once the event has ended."""
        before = timeline.since()
        with opencl_errors(self):
            event: cl.Event = cl.enqueue_copy(self.queue, array, buffer, is_blocking=False)
            self.queue.flush()
        return self.commands.noted(before, event, "read", array.nbytes) if before else event

    def fetch(self, buffer: cl.Buffer, array: npt.NDArray[Any]) -> cl.Event:
        """Start the copy of a buffer's beginning to the array while kernels run, which must not write to the buffer."""
        before = timeline.since()
        with opencl_errors(self):
            event: cl.Event = cl.enqueue_copy(self.copy_queue, array, buffer, is_blocking=False)
            self.copy_queue.flush()
        return self.commands.noted(before, event, "copy back", array.nbytes, "copies") if before else event

    def write(self, buffer: cl.Buffer, array: npt.NDArray[Any]) -> cl.Event:
        """Enqueue the copy of an array to a buffer's beginning; the array must not be changed until the event ends.

        The caller keeps the event that long: pyopencl waits when one is dropped that holds an array.
        """
        before = timeline.since()
        with opencl_errors(self):
            event: cl.Event = cl.enqueue_copy(self.queue, buffer, array, is_blocking=False)
        return self.commands.noted(before, event, "write", array.nbytes) if before else event

    def flush(self) -> None:
        """Have the driver begin with what is enqueued."""
        with opencl_errors(self):
            self.queue.flush()

    def wait(self, event: cl.Event) -> None:
        """Return when an event of this device has ended."""
        with timeline.span("wait for the device", "wait"), opencl_errors(self):
            event.wait()
        self.commands.ended(event)

    def group_limit(self, kernel: cl.Kernel) -> int:
        """Return the most work-items that a work-group of this built kernel may have."""
        limit: int = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, self.handle)
        return min(limit, self.max_group_size)

    @property
    def can_partition(self) -> bool:
        """Whether its driver offers to cut it by compute units."""
        offered: Any = self.handle.partition_properties
        return cl.device_partition_property.BY_COUNTS in offered

    def partition(self, units: Sequence[int]) -> list[Self]:
        """Return parts of the device with these numbers of compute units; raises DeviceError if it cannot be cut so."""
        properties: list[Any] = [cl.device_partition_property.BY_COUNTS, *units]
        # Asking where the driver has not offered it is not safe: rusticl (Mesa 22.3.6) ends the process.
        if not self.can_partition:
            why = f"{self.label} cannot be partitioned by compute units: its driver does not offer it"
            raise DeviceError(why, self.label)
        most = min(self.handle.partition_max_sub_devices, self.compute_units)
        if len(units) > most or sum(units) > self.compute_units:
            why = f"{self.label} cannot be cut into {len(units)} parts of {sum(units)} units in all"
            raise DeviceError(why, self.label)
        with opencl_errors(self):
            handles = self.handle.create_sub_devices(properties)
        return [type(self)(f"{self.spec}/{k}", handle) for k, handle in enumerate(handles)]

    def _built(self, program: cl.Program, options: tuple[str, ...] = (), **settings: Any) -> cl.Program:
        quirks = [option for quirk in self._quirks for option in quirk.build_options]
        with _quiet, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # compilers chat; what matters is whether they succeed
            try:
                program.build(options=["-cl-std=CL1.2", *quirks, *options], **settings)
            except cl.Error as error:
                log = str(error)
                why = f"{self.label} cannot build a kernel: {first_error(log)}"
                raise BuildError(why, log, self.label) from error
        return program


def event_seconds(event: cl.Event) -> float | None:
    """Return how long an event took by the device's clock; None if that clock is unusable."""
    stamps = _stamps(event)
    return None if stamps is None else (stamps[1] - stamps[0]) * 1e-9


def _stamps(event: cl.Event) -> tuple[int, int] | None:
    """Return when an event began and ended by the device's clock, in nanoseconds; None if that clock is unusable.

    A driver may not know it yet when a later event has been waited for, so this waits for the event itself.
    """
    event.wait()
    start, end = event.profile.start, event.profile.end
    return (start, end) if end - start > _TRUSTED_EVENT_NS else None


def kernel_of(program: cl.Program, name: str, types: Sequence[Any] | None = None) -> cl.Kernel:
    """Return one of a built program's kernels; raises DeviceError where the driver built it without saying so.

    `types` are those of its arguments, None for a buffer: with them a launch takes a fraction of the time to prepare.
    """
    try:
        kernel = cl.Kernel(program, name)
        if types is not None:
            kernel.set_scalar_arg_dtypes(types)
        return kernel
    except cl.Error as error:
        raise DeviceError(f"the driver says that it built {name}, but has no such kernel: {_code(error)}") from error


def binary_of(program: cl.Program) -> bytes | None:
    """Return a built program's binary; None where the driver has none to give."""
    try:
        binaries: Any = program.get_info(cl.program_info.BINARIES)
    except cl.Error:
        return None
    return bytes(binaries[0]) or None


@contextmanager
def opencl_errors(device: Device) -> Iterator[None]:
    """Turn an OpenCL error into a DeviceError of one line that names the device."""
    try:
        yield
    except cl.MemoryError as error:
        why = f"{device.label} is out of memory ({_code(error)}); try a smaller picture"
        raise DeviceError(why, device.label) from error
    except cl.Error as error:
        raise DeviceError(f"{device.label} failed: {_code(error)}", device.label) from error


def _code(error: cl.Error) -> str:
    return " ".join(str(error).split())[:200]


def looked() -> bool:
    """Return whether the loader has opened its runtimes, which it does once in a process."""
    return _looked


def open_only(library: str, address: int, spec: str) -> Device | None:
    """Return the device at an address, which is `spec` where the loader lists all, with no other runtime opened.

    None where the loader has looked before, cannot open a library alone, or does not list that device.
    """
    if _looked or not RUNTIMES.takes_library:
        return None
    with runtimes.only(library):
        devices = discover()
    return next((Device(spec, found.handle) for found in devices if found.handle.int_ptr == address), None)


def discover() -> list[Device]:
    """Return every OpenCL device that the loader lists, in its order; platforms without devices are skipped."""
    global _looked
    _looked = True
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # the loader reports "no platform" as an error
        return []
    devices = []
    for p, platform in enumerate(platforms):
        try:
            handles = platform.get_devices()
        except cl.Error:
            continue
        devices += [Device(f"{p}:{d}", handle) for d, handle in enumerate(handles)]
    return devices
