"""The user's bookmarks: a file in the user's own folder, replaced atomically.

Nothing in the file is lost: entries that this version does not know stay, and a file that cannot be read is not
overwritten.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.text import printable
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.files import own_folder
from mandelcl.files.paths import one_line, read_bounded, replacing

_MOST = 1000
_MOST_NAME = 80
_MOST_BYTES = 1 << 26
_LOCK_S = 5.0  # for which another process may keep the file without changing it


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A named job with its colours, both as JSON. Raises InvalidInputError if they are invalid."""

    name: str
    job: str
    colouring: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not 0 < len(self.name.strip()) <= _MOST_NAME:
            raise InvalidInputError(f"a bookmark's name must have 1 to {_MOST_NAME} characters")
        if printable(self.name) != self.name or not isinstance(self.job, str) or not isinstance(self.colouring, str):
            raise InvalidInputError("a bookmark needs a name, a job and a colouring, each a text")
        Job.from_json(self.job)
        Colouring.from_json(self.colouring)


class Bookmarks:
    """The bookmarks in a file that other processes may change, too. Every method reads or writes it and may block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> list[Bookmark]:
        """Return the bookmarks that this version knows, in order; none if there is no file.

        Raises FileError if the file as a whole cannot be read.
        """
        return [one for one in map(_known, self._entries()) if one is not None]

    def add(self, bookmark: Bookmark) -> None:
        """Add a bookmark, or replace the one with the same name.

        Raises FileError if the file cannot be read or written, and InvalidInputError if it is full.
        """
        with self._changing():
            others = self._without(bookmark.name)
            if len(others) >= _MOST:
                raise InvalidInputError(f"there are already {_MOST} bookmarks, which is the limit; remove some")
            self._write([*others, asdict(bookmark)])

    def remove(self, name: str) -> None:
        """Remove the bookmark with a name. Raises FileError if the file cannot be read or written."""
        with self._changing():
            self._write(self._without(name))

    def lines(self) -> list[dict[str, Any]]:
        """Return the bookmarks in the form for the page. Raises FileError like `all`."""
        return [{**asdict(one), "colouring": json.loads(one.colouring)} for one in self.all()]

    def _entries(self) -> list[Any]:
        """Return all entries of the file, known or not."""
        with one_line("cannot read the bookmarks in", self._path):
            try:
                values = json.loads(read_bounded(self._path, _MOST_BYTES))
            except FileNotFoundError:
                return []
            except (RecursionError, ValueError):
                values = None
            if not isinstance(values, list):
                raise FileError("the file is damaged and was not changed; repair it, or move it away", self._path)
        return values

    def _without(self, name: str) -> list[Any]:
        """Return all entries of the file except the bookmark with a name."""
        entries = self._entries()
        known = [_known(entry) for entry in entries]
        return [entry for entry, one in zip(entries, known, strict=True) if one is None or one.name != name]

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Lock the file against other processes from reading it to replacing it."""
        from filelock import FileLock, Timeout

        with one_line("cannot write", self._path):
            own_folder.make(self._path.parent)
            lock = FileLock(self._path.with_suffix(".lock"))
            while not lock.is_locked:
                before = self._changed()
                try:
                    lock.acquire(timeout=_LOCK_S)
                except Timeout:
                    if self._changed() == before:
                        raise FileError("another mandelcl process is writing to it; try again", self._path) from None
        try:
            yield
        finally:
            lock.release()

    def _changed(self) -> tuple[int, int]:
        """Return what tells one state of the file from the next."""
        with suppress(FileNotFoundError):
            facts = self._path.stat()
            return facts.st_ino, facts.st_mtime_ns
        return 0, 0

    def _write(self, entries: Sequence[Any]) -> None:
        data = json.dumps(entries, indent=1).encode()
        if len(data) > _MOST_BYTES:
            raise InvalidInputError(f"the bookmarks would have more than {_MOST_BYTES} bytes; remove some")
        with replacing(self._path) as tempfile:
            tempfile.write_bytes(data)


def _known(entry: object) -> Bookmark | None:
    """Return an entry of the file as a bookmark, or None if this version does not know it."""
    try:
        return Bookmark(**entry) if isinstance(entry, dict) else None
    except (InvalidInputError, TypeError):
        return None


def data_folder() -> Path:
    """Return the folder that MANDELCL_DATA names, by default the system's folder for user data."""
    import platformdirs

    return Path(os.environ.get("MANDELCL_DATA") or platformdirs.user_data_dir("mandelcl", appauthor=False))


def own_bookmarks() -> Bookmarks:
    """Return the user's bookmarks."""
    return Bookmarks(data_folder() / "bookmarks.json")
