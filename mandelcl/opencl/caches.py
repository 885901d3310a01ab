"""The caches of runtimes: where they are, and a substitute for PoCL's if its own cannot be used.

The caches of a user are named and never touched. Without a cache PoCL offers no device, or ends
the process. It takes `POCL_CACHE_DIR`, or else `pocl/kcache` in `XDG_CACHE_HOME` or in `~/.cache`.
"""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from mandelcl.base.system import system
from mandelcl.files.leftovers import temporary_folder
from mandelcl.opencl.vendors import Vendor

# The variable that names a runtime's cache folder, and where that is without it: in the user's folder for caches
# (XDG_CACHE_HOME), or in the home folder.
_CACHES = (
    ("PoCL", "POCL_CACHE_DIR", "pocl"),
    ("NVIDIA", "CUDA_CACHE_PATH", "~/.nv/ComputeCache"),
    ("Intel", "NEO_CACHE_DIR", "neo_compiler_cache"),
    ("Mesa", "MESA_SHADER_CACHE_DIR", "mesa_shader_cache"),
    ("AMD", "AMD_COMGR_CACHE_DIR", "comgr"),
)
_POCL = "POCL_CACHE_DIR"
_NEEDED_BYTES = 1 << 16  # what a small kernel takes; a full disk has less


def runtimes_caches() -> list[tuple[str, Path]]:
    """Return the caches of runtimes that exist on this machine: the runtime's name and the folder. Linux only."""
    if system() != "linux":
        return []
    user = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    found = []
    for name, variable, place in _CACHES:
        with suppress(
            RuntimeError, OSError
        ):  # "~" of a user without a home folder; a folder that may not be looked into
            folder = Path(os.environ.get(variable) or (place if place.startswith("~") else user / place)).expanduser()
            if folder.is_dir():
                found.append((name, folder))
    return found


def prepare_pocl(vendors: Iterable[Vendor]) -> None:
    """Have PoCL use a temporary folder of this process if its own cache folder cannot be used.

    A folder that the user has chosen stays.
    """
    if _POCL in os.environ or not any(Path(vendor.library).name.startswith("libpocl") for vendor in vendors):
        return
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")  # noqa: PTH118
    # A relative folder would be made in whatever folder is the current one.
    if not os.path.isabs(caches) or not _writable(Path(caches, "pocl", "kcache")):  # noqa: PTH117
        with suppress(OSError):
            os.environ[_POCL] = str(temporary_folder("mandelcl-pocl-"))


def _writable(folder: Path) -> bool:
    """Return whether a folder exists or can be made, and a file can be written in it."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            return file.write(bytes(_NEEDED_BYTES)) == _NEEDED_BYTES
    return False
