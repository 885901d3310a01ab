"""The devices of a crew: a seat each, their workers' messages, and a new worker for one that failed."""

import queue
from collections.abc import Callable, Iterator, Sequence
from typing import cast

from mandelcl.base.errors import LONGEST_LINE, DeviceError
from mandelcl.base.printable import printable
from mandelcl.core import timeline
from mandelcl.core.job import Job
from mandelcl.core.report import KnownDevice
from mandelcl.crew.part import Part
from mandelcl.crew.seat import Seat
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop.sizing import shared_band_pixels
from mandelcl.opencl.device import Device
from mandelcl.workers.process import WorkerFactory, WorkerMessage
from mandelcl.workers.supervised import RestartPolicy


class Roster:
    """The devices of a crew, a seat each. Each fault is a line in `faults` and for `notice`."""

    def __init__(
        self,
        choices: Sequence[Part],
        settings: Settings,
        policy: RestartPolicy,
        notice: Callable[[str], None],
        start_worker: WorkerFactory,
    ) -> None:
        self.faults: list[str] = []
        self._settings = settings
        self._notice = notice
        self._policy, self._start_worker = policy, start_worker
        self._messages: queue.Queue[WorkerMessage] = queue.Queue()
        self._seats = {choice.device.label: self.seat(choice) for choice in choices}
        self._assignment = 0

    def __iter__(self) -> Iterator[Seat]:
        return iter(self._seats.values())

    def __getitem__(self, name: str) -> Seat:
        return self._seats[name]

    def seat(self, choice: Part) -> Seat:
        """Return a new seat for a device."""
        return Seat(choice, self._settings, self._policy, self._start_worker, self._messages)

    @property
    def devices(self) -> list[KnownDevice]:
        """All devices, whether they take part or not."""
        return [seat.choice.device for seat in self]

    @property
    def whole(self) -> bool:
        """Whether every device still takes part, so that another job is better served by no new crew."""
        return not any(seat.retired for seat in self)

    @property
    def active(self) -> list[Seat]:
        """The seats that take part, ready or not."""
        return [seat for seat in self if not seat.retired and seat.able]

    @property
    def ready(self) -> list[Seat]:
        """The seats with a worker that is ready for blocks."""
        return [seat for seat in self if seat.ready]

    def require(self) -> None:
        """Raise DeviceError if no device takes part."""
        if not self.active:
            raise DeviceError("no device is left")

    def alone(self, name: str) -> bool:
        """Whether no other device takes part."""
        return all(seat.name == name for seat in self.active)

    def start(self) -> None:
        """Start a worker for each device; raises DeviceError if that fails."""
        for seat in self:
            seat.start()

    def cast(self, job: Job) -> tuple[Sequence[Part], list[str]]:
        """Return the parts that the devices which are left have in another job, and notes on those left out of it.

        Raises as `choose.several` does, and DeviceError if no device is left.
        """
        left = [seat.choice.device for seat in self if not seat.retired]
        if not left:
            self.require()
        return choose.several(job, cast(list[Device], left), self._settings.self_test, required_specs=())

    def admit(self, devices: Sequence[KnownDevice]) -> None:
        """Let these devices take part, except retired ones, and no others."""
        for seat in self:
            seat.able = seat.choice.device in devices

    def assign(self, job: Job) -> tuple[int, int]:
        """Have all workers drop their blocks and get ready for a job.

        Return the assignment's number and how many pixels a band should have.
        """
        self._assignment += 1
        able = [seat for seat in self if seat.able]
        speeds, saturations = [seat.choice.speed for seat in able], [seat.saturation for seat in able]
        pixels = shared_band_pixels(job, speeds, saturations, self._settings.block_pixels)
        for seat in self:
            seat.assign(self._assignment, job, self.block_limit(job, pixels))
        return self._assignment, pixels

    def block_limit(self, job: Job, band_pixels: int) -> int:  # noqa: ARG002 - of a few devices none takes all memory
        """Return how many pixels a block of a job may have, whose bands have so many."""
        return band_pixels

    def overdue(self, busy: Callable[[Seat], bool]) -> list[tuple[Seat, str]]:
        """Return the seats whose worker takes too long, and why; `busy` says which have blocks to compute."""
        reasons = [(seat, seat.overdue(busy(seat))) for seat in self]
        return [(seat, why) for seat, why in reasons if why is not None]

    def next(self, timeout: float) -> tuple[Seat, WorkerMessage] | None:
        """Return the next message and its seat, or None if none comes within `timeout` seconds."""
        try:
            with timeline.span("wait for the workers", "wait"):
                message = self._messages.get(timeout=timeout)
        except queue.Empty:
            return None
        sender = next((seat for seat in self if seat.worker is message.worker), None)
        return None if sender is None else (sender, message)  # None: from a worker that has been ended

    def fault(self, seat: Seat, why: str, wrong: bool = False) -> None:  # noqa: ARG002 - who is here may try again
        """End a worker and start another, unless that has failed too often; `wrong` says that its results were.

        Raises DeviceError if no device is left.
        """
        again = seat.restart()
        line = f"{seat.name}: {why}; {'started again' if again else 'it is retired'}"
        self._note(line)
        if not self.active:
            raise DeviceError(f"no device is left: {line}")

    def _note(self, line: str) -> None:
        """Keep a fault, and show it; what a worker says is in it, and may be long."""
        line = printable(line, LONGEST_LINE)
        self.faults.append(line)
        self._notice(line)

    def close(self) -> None:
        """End all workers."""
        for seat in self:
            seat.kill()
        for seat in self:
            seat.end()
