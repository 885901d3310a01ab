"""Programs that are built once: those of this process, those of which a binary is kept, and new ones."""

import re
import threading
from contextlib import suppress

from mandelcl.base.errors import BuildError
from mandelcl.files import cache
from mandelcl.opencl import texts
from mandelcl.opencl.api import BuiltProgram, Kernel
from mandelcl.opencl.arguments import declared
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import binary_of, kernel_names

_MOST_KEPT = 32
_keeping = threading.Lock()


def build(device: Device, text: str) -> BuiltProgram:
    """Return a program for the device: one built before, or one from an earlier process's binary, or a new one."""
    kept = device.programs
    program = kept.get(text) or _built(device, text)
    with _keeping:
        kept.pop(text, None)
        kept[text] = program
        while len(kept) > _MOST_KEPT:
            del kept[next(iter(kept))]
    return program


def _is_of(program: BuiltProgram, text: str) -> bool:
    """Return whether a program may belong to a text: whether the text names all of its kernels."""
    names = kernel_names(program)
    return bool(names) and all(re.search(rf"\b{re.escape(name)}\b", text) for name in names)


def kernel(device: Device, text: str, name: str) -> Kernel:
    """Return a kernel of a text, built for the device. Each thread gets a kernel of its own, the same one each time."""
    program = build(device, text)
    with _keeping:
        kept = device.kernels.setdefault(program, {})
    key = threading.get_ident(), name
    if key not in kept:
        kept[key] = declared(program, name)
    return kept[key]


def _built(device: Device, text: str) -> BuiltProgram:
    if not device.keeps_binaries:
        return device.build(text)
    key = texts.digest(f"{device.identity}\n{text}")
    binary = cache.read("binaries", key)
    if binary is not None:
        with suppress(BuildError):  # another driver's, or a damaged one
            program = device.load(binary)
            if _is_of(program, text):
                return program
    program = device.build(text)
    binary = binary_of(program)
    if binary is not None:
        cache.write("binaries", key, binary)
    return program
