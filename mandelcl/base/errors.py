"""The exceptions that mandelcl raises on purpose. Each is one line that says what is wrong and what to do.

MandelclError             base of all errors that a user can act on
├── InvalidInputError     a number, view, job or option that makes no sense
├── DeviceError           no device, or one that cannot do the job; `device` names it
│   ├── NoDeviceError     nothing matches, or nothing is installed
│   └── BuildError        the device's compiler refused a kernel; `log` is its output
└── FileError             a path that cannot be read or written, or a file that is not what it should be; `path`
CancelledError            a render that was stopped before its end, on request

Being stopped is no failure, so CancelledError stands beside the others: `except MandelclError`, which tries something
else or notes down what went wrong, does not swallow it. `except (MandelclError, CancelledError)` takes all of them.
A `Token` asks work to stop. Long work checks it with `stop_if`.
"""

from pathlib import Path
from types import NoneType
from typing import Protocol

from mandelcl.base.text import printable

LONGEST_LINE = 288  # characters of a line: with what the command line puts before it, under 300


class MandelclError(Exception):
    """Base of every error that a user can cause or cure; its text is one clear line.

    Whatever it quotes, the line is made `printable`, and the middle is left out of one that is long.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message, LONGEST_LINE))


class InvalidInputError(MandelclError):
    """A number, view, job or option that makes no sense."""


class DeviceError(MandelclError):
    """A device that is missing or cannot do what was asked of it; `device` is its label, empty if it is not one."""

    def __init__(self, message: str, device: str = "") -> None:
        super().__init__(message)
        self.device = device


class NoDeviceError(DeviceError):
    """No device matches the request, or none is installed."""


class BuildError(DeviceError):
    """The device's compiler refused a kernel; `log` is its output."""

    def __init__(self, message: str, log: str = "", device: str = "") -> None:
        super().__init__(message, device)
        self.log = log


class FileError(MandelclError):
    """A path that cannot be read or written, or a file that is not what it should be.

    `path` is the file or folder as messages name it; None where the error is not about one.
    """

    def __init__(self, message: str, path: str | Path | None = None) -> None:
        super().__init__(message)
        self.path = path


class CancelledError(Exception):
    """A render that was stopped before its end, on request."""


def remark(error: Exception, text: str) -> None:
    """Add to the line of an error, which stays the one that it is: with its data, cause and traceback.

    Its `remarks` are all that has been added so.
    """
    vars(error).setdefault("remarks", []).append(text)
    error.args = (printable(f"{error}; {text}", LONGEST_LINE), *error.args[1:])


def require_type(value: object, kind: type | tuple[type, ...], what: str) -> None:
    """Raise InvalidInputError unless a value has one of these types. `what` names it, as in "the job"."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        names = " or ".join("None" if accepted is NoneType else accepted.__name__ for accepted in kinds)
        raise InvalidInputError(f"{what} must be of type {names}, not {type(value).__name__}")


def require_callable(value: object, what: str) -> None:
    """Raise InvalidInputError where a value is neither None nor a function or the like."""
    if value is not None and not callable(value):
        raise InvalidInputError(f"{what} must be a function or None, not {type(value).__name__}")


def first_error(log: str) -> str:
    """Return the most informative line of a compiler's log."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "unknown" in line.lower()]
    return (telling or lines or ["no reason given"])[0][:300]


class Token(Protocol):
    """Asks work to stop. A `threading.Event` is one."""

    def is_set(self) -> bool:
        """Return whether to stop."""


class Never:
    """The token of work that is never stopped."""

    def is_set(self) -> bool:
        """Return False."""
        return False


NEVER = Never()


def stop_if(token: Token) -> None:
    """Raise CancelledError where the work is to stop."""
    if token.is_set():
        raise CancelledError("stopped")
