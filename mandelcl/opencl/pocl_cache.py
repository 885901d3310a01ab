"""A folder for what PoCL compiles, where its own cannot be used: without one it offers no device, or ends the process.

PoCL takes `POCL_CACHE_DIR`, or else `pocl/kcache` in `XDG_CACHE_HOME` or in `~/.cache`.
"""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from mandelcl.files.leftovers import temporary_folder
from mandelcl.opencl.vendors import Vendor

_VARIABLE = "POCL_CACHE_DIR"
_NEEDED_BYTES = 1 << 16  # what a small kernel takes; a full disk has less


def prepare(vendors: Iterable[Vendor]) -> None:
    """Have PoCL, if it is among the runtimes, use a folder that goes with this process where its own is of no use.

    A folder that the user has chosen stays.
    """
    if _VARIABLE in os.environ or not any(Path(vendor.library).name.startswith("libpocl") for vendor in vendors):
        return
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")  # noqa: PTH118
    # A relative folder would be made in whatever folder is the current one.
    if not os.path.isabs(caches) or not _writable(Path(caches, "pocl", "kcache")):  # noqa: PTH117
        with suppress(OSError):
            os.environ[_VARIABLE] = str(temporary_folder("mandelcl-pocl-"))


def _writable(folder: Path) -> bool:
    """Return whether a folder is there, or can be made, and a file can be written in it."""
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            return file.write(bytes(_NEEDED_BYTES)) == _NEEDED_BYTES
    return False
