"""Places that the user wants to find again: a file in the user's own folder, replaced as a whole."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mandelcl.errors import FileError, InvalidInputError
from mandelcl.files import own_folder
from mandelcl.files.paths import read_bounded, replacing
from mandelcl.job import Job
from mandelcl.printable import printable
from mandelcl.shading.colour import Colouring

_MOST = 1000
_MOST_NAME = 80
_MOST_BYTES = 1 << 26


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A named job with its colours, both as JSON; raises InvalidInputError where they are none."""

    name: str
    job: str
    colouring: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not 0 < len(self.name.strip()) <= _MOST_NAME:
            raise InvalidInputError(f"a bookmark's name has from 1 to {_MOST_NAME} characters")
        if printable(self.name) != self.name or not isinstance(self.job, str) or not isinstance(self.colouring, str):
            raise InvalidInputError("a bookmark is a name, a job and a colouring, each a text")
        Job.from_json(self.job)
        Colouring.from_json(self.colouring)


class Bookmarks:
    """The bookmarks in a file; what somebody else has put there meanwhile is kept."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> list[Bookmark]:
        """Return them in order; none where the file is not there, and without what is no bookmark."""
        try:
            values = json.loads(read_bounded(self._path, _MOST_BYTES))
        except (FileError, OSError, RecursionError, ValueError):
            return []
        found = []
        for value in values if isinstance(values, list) else []:
            try:
                found.append(Bookmark(**value))
            except (InvalidInputError, TypeError):
                continue
        return found

    def add(self, bookmark: Bookmark) -> None:
        """Keep a bookmark, in the place of one of the same name; raises FileError where the file cannot be written."""
        others = [one for one in self.all() if one.name != bookmark.name]
        if len(others) >= _MOST:
            raise InvalidInputError(f"there are {_MOST} bookmarks; remove some")
        self._write([*others, bookmark])

    def remove(self, name: str) -> None:
        """Forget the bookmark of a name."""
        self._write([one for one in self.all() if one.name != name])

    def lines(self) -> list[dict[str, Any]]:
        """Return them as the page has them."""
        return [{**asdict(one), "colouring": json.loads(one.colouring)} for one in self.all()]

    def _write(self, bookmarks: Sequence[Bookmark]) -> None:
        try:
            own_folder.make(self._path.parent)
        except OSError as error:
            raise FileError(f"cannot make {self._path.parent}: {error.strerror or error}", self._path) from error
        with replacing(self._path) as draft:
            draft.write_text(json.dumps([asdict(one) for one in bookmarks], indent=1), encoding="utf-8")


def own_bookmarks() -> Bookmarks:
    """Return the user's bookmarks."""
    import platformdirs

    return Bookmarks(Path(platformdirs.user_data_dir("mandelcl", appauthor=False)) / "bookmarks.json")
