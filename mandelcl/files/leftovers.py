"""What must not stay on disk when a process has to end at once, without leaving its `with` blocks."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

_removers: list[Callable[[], object]] = []


@contextmanager
def cleared_by(remove: Callable[[], object]) -> Iterator[None]:
    """Call `remove` at the end of the block, or in `end_process`, from whichever thread that is called."""
    _removers.append(remove)
    try:
        yield
    finally:
        _removers.remove(remove)
        remove()


def end_process(code: int) -> NoReturn:
    """End the process without waiting for its threads, which may hang in a driver; drafts do not stay."""
    for remove in reversed(list(_removers)):
        with suppress(Exception):  # whatever it is, the process ends
            remove()
    os._exit(code)
