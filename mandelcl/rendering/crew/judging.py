"""Judge workers' results: accept them at once, check them by another worker first, or refuse them."""

import random
import time
from collections.abc import Callable

from mandelcl.base.words import Words
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.core.report import LaunchLog
from mandelcl.core.totals import totals_of
from mandelcl.engine.computing.work import Finished
from mandelcl.rendering.crew import checking
from mandelcl.rendering.crew.auditing import AcceptedBlock, Audits, Repeats, digest_of
from mandelcl.rendering.crew.crosscheck import CheckOutcome, ComputedBlock, CrossCheck, CrossChecks
from mandelcl.rendering.crew.sharing import BlockDispatcher
from mandelcl.rendering.crew.worker_pool import WorkerPool
from mandelcl.rendering.crew.worker_slot import WorkerSlot

_GRACE_S, _GRACE_SHARE = 0.25, 0.02  # how long the end waits for a check: so long, or this fraction of the whole
_REPEATED_PART = 4  # of a block's rows this part is repeated: all of them would keep another worker from its own


class Judge:
    """Judges the results of one assignment of a job by the workers of a pool, and adds their totals to a log.

    `fault(slot, why, wrong)` is called for a worker whose results are wrong. With `repeats` some blocks are computed by
    another worker as well, and what was delivered is remembered for `audits`. Blocks are parts of the list `pixels`,
    where there is one.
    """

    def __init__(
        self,
        job: Job,
        pool: WorkerPool,
        log: LaunchLog,
        fault: Callable[[WorkerSlot, str, bool], None],
        chance: random.Random,
        repeats: Repeats | None,
    ) -> None:
        self.checks, self.audits = CrossChecks(job), Audits()
        self.pixels: PixelList | None = None
        self._job, self._pool, self._log = job, pool, log
        self._fault, self._chance, self._repeats = fault, chance, repeats

    def verify(self, slot: WorkerSlot, share: BlockDispatcher, computed: ComputedBlock) -> Finished | None:
        """Accept results, have another device check them, or find that they are wrong."""
        sample = checking.samples(self._job, computed.block, computed.results, self._chance)[0]
        disagrees = self._disproved(slot, computed.results, sample)
        if disagrees:
            return None
        outcome = self.checks.compare(slot.name, computed)
        if outcome is not None:
            finished = self.resolve_dispute(share, outcome)
            if any(name == slot.name for name, _ in outcome.faults):
                return finished
            if outcome.accepted:  # else the other device is at fault alone
                share.finish(slot.name, computed.block)
                return finished
        if self._repeated(slot, computed):
            share.received(slot.name, computed.block)
            return None
        unsure = disagrees is None and not self._pool.alone(slot.name)
        if unsure and self.checks.add(slot.name, computed, sample):
            share.received(slot.name, computed.block)
            return None
        return self.accept(slot.name, share, computed)

    def resolve_dispute(self, share: BlockDispatcher, outcome: CheckOutcome) -> Finished | None:
        """Blame the devices at fault by a check, and return its block if that is accepted and new."""
        for name, why in outcome.faults:
            self._fault(self._pool[name], why, len(outcome.faults) == 1)
        return self.accept(outcome.check.owner, share, outcome.check.computed) if outcome.accepted else None

    def _disproved(self, slot: WorkerSlot, results: Words, sample: checking.PixelSample) -> bool | None:
        """Return whether results are wrong, which is their worker's fault; None if the host cannot decide."""
        why = checking.implausible(results, self._job)
        if why:
            self._fault(slot, why, True)
            return True
        disagrees = checking.host_disagrees(self._job, sample, self.pixels)
        if disagrees:
            self._fault(slot, f"returned a wrong count {checking.place_of(sample, self.pixels)}", True)
        return disagrees

    def _repeated(self, slot: WorkerSlot, computed: ComputedBlock) -> bool:
        """Return whether another worker is to compute some rows of a block as well, as many as it manages."""
        others = [other.most_pixels for other in self._pool.ready if other is not slot]
        if self._repeats is None or not others or not self._repeats.due(slot.name):
            return False
        block = computed.block
        rows = max(1, min(block.height // _REPEATED_PART, max(others) // block.width))
        run = Block(block.x, block.y + self._chance.randrange(block.height - rows + 1), block.width, rows)
        return self.checks.repeat(slot.name, computed, run, len(others) + 1)

    def compare(self, slot: WorkerSlot, before: AcceptedBlock, results: Words) -> Finished | None:
        """Compare results with what a worker that was found wrong has delivered; return them where they differ.

        From then on they count as delivered by the worker that has confirmed or corrected them.
        """
        sample = checking.samples(self._job, before.block, results, self._chance)[0]
        if self._disproved(slot, results, sample):
            self.audits.reopen(before)
            return None
        block, digest, log = before.block, digest_of(results), self._log
        log.suspect.discard(block)
        if digest == before.digest:
            self.audits.note(slot.name, before)
            return None
        totals = totals_of(self._job.planes, self._job.iterations, results)
        log.add_totals(totals - before.totals)
        self.audits.note(slot.name, AcceptedBlock(block, digest, totals, before.revision + 1))
        return Finished(block, results, before.revision + 1)

    def accept(self, name: str, share: BlockDispatcher, computed: ComputedBlock) -> Finished | None:
        """Return a block as finished, unless another worker was faster."""
        self._pool[name].succeeded()
        self._log.end()
        if not share.finish(name, computed.block):
            return None
        self._log.pixels_filled += computed.filled
        totals = totals_of(self._job.planes, self._job.iterations, computed.results)
        self._log.add_totals(totals)
        if self._repeats is not None:
            self.audits.note(name, AcceptedBlock(computed.block, digest_of(computed.results), totals))
        return Finished(computed.block, computed.results)

    def unchecked(self, share: BlockDispatcher) -> Finished | None:
        """Accept results that no other device can check, or whose checks alone keep the picture unfinished."""
        now = time.perf_counter()
        last = now - max(_GRACE_S, _GRACE_SHARE * (now - self._log.began))
        late = share.awaits_confirmation

        def unneeded(check: CrossCheck) -> bool:
            able = [slot for slot in self._pool.ready if slot.name != check.owner]
            stuck = self.checks.stuck(check, lambda run: any(manages(slot, run) for slot in able))
            return self._pool.alone(check.owner) or (late and check.since < last) or (bool(able) and stuck)

        check = self.checks.conclude(unneeded)
        return None if check is None else self.accept(check.owner, share, check.computed)


def repeats_of(one_row_in: int, chance: random.Random) -> Repeats | None:
    """Return which blocks are repeated in part, so that one of this many rows is repeated; None for 0."""
    return Repeats(max(1, one_row_in // _REPEATED_PART), chance) if one_row_in else None


def manages(slot: WorkerSlot, run: Block) -> bool:
    """Whether some pixels of another worker's block are no more than a block of a worker's own."""
    return run.height == 1 or run.pixels <= slot.most_pixels
