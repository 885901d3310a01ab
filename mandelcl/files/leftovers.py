"""Cleanup of temporary files: those of killed processes, and those of a process that must end at once.

A tempfile's name contains the name of its output and the id of its process. So tempfiles of killed processes are
recognised, and removed with the next output of the same name. If the system cannot tell whether the process still runs,
the file is left.
"""

import atexit
import hashlib
import os
import re
import secrets
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from mandelcl.base import interrupts, processes
from mandelcl.files import own_folder

_DIGITS = 12
_removers: list[Callable[[], object]] = []
_ending = threading.RLock()  # held by the thread that ends the process, so that no other ends it halfway


def new_name(place: Path) -> Path:
    """Return a path for a tempfile of a file: in the same folder, with an unpredictable name that is not in use."""
    return place.with_name(f".mandelcl-{_short(place.name)}-{processes.own_name()}-{secrets.token_hex(8)}.tmp")


def clear(place: Path) -> None:
    """Remove the tempfiles of a file whose processes have ended."""
    ours = re.compile(rf"\.mandelcl-{_short(place.name)}-(.+)-[0-9a-f]{{16}}\.tmp")
    with suppress(OSError), os.scandir(place.parent) as entries:
        for entry in entries:
            found = ours.fullmatch(entry.name)
            if found and processes.has_ended(found[1]):
                discard(Path(entry.path))


def discard(temporary: Path) -> None:
    """Remove a temporary, which may be missing, a file or a folder."""
    if temporary.is_dir():
        import shutil  # imported here because few tempfiles are folders

        shutil.rmtree(temporary, ignore_errors=True)
    else:
        with suppress(OSError):
            temporary.unlink()


def _short(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:_DIGITS]


@contextmanager
def before_removal(call: Callable[[], object]) -> Iterator[None]:
    """Call `call` in `end_process` during the block, before what was registered earlier is removed."""
    _removers.append(call)
    try:
        yield
    finally:
        _removers.remove(call)


@contextmanager
def cleared_by(remove: Callable[[], object]) -> Iterator[None]:
    """Call `remove` at the end of the block, or in `end_process`, whichever thread calls that."""
    try:
        with before_removal(remove):
            yield
    finally:
        remove()


def temporary_folder(prefix: str) -> Path:
    """Return a new folder that is removed with this process. Raises OSError if none can be made.

    Folders with the same prefix that killed processes have left are removed.
    """
    folder = _new_folder(prefix)
    remove = partial(_remove_folder, folder, os.getpid())
    _removers.append(remove)
    atexit.register(remove)
    return folder


@contextmanager
def in_temporary_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder, as from `temporary_folder`, that is removed at the end of the block."""
    folder = _new_folder(prefix)
    with cleared_by(partial(_remove_folder, folder, os.getpid())):
        yield folder


def _new_folder(prefix: str) -> Path:
    _clear_folders(Path(tempfile.gettempdir()), re.compile(rf"{re.escape(prefix)}(.+)-\w+"))
    return Path(tempfile.mkdtemp(prefix=f"{prefix}{processes.own_name()}-"))


def _clear_folders(place: Path, names: re.Pattern[str]) -> None:
    """Remove this user's folders with such names if their processes have ended."""
    with suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            found = names.fullmatch(entry.name)
            if found and processes.has_ended(found[1]):
                facts = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode) and own_folder.owned(facts):
                    _remove_folder(Path(entry.path), os.getpid())


def _remove_folder(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not remove its parent's folder
        import shutil  # imported here because few processes need such a folder

        shutil.rmtree(folder, ignore_errors=True)


def end_process(code: int) -> NoReturn:
    """End the process without waiting for its threads, which may hang in a driver. Tempfiles are removed."""
    _ending.acquire()
    interrupts.ignore()
    _quieten_drivers()
    for remove in reversed(list(_removers)):
        with suppress(Exception):  # the process ends after any error
            remove()
    os._exit(code)


def _quieten_drivers() -> None:
    """Silence standard error, because compilers print errors when their temporary files are removed."""
    with suppress(OSError, ValueError, AttributeError):  # no standard error, or a closed one
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
