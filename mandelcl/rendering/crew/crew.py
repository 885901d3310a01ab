"""A crew: several devices on one picture, each in its own process, and none of them trusted.

When a device dies, hangs, reports an error, or returns results that cannot be right, its blocks go to another device
and a new process takes its place. A device that fails repeatedly is retired.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.base.machine import new
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.core.report import KnownDevice, LateText, LaunchLog, Report, report_of
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.work import Finished, Place, Results, Room, anywhere, boundless
from mandelcl.engine.device_output import Array, MakeOutput
from mandelcl.engine.loop.sizing import block_shape
from mandelcl.rendering.crew.crosscheck import ComputedBlock
from mandelcl.rendering.crew.judging import Judge, manages, repeats_of
from mandelcl.rendering.crew.messages import Done, Ready, parse
from mandelcl.rendering.crew.sharing import BlockDispatcher
from mandelcl.rendering.crew.worker_pool import StartWorker, WorkerPool, start_process
from mandelcl.rendering.crew.worker_slot import DevicePart, WorkerSlot
from mandelcl.workers.supervised import RestartPolicy
from mandelcl.workers.wire import WireError

_TICK_S = 0.05


class Crew:
    """A job on several devices, one worker each (a `Work`).

    The choices are for one job, resolved alike. Of the settings, budget, shortcuts, self-test and the size of blocks
    are used. `start_worker` starts workers, by default in processes on this machine; a `pool` of its own may know
    others. With `repeats`, one of this many rows of each worker is computed by another, too, and where a worker's
    results are wrong, all that it has delivered is computed again.
    Each fault is a line for `on_message`. A crew is used by one thread, for one job after another, until it is closed.
    Raises DeviceError if no device is left.
    """

    def __init__(
        self,
        choices: Sequence[DevicePart],
        settings: Settings | None = None,
        *,
        policy: RestartPolicy | None = None,
        on_message: Callable[[str], None] | None = None,
        start_worker: StartWorker = start_process,
        pool: WorkerPool | None = None,
        repeats: int = 0,
    ) -> None:
        self._settings = settings or Settings()
        self._on_message = on_message or (lambda _line: None)
        self._pool = pool or WorkerPool(
            choices, self._settings, policy or RestartPolicy(), self._on_message, start_worker
        )
        self._share: BlockDispatcher | None = None
        self._pixels: PixelList | None = None  # the blocks in flight are parts of it
        self._cancel: Token = NEVER
        self._chance = random.Random(0)
        self._repeats = repeats_of(repeats, self._chance)
        self._begin(choices[0].job, choices[0].warnings)
        try:
            self._pool.start()
            self._await_one()
        except BaseException:
            self.close()
            raise

    def reset(self, job: Job) -> None:
        """Take another resolved job, in the same number and rounding. Blocks in flight are dropped after their launch.

        The workers stay. An earlier run yields nothing more. Devices that cannot do this job wait for the next one.
        Raises InvalidInputError for a job of another kind, DeviceError if no device is left.
        """
        alike = (job.method, job.number, job.rounding) == (self.job.method, self.job.number, self.job.rounding)
        if not alike or not job.is_resolved:
            raise InvalidInputError(
                f"this crew is for {self.job.number}, {self.job.rounding}, by one algorithm; start a new one for "
                f"{job.number}, {job.rounding}, {job.algorithm}"
            )
        choices, notes = self._pool.assign_parts(job)
        self._share, self._cancel = None, NEVER
        self._pool.admit([choice.device for choice in choices])
        self._begin(choices[0].job, choices[0].warnings)
        for note in notes:
            self._on_message(note)
        self._await_one()

    def _begin(self, job: Job, warnings: tuple[str, ...]) -> None:
        """Take on a job, and send it to the workers."""
        self.started = time.perf_counter()
        self.job, self.warnings = job, warnings
        self.log = LaunchLog()
        self.faults = self._pool.faults = []
        pixels = self._assign()
        _, self.band_rows = block_shape(job.view.width, job.view.height, pixels)

    def _assign(self) -> int:
        """Have all workers drop their blocks and get ready for the job; return how many pixels a band has."""
        self._judge = Judge(self.job, self._pool, self.log, self._fault, self._chance, self._repeats)
        self._assignment, pixels = self._pool.assign(self.job)
        return pixels

    def _await_one(self) -> None:
        while not self._pool.ready:
            self._await_event()
        self.rate = sum(slot.rate for slot in self._pool.ready)

    @property
    def whole(self) -> bool:
        """Whether every device still takes part."""
        return self._pool.whole

    @property
    def seconds(self) -> float:
        """Seconds since the job was taken."""
        return time.perf_counter() - self.started

    @property
    def name(self) -> str:
        """The devices' names."""
        return ", ".join(device.name for device in self._pool.devices)

    @property
    def devices(self) -> Sequence[KnownDevice]:
        """All devices, whether they take part or not."""
        return self._pool.devices

    def assemble(self) -> None:
        """Wait until every worker is ready or its device retired; `run` starts without waiting for all."""
        while len(self._pool.ready) < len(self._pool.active):
            self._await_event()

    def acquire(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return new host memory: results come from the workers' processes and are copied by this one."""
        return new(shape, dtype)

    def run(
        self,
        bands: Iterable[Block],
        room: Room = boundless,
        *,
        place: Place = anywhere,  # noqa: ARG002 - results come from the workers' processes
        cancel: Token = NEVER,
    ) -> Results:
        """Yield the blocks of some bands as they finish, and again where a worker was found wrong.

        A run ends the one before.
        """
        return self._run(bands, self.job.view.pixels, room, None, cancel)

    def run_listed(self, pixels: PixelList, cancel: Token = NEVER) -> Results:
        """Yield the results of the pixels of a list, part by part, as `run` does."""
        return self._run([pixels.whole], pixels.indices.size, boundless, pixels, cancel)

    def run_lists(self, jobs: Iterable[Job], pixels: PixelList, cancel: Token = NEVER) -> Iterator[Results]:
        """Yield the results of the pixels of a list for each of some jobs, one after the other."""
        for job in jobs:
            self.reset(job)
            yield self.run_listed(pixels, cancel)

    def _run(
        self, bands: Iterable[Block], size: int, room: Room, pixels: PixelList | None, cancel: Token
    ) -> Iterator[Finished]:
        self._pool.require()
        if self._share is not None:
            self._assign()
        self._cancel = cancel
        share = self._share = BlockDispatcher(bands, size, room)
        self._pixels = self._judge.pixels = self._judge.checks.pixels = pixels
        self.log.begin()
        try:
            for slot in self._pool.ready:
                self._join(slot)
            while not share.complete or self._judge.audits.pending:
                for slot in self._pool.ready:
                    self._feed(slot, share)
                finished = self._judge.unchecked(share) or self._await_event()
                if finished is not None:
                    yield finished
                if self._share is not share:
                    return
        finally:
            if self._share is share:
                self._share, self._cancel = None, NEVER
                self._assign()

    def set_output(self, make: MakeOutput) -> bool:  # noqa: ARG002 - as Work has it
        """Return False: devices that check each other exchange results."""
        return False

    def close(self) -> None:
        """End all workers."""
        self._pool.close()

    def report(self, counts_sha256: LateText | None, stages: dict[str, float]) -> Report:
        """Return the report of what has been done so far; device, platform and driver are lists."""
        build_s = sum(slot.build_s for slot in self._pool)
        facts = (self.job, self._pool.devices, self.log, build_s, self.seconds, counts_sha256, stages)
        return report_of(*facts, self.faults)

    def _join(self, slot: WorkerSlot) -> None:
        if self._share is not None:
            self._share.join(slot.name, slot.rate, slot.least_pixels, slot.most_pixels)

    def _fault(self, slot: WorkerSlot, why: str, wrong: bool = False) -> None:
        """End a worker, take its blocks back, and start another, unless that has failed too often."""
        if slot.retired:
            return
        if self._share is not None:
            self._share.leave(slot.name)
        self._judge.checks.leave(slot.name)
        self._judge.audits.leave(slot.name)
        if wrong:
            self.log.workers_excluded += self._repeats is not None  # others may give right results next time
            self.log.suspect.update(output_plan.block for output_plan in self._judge.audits.suspect(slot.name))
        self._pool.fault(slot, why, wrong)

    def _busy(self, slot: WorkerSlot) -> bool:
        name, share = slot.name, self._share
        return (
            self._judge.checks.busy(name)
            or self._judge.audits.busy(name)
            or (share is not None and share.has_blocks(name))
        )

    # Blocks go out, results come in.

    def _feed(self, slot: WorkerSlot, share: BlockDispatcher) -> None:
        """Give a ready worker as many blocks as it can hold: checks of other devices' results first."""
        idle = not self._busy(slot)

        def has(block: Block) -> bool:
            return share.owns(slot.name, block)

        while (run := self._judge.checks.take(slot.name, lambda run: has(run) or not manages(slot, run))) is not None:
            slot.give(run, urgent=True, idle=idle, pixels=self._pixels)
        if not self._judge.audits.busy(slot.name) and (again := self._judge.audits.take(slot.name, has)) is not None:
            slot.give(again, urgent=True, idle=idle, pixels=self._pixels)
        while (block := share.take(slot.name)) is not None:
            slot.give(block, idle=idle, pixels=self._pixels)

    def _await_event(self) -> Finished | None:
        """Wait for the next event, and return a block that it finishes."""
        stop_if(self._cancel)
        for slot, why in self._pool.overdue(self._busy):
            self._fault(slot, why)
        heard = self._pool.next(_TICK_S)
        if heard is None:
            return None
        slot, message = heard
        loss = message.loss
        if loss is not None:
            self._fault(slot, loss)
            return None
        try:
            return self._hear(slot, parse(message.head or {}), message.payload)
        except WireError as error:
            self._fault(slot, f"sent an invalid message: {error}")
            return None

    def _hear(self, slot: WorkerSlot, message: Ready | Done, payload: bytearray | memoryview) -> Finished | None:
        """Handle a worker's message; raises WireError if it makes no sense at this point."""
        if isinstance(message, Ready):
            if slot.make_ready(message):
                self._join(slot)
        elif slot.ready or message.assignment >= self._assignment:  # otherwise it belongs to a dropped assignment
            return self._done(slot, message, payload)
        return None

    def _done(self, slot: WorkerSlot, message: Done, payload: bytearray | memoryview) -> Finished | None:
        share, block = self._share, message.block
        if share is None or message.assignment != self._assignment:
            raise WireError("a block, although there was none to compute")
        shape = (self.job.words, block.height, block.width)
        if len(payload) != 4 * self.job.words * block.pixels:
            raise WireError("a block of another size")
        results = np.frombuffer(payload, "<u4").astype(np.uint32, copy=False).reshape(shape)
        outcome = self._judge.checks.answer(slot.name, block, results)
        audited = self._judge.audits.answer(slot.name, block) if outcome is None else None
        if outcome is None and audited is None and not share.owns(slot.name, block):
            raise WireError("a block that it was not given")
        for seconds in message.launches:
            self.log.add(seconds)
        self.log.add_copy(message.copy_s)
        if block.height > 1:
            slot.took(block.pixels, sum(message.launches))
            share.pace(slot.name, slot.least_pixels, slot.most_pixels)
        if audited is not None:
            return self._judge.compare(slot, audited, results)
        if outcome is None:
            return self._judge.verify(slot, share, ComputedBlock(block, results, message.filled))
        return self._judge.resolve_dispute(share, outcome)
