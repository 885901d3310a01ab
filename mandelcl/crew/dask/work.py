"""A job on the workers of a cluster."""

from collections.abc import Callable
from typing import cast

from mandelcl.core.job import Job
from mandelcl.crew.crew import Crew
from mandelcl.crew.dask.connection import Connection
from mandelcl.crew.dask.introduction import RemoteDevice
from mandelcl.crew.dask.placement import Placement
from mandelcl.crew.dask.worker_pool import ClusterPool
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.resolve import resolve
from mandelcl.workers.supervised import RestartPolicy

REPEATED = 64  # one row in so many is computed by another worker, too


def cluster_work(
    connection: Connection,
    job: Job,
    settings: Settings,
    notice: Callable[[str], None],
    wait: Callable[[Job], None] = lambda _job: None,
    policy: RestartPolicy | None = None,
) -> Crew:
    """Return the work on a job of whoever is there; `wait` is called with the resolved job before anybody begins it.

    Raises DeviceError where there is no worker, or none that can do the job.
    """
    parts, notes = Placement(connection, settings.self_test).resolved(job)
    for note in notes:
        notice(note)
    wait(parts[0].job)
    roster = ClusterPool(connection, parts, settings, notice, policy or RestartPolicy())
    return Crew(parts, settings, notice=notice, roster=roster, repeats=REPEATED)


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
