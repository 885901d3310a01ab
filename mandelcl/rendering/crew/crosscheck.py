"""Results that wait until another device agrees on a few of their pixels. It uses neither OpenCL nor processes."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mandelcl.base.words import Words
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.rendering.crew import checking

_MOST_WAITING = 4
_MOST_REPEATED = 4  # for each device that takes part


@dataclass(frozen=True, slots=True, eq=False)
class ComputedBlock:
    """A block as a worker returned it: its results (words × height × width), and how many pixels were filled."""

    block: Block
    results: Words
    filled: int = 0


@dataclass(slots=True, eq=False)
class CrossCheck:
    """A block of a device, and the pixels of it that another is to compute: a run around a sample, or whole rows.

    Rows have no `sample`. Once it is `resolved`, an answer means nothing.
    """

    owner: str
    computed: ComputedBlock
    sample: checking.PixelSample | None
    run: Block
    since: float = field(default_factory=time.perf_counter)
    resolved: bool = False


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of a check: whether its results are accepted, and the devices at fault, each with its reason."""

    check: CrossCheck
    accepted: bool = False
    faults: tuple[tuple[str, str], ...] = ()


class CrossChecks:
    """The checks of a job's results, by the names of the devices that take part.

    Blocks are parts of the list `pixels`, where there is one.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self.pixels: PixelList | None = None
        self._open: list[CrossCheck] = []
        self._assigned: dict[str, dict[Block, CrossCheck]] = {}

    def add(self, owner: str, computed: ComputedBlock, sample: checking.PixelSample) -> bool:
        """Have a block checked; return False if too many blocks, or the same pixels, are waiting already."""
        run = checking.neighbours(computed.block, sample)
        if len(self._waiting()) >= _MOST_WAITING or self._out(run):
            return False
        self._open.append(CrossCheck(owner, computed, sample, run))
        return True

    def repeat(self, owner: str, computed: ComputedBlock, run: Block, devices: int) -> bool:
        """Have some rows of a block computed by another device as well; return False where `add` would."""
        if len(self._waiting()) >= _MOST_REPEATED * devices or self._out(run):
            return False
        self._open.append(CrossCheck(owner, computed, None, run))
        return True

    def take(self, name: str, has: Callable[[Block], bool]) -> Block | None:
        """Return pixels for a device to compute, except those that it `has` already; None if there are none."""
        for check in self._open:
            if check.owner != name and not has(check.run):
                self._open.remove(check)
                self._assigned.setdefault(name, {})[check.run] = check
                return check.run
        return None

    def busy(self, name: str) -> bool:
        """Whether a device has pixels to compute."""
        return bool(self._assigned.get(name))

    def answer(self, name: str, run: Block, results: Words) -> CheckOutcome | None:
        """Return the outcome that a device's results decide; None if they belong to no check."""
        check = self._assigned.get(name, {}).pop(run, None)
        if check is None:
            return None
        return CheckOutcome(check) if check.resolved else self._decided(check, name, results)

    def compare(self, name: str, computed: ComputedBlock) -> CheckOutcome | None:
        """Return the outcome if another device's results for the same block wait for a check; else None.

        At the end of a job several devices compute the same block.
        """
        for check in self._waiting():
            if check.owner != name and check.computed.block == computed.block:
                if check in self._open:
                    self._open.remove(check)
                return self._decided(check, name, checking.part(computed.results, check.run, computed.block))
        return None

    def _decided(self, check: CrossCheck, name: str, results: Words) -> CheckOutcome:
        """Return the outcome of a check, of whose pixels a device has these results."""
        check.resolved = True
        run, owned = check.run, checking.part(check.computed.results, check.run, check.computed.block)
        if np.array_equal(results, owned):
            return CheckOutcome(check, accepted=True)
        sample = check.sample or _disputed(self._job, run, owned, results)
        place = checking.place_of(sample, self.pixels)
        counts = self._job.counts
        distinct = (counts.of(results) != counts.of(owned)).any()  # the host knows counts alone
        wrong = checking.host_rules_against(self._job, sample, self.pixels) if distinct else None
        if wrong is None:
            # It cannot be resolved, so both are restarted: a glitch does not recur, a lasting fault retires a device.
            disputes = ((check.owner, f"and {name} disagree {place}"), (name, f"and {check.owner} disagree {place}"))
            return CheckOutcome(check, faults=disputes)
        faults = ((check.owner if wrong else name, f"returned a wrong count {place}"),)
        if not wrong and check.sample is None and (results != owned).any(axis=0).sum() > 1:
            # One pixel is right, and the device that was to check the others is not trusted: another checks the rows.
            check.resolved, check.since = False, time.perf_counter()
            self._open.append(check)
            return CheckOutcome(check, faults=faults)
        return CheckOutcome(check, not wrong, faults)

    def conclude(self, unneeded: Callable[[CrossCheck], bool]) -> CrossCheck | None:
        """Close one check that is no longer needed, if there is one, and return it."""
        for check in self._waiting():
            if unneeded(check):
                self._forget(check)
                return check
        return None

    def leave(self, name: str) -> None:
        """Discard the results of a device, and reopen the checks assigned to it."""
        for check in self._waiting():
            if check.owner == name:
                self._forget(check)
        self._open += [check for check in self._assigned.pop(name, {}).values() if not check.resolved]

    def stuck(self, check: CrossCheck, able: Callable[[Block], bool]) -> bool:
        """Whether no worker is busy with a check, or `able` to be."""
        return check in self._open and not able(check.run)

    def _waiting(self) -> list[CrossCheck]:
        assigned = [check for checks in self._assigned.values() for check in checks.values() if not check.resolved]
        return self._open + assigned

    def _out(self, run: Block) -> bool:
        """Whether the same pixels are to be computed already. Answers are distinguished by their pixels."""
        return any(check.run == run for check in self._open) or any(run in own for own in self._assigned.values())

    def _forget(self, check: CrossCheck) -> None:
        check.resolved = True
        if check in self._open:
            self._open.remove(check)


def _disputed(job: Job, run: Block, owned: Words, results: Words) -> checking.PixelSample:
    """Return the pixel in which results differ that is soonest counted on the host."""
    differs = (owned != results).any(axis=0)
    counts, others = job.counts.of(owned), job.counts.of(results)
    lower = np.where(differs, np.minimum(counts, others), job.counts.dtype.type(job.counts.none))
    y, x = divmod(int(lower.argmin()), run.width)
    return checking.PixelSample(run.x + x, run.y + y, int(counts[y, x]))
