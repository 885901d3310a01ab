"""A client of a scheduler that is already running."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mandelcl.base.errors import DeviceError
from mandelcl.base.text import printable

if TYPE_CHECKING:
    from distributed import Client

_LEAST_S, _MOST_S = 1.0, 10.0  # how long to wait for an answer
_GRACE_S = 1.0
_CLOSE_S = 3.0
_STRANGER = "what answers there is no Dask scheduler, or one of another version"


@contextmanager
def connected(address: str, wait: float) -> Iterator["Client"]:
    """Yield a client of a scheduler; raises DeviceError if none answers within `wait` seconds, 10 at most."""
    import distributed  # noqa: F401 - it takes a second, which is not the scheduler's

    limit = min(_MOST_S, max(_LEAST_S, wait))
    with quiet():
        coming: Future[Client] = Future()
        # In a thread of its own: whatever answers, Dask may wait for it without end.
        threading.Thread(
            target=_connect, args=(address, limit, coming), name="mandelcl connecting", daemon=True
        ).start()
        try:
            client = coming.result(2 * (limit + _GRACE_S))  # for the question, and for the client
        except Exception as error:
            raise DeviceError(f"cannot reach a scheduler at {address}: {_reason(error, limit)}") from error
        try:
            yield client
        finally:
            client.close(_CLOSE_S)


def _connect(address: str, limit: float, coming: "Future[Client]") -> None:
    from distributed import Client

    try:
        asyncio.run(_require_scheduler(address, limit))
        client = Client(address, timeout=limit, set_as_default=False)
        coming.set_result(client)
    except BaseException as error:
        coming.set_exception(error)


async def _require_scheduler(address: str, limit: float) -> None:
    """Ask who is at an address; raises DeviceError if it is no scheduler, and OSError or TimeoutError."""
    from distributed.comm.core import connect
    from distributed.core import send_recv
    from distributed.security import Security

    settings = Security().get_connection_args("client")
    try:
        async with asyncio.timeout(limit + _GRACE_S):  # by then Dask has reported the reason
            comm = await connect(address, timeout=limit, **settings)
            try:
                identity = await send_recv(comm, op="identity", reply=True)
            finally:
                comm.abort()
    except (OSError, TimeoutError):
        raise
    except Exception as error:  # MemoryError, too: for a message whose header claims a huge length
        raise DeviceError(_STRANGER) from error
    kind = identity.get("type") if isinstance(identity, dict) else None
    if kind != "Scheduler":
        raise DeviceError("a Dask worker answers there" if kind == "Worker" else _STRANGER)


def _reason(error: BaseException, limit: float) -> str:
    """Return why there is no client, in a phrase."""
    while isinstance(error, OSError) and error.__cause__ is not None:
        error = error.__cause__
    if isinstance(error, TimeoutError | asyncio.CancelledError):
        return f"no answer within {limit:g} s"
    if isinstance(error, OSError) and "closed" in str(error):
        return "the connection was closed at the other end"
    text = (error.strerror if isinstance(error, OSError) else "") or str(error)
    return printable(text) or type(error).__name__


@contextmanager
def quiet() -> Iterator[None]:
    """Silence Dask's log in this process. A lost connection is reported in one line instead."""
    import distributed  # noqa: F401 - its configuration gives some of its loggers levels of their own

    loggers = [logging.getLogger(name) for name in list(logging.root.manager.loggerDict) if _is_dask(name)]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _is_dask(name: str) -> bool:
    return name.partition(".")[0] == "distributed"
