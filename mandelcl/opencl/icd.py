"""Ask an OpenCL runtime for its platforms and devices without the loader.

The ICD specification has every runtime offer `clIcdGetPlatformIDsKHR`, and begin each platform with a table of its
functions, in the order of OpenCL's own: 1 is clGetPlatformInfo, 2 clGetDeviceIDs, 3 clGetDeviceInfo, 4 clCreateContext.
A device begins with such a table, too. A loader that opens the same library later gives its users the same platforms
and devices, by the same addresses.
"""

import ctypes
import os
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any

_ALL_DEVICES = 0xFFFFFFFF
_PLATFORM_FACTS = (0x0901, 0x0902)  # CL_PLATFORM_VERSION, CL_PLATFORM_NAME
_DEVICE_FACTS = (0x102B, 0x102D, 0x102F, 0x1030)  # CL_DEVICE_NAME, CL_DRIVER_VERSION, CL_DEVICE_VERSION, _EXTENSIONS
_RTLD_LAZY: int = getattr(os, "RTLD_LAZY", 1)  # Windows has none, nor such runtimes
_MOST = 64  # platforms, or devices of one: more is invalid

_Info = CFUNCTYPE(c_int, c_void_p, c_uint, c_size_t, c_void_p, POINTER(c_size_t))
_DeviceIds = CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint, c_void_p, POINTER(c_uint))
_NewContext = CFUNCTYPE(
    c_void_p, c_void_p, c_uint, POINTER(c_void_p), c_void_p, c_void_p, POINTER(c_int)
)  # properties, devices, callback and its data, error
_PlatformIds = CFUNCTYPE(c_int, c_uint, c_void_p, POINTER(c_uint))


@dataclass(frozen=True, slots=True)
class Offered:
    """A device as its runtime offers it: its address, and its properties and those of its platform."""

    address: int
    facts: tuple[str, ...]


def offered(library: str) -> list[Offered]:
    """Return the devices of a runtime, platform by platform; none if it does not load or answer.

    The library stays loaded.
    """
    platforms = _ids(_entry(library))
    devices = []
    for platform in platforms:
        table = _functions(platform)
        of_platform, of_device = _Info(table[1]), _Info(table[3])
        about = tuple(_text(of_platform, platform, fact) for fact in _PLATFORM_FACTS)
        for device in _ids(_DeviceIds(table[2]), platform, _ALL_DEVICES):
            devices.append(Offered(device, (*about, *(_text(of_device, device, fact) for fact in _DEVICE_FACTS))))
    return devices


def context(device: int) -> int:
    """Return the address of a new context for the device at an address, which the caller releases; 0 if it fails."""
    address, error = c_void_p(device), c_int(0)
    made: int | None = _NewContext(_functions(device)[4])(None, 1, byref(address), None, None, byref(error))
    return made or 0


def _functions(of: int) -> Any:
    """Return the table of functions with which a platform or a device begins."""
    return ctypes.cast(of, POINTER(POINTER(c_void_p)))[0]


def _entry(library: str) -> Any:
    """Return a runtime's clIcdGetPlatformIDsKHR; None if it cannot be loaded or has none.

    ctypes.CDLL would not do: it forces RTLD_NOW, while loaders open lazily.
    """
    libc = ctypes.CDLL(None)
    libc.dlopen.restype, libc.dlopen.argtypes = c_void_p, [c_char_p, c_int]
    libc.dlsym.restype, libc.dlsym.argtypes = c_void_p, [c_void_p, c_char_p]
    opened = libc.dlopen(os.fsencode(library), _RTLD_LAZY)
    find = libc.dlsym(opened, b"clGetExtensionFunctionAddress") if opened else None
    entry = CFUNCTYPE(c_void_p, c_char_p)(find)(b"clIcdGetPlatformIDsKHR") if find else None
    return _PlatformIds(entry) if entry else None


def _ids(ask: Any, *of: int) -> list[int]:
    """Return the addresses that a function lists; none if it fails."""
    count = c_uint(0)
    if ask is None or ask(*of, 0, None, byref(count)) or not 0 < count.value <= _MOST:
        return []
    addresses = (c_void_p * count.value)()
    if ask(*of, count.value, addresses, None):
        return []
    return [address for address in addresses if address]


def _text(ask: Any, of: int, fact: int) -> str:
    """Return a property of a platform or device; an empty text if it does not answer."""
    size = c_size_t(0)
    if ask(of, fact, 0, None, byref(size)):
        return ""
    text = ctypes.create_string_buffer(size.value + 1)
    return "" if ask(of, fact, size, text, None) else text.value.decode("utf-8", "replace").strip()
