"""A device that reports what it is doing, so that its parent can distinguish a long build or launch from a hang."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mandelcl.opencl.api import BuiltProgram, Event, Kernel, Shape
from mandelcl.opencl.device import Device
from mandelcl.workers.channel import BUILDING, STARTING, Channel

_ENDED = 0  # the status of an event that has ended; below that are errors


class WatchedDevice(Device):
    """A device that reports to a channel when it builds, and notes when a launch or a copy has ended.

    Some drivers compile a kernel at its first launch, and again for another shape of work-group, so such a launch
    counts as building until it has ended. `between` is what the worker reports when it is not building. What is waited
    for in another thread is not reported, since no work waits for it. What is built there may be reported.
    """

    def __init__(self, device: Device, channel: Channel) -> None:
        super().__init__(device.spec, device.handle)
        self.between = STARTING
        self._channel = channel
        self._thread = threading.get_ident()
        self._launched: set[tuple[Kernel, Shape | None]] = set()
        self._first: list[Event] = []  # first launches under way

    def build(self, source: str, options: tuple[str, ...] = ()) -> BuiltProgram:
        """Return the source built for this device; raises BuildError with the compiler's log."""
        with self._building():
            return super().build(source, options)

    def load(self, binary: bytes) -> BuiltProgram:
        """Return a program from the binary of an earlier build; raises BuildError if the driver refuses it."""
        with self._building():
            return super().load(binary)

    def launch(self, kernel: Kernel, size: Shape, local: Shape | None, *arguments: Any) -> Event:
        """Enqueue a kernel over `size` work-items in work-groups of `local` (None: as the driver likes)."""
        if (kernel, local) in self._launched:
            return super().launch(kernel, size, local, *arguments)
        self._channel.announce(BUILDING)
        event = super().launch(kernel, size, local, *arguments)
        self._launched.add((kernel, local))
        self._first.append(event)
        return event

    def wait(self, event: Event) -> None:
        """Return when an event of this device has ended."""
        super().wait(event)
        if threading.get_ident() == self._thread:
            self.progressed()

    def progressed(self) -> None:
        """Note that something has ended: the time allowed for the next step starts again."""
        if self._first:
            self._first = [event for event in self._first if event.command_execution_status > _ENDED]
        self._channel.note(BUILDING if self._first else self.between)

    def forget(self) -> None:
        """Treat all kernels as not yet launched: those of another program follow."""
        self._launched.clear()

    @contextmanager
    def _building(self) -> Iterator[None]:
        if threading.get_ident() != self._thread:
            with self._channel.building_beside():
                yield
            return
        self._channel.announce(BUILDING)
        yield
        self.progressed()
