"""A text that determines which OpenCL devices a process finds. While it is the same, the devices are the same.

It is read from files and the environment, and no runtime is opened for it.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from mandelcl.opencl.runtimes import Runtimes
from mandelcl.opencl.vendors import Vendor, library_folders
from mandelcl.version import __version__

# Variables that loaders, runtimes, their compilers and drivers read, by how their names begin.
_VARIABLES = (
    *("OCL", "OPENCL", "CL_", "MANDELCL_", "LD_", "LLVM"),
    *("POCL", "RUSTICL", "CLOVER", "MESA", "GALLIUM", "LP_", "LIBGL", "DRI_", "RADEON", "AMD", "R600", "ZINK", "VK_"),
    *("CUDA", "NV", "ROC", "HSA", "HIP", "GPU_", "INTEL", "IGC", "NEO", "ZE_", "ZES_", "ONEAPI", "TBB", "DPCPP"),
)
# Where devices come and go: their files, NVIDIA's partitions of one, and the buses.
_DEVICE_FOLDERS = (
    *("/dev", "/dev/dri", "/dev/nvidia-caps", "/dev/accel"),
    *("/proc/driver/nvidia/gpus", "/sys/bus/pci/devices"),
)
# Another boot may find other hardware; another machine, by a cache that both see, has another boot.
_FACTS = ("/proc/sys/kernel/random/boot_id", "/proc/driver/nvidia/version", "/sys/module/amdgpu/version")
# The packages whose code chooses among the devices, with what lies in them.
CODE = ("core", "engine", "formulas", "opencl")
_LINKER = "/etc/ld.so.cache"  # written whenever the system's libraries change


def installation(runtimes: Runtimes) -> str:
    """Return a text of the runtimes, their libraries, the devices that the system knows of, the user and environment.

    Files count by name, size and time of change. So does mandelcl's own code, which chooses among the devices.
    """
    lines = [f"mandelcl {__version__}", *_code(), f"loader {runtimes.loader}", _file(_LINKER), *_system()]
    for vendor in runtimes.vendors:
        lines += [f"{vendor.origin} {vendor.icd} {vendor.library}", _file(vendor.icd), *map(_file, _files(vendor))]
    lines += [f"{path}: {_read(path)}" for path in _FACTS]
    lines += [f"{folder}: {' '.join(sorted(_names(folder)))}" for folder in _DEVICE_FOLDERS]
    lines += [*map(_file, library_folders())]
    # Another thread may change other variables meanwhile, which `items` does not bear.
    lines += [f"{name}={os.environ.get(name)}" for name in sorted(os.environ) if name.startswith(_VARIABLES)]
    return "\n".join(lines)


def _system() -> tuple[str, str]:
    """Return the system's description of itself, and the user of this process."""
    name, user, groups = (getattr(os, name, tuple) for name in ("uname", "geteuid", "getgroups"))  # of POSIX
    return str(name()), f"user {user()} {sorted(groups())}"


def _code() -> Iterator[str]:
    package = Path(__file__).parents[1]
    # Kernels lie in the package, or beside it in a checkout.
    for top in (*(package / name for name in CODE), package / "cl", package.parent / "cl"):
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                if name.endswith((".py", ".cl")):
                    yield _file(f"{folder}{os.sep}{name}")


def _files(vendor: Vendor) -> Iterable[str]:
    """Return where a runtime's library may lie, and the folder beside it: its own libraries are often there."""
    folder = os.path.dirname(vendor.library)  # noqa: PTH120 - a name that only the linker resolves
    if folder:
        return vendor.library, folder
    return (os.path.join(folder, vendor.library) for folder in library_folders())  # noqa: PTH118


def _file(path: str | Path) -> str:
    with suppress(OSError):
        facts = os.stat(path)  # noqa: PTH116 - Path.stat takes as long again, and there are a hundred
        return f"{path} {facts.st_size} {facts.st_mtime_ns} {facts.st_ino}"
    return f"{path} -"


def _names(folder: str | Path) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)  # noqa: PTH208
    return []


def _read(path: str) -> str:
    with suppress(OSError):
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    return ""
