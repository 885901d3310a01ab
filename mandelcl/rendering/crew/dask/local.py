"""A cluster on this machine: a scheduler in this process, which listens to this machine alone, and some workers."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mandelcl.base.errors import DeviceError
from mandelcl.base.text import printable
from mandelcl.rendering.crew.dask.remote_scheduler import quiet
from mandelcl.rendering.crew.dask.supervisor import Supervisor, own_name

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

_HOST = "127.0.0.1"
_CLOSE_S = 3.0


@contextmanager
def local_cluster(devices: Sequence[str], count: int) -> Iterator[tuple["Client", Supervisor]]:
    """Yield a client of a new cluster with `count` workers for the devices that SPECs name, and what supervises them.

    Raises DeviceError where the system starts no process.
    """
    supervisor = Supervisor(devices, count, own_name(), lambda _line: None)
    try:
        from distributed import Client

        with quiet(), _scheduler() as cluster, Client(cluster, set_as_default=False) as client:
            supervisor.join(cluster.scheduler_address, _HOST)
            try:
                yield client, supervisor
            finally:
                supervisor.close()
    finally:
        supervisor.close()


def _scheduler() -> "LocalCluster":
    """Return a scheduler in this process, without workers; raises DeviceError where none can be started.

    Its connections are encrypted if Dask's settings ask for it.
    """
    import dask
    from distributed import LocalCluster

    try:
        with dask.config.set({"distributed.scheduler.http.routes": []}):  # the server that has them is always started
            return LocalCluster(
                n_workers=0,
                threads_per_worker=1,
                host=_HOST,
                dashboard_address=None,
                scheduler_kwargs={"dashboard": False, "dashboard_address": f"{_HOST}:0"},
                silence_logs=logging.CRITICAL,
            )
    except (OSError, RuntimeError) as error:
        raise DeviceError(f"cannot start a scheduler on this machine: {printable(str(error))}") from error
