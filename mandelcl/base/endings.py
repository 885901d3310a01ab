"""How a process has ended, in words: by itself, by a signal of POSIX, or by an exception of Windows."""

import signal
from contextlib import suppress

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
        with suppress(ValueError):
            return f"killed by {signal.Signals(-code).name}"
        return f"killed by signal {-code}"
    if code < _LEAST_EXCEPTION:
        return f"exit code {code}"
    return f"exit code 0x{code:08X}" + (f", {_EXCEPTIONS[code]}" if code in _EXCEPTIONS else "")
