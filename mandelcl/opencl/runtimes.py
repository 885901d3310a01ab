"""Make every OpenCL runtime on this machine visible to the loader, before pyopencl is first imported.

On Linux the OpenCL loader reads a folder of `.icd` files, each naming one runtime's library, and looks nowhere
else: runtimes installed with pip stay hidden, and so does a driver in a container that has no `.icd` file.
`prepare` merges them all into one folder and names it in OCL_ICD_VENDORS. Nothing is loaded here: whether a
runtime works is asked by `absence.diagnose`, in processes of their own, and only when someone wants to know.
"""

import hashlib
import os
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from mandelcl.base.system import system
from mandelcl.base.text import printable
from mandelcl.files import cache
from mandelcl.files.leftovers import temporary_folder
from mandelcl.files.paths import tempfile_for
from mandelcl.opencl import caches, windows_vendors
from mandelcl.opencl.vendors import (
    Vendor,
    distinct,
    driver_vendors,
    ends_loaders,
    find_loader,
    in_standard_folder,
    is_conda,
    is_folder,
    loader_is_condas,
    pip_vendors,
    prefixes,
    system_folders,
    system_vendors,
    user_vendors,
    wheel_vendors,
)

# Mesa's rusticl shows no device of a driver that RUSTICL_ENABLE does not name, and ignores names it does not know.
# zink is left out: it would show every GPU a second time, through Vulkan.
RUSTICL_DRIVERS = "asahi,freedreno,iris,llvmpipe,nouveau,panfrost,r600,radeonsi,v3d"

# Holds the folder that a mandelcl process put into OCL_ICD_VENDORS, so that its children know it is not the user's.
_MARK = "MANDELCL_VENDORS"
# Holds what the user had put there, where the loader could not have survived it.
_USERS = "MANDELCL_USER_VENDORS"

_lock = threading.Lock()
_prepared: "Runtimes | None" = None


@dataclass(frozen=True, slots=True)
class Runtimes:
    """The settings of the OpenCL loader, and where they come from.

    `folder` is what OCL_ICD_VENDORS says ("" where it is left unset), `searched` where runtimes were looked for,
    `takes_library` whether it may say a single library instead, `rusticl` the value of RUSTICL_ENABLE, `notes` lines
    worth showing to a user who misses a device.
    """

    loader: str
    folder: str = ""
    user_set: bool = False
    vendors: tuple[Vendor, ...] = ()
    searched: tuple[Path, ...] = ()
    takes_library: bool = False
    rusticl: str = ""
    rusticl_user_set: bool = False
    notes: tuple[str, ...] = ()


def prepare() -> Runtimes:
    """Return the runtimes of this machine, made visible to the loader through the environment.

    To be called before pyopencl is imported; later calls return the first answer. Never fails: what cannot be
    read or written is left out and said in `notes`. The loaders of Windows and macOS have no folder of vendors: on
    Windows Intel's runtime is named to it that pip has installed, and for conda's loader on macOS its folder is read,
    to say what is there.
    """
    global _prepared
    with _lock:
        if _prepared is None:
            _prepared = _prepare()
        return _prepared


def _prepare() -> Runtimes:
    found = system()
    if found == "linux":
        return _prepare_linux()
    if found == "darwin" and loader_is_condas():
        return _prepare_conda_on_macos()
    if found == "win32":
        known, notes = windows_vendors.prepare()
        return Runtimes(_other_loader(), vendors=known, notes=notes)
    return Runtimes(_other_loader())


def _prepare_linux() -> Runtimes:
    rusticl_user_set = os.environ.get("RUSTICL_ENABLE", RUSTICL_DRIVERS) != RUSTICL_DRIVERS
    rusticl = os.environ.setdefault("RUSTICL_ENABLE", RUSTICL_DRIVERS)
    loader, wheel_folder = find_loader()
    notes = ["pyopencl was imported too early to see the runtimes added here"] if "pyopencl" in sys.modules else []
    if wheel_folder and os.environ.get("OCL_ICD_FILENAMES"):
        notes.append("OCL_ICD_FILENAMES is set, but the loader inside pyopencl's wheel does not read it")
    from_wheel = wheel_vendors(wheel_folder)
    searched = system_folders() + [prefix / "lib" for prefix in prefixes()]
    vendors_found = distinct([*system_vendors(), *pip_vendors(wheel_folder)])
    vendors_found += driver_vendors(vendors_found)

    chosen = _users_choice()
    if chosen:
        blocks = _would_block(Path(chosen))
        if blocks:
            notes.append(f"OCL_ICD_VENDORS={printable(chosen, 100)} is no folder and no file, and is not read")
        vendors, made = ([] if blocks else user_vendors(chosen)), ""
        if blocks or any(map(ends_loaders, vendors)):
            vendors, made = _merge(vendors, notes)
        vendors += from_wheel if is_folder(Path(made or chosen)) else []
        hidden = {Path(v.library).name for v in vendors_found if v.origin != "system"} - {
            Path(v.library).name for v in vendors
        }
        if hidden:
            setting = f"OCL_ICD_VENDORS={printable(chosen, 100)}"
            notes.append(f"{setting} was set outside mandelcl and hides {', '.join(sorted(hidden))}")
        _set_environment(made or ("" if blocks else chosen), made, chosen if made else "")
    else:
        vendors, made = vendors_found + from_wheel, ""
        if _loader_needs_help(vendors_found):
            vendors, made = _merge(vendors_found, notes)
            vendors += from_wheel
        _set_environment(made, made)
    caches.prepare_pocl(vendors)
    return Runtimes(
        *(loader, chosen or made, bool(chosen), tuple(vendors), tuple(searched)),
        takes_library=wheel_folder is not None and not chosen,
        rusticl=rusticl,
        rusticl_user_set=rusticl_user_set,
        notes=tuple(notes),
    )


def _prepare_conda_on_macos() -> Runtimes:
    """Return what conda's loader finds: everything lies in the environment, where it looks anyway."""
    chosen = os.environ.get("OCL_ICD_VENDORS", "")
    vendors = user_vendors(chosen) if chosen else pip_vendors(None)
    searched = () if chosen else (Path(sys.prefix, "etc/OpenCL/vendors"),)
    caches.prepare_pocl(vendors)
    return Runtimes(find_loader()[0], chosen, bool(chosen), tuple(distinct(vendors)), searched)


def _would_block(path: Path) -> bool:
    """Return whether a path is a pipe, a socket or a device, on which the loader would wait and hear no signal."""
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
        return not (stat.S_ISDIR(mode) or stat.S_ISREG(mode))
    return False


def _users_choice() -> str:
    """Return what the user has put into OCL_ICD_VENDORS, for this process or for one that has started it."""
    setting = os.environ.get("OCL_ICD_VENDORS", "")
    return os.environ.get(_USERS, "") if setting == os.environ.get(_MARK) else setting


def _set_environment(folder: str, made: str, users: str = "") -> None:
    """Tell the loader of a folder, and children of this process whether it was `made` here, and in place of what."""
    for name, value in (("OCL_ICD_VENDORS", folder), (_MARK, made), (_USERS, users)):
        _set_or_clear(name, value)


@contextmanager
def only(library: str) -> Iterator[None]:
    """Have the loader open one library and no other, if it first looks while the body runs.

    It must be one that `takes_library`. Processes started later see all runtimes, as this one would have.
    """
    before = os.environ.get("OCL_ICD_VENDORS", "")
    os.environ["OCL_ICD_VENDORS"] = library
    try:
        yield
    finally:
        _set_or_clear("OCL_ICD_VENDORS", before)


def _other_loader() -> str:
    if system() == "darwin":
        return "the OpenCL framework of macOS, which finds its devices itself"
    return "OpenCL.dll, which finds the drivers that are registered with the system"


def _loader_needs_help(vendors: Iterable[Vendor]) -> bool:
    """Say whether the loader, left alone, would miss any of these or end the process; if not, all stays as it is."""
    return any(is_conda() or ends_loaders(vendor) or not in_standard_folder(vendor) for vendor in vendors)


def _merge(vendors: list[Vendor], notes: list[str]) -> tuple[list[Vendor], str]:
    """Return the vendors, with the files now naming them, and the folder of those files ("" if none can be had)."""
    usable = [vendor for vendor in vendors if vendor.library]
    files = {f"{i:02}-{v.icd.name.partition('.')[0]}.icd": os.fsencode(v.library) + b"\n" for i, v in enumerate(usable)}
    try:
        folder = _merged_folder(files)
    except OSError as error:
        notes.append(f"no folder can be written for the loader ({error}); only the system's runtimes are seen")
        return [vendor for vendor in vendors if in_standard_folder(vendor)], ""
    made = {v.library: folder / name for v, name in zip(usable, files, strict=True)}
    return [v if v.origin == "system" else replace(v, icd=made.get(v.library, v.icd)) for v in vendors], str(folder)


def _merged_folder(files: dict[str, bytes]) -> Path:
    # Named by its content: environments do not disturb each other, and processes that meet here want the same.
    digest = hashlib.sha256(b"\0".join(os.fsencode(name) + b"\0" + files[name] for name in files)).hexdigest()
    parents = os.environ.get(_MARK, "")
    if parents and _holds(Path(parents), files):
        return Path(parents)
    name = f"vendors-{digest[:16]}"
    kept = cache.subfolder(name)
    if kept is not None:
        if _holds(kept, files):
            return kept.absolute()  # it may be one that can only be read
        with suppress(OSError):
            return _fill(cache.make(name).absolute(), files)
    return _fill(temporary_folder("mandelcl-vendors-"), files)


def _fill(folder: Path, files: dict[str, bytes]) -> Path:
    """Return the folder, holding exactly these .icd files."""
    for name, content in files.items():
        with tempfile_for(folder / name) as tempfile:  # which the loader does not read: its name does not end in .icd
            tempfile.write_bytes(content)
    for path in folder.glob("*.icd"):
        if path.name not in files:
            path.unlink(missing_ok=True)
    return folder


def _holds(folder: Path, files: dict[str, bytes]) -> bool:
    with suppress(OSError):
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.endswith(".icd")} == files
    return False


def _set_or_clear(name: str, value: str) -> None:
    if value:
        os.environ[name] = value
    else:
        os.environ.pop(name, None)
