"""Facts about this machine, from the system library of macOS.

Nothing here is called on another system; nothing is loaded before it is asked for.
"""

import ctypes
from ctypes import byref, c_size_t, c_uint32, c_uint64, sizeof
from functools import cache
from typing import Any

_VM_INFO = 4  # HOST_VM_INFO64


class _VmStatistics(ctypes.Structure):
    """The beginning of vm_statistics64 that every version has; in pages."""

    _fields_ = (
        *((name, c_uint32) for name in ("free_count", "active_count", "inactive_count", "wire_count")),
        *((name, c_uint64) for name in ("zero_fill_count", "reactivations", "pageins", "pageouts", "faults")),
        *((name, c_uint64) for name in ("cow_faults", "lookups", "hits", "purges")),
        *((name, c_uint32) for name in ("purgeable_count", "speculative_count")),
    )


def available_memory() -> float:
    """Return the available bytes of memory, without swap. Raises OSError if the system does not report them.

    They are those that are free, with what was read ahead, and those that nothing has used for a while.
    """
    system, host = _system(), _host()
    statistics, size = _VmStatistics(), c_size_t(0)
    words = c_uint32(sizeof(_VmStatistics) // sizeof(c_uint32))
    if system.host_statistics64(host, _VM_INFO, byref(statistics), byref(words)):
        raise OSError("host_statistics64 fails")
    if system.host_page_size(host, byref(size)):
        raise OSError("host_page_size fails")
    return float((statistics.free_count + statistics.inactive_count) * size.value)


def boot_session() -> str:
    """Return an identifier of this boot of the system. Raises OSError if the system has none."""
    text = ctypes.create_string_buffer(64)
    if _system().sysctlbyname(b"kern.bootsessionuuid", text, byref(c_size_t(len(text))), None, c_size_t(0)):
        raise OSError("it has no kern.bootsessionuuid")
    return text.value.decode("ascii", "replace")


@cache
def _host() -> int:
    """Return the port of the machine; each call of mach_host_self would count one user of it more."""
    find = _system().mach_host_self
    find.restype = c_uint32
    return int(find())


@cache
def _system() -> Any:
    return ctypes.CDLL(None)
