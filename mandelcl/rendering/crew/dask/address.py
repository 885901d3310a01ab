"""What `--cluster` takes: the address of a scheduler, or `local[:N]`, a cluster on this machine."""

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from mandelcl.base.errors import DeviceError, InvalidInputError
from mandelcl.base.text import printable, quoted
from mandelcl.rendering.crew.dask.remote_scheduler import quiet
from mandelcl.rendering.crew.dask.supervisor import Supervisor, own_name

if TYPE_CHECKING:
    from distributed import Client, LocalCluster


_MOST_LOCAL = 256
_SCHEMES = ("tcp", "tls", "ws", "wss", "ucx")


@dataclass(frozen=True, slots=True)
class SchedulerAddress:
    """A scheduler's address or, if that is empty, a number of workers on this machine."""

    scheduler: str
    workers: int = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the address in a text. Raises InvalidInputError if it is not an address."""
        local = re.fullmatch(r"local(?::([0-9]{1,4}))?", text)
        if local:
            workers = int(local[1] or 1)
            if not 1 <= workers <= _MOST_LOCAL:
                raise InvalidInputError(f"a cluster on this machine has 1 to {_MOST_LOCAL} workers, not {workers}")
            return cls("", workers)
        if re.fullmatch(
            rf"({'|'.join(_SCHEMES)})://[^\s/:]+(:[0-9]{{1,5}})?|({'|'.join(_SCHEMES)})://\[[^\s/]+\]:[0-9]{{1,5}}",
            text,
        ):
            return cls(text)
        raise InvalidInputError(f"a cluster is tcp://HOST:8786, tls://HOST:8786, local or local:N, not {quoted(text)}")


def how_to_start(scheduler: str) -> str:
    """Return the command that starts workers for a scheduler."""
    return f"mandelcl cluster-worker {scheduler}"


_HOST = "127.0.0.1"
_CLOSE_S = 3.0


@contextmanager
def local_cluster(devices: Sequence[str], count: int) -> Iterator[tuple["Client", Supervisor]]:
    """Yield a client of a new cluster with `count` workers for the devices that SPECs name, and what supervises them.

    Raises DeviceError if the system starts no process.
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
    """Return a scheduler in this process, without workers; raises DeviceError if none can be started.

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
