"""Where runtimes keep caches of their own: named, so that a user can find them, and never touched."""

import os
import sys
from contextlib import suppress
from pathlib import Path

# The variable that names a runtime's cache folder, and where that is without it: in the user's folder for caches
# (XDG_CACHE_HOME), or in the home folder.
_CACHES = (
    ("PoCL", "POCL_CACHE_DIR", "pocl"),
    ("NVIDIA", "CUDA_CACHE_PATH", "~/.nv/ComputeCache"),
    ("Intel", "NEO_CACHE_DIR", "neo_compiler_cache"),
    ("Mesa", "MESA_SHADER_CACHE_DIR", "mesa_shader_cache"),
    ("AMD", "AMD_COMGR_CACHE_DIR", "comgr"),
)


def runtimes_caches() -> list[tuple[str, Path]]:
    """Return the caches of runtimes that exist on this machine: the runtime's name and the folder. Linux only."""
    platform: str = sys.platform  # so that the type checker reads the code for all
    if platform != "linux":
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
