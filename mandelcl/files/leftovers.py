"""What must not stay on disk when a process has to end at once, without leaving its `with` blocks."""

import atexit
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from mandelcl import interrupts

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


def temporary_folder(prefix: str) -> Path:
    """Return a new folder that goes with this process; raises OSError where none can be made."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    remove = partial(_remove_folder, folder, os.getpid())
    _removers.append(remove)
    atexit.register(remove)
    return folder


def _remove_folder(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not remove what its parent uses
        import shutil  # few processes need such a folder

        shutil.rmtree(folder, ignore_errors=True)


def end_process(code: int) -> NoReturn:
    """End the process without waiting for its threads, which may hang in a driver; drafts do not stay."""
    interrupts.ignore()
    _quieten_drivers()
    for remove in reversed(list(_removers)):
        with suppress(Exception):  # whatever it is, the process ends
            remove()
    os._exit(code)


def _quieten_drivers() -> None:
    """Have nothing more come out on standard error: compilers complain when their files are removed."""
    with suppress(OSError, ValueError, AttributeError):  # no standard error, or a closed one
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
