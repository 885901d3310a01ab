"""Limits of a process that `ulimit` sets, such as address space and open files, and the messages about them."""

import errno
import importlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from mandelcl.base.errors import NoDeviceError

_ENOUGH_ADDRESSES = 2 << 30  # with three runtimes of CPUs, 1.5 were enough
_LEAST_ADDRESSES = 800 << 20  # with fewer, each of three runtimes of CPUs crashed, or was not found
_ENOUGH_FILES = 64
_FILES_ERRORS = (errno.EMFILE, errno.ENFILE)
# The texts of the dynamic linker and of Python, for errors without a number.
_MEMORY_WORDS = ("failed to map segment", "cannot allocate memory", "can't start new thread")


def require_addresses() -> None:
    """Raise NoDeviceError if this process has so little address space that drivers would crash it."""
    limit = _addresses()
    if limit is not None and limit < _LEAST_ADDRESSES:
        raise NoDeviceError(f"no OpenCL driver can be loaded: {_few_addresses(limit)}; raise the limit")


def remarks() -> list[str]:
    """Return warnings for the user if the limits of this process are so low that drivers are likely to crash it."""
    limit = _addresses()
    few = [_few_addresses(limit)] if limit is not None and limit < _ENOUGH_ADDRESSES else []
    return [f"{line}, and drivers end a process that has too few" for line in (*few, scarce_files()) if line]


def allow_more(size: int) -> None:
    """Limit this process to `size` bytes more than it has. Without a report of its size, this does nothing."""
    with suppress(ImportError, OSError, ValueError):
        resource: Any = importlib.import_module("resource")
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        limit, most = pages * resource.getpagesize() + size, resource.getrlimit(resource.RLIMIT_AS)[1]
        if most == resource.RLIM_INFINITY or limit < most:
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def scarce_files() -> str:
    """Return a phrase for the user if this process may have so few files open that drivers may lack some, or ""."""
    limit = _files()
    if limit is None or limit >= _ENOUGH_FILES:
        return ""
    return f"this process may have only {limit} files open (ulimit -n); {_ENOUGH_FILES} are enough for most"


def why(error: OSError) -> str:
    """Return why the system refused, with advice if too many files are open."""
    reason = error.strerror or str(error)
    advice = scarce_files() if error.errno in _FILES_ERRORS else ""
    return f"{reason}: {advice}" if advice else reason


def reached(error: Exception) -> str:
    """Return a line for the user if an error is caused by too little address space or too few files, else "".

    Imports of modules and libraries, and starts of threads, fail like this.
    """
    text = str(error)
    if getattr(error, "errno", None) in _FILES_ERRORS or os.strerror(errno.EMFILE) in text:
        return f"too many open files: {scarce_files() or 'raise `ulimit -n`'}"
    if any(words in text.lower() for words in _MEMORY_WORDS):
        limit = _addresses()
        few = f"{_few_addresses(limit)}; raise the limit" if limit is not None else "close other programs"
        return f"not enough memory: {few}"
    return ""


def _few_addresses(limit: int) -> str:
    enough = f"{_ENOUGH_ADDRESSES >> 30} GiB are enough for most"
    return f"this process may have {limit / 2**30:.1f} GiB of addresses (ulimit -v); {enough}"


def _addresses() -> int | None:
    """Return the limit of this process's address space in bytes; None if there is no limit, as on Windows."""
    with suppress(ImportError):
        resource: Any = importlib.import_module("resource")
        limit: int = resource.getrlimit(resource.RLIMIT_AS)[0]
        return None if limit == resource.RLIM_INFINITY else limit
    return None


def _files() -> int | None:
    """Return how many files this process may have open; None if there is no limit, as on Windows."""
    sysconf: Any = getattr(os, "sysconf", None)  # without `resource`, whose import takes a file itself
    limit: int = -1 if sysconf is None else sysconf("SC_OPEN_MAX")
    return limit if limit >= 0 else None
