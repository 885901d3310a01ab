"""The machine that this process runs on: how many cores and how much memory the process may use."""

import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.system import system

_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    allowed = 0
    if system() == "win32":
        from mandelcl.base import windows  # loaded where it is needed

        allowed = windows.allowed_cores()
    return allowed or os.cpu_count() or 1


def give_way(niceness: int) -> None:
    """Lower the priority of this process to a niceness from 1 to 19.

    On Linux that affects this thread and those started from here on, elsewhere all of the process.
    """
    if sys.platform == "win32":
        from mandelcl.base import windows  # loaded where it is needed

        windows.give_way(niceness)
    else:
        os.nice(niceness)


@dataclass(frozen=True, slots=True)
class _Names:
    """The file names of a version of control groups, and the lines of memory.stat that count reclaimable memory."""

    limit: str
    used: str
    reclaimable: tuple[str, str]


_VERSION_1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_active_file", "total_inactive_file"))
_VERSION_2 = _Names("memory.max", "memory.current", ("active_file", "inactive_file"))


def available_bytes() -> float:
    """Return the bytes of memory that are available; infinity if the system does not report them."""
    return max(0.0, min((_system(), *_groups())))


def new(shape: tuple[int, ...], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return uninitialised memory of a shape and type. Raises MemoryError if the system has too little left."""
    if math.prod(shape) * dtype.itemsize > available_bytes():
        raise MemoryError
    return np.empty(shape, dtype)


def _system() -> float:
    try:
        return _ASKED.get(system(), _linux)()
    except (ImportError, OSError, ValueError, IndexError, AttributeError):  # or a library without the function
        return math.inf


def _linux() -> float:
    return 1024.0 * _values(_PROC / "meminfo", "MemAvailable:")[0]


def _windows() -> float:
    from mandelcl.base import windows  # loaded where it is needed

    return windows.available_memory()


def _macos() -> float:
    from mandelcl.base import macos  # loaded where it is needed

    return macos.available_memory()


_ASKED = {"win32": _windows, "darwin": _macos}


def _groups() -> Iterator[float]:
    """Yield the bytes left in this process's control group and in each group around it, in versions 2 and 1."""
    if system() != "linux":
        return
    try:
        lines = (_PROC / "self/cgroup").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if path and controllers == "":
            root, names = _GROUPS, _VERSION_2
        elif "memory" in controllers.split(","):
            root, names = _GROUPS / "memory", _VERSION_1
        else:
            continue
        # Inside a container the group may be visible as the root alone, whatever its name is outside.
        cgroup = Path(path.lstrip("/"))
        for group in (cgroup, *cgroup.parents):
            yield _left(root / group, names)


def _left(folder: Path, names: _Names) -> float:
    """Return the bytes that a group has left, with those of files that are merely cached; infinity without a limit."""
    try:
        limit = (folder / names.limit).read_text().strip()
        if limit == "max":
            return math.inf
        left = float(limit) - float((folder / names.used).read_text())
    except (OSError, ValueError):
        return math.inf
    try:
        return left + sum(_values(folder / "memory.stat", *names.reclaimable))
    except (OSError, ValueError):
        return left


def _values(path: Path, *names: str) -> Sequence[float]:
    """Return the numbers that follow some names at the beginning of lines."""
    words = (line.split() for line in path.read_text().splitlines())
    return [float(word[1]) for word in words if len(word) > 1 and word[0] in names]
