"""A view for a page: resolved by its devices, then computed, coarse pixels first, then all, nearest first."""

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.explore import rectangles
from mandelcl.explore.aside import Aside
from mandelcl.explore.device_slots import BLOCK_BYTES, DeviceSlot
from mandelcl.explore.frames import FrameAddress, FramePart, pixel_bytes, unpacked
from mandelcl.explore.messages import ViewWanted
from mandelcl.explore.pictures import ViewSummary, summary
from mandelcl.explore.planning import COARSE, FINE, LEVELS, ViewPlan
from mandelcl.explore.tasks import Piece, ResolvedTask
from mandelcl.workers.wire import WireError

_SHOW_S = 0.1


class Outbox(Protocol):
    """The queue of messages to a page."""

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""

    def show(self, pane: int, generation: int, frame: bytes | memoryview) -> None:
        """Send a frame, unless the pane has got a newer generation in the meantime."""

    def then(self, pane: int, generation: int, call: Callable[[], object]) -> None:
        """Make a call after earlier messages have been sent; never if the page is gone or has a newer generation."""


class Viewing:
    """A view that a page requests (a `ViewTask`), from its job to the last pixel.

    `before` is the pane's previous view. If both have the same lattice and key, its pixels are reused. `key` is empty
    until the job is resolved. `complete` says whether all pixels are there.
    """

    def __init__(
        self,
        wanted: ViewWanted,
        job: Job,
        outbox: Outbox,
        aside: Aside,
        before: "Viewing | None" = None,
    ) -> None:
        self.wanted, self.job = wanted, job
        self.key = ""
        self.complete = False
        self.parts: list[FramePart] = []
        self.summary: ViewSummary | None = None
        self._slots: list[DeviceSlot] = []
        self._outbox, self._aside = outbox, aside
        self._summing: asyncio.Task[None] | None = None
        # The last earlier view that has pixels; others were superseded.
        self._before: Viewing | None = before if before is None or before.key else before._before
        self._facts: dict[DeviceSlot, ResolvedTask] = {}
        self._reasons: list[str] = []
        self._wholes = {level: rectangles.coarse(wanted.whole, level) for level in LEVELS}
        self._near = wanted.near
        self._plan: ViewPlan | None = None
        self._kernel_s, self._iterations, self._done = 0.0, 0, 0
        self._started, self._shown = time.perf_counter(), 0.0
        self._ended = False
        self._answered = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether it is complete, failed or ended."""
        return self.complete or self._ended

    @property
    def address(self) -> FrameAddress:
        """The address of its finest pixels."""
        return FrameAddress(self.wanted.pane, self.wanted.generation, FINE)

    @property
    def whole(self) -> Block:
        """Its pixels, counted from the anchor."""
        return self.wanted.whole

    def begin(self, device_slots: Sequence[DeviceSlot]) -> None:
        """Begin to resolve the job on devices."""
        if not self._ended:
            self._slots = list(device_slots)
            self._begin_on_slots()

    def fail(self, why: str) -> None:
        """Report to the page that there will be no picture."""
        if not self._ended:
            self._send("failed", why=why)
            self._ended = True
            self._answered.set()

    def end(self) -> None:
        """Stop computing. Pixels that are done stay."""
        self._ended = True
        self._answered.set()
        for slot in self._slots:
            slot.end_task(self)

    async def answered(self) -> None:
        """Wait until the job is resolved or has failed."""
        await self._answered.wait()

    def turn_to(self, near: tuple[float, float]) -> None:
        """From now on, compute pixels near this one first."""
        self._near = near
        if self._plan is not None:
            self._plan.turn_to(near)

    def look_ahead(self, job: Job) -> None:
        """Have the devices compute a later job's reference in advance."""
        for slot in self._slots:
            slot.look_ahead(job)

    def order(self) -> Mapping[str, Any]:
        """Return the message for a worker."""
        levels = [[level, [block.x, block.y, block.width, block.height]] for level, block in self._wholes.items()]
        wanted = self.wanted
        head = {"pane": wanted.pane, "generation": wanted.generation, "motion": wanted.motion}
        head["named"] = self.job.reference is not None and wanted.job.reference is None and not self.key
        return {"job": self.job.to_json(), **head, "levels": levels}

    def resolved(self, slot: DeviceSlot, facts: ResolvedTask) -> None:
        """Note the job as resolved by a device. After the last device, begin."""
        if slot in self._facts and self.key:
            return  # its process was restarted
        self._facts[slot] = facts
        self._when_all_have_answered()

    def refused(self, slot: DeviceSlot, why: str) -> None:
        """Continue without a device. If none is left, there is no picture."""
        if slot in self._slots:
            self._slots.remove(slot)
        self._facts.pop(slot, None)
        self._reasons.append(why)
        if not self._slots:
            self.fail("; ".join(dict.fromkeys(self._reasons)))
        elif not self.key:
            self._when_all_have_answered()
        else:
            self._send("problem", line=why)

    def waiting(self, iterations: int) -> None:
        """Report how many iterations of the reference are done."""
        self._send("progress", level=COARSE, done=0, pixels=self.whole.pixels, reference=iterations)

    def next(self, slot: DeviceSlot) -> Piece | None:
        """Return the next piece for a device."""
        if self._plan is None or self._ended or slot not in self._facts:
            return None
        return self._plan.next()

    def returned(self, piece: Piece) -> None:
        """Take back a piece that a device has not computed. It comes next."""
        if self._plan is not None:
            self._plan.returned(piece)

    def done(self, _slot: DeviceSlot, piece: Piece, frames: memoryview, seconds: float, iterations: int) -> None:
        """Pass on the frames of a piece."""
        assert self._plan is not None
        block = self._plan.anchored(piece)
        try:
            leaving = self._frames_of(piece.level, block, frames)
        except ValueError as error:
            raise WireError(str(error)) from error
        if self._ended:
            return
        self._plan.done(piece, seconds)
        self._kernel_s += seconds
        self._done += block.pixels
        if piece.level == FINE:
            self._iterations += iterations
        for frame in leaving:
            self._outbox.show(self.wanted.pane, self.wanted.generation, frame)
        self._show_progress(piece.level)
        if self._plan.complete:
            self._finish()

    def _frames_of(self, level: int, block: Block, frames: memoryview) -> list[memoryview]:
        """Return the frames of a piece, and keep its pixels. Raises ValueError if they are invalid."""
        parts = list(unpacked(block, self.job, frames))
        if level == FINE and not self._ended:
            self.parts += parts
        return [part.frame for part in parts]

    def _planned(self, missing: list[Block], facts: list[ResolvedTask]) -> ViewPlan:
        most = BLOCK_BYTES // pixel_bytes(self.job) // 2  # half: pieces are only cut to about their target size
        return ViewPlan(self._wholes, missing, facts, self._near, most)

    def _begin_on_slots(self) -> None:
        for slot in list(self._slots):
            slot.begin(self)

    def _when_all_have_answered(self) -> None:
        if self._ended or not all(slot in self._facts for slot in self._slots):
            return
        jobs = [facts.job for facts in self._facts.values()]
        common = agreed(jobs)
        if all(job == common for job in jobs):
            self._start(common)
            return
        self.job = common
        self._facts.clear()
        self._begin_on_slots()

    def _start(self, job: Job) -> None:
        self.job, self.key = job, key_of(job)
        self._answered.set()
        facts = list(self._facts.values())
        self._send(
            "settled",
            key=self.key,
            number=job.number,
            rounding=job.rounding,
            method=job.method,
            iterations=job.iterations,
            job=job.to_json(),
            degree=job.formula.degree,
            devices=[one.spec for one in facts],
            warnings=list(dict.fromkeys(line for one in facts for line in one.warnings)),
        )
        self._take_over()
        missing = rectangles.missing(self.whole, [part.block for part in self.parts])
        self._plan = self._planned(missing, facts)
        if not missing:
            self._finish()
        for slot in self._slots:
            slot.fill()

    def _take_over(self) -> None:
        """Take over this view's pixels from the previous view, and send those that the page lacks."""
        before, self._before = self._before, None
        if before is None or before.key != self.key or not _same_lattice(before.job, self.job):
            return
        had = self.wanted.have if self.wanted.key == self.key else ()
        left, before.parts = before.parts[::-1], []
        while left:  # each part is copied, so free the original's memory on the way
            part = left.pop()
            if rectangles.overlap(self.whole, part.block) is None:
                continue
            part = part.addressed(self.address)
            self.parts.append(part)
            if rectangles.missing(part.block, had):
                self._outbox.show(self.wanted.pane, self.wanted.generation, part.frame)

    def _show_progress(self, level: int) -> None:
        now = time.perf_counter()
        if now - self._shown < _SHOW_S:
            return
        self._shown = now
        rate = self._iterations / self._kernel_s / 1e9 if self._kernel_s else 0.0
        facts = {
            "done": self._done,
            "pixels": self._plan.to_do if self._plan else 0,
            "kernel_s": self._kernel_s,
            "giter_per_s": rate,
        }
        self._send("progress", level=level, **facts)

    def _finish(self) -> None:
        for slot in self._slots:
            slot.end_task(self)
        self.complete = True
        # Pixels first: with few cores, the summary would delay them.
        self._outbox.then(self.wanted.pane, self.wanted.generation, self._sum_up)

    def _sum_up(self) -> None:
        self._summing = asyncio.get_running_loop().create_task(self._summarise())

    async def _summarise(self) -> None:
        self.summary = found = await self._aside.run(summary, self.whole, list(self.parts), self.job.iterations)
        if not self._ended:
            self._send(
                "complete",
                sha256=found.sha256,
                kernel_s=self._kernel_s,
                seconds=time.perf_counter() - self._started,
                iterations_total=found.iterations,
                inside=found.inside,
            )

    def _send(self, send: str, **facts: Any) -> None:
        self._outbox.send({"say": send, "pane": self.wanted.pane, "generation": self.wanted.generation, **facts})


def key_of(job: Job) -> str:
    """Return a short text that identifies everything, besides the lattice, that determines a resolved job's pixels."""
    values = json.loads(job.to_json())
    del values["view"]
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def agreed(jobs: Sequence[Job]) -> Job:
    """Return a job that all devices can do, after they have resolved it differently."""
    first = jobs[0]
    if any(job.rounding == "separate" for job in jobs) and first.method == "direct":
        return replace(first, rounding="separate")
    return first


def _same_lattice(one: Job, other: Job) -> bool:
    a, b = one.view.lattice, other.view.lattice
    return (a.re, a.im, a.matrix) == (b.re, b.im, b.matrix)
