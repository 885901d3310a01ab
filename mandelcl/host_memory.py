"""How much memory this process may still take: what the system has left, and what its control group allows."""

import math
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")


def available_bytes() -> float:
    """Return the bytes that may still be had; infinity where the system does not say."""
    return min(_system(), *(limit - used for limit, used in _group_limits()), math.inf)


def _system() -> float:
    try:
        with (_PROC / "meminfo").open() as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return math.inf


def _group_limits() -> Iterator[tuple[float, float]]:
    """Yield (limit, used) of this process's control group and of each group around it, in version 2 and 1."""
    try:
        lines = (_PROC / "self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, names = _GROUPS, ("memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            root, names = _GROUPS / "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")
        else:
            continue
        inner = Path(path.lstrip("/"))
        for folder in (root / inner, *(root / parent for parent in inner.parents)):
            try:
                limit, used = ((folder / name).read_text().strip() for name in names)
                yield (math.inf if limit == "max" else float(limit)), float(used)
            except (OSError, ValueError):
                continue  # inside a container its own group is the root, under another name
