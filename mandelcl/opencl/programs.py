"""Programs and kernels: built from text or from binaries."""

import threading
import warnings
from collections.abc import Sequence
from typing import Any

from mandelcl.base.errors import BuildError, DeviceError, first_error
from mandelcl.opencl.api import BuiltProgram, Kernel, Labelled, cl, code_of

_quiet = threading.Lock()  # the filters of warnings belong to the whole process


def built(device: Labelled, program: BuiltProgram, options: Sequence[str] = (), **settings: Any) -> BuiltProgram:
    """Return a program, built for its device; raises BuildError with the compiler's log."""
    with _quiet, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # compilers print warnings; only their success matters
        try:
            program.build(options=["-cl-std=CL1.2", *options], **settings)
        except cl.Error as error:
            log = str(error)
            why = f"{device.label} cannot build a kernel: {first_error(log)}"
            raise BuildError(why, log, device.label) from error
    return program


def kernel_of(program: BuiltProgram, name: str, types: Sequence[Any] | None = None) -> Kernel:
    """Return one of a built program's kernels; raises DeviceError if the driver has not built it.

    `types` are those of its arguments, None for a buffer: with them a launch takes a fraction of the time to prepare.
    """
    try:
        kernel = cl.Kernel(program, name)
        if types is not None:
            kernel.set_scalar_arg_dtypes(types)
        return kernel
    except cl.Error as error:
        why = f"the driver reported that it built {name}, but has no such kernel: {code_of(error)}"
        raise DeviceError(why) from error


def kernel_names(program: BuiltProgram) -> list[str]:
    """Return the names of a built program's kernels; none for one that the driver calls no executable for want of any.

    Raises DeviceError if the driver does not report them.
    """
    try:
        if program.num_kernels == 0:  # NVIDIA's driver has no names then, and asking for them ends the process
            return []
        names = str(program.kernel_names)
    except cl.Error as error:
        if error.code == cl.status_code.INVALID_PROGRAM_EXECUTABLE:
            return []
        raise DeviceError(f"the driver does not name the kernels that it built: {code_of(error)}") from error
    return [name for name in names.split(";") if name]


def binary_of(program: BuiltProgram) -> bytes | None:
    """Return a built program's binary; None where the driver has none to give."""
    try:
        binaries: Any = program.get_info(cl.program_info.BINARIES)
    except cl.Error:
        return None
    return bytes(binaries[0]) or None


def build_log(program: BuiltProgram, handle: Any) -> str:
    """Return the compiler's log of a program that was built for a device; empty if the driver has not kept it."""
    try:
        info: Any = program.get_build_info
        log: Any = info(handle, cl.program_build_info.LOG)
    except cl.Error:
        return ""
    return str(log)
