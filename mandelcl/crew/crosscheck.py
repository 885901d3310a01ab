"""Results that wait until another device agrees on a few of their pixels. No OpenCL and no processes here."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mandelcl.block import Block
from mandelcl.crew import checking
from mandelcl.job import Job

_MOST_WAITING = 4

Words = npt.NDArray[np.uint32]


@dataclass(slots=True, eq=False)
class Check:
    """Results of a device, and the run of pixels around a sample of theirs that another is to compute.

    Once it is `settled`, an answer means nothing.
    """

    owner: str
    block: Block
    results: Words
    sample: checking.Sample
    run: Block
    since: float = field(default_factory=time.perf_counter)
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What comes of a check: whether its results are good, and which devices did what wrong (name, reason)."""

    check: Check
    accepted: bool = False
    faults: tuple[tuple[str, str], ...] = ()


class CrossChecks:
    """The checks of a job's results, by the names of the devices that take part."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._open: list[Check] = []
        self._given: dict[str, dict[Block, Check]] = {}

    def add(self, owner: str, block: Block, results: Words, sample: checking.Sample) -> bool:
        """Have results checked; False where too many wait already, or the same pixels do."""
        waiting = self._waiting()
        run = checking.neighbours(block, sample)
        if len(waiting) >= _MOST_WAITING or any(check.run == run for check in waiting):
            return False
        self._open.append(Check(owner, block, results, sample, run))
        return True

    def take(self, name: str, has: Callable[[Block], bool]) -> Block | None:
        """Return pixels for a device to compute, none that it `has` in hand anyway; None where there are none."""
        for check in self._open:
            if check.owner != name and not has(check.run):
                self._open.remove(check)
                self._given.setdefault(name, {})[check.run] = check
                return check.run
        return None

    def busy(self, name: str) -> bool:
        """Whether a device has pixels to compute."""
        return bool(self._given.get(name))

    def answer(self, name: str, run: Block, results: Words) -> Verdict | None:
        """Return what a device's results mean; None where it was not asked for them."""
        check = self._given.get(name, {}).pop(run, None)
        if check is None:
            return None
        if check.settled:
            return Verdict(check)
        check.settled = True
        if np.array_equal(results[0], checking.part(check.results, run, check.block)[0]):
            return Verdict(check, accepted=True)
        place = f"at column {check.sample.column}, row {check.sample.row}"
        wrong = checking.verdict(self._job, check.sample)
        if wrong is None:
            # Nobody can tell: both begin anew. What was a slip does not come again; what was not ends in retirement.
            return Verdict(check, False, ((check.owner, f"and {name} disagree {place}"),
                                          (name, f"and {check.owner} disagree {place}")))  # fmt: skip
        return Verdict(check, not wrong, ((check.owner if wrong else name, f"returned a wrong count {place}"),))

    def settle(self, unneeded: Callable[[Check], bool]) -> Check | None:
        """Give up a check that is not needed any more, if there is one, and return it."""
        for check in self._waiting():
            if unneeded(check):
                self._forget(check)
                return check
        return None

    def leave(self, name: str) -> None:
        """Forget the results of a device, and give its own checks back: to somebody else, or to its successor."""
        for check in self._waiting():
            if check.owner == name:
                self._forget(check)
        self._open += [check for check in self._given.pop(name, {}).values() if not check.settled]

    def _waiting(self) -> list[Check]:
        given = [check for checks in self._given.values() for check in checks.values() if not check.settled]
        return self._open + given

    def _forget(self, check: Check) -> None:
        check.settled = True
        if check in self._open:
            self._open.remove(check)
