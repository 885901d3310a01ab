"""Find the OpenCL runtimes of a machine: the system's, those installed with pip or conda, bare drivers.

The OpenCL loader reads a folder of `.icd` files, each of which names one runtime's library. Here they are only
found and read, never loaded.
"""

import importlib.util
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mandelcl.base.errors import FileError
from mandelcl.base.system import system
from mandelcl.files.paths import read_bounded

# The first is the standard one; openSUSE and NixOS patch their loaders to read the others.
SYSTEM_FOLDERS = tuple(
    Path(folder)
    for folder in ("/etc/OpenCL/vendors", "/usr/share/OpenCL/vendors", "/run/opengl-driver/etc/OpenCL/vendors")
)

# Drivers whose library is often present without an `.icd` file (containers get the library from the host).
DRIVER_LIBRARIES = ("libnvidia-opencl.so.1",)
DRIVER_FOLDERS = ("/usr/lib64", "/usr/lib", "/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib")

_NO_LIBRARY, _NO_FILE = _DEADLY = "names no library", "is a device or a pipe, or too long"
_MOST_BYTES = 1 << 20  # of an .icd file, which has a line


@dataclass(frozen=True, slots=True)
class Vendor:
    """A runtime that is listed for the loader.

    `origin` is "system", "pip", "driver" (a library without an .icd file) or "user" (OCL_ICD_VENDORS). `icd` is
    the file that names the library, "" where it could not be read. `loads` and `devices` are None until
    `absence.diagnose` has tried; `reason` is the dynamic loader's error.
    """

    icd: Path
    library: str
    origin: str
    loads: bool | None = None
    devices: int | None = None
    reason: str = ""


def find_loader() -> tuple[str, Path | None]:
    """Return the loader that pyopencl uses, in words, and the folder in pyopencl's wheel that this loader reads too."""
    spec = None
    with suppress(ImportError, ValueError):
        spec = importlib.util.find_spec("pyopencl")
    if spec is None or spec.origin is None:
        return "none: pyopencl is not installed", None
    for library in sorted(Path(spec.origin).parent.glob(".libs/libOpenCL*")):
        return f"ocl-icd, inside the pyopencl wheel ({library})", library.parent
    if is_conda():
        name = "libOpenCL.1.dylib" if system() == "darwin" else "libOpenCL.so.1"
        return f"the environment's {Path(sys.prefix, 'lib', name)}", None
    return "the system's libOpenCL.so.1", None


def is_conda() -> bool:
    """Say whether this Python lives in a conda environment, whose loader reads only the environment's folder."""
    return is_folder(Path(sys.prefix, "conda-meta"))


def loader_is_condas() -> bool:
    """Say whether conda installed pyopencl, whose loader on macOS reads a folder; pip's asks the system."""
    with suppress(OSError):
        return any(Path(sys.prefix, "conda-meta").glob("pyopencl-[0-9]*.json"))
    return False


def system_folders() -> list[Path]:
    """Return the folders in which a system keeps its .icd files."""
    override = os.environ.get("OPENCL_VENDOR_PATH")  # ocl-icd's older name for the standard folder
    return [Path(override), *SYSTEM_FOLDERS[1:]] if override else list(SYSTEM_FOLDERS)


def in_standard_folder(vendor: Vendor) -> bool:
    """Whether a loader without settings finds this one."""
    return vendor.icd.parent == SYSTEM_FOLDERS[0]


def system_vendors() -> list[Vendor]:
    """Return the runtimes that the system knows of."""
    return [vendor for folder in system_folders() for vendor in _read_folder(folder, "system")]


def prefixes() -> list[Path]:
    """Return sys.prefix and the prefix of every site folder on sys.path (the user's, the system's).

    A wheel's `data` files land below the prefix: `lib/libintelocl.so`. A site folder that Python does not use here
    (the system's in an isolated venv, the user's under -s) is not on sys.path, so another environment's
    runtimes stay out.
    """
    folders = [Path(sys.prefix)]
    for entry in _import_folders():
        if entry.name in ("site-packages", "dist-packages"):
            folders += [parent.parent for parent in entry.parents if parent.name in ("lib", "lib64")][:1]
    return list(dict.fromkeys(folders))


def _import_folders() -> list[Path]:
    return [Path(entry) for entry in sys.path if isinstance(entry, str) and Path(entry).is_absolute()]


def pip_vendors(wheel_folder: Path | None) -> list[Vendor]:
    """Return the runtimes installed with pip (or conda) for this Python.

    Those in `wheel_folder` are left out, because the loader finds them unaided: see `wheel_vendors`.
    """
    vendors = []
    for prefix in prefixes():
        for vendor in _read_folder(prefix / "etc/OpenCL/vendors", "pip"):
            # Intel's file names a path of the machine that built the wheel; the library lies in this prefix.
            vendor = _beside(vendor, prefix / "lib")
            if not vendor.library.startswith("/") or _exists(Path(vendor.library)):
                vendors.append(vendor)
        intel = prefix / "lib" / "libintelocl.so"
        if _exists(intel):
            vendors.append(Vendor(intel, _real(str(intel)), "pip"))
    unaided = {vendor.library for vendor in wheel_vendors(wheel_folder)}
    for folder in _import_folders():  # PoCL's wheel puts its files into pyopencl's folder
        vendors += [_beside(vendor) for vendor in _read_folder(folder / "pyopencl/.libs", "pip")]
    return [vendor for vendor in vendors if vendor.library not in unaided]


def wheel_vendors(wheel_folder: Path | None) -> list[Vendor]:
    """Return the runtimes that pyopencl's own loader reads besides any folder it is given."""
    return distinct(_beside(vendor) for vendor in _read_folder(wheel_folder, "pip")) if wheel_folder else []


def driver_vendors(known: Iterable[Vendor]) -> list[Vendor]:
    """Return the drivers whose library is on this machine while none of the known .icd files names it."""
    names = [Path(vendor.library).name for vendor in known]
    vendors = []
    for library in DRIVER_LIBRARIES:
        stem = library.partition(".so")[0]
        paths = [path for path in (Path(folder, library) for folder in library_folders()) if _exists(path)]
        if paths and not any(name.startswith(stem) for name in names):
            vendors.append(Vendor(paths[0], str(paths[0]), "driver"))
    return vendors


def library_folders() -> list[str]:
    """Return the folders in which the dynamic linker looks for a library that is given by name."""
    multiarch = getattr(sys.implementation, "_multiarch", "")
    configured = [folder for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    return configured + ([f"/usr/lib/{multiarch}"] if multiarch else []) + list(DRIVER_FOLDERS)


def ends_loaders(vendor: Vendor) -> bool:
    """Say whether this is a file at which ocl-icd ends the process, being empty or not of text, or waits for ever."""
    return vendor.reason in _DEADLY


def user_vendors(chosen: str) -> list[Vendor]:
    """Return what the loader makes of the user's OCL_ICD_VENDORS: a folder, one .icd file, or a library."""
    if is_folder(Path(chosen)):
        return _read_folder(Path(chosen), "user")
    if chosen.endswith(".icd"):
        return [_read_icd(Path(chosen) if "/" in chosen else SYSTEM_FOLDERS[0] / chosen, "user")]
    return [Vendor(Path(chosen), chosen, "user")]


def _read_folder(folder: Path, origin: str) -> list[Vendor]:
    with suppress(OSError):
        return [_read_icd(path, origin) for path in sorted(folder.iterdir()) if path.name.endswith(".icd")]
    return []


def _read_icd(path: Path, origin: str) -> Vendor:
    try:
        lines = read_bounded(path, _MOST_BYTES).strip().splitlines()
    except FileError:
        return Vendor(path, "", origin, loads=False, reason=_NO_FILE)
    except OSError as error:
        return Vendor(path, "", origin, loads=False, reason=f"cannot be read: {error.strerror}")
    if not lines or b"\0" in lines[0]:
        return Vendor(path, "", origin, loads=False, reason=_NO_LIBRARY)
    return Vendor(path, os.fsdecode(lines[0].strip()), origin)


def _beside(vendor: Vendor, folder: Path | None = None) -> Vendor:
    """Return the vendor with its library's full path, if the library lies in `folder` (its own, by default)."""
    path = (folder or vendor.icd.parent) / Path(vendor.library).name
    return Vendor(vendor.icd, _real(str(path)), vendor.origin) if vendor.library and _exists(path) else vendor


def _real(library: str) -> str:
    """Return the library's one path without links (a venv's lib64 is often a link to lib), or a bare name as it is."""
    with suppress(OSError, RuntimeError):
        return str(Path(library).resolve()) if "/" in library else library
    return library


def is_folder(path: Path) -> bool:
    """Say whether this is a folder; not, if one above it may not be searched."""
    with suppress(OSError):
        return path.is_dir()
    return False


def _exists(path: Path) -> bool:
    with suppress(OSError):
        return path.exists()
    return False


def distinct(vendors: Iterable[Vendor]) -> list[Vendor]:
    """Return them without repeated libraries. A loader shows the devices of a repeated library twice."""
    kept: dict[str, Vendor] = {}
    for vendor in vendors:
        kept.setdefault(_real(vendor.library) or str(vendor.icd), vendor)
    return list(kept.values())
