"""The last stage of certifying: exact counts on a device and on all cores, within a time limit."""

import math
import time
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from mandelcl.base.errors import Token
from mandelcl.base.machine import cores
from mandelcl.base.words import WORD_MASK, Words
from mandelcl.core.block import Block
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.numbers import DOUBLE
from mandelcl.core.numbers.ieee import IEEE_FORMATS
from mandelcl.core.numbers.ieee_arithmetic import Scalars
from mandelcl.core.planes import CERTIFIED, SMOOTH
from mandelcl.core.report import LaunchLog
from mandelcl.engine.job_text import SMOOTH_LIMIT
from mandelcl.perturbation.bounded import Point
from mandelcl.perturbation.counting import CountTask, exact_outcomes
from mandelcl.perturbation.exact import Outcome
from mandelcl.rendering.certify.bounding import Bounding
from mandelcl.rendering.certify.refining import Indices, Watch

OnProgress: TypeAlias = Callable[[int, int], None]  # pixels done, and their total

_TRIAL_S = 1.0
_TRIAL_PIXELS = 16


class Exactly:
    """Counts pixels in exact arithmetic for at most `seconds` in total, many of them on a device by `bounding`."""

    def __init__(self, seconds: float, bounding: Bounding) -> None:
        self._seconds, self._bounding = seconds, bounding

    def seconds_for(self, job: Job, block: Block, indices: Indices, cancel: Token) -> float:
        """Return about how many seconds the host's cores need for these pixels of a block, from a few of them.

        Infinity where none of these is decided in a second. A device may make it shorter, and a time limit does.
        """
        seconds = min(self._seconds, _TRIAL_S)
        if not indices.size or seconds <= 0:
            return 0.0
        some = indices[:: -(-indices.size // _TRIAL_PIXELS)]
        points, began = _points(job, block, some), time.monotonic()
        outcomes = exact_outcomes(CountTask.of(job), points, seconds=seconds, processes=1, cancel=cancel)
        done = sum(outcome is not None for outcome in outcomes)
        each = (time.monotonic() - began) / done if done else math.inf
        return min(each * indices.size / cores(), self._seconds)

    def certify(
        self,
        job: Job,
        block: Block,
        indices: Indices,
        words: Words,
        log: LaunchLog,
        on_progress: OnProgress,
        cancel: Token,
    ) -> int:
        """Write the exact counts of these pixels of a block into its results (words × pixels).

        Return how many were proved. `on_progress` is called with the pixels done and their total. Raises CancelledError
        if `cancel` is set.
        """
        if not indices.size or self._seconds <= 0:
            return 0
        started = time.monotonic()
        watch = Watch(started + self._seconds, lambda done: on_progress(done, indices.size))
        watch.on_progress(0)
        left = self._bounding.certified(job, block, indices, words, log, cancel, watch)
        points = _points(job, block, left)
        seconds = self._seconds - (time.monotonic() - started)
        watch = watch.after(indices.size - left.size)
        outcomes = exact_outcomes(CountTask.of(job), points, seconds=seconds, cancel=cancel, progress=watch.on_progress)
        self._seconds -= time.monotonic() - started
        for index, point, outcome in zip(left, points, outcomes, strict=True):
            if outcome is not None:
                _write(words[:, index], job, point, outcome)
        return indices.size - sum(outcome is None for outcome in outcomes)


def _points(job: Job, block: Block, indices: Indices) -> list[Point]:
    places = [divmod(int(index), block.width) for index in indices]
    return [job.view.point(block.x + column, block.y + row) for row, column in places]


def _write(words: Words, job: Job, point: Point, outcome: Outcome) -> None:
    """Write a pixel's words."""
    first = job.first_words
    if SMOOTH.name in first and job.counts.of(words) != outcome.count:
        step, norm = (job.iterations, 0.0) if outcome.z is None else _smooth(job, point, outcome.count, outcome.z)
        place = first[SMOOTH.name]
        words[place], words[place + 1] = step & WORD_MASK, np.float32(norm).view(np.uint32)
    job.counts.put(outcome.count, words)
    words[first[CERTIFIED.name]] = 1


def _smooth(job: Job, point: Point, count: int, z: tuple[float, float]) -> tuple[int, float]:
    """Return the step at which an escaped orbit leaves the smooth radius, and |z|² there."""
    (re, im), (x, y) = map(float, job.formula.constant or point), z
    step, limit = count, float(SMOOTH_RADIUS_SQUARED)
    arithmetic = Scalars(IEEE_FORMATS[DOUBLE.name], fused=True)
    c = arithmetic.value(re), arithmetic.value(im)
    while x * x + y * y <= limit and step < count + SMOOTH_LIMIT:
        if job.formula.knows_inside:
            x, y = x * x - y * y + re, 2 * x * y + im
        else:
            x, y = map(float, job.formula.step(arithmetic, (arithmetic.value(x), arithmetic.value(y)), c, step))
        step += 1
    return step, x * x + y * y
