"""A job on the workers of a cluster."""

from collections.abc import Callable

from mandelcl.cluster.casting import Casting
from mandelcl.cluster.connection import Connection
from mandelcl.cluster.roster import ClusterRoster
from mandelcl.computing.settings import Settings
from mandelcl.crew.crew import Crew
from mandelcl.crew.seat import Patience
from mandelcl.job import Job

REPEATED = 64  # one block in so many is computed by another worker, too


def cluster_work(
    connection: Connection,
    job: Job,
    settings: Settings,
    notice: Callable[[str], None],
    wait: Callable[[Job], None] = lambda _job: None,
    patience: Patience | None = None,
) -> Crew:
    """Return the work on a job of whoever is there; `wait` is called with the settled job before anybody begins it.

    Raises DeviceError where there is no worker, or none that can do the job.
    """
    parts, notes = Casting(connection, settings.self_test).parts(job, connection.await_members())
    for note in notes:
        notice(note)
    wait(parts[0].job)
    roster = ClusterRoster(connection, parts, settings, notice, patience or Patience())
    return Crew(parts, settings, notice=notice, roster=roster, repeats=REPEATED)
