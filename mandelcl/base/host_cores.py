"""The cores of this machine: how many are ours, and who goes first on them."""

import os
import sys

from mandelcl.base.system import system


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
    """Let other processes go before this one, as far as POSIX does for a niceness from 1 to 19.

    On Linux that affects this thread and those started from here on, elsewhere all of the process.
    """
    if sys.platform == "win32":
        from mandelcl.base import windows  # loaded where it is needed

        windows.give_way(niceness)
    else:
        os.nice(niceness)
