"""The exceptions that mandelcl raises on purpose: one line each, saying what is wrong and what to do.

MandelclError
├── InvalidInputError     a number, view, job or option that makes no sense
├── DeviceError           no device, or one that cannot do the job
│   ├── NoDeviceError     nothing matches, or nothing is installed
│   └── BuildError        the device's compiler refused a kernel
├── FileError             a path that cannot be read or written, or a file that is not what it should be
└── CancelledError        a render that was stopped before its end
"""


class MandelclError(Exception):
    """Base of every error that a user can cause or cure; its text is one clear line."""


class InvalidInputError(MandelclError):
    """A number, view, job or option that makes no sense."""


class DeviceError(MandelclError):
    """A device that is missing or cannot do what was asked of it."""


class NoDeviceError(DeviceError):
    """No device matches the request, or none is installed."""


class BuildError(DeviceError):
    """The device's compiler refused a kernel; `log` is what it said."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class FileError(MandelclError):
    """A path that cannot be read or written, or a file that is not what it should be."""


class CancelledError(MandelclError):
    """A render that was stopped before its end."""


def first_error(log: str) -> str:
    """Return the line of a compiler's log that says most."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "unknown" in line.lower()]
    return (telling or lines or ["no reason given"])[0][:300]
