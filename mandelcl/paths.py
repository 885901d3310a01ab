"""Paths that users name: what they point to, and errors of one line."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mandelcl.errors import FileError, InvalidInputError


def target(path: str | Path) -> Path:
    """Return the file that a path names: a link stays, and what it points to is replaced."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a NUL byte
        raise FileError(f"{str(path)!r} is not a path") from error


def require_replaceable(place: Path, path: str | Path) -> None:
    """Raise FileError where there is something else than a file."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        raise FileError(f"cannot write {path}: it is a folder")
    if not stat.S_ISREG(mode):
        raise FileError(f"cannot write {path}: it is a device or a pipe, not a file")


@contextmanager
def one_line(what: str) -> Iterator[None]:
    """Turn whatever goes wrong with a file into a FileError of one line that begins with `what`."""
    try:
        yield
    except FileError as error:
        message = str(error)
        raise (error if message.startswith(what) else FileError(f"{what}: {message}")) from error.__cause__
    except InvalidInputError as error:
        raise FileError(f"{what}: {error}") from error
    except OSError as error:
        raise FileError(f"{what}: {error.strerror or error}") from error
    except MemoryError as error:
        raise FileError(f"{what}: not enough memory for it") from error
