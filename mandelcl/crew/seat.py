"""A device's place in a crew: its worker, how fast that is, and what went wrong so far."""

import math
import queue
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from mandelcl.algorithms.schedule import default_budget
from mandelcl.block import Block
from mandelcl.computing.settings import Settings
from mandelcl.crew.messages import Ready, block_head
from mandelcl.crew.sharing import DEPTH
from mandelcl.engine.choose import Choice
from mandelcl.errors import DeviceError
from mandelcl.job import Job
from mandelcl.workers.channel import BUILDING, IDLE, STARTING
from mandelcl.workers.process import Worker, WorkerFactory, WorkerMessage
from mandelcl.workers.wire import WireError

# How long a block takes where nothing escapes: not longer, since others wait for it; where possible not shorter, since
# handing it out and receiving it takes the host a millisecond. One that fills the device so many times over may take
# longer: halves of it take as long, each, once few orbits are left.
_BLOCK_S = 1.0
_LEAST_BLOCK_S = 0.02
_FILLED, _LEAST_FILLED = 32, 2
# A band is what blocks are cut from and what the store keeps: an interrupt loses those that are not finished. So it is
# what all devices do in some seconds, unless that would not even fill them.
_BAND_S = 10.0
_BAND_FILLED = 4
_BAND_BYTES = 16 << 20
_BUDGETS = 5.0  # a launch may take so many times what it was planned for, where that is more than Patience.launch


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, in seconds, a worker may start or build, and how long a launch of `Settings.budget` or less may last.

    A worker that is silent may be so for as long. A device is retired after `most_faults` with no block finished in
    between, or ten times as many in all.
    """

    start: float = 600.0
    launch: float = 20.0
    most_faults: int = 3


class Seat:
    """A device that takes part, with a worker or, once it is retired, none.

    Once a worker was ready there are its `rate` in iterations a second, and the pixels that a block should have, at
    least and at most. A device that cannot do the job is not `able`: its worker waits for another job.
    """

    def __init__(self, choice: Choice, settings: Settings, patience: Patience, start_worker: WorkerFactory) -> None:
        self.choice = choice
        self.name = choice.device.label
        self.worker: Worker | None = None
        self.able = True
        self.rate = 0.0
        self.least_pixels = self.most_pixels = self._band_pixels = 1
        self.build_s = 0.0
        self._settings = settings
        self._patience = patience
        self._start_worker = start_worker
        self._budget = settings.budget or default_budget(choice.device.watchdog)
        self._faults = self._faults_in_a_row = 0
        self._wanted = self._told = 0  # assignments by number: the newest, and the one that the worker knows of
        self._told_job: Job | None = None
        self._answered = False  # whether the worker is ready for the one that it knows of
        self._heard_since = self._given = -math.inf

    @property
    def retired(self) -> bool:
        """Whether it takes part no more."""
        return self.worker is None

    @property
    def ready(self) -> bool:
        """Whether there is a worker that is ready for blocks of the newest assignment."""
        return self.worker is not None and self.able and self._answered and self._told == self._wanted

    @property
    def saturation(self) -> int:
        """Orbits below which a launch takes as long as with that many."""
        return self.choice.variant.saturation(self.choice.device.compute_units)

    def start(self, messages: "queue.Queue[WorkerMessage]") -> None:
        """Start a worker, which speaks into `messages`; raises DeviceError where that cannot be done."""
        choice, device = self.choice, self.choice.device
        self.worker = self._start_worker(messages, _BAND_BYTES, DEPTH)
        self._told, self._told_job, self._answered = self._wanted, choice.job, False
        self.worker.send(
            {
                "do": "start",
                "assignment": self._told,
                "job": choice.job.to_json(),
                "device": {"spec": device.spec, "name": device.name, "platform": device.platform, "type": device.type},
                "variant": asdict(choice.variant),
                "loop_limit": choice.loop_limit,
                "budget": self._budget,
                "shortcuts": self._settings.shortcuts,
            }
        )

    def assign(self, number: int, job: Job, band_pixels: int) -> None:
        """Have the worker drop what it has and be ready for blocks of a job, of bands of at most so many pixels.

        It is told when it is ready for the last one, so that what it has not read yet never fills the pipe.
        """
        self._wanted, self._band_pixels = number, band_pixels
        self.choice = replace(self.choice, job=job)
        if self.worker is not None and self._answered:
            self._tell(self.worker)

    def _tell(self, worker: Worker) -> None:
        job = self.choice.job
        text = None if job == self._told_job else job.to_json()
        self._told, self._told_job, self._answered, self._given = self._wanted, job, False, time.monotonic()
        worker.send({"do": "job", "assignment": self._told, "job": text})

    def make_ready(self, said: Ready) -> bool:
        """Take note of what the worker says of itself; return whether it is ready for the newest assignment.

        Raises WireError where that makes no sense.
        """
        assert self.worker is not None
        if said.assignment != self._told or self._answered:
            raise WireError("ready for what it was not given")
        self._answered = True
        self.worker.reclaim()
        self.rate, self.build_s = said.rate, said.build_s
        if self._told != self._wanted:
            self._tell(self.worker)
            return False
        a_second = self.rate / self.choice.job.iterations
        most = max(int(a_second * _BLOCK_S), _FILLED * self.saturation)
        self.most_pixels = max(1, min(most, said.block_pixels, self._band_pixels))
        self.least_pixels = max(int(a_second * _LEAST_BLOCK_S), _LEAST_FILLED * self.saturation)
        return self.able

    def give(self, block: Block, urgent: bool = False, idle: bool = False) -> None:
        """Give the worker a block; it was `idle` where it had none."""
        if self.worker is None or not self._answered:
            raise RuntimeError("a worker gets blocks once it is ready")
        if idle:
            self._given = time.monotonic()
        self.worker.send(block_head(block, urgent), lend=not urgent)

    def listened_from(self, now: float) -> None:
        """Count no silence from before: nobody has listened, since this process itself stood still."""
        self._heard_since = now

    def overdue(self, busy: bool) -> str | None:
        """Return why the worker takes too long; None where it does not, or has nothing to do."""
        worker = self.worker
        if worker is None or (self._answered and not busy):
            return None
        now, said = time.monotonic(), worker.activity
        starts = said.doing in (STARTING, BUILDING)
        most = self._patience.start if starts else max(self._patience.launch, _BUDGETS * self._budget)
        if now - max(worker.heard, self._heard_since) > most:
            return f"silent for {most:g} s"
        seconds = min(said.seconds, now - self._given) if said.doing == IDLE else said.seconds
        if seconds <= most:
            return None
        if starts:
            return f"not ready after {most:g} s"
        return f"idle for {most:g} s with work in hand" if said.doing == IDLE else f"in one launch for {most:g} s"

    def succeeded(self) -> None:
        """Take note of a good block."""
        self._faults_in_a_row = 0

    def failed(self) -> bool:
        """Take note of a fault, and put an end to the worker; return whether another may be started."""
        self.end()
        self._faults += 1
        self._faults_in_a_row += 1
        most = self._patience.most_faults
        return self._faults_in_a_row < most and self._faults < 10 * most

    def restart(self, messages: "queue.Queue[WorkerMessage]") -> bool:
        """Start another worker; return whether that went well, which it does unless the system refuses it."""
        try:
            self.start(messages)
        except DeviceError:
            return False
        return True

    def end(self) -> None:
        """Put an end to the worker."""
        if self.worker is not None:
            self.worker.end()
            self.worker = None


def band_pixels(seats: Sequence[Seat], job: Job, most: int | None) -> int:
    """Return how many pixels a band of a job has that some devices are to share; at most `most`.

    It goes by the self-test's speeds, not by those of whoever is ready first: bands that suit a slow device would cut a
    fast one's blocks to pieces.
    """
    speeds = [seat.choice.speed for seat in seats]
    by_time = int(sum(speeds) * _BAND_S / job.iterations) if all(speeds) else job.view.pixels
    filled = _BAND_FILLED * max(seat.saturation for seat in seats)
    pixels = min(max(by_time, filled), _BAND_BYTES // (4 * job.words))
    return min(pixels, most or pixels)
