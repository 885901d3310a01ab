"""The lock of a folder that one process at a time may use. It is the operating system's, and ends with the process.

The lock is an empty file. Its holder removes it before releasing it and never afterwards, because another process may
then hold a new lock of the same name. A process that has opened a lock which is then removed does not get it (filelock
checks that).
"""

import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from mandelcl.base.errors import FileError

if TYPE_CHECKING:
    from filelock import BaseFileLock

LOCK = "lock"
_TRIES = 5  # a folder or its lock may be removed at the same moment
_REFUSES_FOR_A_WHILE = os.name == "nt"
_PAUSE_S = 0.02  # Windows may briefly refuse access to a file that is being removed, with various errors


class FolderLock:
    """The lock of a folder, held by this process. `made` says whether the folder was created for it."""

    def __init__(self, folder: Path, lock: "BaseFileLock", made: bool) -> None:
        self._path, self._lock, self.made = folder / LOCK, lock, made

    @classmethod
    def acquire(cls, folder: Path, check: Callable[[], object], in_use: str, otherwise: str) -> Self:
        """Lock a folder, which is created if needed, and return the lock.

        `check` is called before the lock file is made, and may raise. Raises FileError with the text `in_use` if
        another process holds the lock. If something else is in the lock's place, the error says so, and what to do:
        `otherwise`.
        """
        for _ in range(_TRIES):
            try:
                return cls._tried(folder, check, in_use, otherwise)
            except (FileNotFoundError, FileExistsError, _RemovedError):
                continue
            except OSError:
                if not _REFUSES_FOR_A_WHILE:
                    raise
                time.sleep(_PAUSE_S)
        return cls._tried(folder, check, in_use, otherwise)

    @classmethod
    def _tried(cls, folder: Path, check: Callable[[], object], in_use: str, otherwise: str) -> Self:
        made = not os.path.lexists(folder)
        try:
            folder.mkdir(exist_ok=True)
            check()
            return cls(folder, _locked(folder / LOCK, in_use, otherwise), made)
        except BaseException:
            if made:
                with suppress(OSError):  # another process has locked it meanwhile
                    folder.rmdir()
            raise

    @property
    def held(self) -> bool:
        """Whether the lock has been neither removed nor released."""
        return self._lock.is_locked

    def remove(self) -> None:
        """Remove the lock file and release the lock. The folder may then be removed if it is empty."""
        with suppress(OSError):  # Windows cannot remove an open file; filelock removes it once it is closed
            if self._path.stat(follow_symlinks=False).st_size == 0:  # otherwise filelock removes it itself
                self._path.unlink()
        self._lock.release()

    def release(self) -> None:
        """Release the lock but keep its file."""
        self._lock.release()
        if os.name == "nt":  # there filelock removes the file
            with suppress(OSError):
                self._path.touch()


class _RemovedError(FileError):
    """The holder removed the lock while this process tried to get it."""


def _locked(path: Path, in_use: str, otherwise: str) -> "BaseFileLock":
    from filelock import FileLock, Timeout  # imported while a runtime opens, because the import is slow

    if os.path.lexists(path) and not stat.S_ISREG(path.stat(follow_symlinks=False).st_mode):
        raise FileError(f"{path} was not made by mandelcl; {otherwise}", path)
    somebodys = os.path.lexists(path) and path.stat(follow_symlinks=False).st_size > 0
    lock = FileLock(path, thread_local=False, preserve_lock_file=somebodys)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        kind = FileError if os.path.lexists(path) else _RemovedError
        raise kind(in_use, path.parent) from None
    return lock
