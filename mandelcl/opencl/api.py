"""The OpenCL API for the other modules of this package. It must be imported after the runtimes are set.

It has the types that the rest of the package uses, and turns errors into one line.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from mandelcl.base import interrupts
from mandelcl.base.errors import DeviceError, NoDeviceError
from mandelcl.base.extras import not_loaded
from mandelcl.base.process_limits import require_addresses
from mandelcl.opencl import runtimes

require_addresses()
RUNTIMES = runtimes.prepare()  # before pyopencl is imported: it decides which runtimes the loader sees
# pyopencl keeps the little that it generates for each kernel in a database in the home folder; without one it fails.
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")

with interrupts.Noted():
    try:
        import pyopencl as cl
    except ImportError as error:
        raise NoDeviceError(not_loaded("pyopencl", error)) from error
interrupts.raise_unheeded()

__all__ = [
    "RUNTIMES",
    "Buffer",
    "BuiltProgram",
    "Event",
    "Kernel",
    "Labelled",
    "Mapping",
    "Shape",
    "cl",
    "code_of",
    "opencl_errors",
]

Buffer: TypeAlias = cl.Buffer
BuiltProgram: TypeAlias = cl.Program
Event: TypeAlias = cl.Event
Kernel: TypeAlias = cl.Kernel
Mapping: TypeAlias = cl.MemoryMap
Shape = tuple[int, ...]


class Labelled(Protocol):
    """A device, which messages name by its label."""

    label: str


@contextmanager
def opencl_errors(device: Labelled) -> Iterator[None]:
    """Turn an OpenCL error into a DeviceError of one line that names the device."""
    try:
        yield
    except cl.MemoryError as error:
        why = f"{device.label} is out of memory ({code_of(error)}); try a smaller picture"
        raise DeviceError(why, device.label) from error
    except cl.Error as error:
        raise DeviceError(f"{device.label} failed: {code_of(error)}", device.label) from error


def code_of(error: cl.Error) -> str:
    """Return the message of an OpenCL error in one line."""
    return " ".join(str(error).split())[:200]


_TRUSTED_NS = 1000, 24 * 3600 * 10**9  # other times are not trusted: some drivers leave them unset


def event_seconds(event: Event) -> float | None:
    """Return how long an event took by the device's clock; None if that clock is unusable."""
    times = stamps(event)
    return None if times is None else (times[1] - times[0]) * 1e-9


def stamps(event: Event) -> tuple[int, int] | None:
    """Return when an event began and ended by the device's clock, in nanoseconds; None if that clock is unusable.

    A driver may not know it yet when a later event has been waited for, so this waits for the event itself.
    """
    event.wait()
    try:
        start, end = event.profile.start, event.profile.end
    except cl.Error:  # the queue records no times
        return None
    least, most = _TRUSTED_NS
    return (start, end) if least < end - start < most else None
