"""The evidence about a wrong picture: wrong counts beside the right ones, and the pixels to test suspects on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.job import Job
from mandelcl.lab.own_kernel.contract import Size
from mandelcl.lab.own_kernel.replay import RIGHT, Pixels, Variation, least

Mask: TypeAlias = npt.NDArray[np.bool_]

_SUSPECTS = 400  # differing pixels on which a suspicion is tried first
_LONGEST = 20_000  # steps of an orbit that is made again for a suspicion
# Iterations that each suspicion may cost that passed the first trial, and the one that is told: numpy does 6e6 a second
# where fma is put together from some twenty operations, and 1e8 otherwise.
_SAMPLE_WORK, _WORK = 2e6, 3e8


class Evidence:
    """The counts that a kernel has left, and the right ones, row by row; `launched` is how many work-items there were.

    `every` is the pixels that it is about, without those that were not written if `written_alone`. Suspicions are tried
    on `suspects`, tested on `sample`, and the one that is told is tested on `all_tested`, which is `every` where that
    takes seconds rather than minutes.
    """

    def __init__(self, job: Job, yours: Words, right: Words, launched: Size, written_alone: bool = False) -> None:
        self.job, self.launched = job, launched
        self.yours, self.right = yours.reshape(-1), right.reshape(-1)
        self.unwritten: Mask = self.yours == NO_COUNT
        self.wrong: Mask = self.yours != self.right
        if written_alone:
            self.wrong &= ~self.unwritten
        self.every: Pixels = np.flatnonzero(~self.unwritten) if written_alone else np.arange(self.right.size)
        self.suspects = self._suspects()
        self.sample = self._drawn(_SAMPLE_WORK)
        self.all_tested = self._drawn(_WORK)
        self._least = self.right.copy()
        self._made = self.right < job.iterations

    @property
    def size(self) -> Size:
        """Width and height of the picture."""
        return self.job.view.width, self.job.view.height

    @property
    def orbits_are_short(self) -> bool:
        """Whether there are suspects whose orbits can be made again."""
        return bool(self.suspects.size) and int(self.right[self.suspects].max()) <= _LONGEST

    def least(self, pixels: Pixels) -> Words:
        """Return the least n at which the orbits of some pixels have escaped, at most two more than the limit."""
        unknown = pixels[~self._made[pixels]]
        self._least[unknown] = least(self.job, unknown, self.job.iterations + 2)
        self._made[unknown] = True
        return self._least[pixels]

    def replayed(self, pixels: Pixels, variation: Variation = RIGHT) -> Words:
        """Return the counts of some pixels as another kernel would have them."""
        return least(self.job, pixels, self.job.iterations, variation)

    def _suspects(self) -> Pixels:
        """Return some wrong pixels: written ones if there are any, and those with the shortest orbits."""
        wrong = np.flatnonzero(self.wrong & ~self.unwritten)
        if not wrong.size:
            wrong = np.flatnonzero(self.wrong)
        drawn = _some(wrong, 16 * _SUSPECTS)
        return drawn[np.argsort(self.right[drawn], kind="stable")][:_SUSPECTS]

    def _drawn(self, work: float) -> Pixels:
        """Return every pixel, or as many wrong and right ones as `work` iterations allow."""
        if float(self.right[self.every].sum(dtype=np.float64)) <= work:
            return self.every
        number = max(1, int(work / 2 / max(1.0, float(self.right.mean()))))
        parts = [np.flatnonzero(self.wrong), self.every[~self.wrong[self.every]]]
        drawn = np.concatenate([_some(part, number) for part in parts])
        return np.sort(drawn[self.right[drawn] <= _LONGEST])


def _some(pixels: Pixels, number: int) -> Pixels:
    """Return all of some pixels, or at most a number of them, the same ones each time."""
    if pixels.size <= number:
        return pixels
    return pixels[np.unique(np.random.default_rng(1).integers(0, pixels.size, number))]


@dataclass(frozen=True, slots=True)
class Mistake:
    """A known mistake of kernels: its name in a few words, and the message for a picture that it explains.

    `holds` returns in which of some pixels the kernel's count is what it would be with this mistake, and no other.
    If it is `cheap`, this takes no further orbits.
    """

    name: str
    text: str
    holds: Callable[[Evidence, Pixels], Mask]
    cheap: bool = False


@dataclass(frozen=True, slots=True)
class MistakeScore:
    """How well a mistake explains a picture: the numbers of tested wrong and right pixels that it explains.

    `whole` says whether these are all of the picture's.
    """

    mistake: Mistake
    wrong: int
    explained: int
    right: int
    contradicted: int
    whole: bool

    @property
    def complete(self) -> bool:
        """Whether it explains every pixel that was tested, and there are wrong ones among them."""
        return self.wrong == self.explained > 0 and not self.contradicted

    @property
    def share(self) -> float:
        """The share of the wrong pixels that it explains, less for right ones that it would have wrong."""
        return self.explained / max(1, self.wrong + self.contradicted)


def tried(mistake: Mistake, evidence: Evidence) -> MistakeScore | None:
    """Return how well a mistake explains a sample; None if it hardly explains the suspects."""
    suspects = evidence.suspects
    if not suspects.size or float(mistake.holds(evidence, suspects).mean()) < 0.5:
        return None
    return _verdict(mistake, evidence, evidence.every if mistake.cheap else evidence.sample)


def tested(found: MistakeScore, evidence: Evidence) -> MistakeScore:
    """Return how well a mistake that explains a sample explains the whole picture, or as much as is feasible."""
    if found.whole or evidence.sample.size == evidence.all_tested.size:
        return found
    return _verdict(found.mistake, evidence, evidence.all_tested)


def _verdict(mistake: Mistake, evidence: Evidence, pixels: Pixels) -> MistakeScore:
    holds, wrong = mistake.holds(evidence, pixels), evidence.wrong[pixels]
    counts = [int(mask.sum()) for mask in (wrong, holds & wrong, ~wrong, ~holds & ~wrong)]
    return MistakeScore(mistake, counts[0], counts[1], counts[2], counts[3], pixels.size == evidence.every.size)
