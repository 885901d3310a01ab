"""A device of a crew: its worker, the worker's speed, and the faults so far."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Protocol

from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.core.report import KnownDevice
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop import sizing
from mandelcl.engine.loop.schedule import default_budget
from mandelcl.engine.variant import Variant
from mandelcl.rendering.crew.messages import Ready, block_head, indices_of
from mandelcl.workers.process import Worker
from mandelcl.workers.supervised import RestartPolicy, SupervisedWorker
from mandelcl.workers.wire import WireError


class DevicePart(Protocol):
    """A device's part in a resolved job, as `choose` decides it."""

    @property
    def device(self) -> KnownDevice:
        """The device."""

    @property
    def job(self) -> Job:
        """The job, resolved for all."""

    @property
    def variant(self) -> Variant:
        """How kernels are shaped for the device."""

    @property
    def loop_limit(self) -> int:
        """After how many iterations the driver stops a loop; 0 for none."""

    @property
    def speed(self) -> float:
        """About how many iterations a second it makes; 0 if it was not tested."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """Lines for the user."""


_BUDGETS = 5.0  # a launch may take this many times its budget, if that is more than the policy's


class WorkerSlot(SupervisedWorker):
    """A device that takes part, with its worker, or none once it is retired.

    A finished block ends a row of faults. After the worker's first `ready`, `rate` is its iterations a second, and
    `least_pixels` and `most_pixels` bound its blocks. A device that cannot do the current job is not `able`: its
    worker waits for another one.
    """

    def __init__(
        self,
        choice: DevicePart,
        settings: Settings,
        policy: RestartPolicy,
        start_worker: Callable[[], Worker],
        sharing: sizing.Sharing = sizing.HERE,
    ) -> None:
        super().__init__(start_worker, policy)
        self.choice = choice
        self.job = choice.job
        self.name = choice.device.label
        self.able = True
        self.good = False  # whether any block of it was
        self.rate = 0.0
        self.least_pixels = self.most_pixels = self._band_pixels = 1
        self.build_s = 0.0
        self._settings = settings
        self._sharing = sharing
        self._paced = self._paced_least = 1, 1  # between how many pixels `most_pixels` and `least_pixels` may be
        self._budget = settings.budget or default_budget(choice.device.watchdog, choice.device.type)
        self._newest = self._sent = 0  # assignments by number: the newest, and the one that the worker knows of
        self._sent_job: Job | None = None
        self._answered = False  # whether the worker is ready for the one that it knows of

    @property
    def retired(self) -> bool:
        """Whether the device has stopped taking part."""
        return self.worker is None

    @property
    def ready(self) -> bool:
        """Whether the worker is ready for blocks of the newest assignment."""
        return self.worker is not None and self.able and self._answered and self._sent == self._newest

    @property
    def saturation(self) -> int:
        """Orbits below which a launch takes as long as with that many."""
        return self.choice.variant.saturation(self.choice.device.compute_units)

    def start(self) -> Worker:
        """Start a worker for the newest assignment; raises DeviceError if that fails."""
        choice, device = self.choice, self.choice.device
        worker = super().start()
        self._sent, self._sent_job, self._answered = self._newest, self.job, False
        worker.send(
            {
                "do": "start",
                "assignment": self._sent,
                "job": self.job.to_json(),
                "device": {"spec": device.spec, "name": device.name, "platform": device.platform, "type": device.type},
                "variant": asdict(choice.variant),
                "loop_limit": choice.loop_limit,
                "budget": self._budget,
                "shortcuts": self._settings.shortcuts,
            }
        )
        return worker

    def assign(self, number: int, job: Job, band_pixels: int) -> None:
        """Have the worker drop its blocks and get ready for a job, in bands of at most this many pixels.

        The message is sent once it is ready for the previous assignment, so that unread messages never fill the pipe.
        """
        self._newest, self._band_pixels = number, band_pixels
        self.job = job
        if self.worker is not None and self._answered:
            self._assign(self.worker)

    def _assign(self, worker: Worker) -> None:
        job = self.job
        text = None if job == self._sent_job else job.to_json()
        self._sent, self._sent_job, self._answered = self._newest, job, False
        self.given_work()
        worker.send({"do": "job", "assignment": self._sent, "job": text})

    def make_ready(self, message: Ready) -> bool:
        """Handle the worker's `ready`; return whether it is ready for the newest assignment.

        Raises WireError if it makes no sense.
        """
        assert self.worker is not None
        if message.assignment != self._sent or self._answered:
            raise WireError("ready for an assignment that it was not given")
        self._answered = True
        self.worker.reclaim()
        self.rate, self.build_s = message.rate, message.build_s
        if self._sent != self._newest:
            self._assign(self.worker)
            return False
        most = min(message.block_pixels, self._band_pixels)
        bounds = sizing.shared_block_pixels(self.job, self.rate, self.saturation, most, self._sharing)
        self.least_pixels, self.most_pixels = bounds
        self._paced = bounds[1], max(bounds[1], min(most, self._sharing.stretch * bounds[1]))
        self._paced_least = bounds[0], max(bounds[0], min(most, self._sharing.least_stretch * bounds[0]))
        return self.able

    def took(self, pixels: int, seconds: float) -> None:
        """Take note of how long a block took: the next ones may be larger, or smaller again."""
        paced, wanted = sizing.paced_block_pixels, self._sharing
        self.most_pixels = paced(self._paced, self.most_pixels, pixels, seconds, wanted.most)
        self.least_pixels = paced(self._paced_least, self.least_pixels, pixels, seconds, wanted.least)

    def give(self, block: Block, urgent: bool = False, idle: bool = False, pixels: PixelList | None = None) -> None:
        """Give the worker a block, or a part of a list of pixels; it was `idle` where it had none."""
        if self.worker is None or not self._answered:
            raise RuntimeError("a worker gets blocks once it is ready")
        if idle:
            self.given_work()
        self.worker.send(block_head(block, urgent, pixels), indices_of(block, pixels), with_buffer=not urgent)

    def overdue(self, busy: bool = True, launch: float = 0.0) -> str | None:
        """Return which timeout the worker has exceeded; None if it has not, or is ready and not `busy`."""
        why = super().overdue(launch=max(launch, _BUDGETS * self._budget))
        return why if busy or not self._answered else None

    def succeeded(self) -> None:
        """Note a good block."""
        super().succeeded()
        self.good = True
