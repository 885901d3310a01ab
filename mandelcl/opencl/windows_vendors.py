"""Find the OpenCL runtimes that are registered on Windows, and Intel's if pip installed it.

OpenCL.dll asks the system for the drivers of GPUs. Other runtimes it knows from the registry, and from
OCL_ICD_FILENAMES, which it does not heed in a process with an administrator's rights. pip registers nothing.
"""

import os
import site
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PureWindowsPath
from typing import Any

from mandelcl.base import windows
from mandelcl.base.text import command_line
from mandelcl.opencl.vendors import Vendor

KEY = r"HKLM\SOFTWARE\Khronos\OpenCL\Vendors"
INTEL = "intelocl64.dll"
VARIABLE = "OCL_ICD_FILENAMES"
_BETWEEN = ";"
_ELEVATED = "in a process with an administrator's rights, as this one, Intel's runtime has to be registered"


def prepare() -> tuple[tuple[Vendor, ...], tuple[str, ...]]:
    """Return the runtimes that OpenCL.dll loads, and lines for a user who misses a device.

    The drivers that the system itself names are not among them. Intel's runtime that pip has installed is added to
    OCL_ICD_FILENAMES, for this process and its children, unless the registry or the variable names one already.
    """
    registered = [Vendor(Path(KEY), path, "system") for path in _registered() if _is_file(Path(path))]
    named = [name for name in os.environ.get(VARIABLE, "").split(_BETWEEN) if name]
    known = [*(vendor.library for vendor in registered), *named]
    found = next((path for path in _intels() if _is_file(path)), None)
    if found is None or any(PureWindowsPath(path).name.lower() == INTEL for path in known):
        return tuple(registered), ()
    if windows.is_elevated():
        register = command_line(["reg", "add", KEY, "/v", str(found), "/t", "REG_DWORD", "/d", "0", "/f"])
        return tuple(registered), (f"{_ELEVATED}: {register}",)
    os.environ[VARIABLE] = _BETWEEN.join([*named, str(found)])
    return (*registered, Vendor(found, str(found), "pip")), ()


def _intels() -> Iterator[Path]:
    """Yield where pip puts Intel's runtime: in the environment, and in others whose packages this Python uses."""
    prefixes = [sys.prefix]
    if str(Path(sys.base_prefix, "Lib", "site-packages")) in sys.path:
        prefixes.append(sys.base_prefix)
    if site.ENABLE_USER_SITE:
        prefixes.append(site.getuserbase())
    for prefix in prefixes:
        yield Path(prefix, "Library", "bin", INTEL)


def _registered() -> Iterator[str]:
    """Yield the paths that the registry has for OpenCL.dll; those with another value than 0 are switched off."""
    registry: Any
    try:
        import winreg as registry
    except ImportError:
        return
    with suppress(OSError), registry.OpenKey(registry.HKEY_LOCAL_MACHINE, KEY.partition("\\")[2]) as key:
        for number in range(registry.QueryInfoKey(key)[1]):
            path, value, kind = registry.EnumValue(key, number)
            if kind == registry.REG_DWORD and value == 0:
                yield path


def _is_file(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.is_file()
    return False
