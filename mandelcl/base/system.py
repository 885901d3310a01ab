"""The name of the operating system."""

import sys


def system() -> str:
    """Return the system's name as in `sys.platform`: "linux", "win32", "darwin" or another.

    Code that differs between systems compares this. mypy evaluates comparisons with `sys.platform` itself: it then
    checks the code of one system alone, and calls the rest unreachable. They are left to code whose names
    only exist on that system, such as `os.sched_getscheduler`.
    """
    return sys.platform
