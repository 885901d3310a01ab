"""The worker slots of a crew: their messages, and a new worker for one that failed."""

import queue
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias, cast

from mandelcl.base.errors import LONGEST_LINE, DeviceError
from mandelcl.base.text import printable
from mandelcl.core import timeline
from mandelcl.core.job import Job
from mandelcl.core.report import KnownDevice
from mandelcl.engine import choose
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop import sizing
from mandelcl.opencl.device import Device
from mandelcl.rendering.crew.sharing import DEPTH
from mandelcl.rendering.crew.worker_slot import DevicePart, WorkerSlot
from mandelcl.workers.process import Worker, WorkerMessage, WorkerProcess
from mandelcl.workers.supervised import RestartPolicy

# Starts the worker of a device, whose messages go to the queue.
StartWorker: TypeAlias = Callable[[DevicePart, "queue.Queue[WorkerMessage]"], Worker]


def start_process(
    _part: DevicePart, messages: "queue.Queue[WorkerMessage]", command_line: tuple[str, ...] = ()
) -> Worker:
    """Return a worker in a process on this machine, by default one of the role `blocks`."""
    return WorkerProcess("blocks", messages, sizing.SHARED_BAND_BYTES, DEPTH, command_line=command_line)


class WorkerPool:
    """The devices of a crew, a slot each. Each fault is a line in `faults` and for `on_message`."""

    def __init__(
        self,
        choices: Sequence[DevicePart],
        settings: Settings,
        policy: RestartPolicy,
        on_message: Callable[[str], None],
        start_worker: StartWorker,
        sharing: sizing.Sharing = sizing.HERE,
    ) -> None:
        self.faults: list[str] = []
        self._settings = settings
        self._on_message = on_message
        self._policy, self._start_worker, self._sharing = policy, start_worker, sharing
        self._messages: queue.Queue[WorkerMessage] = queue.Queue()
        self._slots = {choice.device.label: self.slot(choice) for choice in choices}
        self._assignment = 0

    def __iter__(self) -> Iterator[WorkerSlot]:
        return iter(self._slots.values())

    def __getitem__(self, name: str) -> WorkerSlot:
        return self._slots[name]

    def slot(self, choice: DevicePart) -> WorkerSlot:
        """Return a new slot for a device."""
        start = partial(self._start_worker, choice, self._messages)
        return WorkerSlot(choice, self._settings, self._policy, start, self._sharing)

    @property
    def devices(self) -> list[KnownDevice]:
        """All devices, whether they take part or not."""
        return [slot.choice.device for slot in self]

    @property
    def whole(self) -> bool:
        """Whether every device still takes part, so that another job is better served by no new crew."""
        return not any(slot.retired for slot in self)

    @property
    def active(self) -> list[WorkerSlot]:
        """The slots that take part, ready or not."""
        return [slot for slot in self if not slot.retired and slot.able]

    @property
    def ready(self) -> list[WorkerSlot]:
        """The slots with a worker that is ready for blocks."""
        return [slot for slot in self if slot.ready]

    def require(self) -> None:
        """Raise DeviceError if no device takes part."""
        if not self.active:
            raise DeviceError("no device is left")

    def alone(self, name: str) -> bool:
        """Whether no other device takes part."""
        return all(slot.name == name for slot in self.active)

    def start(self) -> None:
        """Start a worker for each device; raises DeviceError if that fails."""
        for slot in self:
            slot.start()

    def assign_parts(self, job: Job) -> tuple[Sequence[DevicePart], list[str]]:
        """Return the parts that the devices which are left have in another job, and notes on those left out of it.

        Raises as `choose.several` does, and DeviceError if no device is left.
        """
        left = [slot.choice.device for slot in self if not slot.retired]
        if not left:
            self.require()
        return choose.several(job, cast(list[Device], left), self._settings.self_test, required_specs=())

    def admit(self, devices: Sequence[KnownDevice]) -> None:
        """Let these devices take part, except retired ones, and no others."""
        for slot in self:
            slot.able = slot.choice.device in devices

    def assign(self, job: Job) -> tuple[int, int]:
        """Have all workers drop their blocks and get ready for a job.

        Return the assignment's number and how many pixels a band should have.
        """
        self._assignment += 1
        able = [slot for slot in self if slot.able]
        speeds, saturations = [slot.choice.speed for slot in able], [slot.saturation for slot in able]
        pixels = sizing.shared_band_pixels(job, speeds, saturations, self._settings.block_pixels)
        for slot in self:
            slot.assign(self._assignment, job, self.block_limit(job, pixels))
        return self._assignment, pixels

    def block_limit(self, job: Job, band_pixels: int) -> int:  # noqa: ARG002 - of a few devices none takes all memory
        """Return how many pixels a block of a job may have, given those of its bands."""
        return band_pixels

    def overdue(self, busy: Callable[[WorkerSlot], bool]) -> list[tuple[WorkerSlot, str]]:
        """Return the slots whose worker takes too long, and why. `busy` are those with blocks to compute."""
        reasons = [(slot, slot.overdue(busy(slot))) for slot in self]
        return [(slot, why) for slot, why in reasons if why is not None]

    def next(self, timeout: float) -> tuple[WorkerSlot, WorkerMessage] | None:
        """Return the next message and its slot, or None if none comes within `timeout` seconds."""
        try:
            with timeline.span("wait for the workers", "wait"):
                message = self._messages.get(timeout=timeout)
        except queue.Empty:
            return None
        sender = next((slot for slot in self if slot.worker is message.worker), None)
        return None if sender is None else (sender, message)  # None: from a worker that has been ended

    def fault(self, slot: WorkerSlot, why: str, wrong: bool = False) -> None:  # noqa: ARG002 - who is here may try again
        """End a worker and start another, unless that has failed too often; `wrong` is whether its results were wrong.

        Raises DeviceError if no device is left.
        """
        again = slot.restart()
        line = f"{slot.name}: {why}; {'started again' if again else 'it is retired'}"
        self._note(line)
        if not self.active:
            raise DeviceError(f"no device is left: {line}")

    def _note(self, line: str) -> None:
        """Keep a fault, and show it. It contains a worker's text, which may be long."""
        line = printable(line, LONGEST_LINE)
        self.faults.append(line)
        self._on_message(line)

    def close(self) -> None:
        """End all workers."""
        for slot in self:
            slot.kill()
        for slot in self:
            slot.end()
