"""Whether antialiasing is cheap: how many iterations further samples are likely to take, by the counts of a survey.

Pixels get further samples where they differ from their neighbours, so between surveyed points of one count there are
few, and there are many where counts change faster than pixels.
"""

import numpy as np

from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.iteration_limit import Survey, is_too_much, spacing, surveyed
from mandelcl.engine.methods import method_of

MOST_PIXELS = 33_000_000
MOST_ITERATIONS = 2e9
_WIDTH = 3  # pixels that differ from a neighbour, for each border between two counts
_FURTHER = 7  # samples of such a pixel, of 3 to 15


def is_cheap(job: Job, survey: Survey) -> bool:
    """Return whether a resolved job has few pixels, whose further samples are likely to take few iterations.

    Both depend on nothing but the job: the counts of a survey are the same on every device.
    """
    if job.view.pixels > MOST_PIXELS:
        return False
    small = surveyed(job)
    return not is_too_much(small, small.view.pixels) and further(job, survey.counts(small)) <= MOST_ITERATIONS


def further(job: Job, counts: Words) -> float:
    """Return about how many iterations the further samples of a job's pixels take, whose survey has these counts.

    They are iterations of a number of one product; by perturbation, those that are not skipped.
    """
    corners = np.stack([counts[:-1, :-1], counts[:-1, 1:], counts[1:, :-1], counts[1:, 1:]]).astype(np.float64)
    spread = corners.max(axis=0) - corners.min(axis=0)
    shares = np.minimum(1, _WIDTH * spread / spacing(job))
    work = np.minimum(corners, method_of(job).cost(job)).mean(axis=0)
    return float(np.mean(shares * work)) * _FURTHER * job.view.pixels * by_name(job.number).products
