"""What Python has on POSIX, or on Linux alone; whoever uses it is skipped elsewhere.

Nothing here has a type, so that a type checker reads the tests for every system, each of which lacks some of it.
"""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

os: Any = importlib.import_module("os")
signal: Any = importlib.import_module("signal")
socket: Any = importlib.import_module("socket")
fcntl: Any = None
resource: Any = None
with suppress(ImportError):  # Windows
    fcntl = importlib.import_module("fcntl")
    resource = importlib.import_module("resource")


@contextmanager
def limited(what: int, value: int) -> Iterator[None]:
    """Set a limit of this process, such as `resource.RLIMIT_FSIZE`, while the body runs."""
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (value, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))
