"""Work whose counts are certified: a stage around another `Work`."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mandelcl.base.errors import NEVER, Token
from mandelcl.base.machine import cores
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.planes import CERTIFIED
from mandelcl.core.report import Certified, LateText, Report
from mandelcl.core.totals import Totals, totals_of
from mandelcl.engine import selftest
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.settings import Progress, Settings, ShowProgress
from mandelcl.engine.computing.work import Place, Results, Room, Work, WorkStage, anywhere, boundless
from mandelcl.engine.loop.schedule import default_budget
from mandelcl.engine.program import Execution, Program
from mandelcl.engine.rate import pace
from mandelcl.engine.variant import Variant
from mandelcl.rendering.certify.bounding import Bounding
from mandelcl.rendering.certify.exactly import Exactly
from mandelcl.rendering.certify.refining import Indices, Refiner, finer
from mandelcl.rendering.waiting import duration

_LONG_S = 2.0


@dataclass(frozen=True, slots=True)
class Tally:
    """The number of pixels, and how many of them each stage proved."""

    pixels: int = 0
    at_once: int = 0
    refined: int = 0
    exactly: int = 0

    def __add__(self, other: Self) -> "Tally":
        return Tally(
            self.pixels + other.pixels,
            self.at_once + other.at_once,
            self.refined + other.refined,
            self.exactly + other.exactly,
        )

    def noted(self, report: Report) -> Report:
        """Return the report with these numbers."""
        proved = self.at_once, self.refined, self.exactly
        return replace(report, certified=Certified(sum(proved) / self.pixels if self.pixels else 1.0, *proved))


class CertifiedWork(WorkStage):
    """A stage (a `Work`) that certifies the counts of another work's blocks, as far as `exactly` has time.

    If the device cannot prove a pixel's count, it is recomputed, first by the refiner that `refiner(job)` makes, then
    in exact arithmetic. Meanwhile `progress` is called, from any thread. `tally` says how many pixels each stage
    proved. A corrected block is certified again, and its earlier proof no longer counts.
    """

    def __init__(
        self,
        work: Work,
        refiner: Callable[[Job], Refiner],
        exactly: Exactly,
        progress: ShowProgress = lambda _progress: None,
        on_message: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._make_refiner, self._exactly, self._progress = refiner, exactly, progress
        self._on_message, self._announced = on_message, False
        super().__init__(work)

    def _begin(self) -> None:
        super()._begin()
        self._refiner: Refiner | None = None
        self._proofs: dict[Block, tuple[Tally, Totals]] = {}  # with its change to the totals
        self._finished = 0

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        """Yield the blocks of some bands with their results, certified as far as time permits."""
        for finished in self._work.run(bands, room, place=place, cancel=cancel):
            block = finished.block
            if block in self._proofs:
                self.log.add_totals(Totals() - self._proofs.pop(block)[1])
            else:
                self._finished += block.pixels
            self._proofs[block] = self._certify(block, finished.values, cancel)
            self.log.end()
            yield finished

    @property
    def tally(self) -> Tally:
        """The number of pixels, and how many of them each stage proved."""
        return sum((tally for tally, _ in self._proofs.values()), Tally())

    def _certify(self, block: Block, results: Words, cancel: Token) -> tuple[Tally, Totals]:
        """Replace unproved counts in place. Return the tally, and the change to the totals."""
        words = results.reshape(len(results), -1)
        mask = words[self.job.first_words[CERTIFIED.name]]
        suspect = np.flatnonzero(mask == 0).astype(np.uint32)
        at_once = block.pixels - suspect.size
        if not suspect.size:
            return Tally(block.pixels, at_once), Totals()
        before = self._totals(words[:, suspect])
        words[:, suspect] = self._refined(block, suspect, cancel)
        still = suspect[mask[suspect] == 0]
        self._announce(block, still, cancel)
        exactly = self._exactly.certify(self.job, block, still, words, self.log, self._on_exact, cancel)
        change = self._totals(words[:, suspect]) - before
        self.log.add_totals(change)
        return Tally(block.pixels, at_once, suspect.size - still.size, exactly), change

    def _announce(self, block: Block, left: Indices, cancel: Token) -> None:
        """Say once how many counts rounding decides, and how long the exact ones take, if that is long."""
        if self._announced or not left.size:
            return
        seconds = self._exactly.seconds_for(self.job, block, left, cancel)
        if seconds < _LONG_S:
            return
        self._announced = True
        share, pixels = left.size / block.pixels, self.job.view.pixels
        rest = pixels - self._finished
        takes = "more than a second for each pixel"
        if math.isfinite(seconds):
            takes = f"about {duration(seconds * (1 + rest / block.pixels))} on {cores()} cores"
        self._on_message(
            f"rounding may decide {math.ceil(share * 100)} % of the counts; exact arithmetic for them takes {takes}, "
            "or less where a device proves some"
        )

    def _on_exact(self, done: int, total: int) -> None:
        """Show how many of a block's pixels have been counted in exact arithmetic."""
        pixels, iterations = self.job.view.pixels, self.log.totals.iterations
        self._progress(Progress(self._finished, pixels, iterations, self.seconds, self.name, exact=(done, total)))

    def _totals(self, words: Words) -> Totals:
        return totals_of(self.job.planes, self.job.iterations, words)

    def _refined(self, block: Block, indices: Indices, cancel: Token) -> Words:
        if self._refiner is None:
            self._refiner = self._make_refiner(self.job)
        return self._refiner.refined(block, indices, self.log, cancel)

    def report(self, counts_sha256: LateText | None, stages: dict[str, float]) -> Report:
        """Return the report on the work so far, with the number of certified counts."""
        return self.tally.noted(self._work.report(counts_sha256, stages))


def certified(
    work: Work,
    choice: Choice,
    settings: Settings,
    progress: ShowProgress = lambda _progress: None,
    on_message: Callable[[str], None] = lambda _line: None,
) -> CertifiedWork:
    """Return a stage that certifies the counts of a work. The choice's device does the refining.

    If the last stage is long, `on_message` is called before it with a line about it.
    """
    budget = settings.budget or default_budget(choice.device.watchdog, choice.device.type)

    def made(job: Job, variant: Variant | None, loop_limit: int) -> Refiner:
        program = Program(choice.device, job, variant, Execution(settings.shortcuts, loop_limit=loop_limit))
        return Refiner(program, pace(program, budget))

    def refiner(job: Job) -> Refiner:
        wanted = finer(job, choice.device.fp64)
        return made(wanted, choice.variant if wanted.number == job.number else None, choice.loop_limit)

    def bounding(job: Job) -> Refiner | None:
        tested = selftest.result(choice.device, by_name(job.number), job.rounding, formula=job.formula)
        return made(job, None, tested.loop_limit) if tested.passed else None

    return CertifiedWork(work, refiner, Exactly(settings.certify_for, Bounding(bounding)), progress, on_message)
