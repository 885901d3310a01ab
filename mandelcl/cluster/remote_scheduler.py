"""A client of a scheduler that runs already."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mandelcl.errors import DeviceError
from mandelcl.printable import printable

if TYPE_CHECKING:
    from distributed import Client

_CONNECT_S = 10.0
_CLOSE_S = 3.0


@contextmanager
def connected(address: str) -> Iterator["Client"]:
    """Yield a client of a scheduler; raises DeviceError where it does not answer."""
    from distributed import Client

    with quiet():
        try:
            client = Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError) as error:
            why = printable(str(error)) or type(error).__name__
            raise DeviceError(f"cannot reach a scheduler at {address}: {why}") from error
        try:
            yield client
        finally:
            client.close(_CLOSE_S)


@contextmanager
def quiet() -> Iterator[None]:
    """Have Dask log nothing in this process meanwhile: what it would say of lost connections is said in one line."""
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
