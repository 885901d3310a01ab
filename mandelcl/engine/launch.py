"""A launch of the loop under way: wait for it, ask how long it ran and what it left alive."""

import time
from dataclasses import dataclass

from mandelcl.opencl.device import Device, Event, event_seconds
from mandelcl.words import Words


@dataclass(slots=True)
class RunningLaunch:
    """A launch under way: `strides` strides of iterations of at most `orbits` orbits.

    `survivors` is, once it has been waited for, how many orbits it left alive; 0 where it reached the cap.
    """

    orbits: int
    strides: int
    _event: Event
    _last_event: Event
    _survivor_total: Words
    _enqueued: float

    def wait(self, device: Device) -> None:
        """Return when it has ended and its survivors are counted."""
        device.wait(self._last_event)

    @property
    def survivors(self) -> int:
        """Orbits that it left alive."""
        return int(self._survivor_total[0])

    def seconds(self, ready: float) -> float:
        """Return how long it ran, by the device's clock or, where that is of no use, by the host's.

        `ready` is when the device was free to begin with it, as the host saw it.
        """
        seconds = event_seconds(self._event)
        if seconds is not None:
            return seconds
        return time.perf_counter() - max(ready, self._enqueued)
