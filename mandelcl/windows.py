"""What Windows says of this machine and this process.

Nothing here is called on another system; nothing is loaded before it is asked for.
"""

import ctypes
from ctypes import byref, c_uint32, c_uint64, sizeof
from typing import Any


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (
        ("dwLength", c_uint32),
        ("dwMemoryLoad", c_uint32),
        ("ullTotalPhys", c_uint64),
        ("ullAvailPhys", c_uint64),
        ("ullTotalPageFile", c_uint64),
        ("ullAvailPageFile", c_uint64),
        ("ullTotalVirtual", c_uint64),
        ("ullAvailVirtual", c_uint64),
        ("ullAvailExtendedVirtual", c_uint64),
    )


def available_memory() -> float:
    """Return the bytes that may be had without swapping; raises OSError where the system does not say.

    Memory that a process asks for counts at once against what the page files and the memory hold together.
    """
    status = _MemoryStatus(dwLength=sizeof(_MemoryStatus))
    if not _kernel32().GlobalMemoryStatusEx(byref(status)):
        raise OSError("GlobalMemoryStatusEx fails")
    return float(min(status.ullAvailPhys, status.ullAvailPageFile))


def is_elevated() -> bool:
    """Return whether this process has an administrator's rights."""
    loaders: Any = ctypes
    return bool(loaders.WinDLL("shell32").IsUserAnAdmin())


def _kernel32() -> Any:
    loaders: Any = ctypes  # elsewhere it has no such loader
    return loaders.WinDLL("kernel32", use_last_error=True)
