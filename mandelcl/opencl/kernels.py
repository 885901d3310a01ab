"""The parameters of kernels as a built program reports them, and parts of buffers, for kernels of other authors."""

from collections.abc import Mapping
from dataclasses import dataclass

from mandelcl.opencl.api import Buffer, Kernel, cl, opencl_errors
from mandelcl.opencl.device import Device

_SPACES: Mapping[object, str] = {
    cl.kernel_arg_address_qualifier.GLOBAL: "global",
    cl.kernel_arg_address_qualifier.LOCAL: "local",
    cl.kernel_arg_address_qualifier.CONSTANT: "constant",
}
# The build option for kernels whose arguments are to be reported.
KEEP_ARGUMENTS = "-cl-kernel-arg-info"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A kernel's parameter as its source declares it: address space (empty for a value), type and name."""

    space: str
    type: str
    name: str

    def __str__(self) -> str:
        return " ".join(filter(None, (self.space, self.type, self.name)))


def parameters_of(kernel: Kernel) -> list[Parameter] | None:
    """Return the parameters of a kernel that was built with KEEP_ARGUMENTS; None if the driver does not report them."""
    info = cl.kernel_arg_info
    try:
        return [
            Parameter(
                _SPACES.get(kernel.get_arg_info(k, info.ADDRESS_QUALIFIER), ""),
                str(kernel.get_arg_info(k, info.TYPE_NAME)).strip(),
                str(kernel.get_arg_info(k, info.NAME)).strip(),
            )
            for k in range(kernel.num_args)
        ]
    except cl.Error:
        return None


def required_group(device: Device, kernel: Kernel) -> tuple[int, ...] | None:
    """Return the work-group that `reqd_work_group_size` demands for a kernel; None if it demands none."""
    sizes = kernel.get_work_group_info(cl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE, device.handle)
    return tuple(sizes) if any(sizes) else None


def part_of(device: Device, buffer: Buffer, start: int, size: int) -> Buffer:
    """Return `size` bytes of a buffer from byte `start` on, a multiple of 64 KiB, as a buffer of its own."""
    with opencl_errors(device):
        return buffer.get_sub_region(start, size)
