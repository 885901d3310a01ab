"""Several devices on one picture, each in a process of its own, and none of them trusted.

A device that dies, hangs, reports an error, or returns what cannot be right costs its blocks in hand: they go to
somebody else, and a fresh process takes its place. One that fails again and again is retired.
"""

import queue
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl import checking
from mandelcl.choose import Choice
from mandelcl.computation import Results, Settings, report_of
from mandelcl.errors import DeviceError
from mandelcl.handle import COMMAND, Event, Handle
from mandelcl.report import LaunchLog, Report
from mandelcl.schedule import Block, block_shape, default_budget
from mandelcl.sharing import ShareOut

_TICK_S = 0.05
_BLOCK_S = 10.0  # a block should not take longer, even where nothing escapes: it is what a fault costs
_MOST_CHECKS = 4
_Words = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long, in seconds, a worker may be silent: while it starts and builds, and while it computes.

    A device is retired after `most_faults` with no block finished in between, or ten times as many in all.
    """

    start: float = 600.0
    launch: float = 20.0
    most_faults: int = 3


@dataclass(slots=True)
class _Seat:
    """A device's place in the crew, whoever sits there: the present worker, what it checks, what went wrong so far."""

    choice: Choice
    worker: Handle | None = None
    checks: dict[Block, "_Check"] = field(default_factory=dict)
    faults: int = 0
    faults_in_a_row: int = 0
    rate: float = 0.0
    saturation: int = 1
    most_pixels: int = 1
    build_s: float = 0.0

    @property
    def name(self) -> str:
        return self.choice.device.label


@dataclass(slots=True)
class _Check:
    """Results that wait for another device to agree on a few of their pixels."""

    seat: _Seat
    block: Block
    results: _Words
    sample: checking.Sample
    run: Block


class Crew:
    """A job on several devices, one worker process each; it stands in for `computation.Computation`.

    The choices are of one job, settled alike; of the settings, budget, shortcuts and the size of blocks count.
    `command` starts a worker; tests give one that misbehaves. `faults` are told to `notice`, a line each. Raises
    DeviceError where no device is left.
    """

    def __init__(
        self,
        choices: Sequence[Choice],
        settings: Settings | None = None,
        *,
        patience: Patience | None = None,
        notice: Callable[[str], None] | None = None,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self.started = time.perf_counter()
        self.job = choices[0].job
        self.warnings = choices[0].warnings
        self.log = LaunchLog()
        self.faults: list[str] = []
        self.patience = patience or Patience()
        self._settings = settings or Settings()
        self._notice = notice or (lambda _line: None)
        self._command = command
        self._events: queue.Queue[Event] = queue.Queue()
        self._seats = [_Seat(choice) for choice in choices]
        self._share: ShareOut | None = None
        self._unassigned: list[_Check] = []
        self._chance = random.Random(0)
        try:
            for seat in self._seats:
                self._start(seat)
            while not any(seat.rate for seat in self._seats):
                self._turn()
            seats = [seat for seat in self._seats if seat.rate]
            self.rate = sum(seat.rate for seat in seats)
            view, most = self.job.view, max(seat.most_pixels for seat in seats)
            self.block_width, self.block_height = block_shape(view.width, view.height, most)
        except BaseException:
            self.close()
            raise

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.started

    @property
    def name(self) -> str:
        """The devices' names."""
        return ", ".join(seat.choice.device.name for seat in self._seats)

    def assemble(self) -> None:
        """Wait until every worker is ready, or its device retired; `run` begins with those that are."""
        while any(seat.worker is not None and not seat.worker.ready for seat in self._seats):
            self._turn()

    def run(self, bands: Iterable[Block], room: Callable[[bool], bool] = lambda _wait: True) -> Results:
        """Yield the blocks of some bands with their results (planes × height × width), as they finish."""
        share = self._share = ShareOut(bands, self.job.view.pixels, room)
        self.log.begin()
        try:
            for seat in self._seats:
                if seat.worker is not None and seat.worker.ready:
                    self._join(seat)
            while not share.complete:
                for seat in self._seats:
                    self._feed(seat)
                finished = self._unchallenged() or self._turn()
                if finished is not None:
                    yield finished
        finally:
            self.close()

    def close(self) -> None:
        """End all workers."""
        for seat in self._seats:
            if seat.worker is not None:
                seat.worker.end()
                seat.worker = None

    def report(self, iterations: int, counts_sha256: str, stages: dict[str, float]) -> Report:
        """Return the report of what has been done, by now; device, platform and driver are lists."""
        devices = [seat.choice.device for seat in self._seats]
        build_s = sum(seat.build_s for seat in self._seats)
        return report_of(
            self.job, devices, self.log, build_s, self.seconds, iterations, counts_sha256, stages, self.faults
        )

    # Workers come and go.

    def _start(self, seat: _Seat) -> None:
        device = seat.choice.device
        order = {
            "job": self.job.to_json(),
            "device": {"spec": device.spec, "name": device.name, "platform": device.platform},
            "variant": asdict(seat.choice.variant),
            "loop_limit": seat.choice.loop_limit,
            "budget": self._settings.budget or default_budget(device.watchdog),
            "shortcuts": self._settings.shortcuts,
        }
        seat.worker = Handle(order, self._events, self._command)

    def _join(self, seat: _Seat) -> None:
        if self._share is not None:
            self._share.join(seat.name, seat.rate, 2 * seat.saturation, seat.most_pixels)

    def _fault(self, seat: _Seat, why: str) -> None:
        """Put an end to a worker, take its blocks back, and start another, unless that has been tried too often."""
        if seat.worker is None:
            return
        seat.worker.end()
        seat.worker = None
        if self._share is not None:
            self._share.leave(seat.name)
        self._unassigned = [check for check in self._unassigned if check.seat is not seat]
        for other in self._seats:
            other.checks = {run: check for run, check in other.checks.items() if check.seat is not seat}
        self._unassigned += seat.checks.values()
        seat.checks = {}
        seat.faults += 1
        seat.faults_in_a_row += 1
        most = self.patience.most_faults
        retired = seat.faults_in_a_row >= most or seat.faults >= 10 * most
        line = f"{seat.name}: {why}; {'it is retired' if retired else 'started again'}"
        self.faults.append(line)
        self._notice(line)
        if not retired:
            self._start(seat)
        elif all(other.worker is None for other in self._seats):
            raise DeviceError(f"no device is left: {line}")

    def _overdue(self) -> None:
        now = time.monotonic()
        for seat in self._seats:
            worker = seat.worker
            if worker is None:
                continue
            if not worker.ready and now - worker.heard > self.patience.start:
                self._fault(seat, f"not ready after {self.patience.start:g} s")
            elif worker.ready and self._busy(seat) and now - worker.heard > self.patience.launch:
                self._fault(seat, f"silent for {self.patience.launch:g} s")

    def _busy(self, seat: _Seat) -> bool:
        return bool(seat.checks) or (self._share is not None and self._share.has_blocks(seat.name))

    # Blocks go out, results come in.

    def _feed(self, seat: _Seat) -> None:
        """Give a worker as much as it can hold: checks of others' results first."""
        worker, share = seat.worker, self._share
        if worker is None or not worker.ready or share is None:
            return
        for check in [
            check for check in self._unassigned if check.seat is not seat and not share.owns(seat.name, check.run)
        ]:
            self._unassigned.remove(check)
            seat.checks[check.run] = check
            self._give(seat, worker, check.run)
        while (block := share.take(seat.name)) is not None:
            self._give(seat, worker, block)

    def _give(self, seat: _Seat, worker: Handle, block: Block) -> None:
        if not self._busy(seat):
            worker.heard = time.monotonic()  # it had no reason to speak before
        worker.give(block)

    def _turn(self) -> tuple[Block, _Words] | None:
        """Wait for what happens next; return a block that is finished by it."""
        self.log.check()
        self._overdue()
        try:
            event = self._events.get(timeout=_TICK_S)
        except queue.Empty:
            return None
        seat = next((seat for seat in self._seats if seat.worker is event.worker), None)
        if seat is None:
            return None  # one that has been put an end to already
        event.worker.heard = time.monotonic()
        said = event.head["say"] if event.head else "ended"
        if said == "ready" and event.head:
            self._ready(seat, event.worker, event.head)
        elif said == "done" and event.head:
            return self._done(seat, event)
        elif said == "failed" and event.head:
            self._fault(seat, str(event.head["why"]))
        elif said == "ended":
            self._fault(seat, event.worker.last_words())
        return None

    def _ready(self, seat: _Seat, worker: Handle, head: dict[str, Any]) -> None:
        worker.ready = True
        seat.rate, seat.saturation, seat.build_s = float(head["rate"]), int(head["saturation"]), float(head["build_s"])
        in_time = int(seat.rate * _BLOCK_S / self.job.iterations)
        seat.most_pixels = max(1, min(int(head["block_pixels"]), max(in_time, seat.saturation)))
        self._join(seat)

    def _done(self, seat: _Seat, event: Event) -> tuple[Block, _Words] | None:
        assert event.head is not None
        assert self._share is not None
        block = Block(*event.head["block"])
        shape = (self.job.planes, block.height, block.width)
        if len(event.payload) != 4 * int(np.prod(shape)):
            self._fault(seat, "returned a block of another size")
            return None
        results = np.frombuffer(event.payload, "<u4").astype(np.uint32, copy=False).reshape(shape)
        for seconds in event.head["launches"]:
            self.log.add(seconds)
        self.log.add_copy(event.head["copy_s"])
        if block in seat.checks:
            return self._checked(seat, seat.checks.pop(block), results)
        if not self._share.owns(seat.name, block):
            self._fault(seat, "returned a block that it was not given")
            return None
        return self._look_at(seat, block, results)

    def _look_at(self, seat: _Seat, block: Block, results: _Words) -> tuple[Block, _Words] | None:
        """Accept results, or have them checked by somebody else, or find that they are wrong."""
        why = checking.implausible(results, self.job.iterations)
        if why:
            self._fault(seat, why)
            return None
        drawn = checking.samples(block, results, self._chance)
        disagrees = checking.host_disagrees(self.job, drawn[0])
        if disagrees:
            self._fault(seat, f"returned a wrong count at column {drawn[0].column}, row {drawn[0].row}")
            return None
        waiting = len(self._unassigned) + sum(len(other.checks) for other in self._seats)
        alone = all(other is seat or other.worker is None or not other.worker.ready for other in self._seats)
        if disagrees is None and not alone and waiting < _MOST_CHECKS:
            check = _Check(seat, block, results, drawn[0], checking.neighbours(block, drawn[0]))
            if all(check.run != other.run for other in self._pending()):
                assert self._share is not None
                self._share.received(seat.name, block)
                self._unassigned.append(check)
                return None
        return self._accept(seat, block, results)

    def _accept(self, seat: _Seat, block: Block, results: _Words) -> tuple[Block, _Words] | None:
        assert self._share is not None
        seat.faults_in_a_row = 0
        self.log.end()
        return (block, results) if self._share.finish(seat.name, block) else None

    def _checked(self, seat: _Seat, check: _Check, results: _Words) -> tuple[Block, _Words] | None:
        """Compare what another device says of a few pixels with what is waiting to be accepted."""
        expected = checking.part(check.results, check.run, check.block)
        if np.array_equal(results[0], expected[0]):
            return self._accept(check.seat, check.block, check.results)
        place = f"at column {check.sample.column}, row {check.sample.row}"
        wrong = checking.verdict(self.job, check.sample)
        if wrong is None:
            # Nobody can tell: both begin anew. What was a slip does not come again; what was not ends in retirement.
            self._fault(check.seat, f"and {seat.name} disagree {place}")
            self._fault(seat, f"and {check.seat.name} disagree {place}")
            return None
        self._fault(check.seat if wrong else seat, f"returned a wrong count {place}")
        return None if wrong else self._accept(check.seat, check.block, check.results)

    def _unchallenged(self) -> tuple[Block, _Words] | None:
        """Accept results that wait for a check by devices that are all retired."""
        for check in self._unassigned:
            if all(other is check.seat or other.worker is None for other in self._seats):
                self._unassigned.remove(check)
                return self._accept(check.seat, check.block, check.results)
        return None

    def _pending(self) -> list[_Check]:
        return [*self._unassigned, *(check for seat in self._seats for check in seat.checks.values())]
