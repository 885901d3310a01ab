"""OpenCL devices: discover them, read their properties, cut them into parts."""

from collections.abc import Sequence
from typing import Any, Self
from weakref import WeakKeyDictionary

from mandelcl.base.errors import BuildError, DeviceError
from mandelcl.core import timeline
from mandelcl.opencl import naming, runtimes
from mandelcl.opencl.api import RUNTIMES, BuiltProgram, Kernel, cl, code_of, opencl_errors
from mandelcl.opencl.families import Family, family_of
from mandelcl.opencl.programs import built
from mandelcl.opencl.queues import Queues
from mandelcl.opencl.quirks import quirks_of

_looked = False
_alone = False  # whether the loader was shown one runtime only


class Device(Queues):
    """One OpenCL device: its properties and, once used, its context and queues.

    `spec` is `platform:device`, their numbers in `discover`; `label` has the names of both, too.
    """

    def __init__(self, spec: str, handle: cl.Device) -> None:
        self.spec = spec
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
        # Theirs, by thread and name: a kernel has the arguments of its next launch, and making one takes a millisecond.
        self.kernels: WeakKeyDictionary[BuiltProgram, dict[tuple[int, str], Kernel]] = WeakKeyDictionary()
        self._quirks = quirks_of(self.platform, self.driver)
        title = f"{spec} {self.name}"
        timed = all(quirk.timed for quirk in self._quirks)
        super().__init__(handle, f"{title} ({self.platform})", title, timed)

    def __repr__(self) -> str:
        return f"<Device {self.spec} {self.name} on {self.platform}>"

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
        return "cl_khr_fp64" in self.extensions and not any(quirk.no_double for quirk in self._quirks)

    @property
    def family(self) -> Family:
        """The family of its GPU."""
        capability = None
        if "cl_nv_device_attribute_query" in self.extensions:
            capability = self.handle.compute_capability_major_nv, self.handle.compute_capability_minor_nv
        return family_of(self.platform, self.name, capability)

    @property
    def slow_double(self) -> bool:
        """Whether it is a GPU in whose family double takes 16 times as long as float or more."""
        return self.type == "gpu" and self.family.slow_double

    @property
    def rounds_roots(self) -> bool:
        """Whether it can round divisions and square roots in float correctly; in double every device does."""
        return bool(self.handle.single_fp_config & cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)

    @property
    def watchdog(self) -> bool | None:
        """Whether the driver stops long kernels; None if it does not report that."""
        if "cl_nv_device_attribute_query" not in self.extensions:
            return None
        return bool(self.handle.kernel_exec_timeout_nv)

    def vector_width(self, double: bool) -> int:
        """Return the elements of the device's own vectors; 1 on devices that vectorise across work-items."""
        width: int = self.handle.native_vector_width_double if double else self.handle.native_vector_width_float
        return max(1, min(16, width))

    @property
    def identity(self) -> str:
        """The key of compiled kernels and probe results: they are reused while it is the same."""
        return "\n".join((self.platform, self.name, self.driver, self.version, self.handle.platform.version))

    @property
    def may_abort(self) -> bool:
        """Whether its driver is known to end the process rather than to report an error."""
        return any(quirk.may_abort for quirk in self._quirks)

    @property
    def keeps_binaries(self) -> bool:
        """Whether a program's binary can be used again in a later run."""
        return all(quirk.keep_binaries for quirk in self._quirks)

    @property
    def _build_options(self) -> tuple[str, ...]:
        return tuple(option for quirk in self._quirks for option in quirk.build_options)

    def build(self, source: str, options: tuple[str, ...] = ()) -> BuiltProgram:
        """Return the source built for this device; raises BuildError with the compiler's log."""
        with timeline.span("compile"):
            program = cl.Program(self.context, source)
            return built(self, program, (*self._build_options, *options), cache_dir=False)

    def load(self, binary: bytes) -> BuiltProgram:
        """Return a program from the binary of an earlier build; raises BuildError if the driver refuses it."""
        try:
            program = cl.Program(self.context, [self.handle], [binary])
        except cl.Error as error:
            raise BuildError(f"{self.label} refuses a binary: {code_of(error)}", device=self.label) from error
        with timeline.span("load binary"):
            return built(self, program, self._build_options)

    def group_limit(self, kernel: Kernel) -> int:
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


def looked() -> bool:
    """Return whether the loader has opened its runtimes, which it does once in a process."""
    return _looked


def opened_alone() -> bool:
    """Return whether this process has opened one runtime only."""
    return _alone


def open_only(library: str, address: int, spec: str) -> Device | None:
    """Return the device at an address, which is `spec` where all are listed, with no other runtime opened.

    None where the loader has looked before, cannot open a library alone, or does not list that device.
    """
    if _looked or not RUNTIMES.takes_library:
        return None
    global _alone
    _alone = True
    with runtimes.only(library):
        devices = _listed()
    return next((Device(spec, found.handle) for found in devices if found.handle.int_ptr == address), None)


def discover() -> list[Device]:
    """Return every OpenCL device that the loader lists, by the names of their platforms.

    The loader's own order may be arbitrary, such as that of files in a folder. Platforms without devices do not count.
    """
    devices = _listed()
    if not _alone:
        naming.remember(naming.Known(device.spec, device.name, device.platform) for device in devices)
    return devices


def _listed() -> list[Device]:
    global _looked
    _looked = True
    try:
        platforms = cl.get_platforms()
    except cl.Error:  # the loader reports "no platform" as an error
        return []
    listed = sorted(filter(None, map(_devices, platforms)), key=_rank)
    return [Device(f"{p}:{d}", handle) for p, handles in enumerate(listed) for d, handle in enumerate(handles)]


def _devices(platform: cl.Platform) -> list[cl.Device]:
    try:
        return platform.get_devices()
    except cl.Error:
        return []


def _rank(devices: list[cl.Device]) -> tuple[str, ...]:
    """Return what decides where the devices of a platform stand among the others."""
    platform = devices[0].platform
    return (platform.name.strip().casefold(), platform.version, *(device.name for device in devices))
