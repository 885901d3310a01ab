"""A device's place in a crew, whoever sits there: its worker, how fast it is, what went wrong so far."""

import queue
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mandelcl.algorithms.schedule import default_budget
from mandelcl.block import Block
from mandelcl.computing.settings import Settings
from mandelcl.crew.handle import COMMAND, Event, Handle
from mandelcl.engine.choose import Choice

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


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, in seconds, a worker may be silent: while it starts and builds, and while it computes.

    A device is retired after `most_faults` with no block finished in between, or ten times as many in all.
    """

    start: float = 600.0
    launch: float = 20.0
    most_faults: int = 3


class Seat:
    """A device that takes part, with a worker process or, once it is retired, none.

    Once a worker was ready there are its `rate` in iterations a second, and the pixels that a block should have, at
    least and at most.
    """

    def __init__(self, choice: Choice, settings: Settings, patience: Patience) -> None:
        self.choice = choice
        self.name = choice.device.label
        self.worker: Handle | None = None
        self.rate = 0.0
        self.least_pixels = self.most_pixels = self._band_pixels = 1
        self.build_s = 0.0
        self._settings = settings
        self._patience = patience
        self._faults = self._faults_in_a_row = 0

    @property
    def retired(self) -> bool:
        """Whether it takes part no more."""
        return self.worker is None

    @property
    def ready(self) -> Handle | None:
        """The worker, where it is ready for blocks."""
        return self.worker if self.worker is not None and self.worker.ready else None

    @property
    def saturation(self) -> int:
        """Orbits below which a launch takes as long as with that many."""
        return self.choice.variant.saturation(self.choice.device.compute_units)

    def start(self, events: "queue.Queue[Event]", band_pixels: int, command: tuple[str, ...] = COMMAND) -> None:
        """Start a worker, whose messages come to `events`, for blocks of bands of so many pixels at most."""
        choice, device = self.choice, self.choice.device
        order = {
            "job": choice.job.to_json(),
            "device": {"spec": device.spec, "name": device.name, "platform": device.platform, "type": device.type},
            "variant": asdict(choice.variant),
            "loop_limit": choice.loop_limit,
            "budget": self._settings.budget or default_budget(device.watchdog),
            "shortcuts": self._settings.shortcuts,
        }
        self._band_pixels = band_pixels
        self.worker = Handle(order, events, 4 * choice.job.words * band_pixels, command)

    def make_ready(self, head: dict[str, Any]) -> None:
        """Take note of what the worker says when it is ready."""
        assert self.worker is not None
        self.worker.ready = True
        self.rate, self.build_s = float(head["rate"]), float(head["build_s"])
        a_second = self.rate / self.choice.job.iterations
        most = max(int(a_second * _BLOCK_S), _FILLED * self.saturation)
        self.most_pixels = max(1, min(most, int(head["block_pixels"]), self._band_pixels))
        self.least_pixels = max(int(a_second * _LEAST_BLOCK_S), _LEAST_FILLED * self.saturation)

    def give(self, block: Block, urgent: bool = False, idle: bool = False) -> None:
        """Give the worker a block; it was `idle` where it had none, and so no reason to speak."""
        assert self.worker is not None
        if idle:
            self.worker.heard = time.monotonic()
        self.worker.give(block, urgent)

    def overdue(self, busy: bool) -> str | None:
        """Return why the worker has been silent for too long; None where it has not, or has nothing to say."""
        if self.worker is None:
            return None
        silence = time.monotonic() - self.worker.heard
        if not self.worker.ready and silence > self._patience.start:
            return f"not ready after {self._patience.start:g} s"
        if self.worker.ready and busy and silence > self._patience.launch:
            return f"silent for {self._patience.launch:g} s"
        return None

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

    def end(self) -> None:
        """Put an end to the worker."""
        if self.worker is not None:
            self.worker.end()
            self.worker = None


def band_pixels(seats: Sequence[Seat], most: int | None) -> int:
    """Return how many pixels a band has that some devices are to share; at most `most`.

    It goes by the self-test's speeds, not by those of whoever is ready first: bands that suit a slow device would cut a
    fast one's blocks to pieces.
    """
    job = seats[0].choice.job
    speeds = [seat.choice.speed for seat in seats]
    by_time = int(sum(speeds) * _BAND_S / job.iterations) if all(speeds) else job.view.pixels
    filled = _BAND_FILLED * max(seat.saturation for seat in seats)
    pixels = min(max(by_time, filled), _BAND_BYTES // (4 * job.words))
    return min(pixels, most or pixels)
