"""A lock on a file: the operating system's own, which ends with the process that holds it."""

import errno
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def _let_go(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _take(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _let_go(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


_HELD_ELSEWHERE = (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK)


class FileLock:
    """A lock on the file at a path, which is made where there is none and stays."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process holds it, through this object."""
        return self._descriptor is not None

    def acquire(self) -> bool:
        """Take the lock, and return whether that has succeeded: not where it is held already.

        Raises OSError where the file cannot be opened, or its disk has no locks.
        """
        while self._descriptor is None:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
            try:
                _take(descriptor)
                if os.fstat(descriptor).st_nlink:
                    self._descriptor = descriptor
                    return True
            except OSError as error:
                if error.errno in _HELD_ELSEWHERE:
                    return False
                raise
            finally:
                if self._descriptor is None:  # held elsewhere, or removed before it was locked: then there is a new one
                    os.close(descriptor)
        return False

    def release(self) -> None:
        """Let others have it; the file stays. Without effect where it is not held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            try:
                _let_go(descriptor)
            finally:
                os.close(descriptor)
