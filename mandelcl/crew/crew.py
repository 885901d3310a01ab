"""Several devices on one picture, each in a process of its own, and none of them trusted.

A device that dies, hangs, reports an error, or returns what cannot be right costs its blocks in hand: they go to
somebody else, and a fresh process takes its place. One that fails again and again is retired.
"""

import queue
import random
import time
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from mandelcl.algorithms.sizing import block_shape
from mandelcl.block import Block
from mandelcl.cancelling import NEVER, Token, stop_if
from mandelcl.computing.settings import Settings
from mandelcl.computing.work import Results, Room, boundless
from mandelcl.crew import checking
from mandelcl.crew.crosscheck import CrossChecks
from mandelcl.crew.handle import COMMAND, Event
from mandelcl.crew.seat import Patience, Seat, band_pixels
from mandelcl.crew.sharing import ShareOut
from mandelcl.engine.choose import Choice
from mandelcl.errors import DeviceError
from mandelcl.report import LaunchLog, Report, report_of
from mandelcl.view import View

_TICK_S = 0.05
_GRACE_S, _GRACE_SHARE = 0.25, 0.02  # how long the end waits for a check: so long, or this fraction of the whole

_Words = npt.NDArray[np.uint32]
_Finished = tuple[Block, _Words]


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
        self._notice = notice or (lambda _line: None)
        self._command = command
        self._events: queue.Queue[Event] = queue.Queue()
        seats = [Seat(choice, settings or Settings(), patience or Patience()) for choice in choices]
        self._seats = {seat.name: seat for seat in seats}
        self._band_pixels = band_pixels(seats, settings.block_pixels if settings else None)
        view = self.job.view
        self.block_width, self.band_rows = block_shape(view.width, view.height, self._band_pixels)
        self._cancel: Token = NEVER
        self._share: ShareOut | None = None
        self._checks = CrossChecks(self.job)
        self._chance = random.Random(0)
        try:
            for seat in seats:
                seat.start(self._events, self._band_pixels, command)
            while not any(seat.ready for seat in seats):
                self._turn()
            self.rate = sum(seat.rate for seat in seats)
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
        return ", ".join(seat.choice.device.name for seat in self._seats.values())

    def assemble(self) -> None:
        """Wait until every worker is ready, or its device retired; `run` begins with those that are."""
        while any(not seat.retired and not seat.ready for seat in self._seats.values()):
            self._turn()

    def run(self, bands: Iterable[Block], room: Room = boundless, *, cancel: Token = NEVER) -> Results:
        """Yield the blocks of some bands with their results (planes × height × width), as they finish."""
        self._cancel = cancel
        share = self._share = ShareOut(bands, self.job.view.pixels, room)
        self.log.begin()
        try:
            for seat in self._seats.values():
                if seat.ready:
                    self._join(seat)
            while not share.complete:
                for seat in self._seats.values():
                    if seat.ready:
                        self._feed(seat, share)
                finished = self._unchecked(share) or self._turn()
                if finished is not None:
                    yield finished
        finally:
            self.close()

    def reset(self, view: View) -> None:
        """Not yet."""
        raise NotImplementedError

    def close(self) -> None:
        """End all workers."""
        for seat in self._seats.values():
            seat.end()

    def report(self, iterations: int, counts_sha256: str, stages: dict[str, float]) -> Report:
        """Return the report of what has been done, by now; device, platform and driver are lists."""
        devices = [seat.choice.device for seat in self._seats.values()]
        build_s = sum(seat.build_s for seat in self._seats.values())
        return report_of(
            self.job, devices, self.log, build_s, self.seconds, iterations, counts_sha256, stages, self.faults
        )

    # Workers come and go.

    def _join(self, seat: Seat) -> None:
        if self._share is not None:
            self._share.join(seat.name, seat.rate, seat.least_pixels, seat.most_pixels)

    def _fault(self, seat: Seat, why: str) -> None:
        """Put an end to a worker, take its blocks back, and start another, unless that has been tried too often."""
        if seat.retired:
            return
        again = seat.failed()
        if self._share is not None:
            self._share.leave(seat.name)
        self._checks.leave(seat.name)
        line = f"{seat.name}: {why}; {'started again' if again else 'it is retired'}"
        self.faults.append(line)
        self._notice(line)
        if again:
            seat.start(self._events, self._band_pixels, self._command)
        elif all(other.retired for other in self._seats.values()):
            raise DeviceError(f"no device is left: {line}")

    def _busy(self, seat: Seat) -> bool:
        return self._checks.busy(seat.name) or (self._share is not None and self._share.has_blocks(seat.name))

    # Blocks go out, results come in.

    def _feed(self, seat: Seat, share: ShareOut) -> None:
        """Give a worker that is ready as much as it can hold: checks of others' results first."""
        idle = not self._busy(seat)
        while (run := self._checks.take(seat.name, lambda block: share.owns(seat.name, block))) is not None:
            seat.give(run, urgent=True, idle=idle)
        while (block := share.take(seat.name)) is not None:
            seat.give(block, idle=idle)

    def _turn(self) -> _Finished | None:
        """Wait for what happens next; return a block that is finished by it."""
        stop_if(self._cancel)
        for seat in self._seats.values():
            why = seat.overdue(self._busy(seat))
            if why is not None:
                self._fault(seat, why)
        try:
            event = self._events.get(timeout=_TICK_S)
        except queue.Empty:
            return None
        sender = next((seat for seat in self._seats.values() if seat.worker is event.worker), None)
        if sender is None:
            return None  # one that has been put an end to already
        event.worker.heard = time.monotonic()
        said = event.head["say"] if event.head else "ended"
        if said == "ready" and event.head:
            sender.make_ready(event.head)
            self._join(sender)
        elif said == "done" and event.head:
            return self._done(sender, event)
        elif said == "failed" and event.head:
            self._fault(sender, str(event.head["why"]))
        elif said == "ended":
            self._fault(sender, event.worker.last_words())
        return None

    def _done(self, seat: Seat, event: Event) -> _Finished | None:
        assert event.head is not None
        assert self._share is not None
        block = Block(*event.head["block"])
        shape = (self.job.words, block.height, block.width)
        if len(event.payload) != 4 * int(np.prod(shape)):
            self._fault(seat, "returned a block of another size")
            return None
        results = np.frombuffer(event.payload, "<u4").astype(np.uint32, copy=False).reshape(shape)
        for seconds in event.head["launches"]:
            self.log.add(seconds)
        self.log.add_copy(event.head["copy_s"])
        verdict = self._checks.answer(seat.name, block, results)
        if verdict is not None:
            for name, why in verdict.faults:
                self._fault(self._seats[name], why)
            check = verdict.check
            return self._accept(check.owner, check.block, check.results) if verdict.accepted else None
        if not self._share.owns(seat.name, block):
            self._fault(seat, "returned a block that it was not given")
            return None
        return self._look_at(seat, block, results)

    def _look_at(self, seat: Seat, block: Block, results: _Words) -> _Finished | None:
        """Accept results, or have them checked by somebody else, or find that they are wrong."""
        assert self._share is not None
        why = checking.implausible(results, self.job.iterations)
        if why:
            self._fault(seat, why)
            return None
        sample = checking.samples(block, results, self._chance)[0]
        disagrees = checking.host_disagrees(self.job, sample)
        if disagrees:
            self._fault(seat, f"returned a wrong count at column {sample.column}, row {sample.row}")
            return None
        unsure = disagrees is None and not self._alone(seat.name)
        if unsure and self._checks.add(seat.name, block, results, sample):
            self._share.received(seat.name, block)
            return None
        return self._accept(seat.name, block, results)

    def _accept(self, name: str, block: Block, results: _Words) -> _Finished | None:
        assert self._share is not None
        self._seats[name].succeeded()
        self.log.end()
        return (block, results) if self._share.finish(name, block) else None

    def _unchecked(self, share: ShareOut) -> _Finished | None:
        """Accept results that nobody can check any more, or that alone keep the picture from being finished."""
        now = time.perf_counter()
        last = now - max(_GRACE_S, _GRACE_SHARE * (now - self.log.began))
        late = share.awaits_confirmation
        check = self._checks.settle(lambda check: self._alone(check.owner) or (late and check.since < last))
        return None if check is None else self._accept(check.owner, check.block, check.results)

    def _alone(self, name: str) -> bool:
        """Whether every other device is retired."""
        return all(seat.retired for seat in self._seats.values() if seat.name != name)
