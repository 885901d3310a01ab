"""Surveys of a view on the workers of a cluster, for a machine that may have no device of its own."""

from collections.abc import Callable

import numpy as np

from mandelcl.base.errors import Token
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine.computing.work import Work
from mandelcl.engine.iteration_limit import Proofs
from mandelcl.engine.loop.survey import kept_counts
from mandelcl.engine.methods import method_of


class ClusterSurvey:
    """Surveys by the work that `begin` returns for a job (a `Survey`); workers say nothing of what is proved."""

    def __init__(self, begin: Callable[[Job], Work], wait: Callable[[Job], None], cancel: Token) -> None:
        self._begin, self._wait, self._cancel = begin, wait, cancel

    def counts(self, job: Job) -> Words:
        """Return the counts, rows × columns; they are kept on disk for the next time."""
        return kept_counts(job, self._computed)

    def proved(self, job: Job) -> Proofs:
        """Return that no pixel is proved inside, but where the reference says so of all."""
        return np.full((job.view.height, job.view.width), method_of(job).stays(job))

    def period(self, job: Job) -> int:
        """Return the period of the job's reference, if it has one within the limit; else 0."""
        self._wait(job)
        return method_of(job).period(job)

    def _computed(self, job: Job) -> Words:
        counts = np.zeros((job.view.height, job.view.width), np.uint32)
        work = self._begin(job)
        for block, results, _ in work.run([Block(0, 0, job.view.width, job.view.height)], cancel=self._cancel):
            counts[block.y : block.y + block.height, block.x : block.x + block.width] = results[0]
        return counts
