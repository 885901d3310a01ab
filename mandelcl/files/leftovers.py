"""What must not stay on disk when a process has to end at once, without leaving its `with` blocks."""

import atexit
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from mandelcl.base import interrupts, processes
from mandelcl.files import own_folder

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
    """Return a new folder that goes with this process; raises OSError where none can be made.

    Folders of the same prefix that killed processes have left are removed.
    """
    folder = _new_folder(prefix)
    remove = partial(_remove_folder, folder, os.getpid())
    _removers.append(remove)
    atexit.register(remove)
    return folder


@contextmanager
def in_temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder, as `temporary_folder` makes one, that goes with the block."""
    folder = _new_folder(prefix)
    with cleared_by(partial(_remove_folder, folder, os.getpid())):
        yield folder


def _new_folder(prefix: str) -> Path:
    _clear_folders(Path(tempfile.gettempdir()), re.compile(rf"{re.escape(prefix)}(.+)-\w+"))
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{processes.own_name()}-"))


def _clear_folders(place: Path, names: re.Pattern[str]) -> None:
    """Remove the folders of such names that are this user's and that ended processes have left."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            found = names.fullmatch(entry.name)
            if found and processes.has_ended(found[1]):
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode) and own_folder.owned(facts):
                    _remove_folder(Path(entry.path), os.getpid())


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
