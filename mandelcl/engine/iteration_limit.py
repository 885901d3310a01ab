"""The automatic iteration limit, decided by a survey of a few points of the view.

The rule depends on which points escape, and after how many iterations. Those numbers are the same on every device.
Which points are proved inside is not, since a cycle may be seen sooner on one device than on another. So proofs end the
survey only where all points that are left have one, and none would escape later.
"""

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.methods import method_of

LEAST = 1000
MOST = 10**7
_SURVEYED = 64  # points of the longer side, about as many as border tracing begins with
_FEW = 64  # escaped points that a quantile needs; in a small view, a quarter of its pixels
_STEP = 8
_QUANTILE_IN_1000, _ROOM = 995, 3
DARK = 0.2  # share of points that neither escape nor are proved inside, from which on a picture is dark
_GAIN = 0.01  # of all points, which must escape later for the survey to go on
_LOOKS = 3  # steps beyond a limit that leaves a picture dark
_PERIODS = 2  # of the reference, which a minibrot's outline needs
_BEYOND = 4  # limits, up to which the reference's period is searched for
_MOST_WORK = 2.5e9  # iterations of all points in a number of one product: a second, on a few cores
_MOST_HOST_WORK = 1 << 32  # iterations of the reference times its bits

Proofs = npt.NDArray[np.bool_]


class Survey(Protocol):
    """Computes small jobs by escape time, whose number and method are resolved."""

    def counts(self, job: Job) -> Words:
        """Return the counts, rows × columns."""

    def proved(self, job: Job) -> Proofs:
        """Return which pixels are known never to escape, after about as many iterations as the job's limit."""

    def period(self, job: Job) -> int:
        """Return the period of the job's reference, if it has one within the limit; else 0."""


@dataclass(frozen=True, slots=True)
class IterationLimit:
    """A limit, and notes for the user."""

    iterations: int
    notes: tuple[str, ...] = ()


def spacing(job: Job) -> int:
    """Return how many pixels lie between two surveyed ones."""
    return -(-max(job.view.width, job.view.height) // _SURVEYED)


def surveyed(job: Job) -> Job:
    """Return the job of evenly spaced pixels of a view, from its first on, at most 64 a side, by escape time."""
    cell = spacing(job)
    re, im = job.view.point(0, 0)
    first = replace(job.view.lattice, re=re, im=im, column=0, row=0)
    width, height = (max(2, side // cell) for side in (job.view.width, job.view.height))
    return replace(job, view=View(first.coarser(cell), width, height), algorithm="escape", strict=False)


def automatic_limit(job: Job, survey: Survey) -> IterationLimit:
    """Return the limit that suits the view of a job, at least the job's own limit. The rest of the job is resolved.

    The survey begins there. While fewer than 64 points escape, it goes on eight times as far. Then the limit is three
    times what 99.5 % of the escaping points take, rounded up to 1, 2 or 5 times a power of ten, at least 1000 and two
    periods of the reference. Where the survey has not been as far as that, it goes there. Either way it goes on for as
    long as at least 1 % of all points escape on the way. Where a fifth of the points is left, it looks up to 512 times
    as far again. It ends as soon as all points that are left are proved inside, and otherwise at 10^7 iterations or a
    bound on its work, with a note where it has found no limit.
    """
    small, stage = surveyed(job), max(job.iterations, LEAST)
    few, gain = min(_FEW, max(1, small.view.pixels // 4)), _GAIN * small.view.pixels
    found = seen = 0  # a limit that suits, and how many points had escaped when it was found
    suggested = before = looks = 0
    while True:
        here = replace(small, iterations=stage)
        counts = survey.counts(here)
        inside = counts >= stage
        left, escaped = int(np.count_nonzero(inside)), counts[~inside]
        wanted = max(LEAST, job.iterations, _suited(escaped), _PERIODS * survey.period(here) if left else 0)
        if not left:
            return IterationLimit(wanted)
        many, following = escaped.size >= few, wanted if escaped.size >= few else max(wanted, _STEP * stage)
        if found and escaped.size - seen >= gain:
            found = 0
        elif not found and ((many and wanted <= stage) or (before and escaped.size - before < gain)):
            following = _PERIODS * survey.period(replace(here, iterations=min(_BEYOND * stage, MOST)))
            if following <= stage:
                found, seen, looks = min(wanted if many and wanted <= stage else suggested, stage), escaped.size, _LOOKS
        if found:
            if left < DARK * counts.size or not looks or _all_proved(survey, here, inside):
                return IterationLimit(found)
            looks, following = looks - 1, _STEP * stage
        elif not many and _all_proved(survey, here, inside):
            return IterationLimit(wanted)
        following = min(following, MOST)
        if following <= stage or is_too_much(replace(here, iterations=following), left):
            return IterationLimit(found) if found else IterationLimit(wanted, (_ended(stage),))
        suggested, before, stage = wanted, escaped.size, following


def _all_proved(survey: Survey, job: Job, points: Proofs) -> bool:
    return bool(np.all(survey.proved(job)[points]))


def unproved(job: Job, survey: Survey) -> float:
    """Return the share of a resolved job's surveyed points that neither escape nor are proved inside."""
    small = surveyed(job)
    inside = survey.counts(small) == job.iterations
    return float(np.mean(inside & ~survey.proved(small))) if inside.any() else 0.0


def _suited(escaped: Words) -> int:
    """Return the limit that suits the counts of escaping points: 1, 2 or 5 times a power of ten."""
    if not escaped.size:
        return LEAST
    rank = -(-(escaped.size * _QUANTILE_IN_1000) // 1000)  # of the least count that this share does not exceed
    return round_up(_ROOM * int(np.sort(escaped, axis=None)[rank - 1]))


def round_up(least: int) -> int:
    """Return the least of 1, 2 or 5 times a power of ten that is at least a number."""
    power: int = 10 ** (len(str(least)) - 1)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def is_too_much(job: Job, points: int) -> bool:
    """Return whether iterating this many points to a job's limit exceeds the budget of a survey."""
    method = method_of(job)
    work = points * method.cost(job) * by_name(job.number).products
    return work > _MOST_WORK or method.host_work(job) > _MOST_HOST_WORK


def _ended(stage: int) -> str:
    return (
        f"the survey for the iteration limit ended after {stage:,} iterations, with points that neither escape nor are "
        "proved inside; --iterations N goes further"
    )
