"""A job on the workers of a cluster, and a survey of a view for a machine that may have no device of its own."""

from collections.abc import Callable
from typing import cast

import numpy as np

from mandelcl.base.errors import Token
from mandelcl.core.block import Block
from mandelcl.core.counts import Counts
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.work import Work
from mandelcl.engine.iteration_limit import Proofs
from mandelcl.engine.loop.survey import kept_counts
from mandelcl.engine.methods import method_of
from mandelcl.engine.resolve import resolve
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.crew.dask.connection import Connection
from mandelcl.rendering.crew.dask.handshake import RemoteDevice
from mandelcl.rendering.crew.dask.placement import Placement
from mandelcl.rendering.crew.dask.worker_pool import ClusterPool
from mandelcl.workers.supervised import RestartPolicy

REPEATED = 64  # one of this many rows is computed by another worker, too


def cluster_work(
    connection: Connection,
    job: Job,
    settings: Settings,
    on_message: Callable[[str], None],
    wait: Callable[[Job], None] = lambda _job: None,
    policy: RestartPolicy | None = None,
) -> Crew:
    """Return the work on a job by the present workers. `wait` is called with the resolved job before they begin.

    Raises DeviceError if there is no worker, or none that can do the job.
    """
    parts, notes = Placement(connection, settings.self_test).resolved(job)
    for note in notes:
        on_message(note)
    wait(parts[0].job)
    pool = ClusterPool(connection, parts, settings, on_message, policy or RestartPolicy())
    return Crew(parts, settings, on_message=on_message, pool=pool, repeats=REPEATED)


def taken_over(crew: Crew, job: Job, wait: Callable[[Job], None]) -> bool:
    """Return whether a crew has taken over a job: only one that is resolved like the one before.

    `wait` is called with the resolved job first. Raises as `Crew.reset` does.
    """
    devices = crew.devices
    if not devices:
        return False
    job = resolve(job, [cast(RemoteDevice, device).device_class for device in devices], shared=True).job
    if (job.method, job.number, job.rounding) != (crew.job.method, crew.job.number, crew.job.rounding):
        return False
    wait(job)
    crew.reset(job)
    return True


class ClusterSurvey:
    """Surveys by the work that `begin` returns for a job (a `Survey`); workers do not report proofs."""

    def __init__(self, begin: Callable[[Job], Work], wait: Callable[[Job], None], cancel: Token) -> None:
        self._begin, self._wait, self._cancel = begin, wait, cancel

    def counts(self, job: Job) -> Counts:
        """Return the counts, rows × columns; they are kept on disk for the next time."""
        return kept_counts(job, self._computed)

    def proved(self, job: Job) -> Proofs:
        """Return that no pixel is proved inside, unless the reference proves all of them."""
        return np.full((job.view.height, job.view.width), method_of(job).all_inside(job))

    def period(self, job: Job) -> int:
        """Return the period of the job's reference, if it has one within the limit; else 0."""
        self._wait(job)
        return method_of(job).period(job)

    def _computed(self, job: Job) -> Counts:
        counts = np.zeros((job.view.height, job.view.width), job.counts.dtype)
        work = self._begin(job)
        for block, results, _ in work.run([Block(0, 0, job.view.width, job.view.height)], cancel=self._cancel):
            counts[block.y : block.y + block.height, block.x : block.x + block.width] = job.counts.of(results)
        return counts
