"""Processes of the system: names that are unique among all processes, and how a process ended.

The name distinguishes what an ended process left from what a running one still needs. It has the system, which is known
by its start and its numbering of processes (each container has its own), and the process's number. Windows soon
gives that to another process: there a name has the machine, and the process's start beside its number.
"""

import hashlib
import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

from mandelcl.base.system import system

_BOOT, _NUMBERING = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
_DIGITS = 12
_NAME = re.compile(r"([0-9a-f]+)-(([1-9][0-9]{0,8})(?:_[0-9]+)?)", re.ASCII)


def own_name() -> str:
    """Return the name of this process, or an empty text if the system reports too little."""
    system = _system()
    return f"{system}-{_process(os.getpid())}" if system else ""


def has_ended(name: str) -> bool:
    """Return whether a name belongs to a process of this system that has ended. False if that is unknown."""
    found = _NAME.fullmatch(name)
    if found is None or found[1] != _system():
        return False
    with suppress(OSError):
        return _process(int(found[3])) != found[2]
    return False


@cache
def _system() -> str:
    """Return a name for this boot of the system and its numbering of processes; an empty text if unknown."""
    try:
        if system() == "win32":
            from mandelcl.base import windows  # loaded where it is needed

            text = windows.machine()
        elif system() == "darwin":
            from mandelcl.base import macos  # loaded where it is needed

            text = macos.boot_session()
        else:
            text = f"{_BOOT.read_text().strip()} {_NUMBERING.readlink()}"
    except OSError:
        return ""
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_DIGITS]


def _process(number: int) -> str:
    """Return the name of the process with a number, or an empty text for none. Raises OSError if that is unknown."""
    if system() == "win32":
        from mandelcl.base import windows  # loaded where it is needed

        started = windows.started(number)
        return "" if started is None else f"{number}_{started}"
    assert os.name == "posix"  # elsewhere this signal is Ctrl-C
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:  # another user's
        pass
    return str(number)


_LEAST_EXCEPTION = 0x80000000  # Windows ends a process with the number of the exception that it did not handle

_EXCEPTIONS = {
    0x80000003: "a breakpoint",
    0xC0000005: "an access violation",
    0xC0000006: "a page that could not be read",
    0xC0000017: "too little memory",
    0xC000001D: "an illegal instruction",
    0xC0000094: "an integer division by zero",
    0xC00000FD: "a stack overflow",
    0xC0000135: "a DLL that was not found",
    0xC0000139: "a function that a DLL does not have",
    0xC000013A: "Ctrl-C",
    0xC0000142: "a DLL that failed to start",
    0xC0000374: "a corrupt heap",
    0xC0000409: "an abort or a stack buffer overrun",
}


def ending(code: int) -> str:
    """Return how a process ended whose exit code `subprocess` gives: "killed by SIGSEGV", "exit code 3"."""
    if code < 0:
        import signal  # renders need no such names, and making them takes some milliseconds

        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"
    if code < _LEAST_EXCEPTION:
        return f"exit code {code}"
    return f"exit code 0x{code:08X}" + (f", {_EXCEPTIONS[code]}" if code in _EXCEPTIONS else "")
