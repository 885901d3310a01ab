"""A running launch of the loop: wait for it, and ask how long it took and how many orbits survived."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from mandelcl.base.words import Words
from mandelcl.core.timeline import Detail
from mandelcl.opencl.api import Event, event_seconds
from mandelcl.opencl.device import Device


@dataclass(slots=True)
class RunningLaunch:
    """A running launch: `strides` strides of iterations of at most `orbits` orbits.

    Once it has been waited for, `survivors` is how many orbits have not escaped; 0 if it ran to the iteration limit.
    """

    orbits: int
    strides: int
    _event: Event
    _last_event: Event
    _survivor_total: Words | None
    _enqueued: float

    def wait(self, device: Device) -> None:
        """Return when it has ended and its survivors are counted."""
        device.wait(self._last_event)

    def describe(self, device: Device, details: Mapping[str, Detail]) -> None:
        """Add details to what a trace says about it."""
        device.commands.describe(self._event, details)

    @property
    def survivors(self) -> int:
        """Orbits that have not escaped."""
        return 0 if self._survivor_total is None else int(self._survivor_total[0])

    def seconds(self, ready: float) -> float:
        """Return how long it ran, by the device's clock, or by the host's if that is unusable.

        `ready` is the host's time at which the device was free to start it.
        """
        seconds = event_seconds(self._event)
        if seconds is not None:
            return seconds
        return time.perf_counter() - max(ready, self._enqueued)
