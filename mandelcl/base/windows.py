"""Facts about this machine and this process, as Windows reports them.

Nothing here is called on another system; nothing is loaded before it is asked for.
"""

import ctypes
import importlib
from ctypes import byref, c_size_t, c_uint32, c_uint64, c_void_p, sizeof
from typing import Any

_ctypes: Any = ctypes  # on other systems it lacks the attributes used here
_THIS_PROCESS = c_void_p(-1)
_BELOW_NORMAL, _IDLE, _VERY_NICE = 0x4000, 0x40, 15
_LONGEST_NAME, _PHYSICAL_NAME = 256, 5  # ComputerNamePhysicalDnsHostname
_QUERY, _STILL_RUNS, _NO_SUCH_PROCESS = 0x1000, 259, 87  # PROCESS_QUERY_LIMITED_INFORMATION, STILL_ACTIVE


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
    """Return the available bytes of memory, without swap. Raises OSError if the system does not report them.

    Windows counts requested memory at once against the sum of page files and memory.
    """
    status = _MemoryStatus(dwLength=sizeof(_MemoryStatus))
    if not _kernel32().GlobalMemoryStatusEx(byref(status)):
        raise OSError("GlobalMemoryStatusEx fails")
    return float(min(status.ullAvailPhys, status.ullAvailPageFile))


def is_elevated() -> bool:
    """Return whether this process has an administrator's rights."""
    return bool(_ctypes.WinDLL("shell32").IsUserAnAdmin())


def allowed_cores() -> int:
    """Return how many processors this process may run on; 0 if only their number limits it."""
    ours, all_there = c_size_t(), c_size_t()
    if not _kernel32().GetProcessAffinityMask(_THIS_PROCESS, byref(ours), byref(all_there)):
        return 0
    # The masks are those of a group of up to 64 processors; both are 0 for a process whose threads are in several.
    return 0 if ours.value == all_there.value else ours.value.bit_count()


def give_way(niceness: int) -> None:
    """Give this process less than normal priority, and idle priority from a niceness of 15 on."""
    _kernel32().SetPriorityClass(_THIS_PROCESS, _IDLE if niceness >= _VERY_NICE else _BELOW_NORMAL)


def machine() -> str:
    """Return an identifier of this machine. Raises OSError if the system has none.

    It has its name beside the number that its installation gave it, which copies of a virtual machine share.
    """
    registry: Any = importlib.import_module("winreg")
    with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, r"SOFTWARE\Microsoft\Cryptography") as key:
        number, _kind = registry.QueryValueEx(key, "MachineGuid")
    name = ctypes.create_unicode_buffer(_LONGEST_NAME)
    if not _kernel32().GetComputerNameExW(_PHYSICAL_NAME, name, byref(c_uint32(_LONGEST_NAME))):
        raise OSError("GetComputerNameExW fails")
    return f"{number} {name.value}"


def started(process: int) -> int | None:
    """Return when a process was started, in 0.1 µs since 1601; None if there is no such process, or it has ended.

    Raises OSError if the system does not report it.
    """
    kernel32 = _kernel32()
    kernel32.OpenProcess.restype = c_void_p
    handle = kernel32.OpenProcess(_QUERY, 0, c_uint32(process))
    if not handle:
        if _last_error() == _NO_SUCH_PROCESS:
            return None
        raise OSError("OpenProcess fails")
    times, code = [c_uint64() for _ in range(4)], c_uint32()
    try:
        if not kernel32.GetExitCodeProcess(c_void_p(handle), byref(code)):
            raise OSError("GetExitCodeProcess fails")
        if code.value != _STILL_RUNS:
            return None
        if not kernel32.GetProcessTimes(c_void_p(handle), *map(byref, times)):
            raise OSError("GetProcessTimes fails")
    finally:
        kernel32.CloseHandle(c_void_p(handle))
    return times[0].value


def _kernel32() -> Any:
    return _ctypes.WinDLL("kernel32", use_last_error=True)


def _last_error() -> int:
    return int(_ctypes.get_last_error())
