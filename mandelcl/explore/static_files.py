"""The files of the page: only those in the static folder, read once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

_FOLDER = Path(__file__).with_name("static")
_TYPES = MappingProxyType(
    {
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".svg": "image/svg+xml",
        ".png": "image/png",
        ".json": "application/json",
    }
)
_INDEX = "index.html"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file and its media type."""

    body: bytes
    kind: str


def static_files(folder: Path = _FOLDER) -> Mapping[str, StaticFile]:
    """Return the files of a folder and its subfolders by URL path; `/` is the index.

    Only files of known types are included, and no links.
    """
    found: dict[str, StaticFile] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in _TYPES and path.is_file() and not path.is_symlink():
            found["/" + path.relative_to(folder).as_posix()] = StaticFile(path.read_bytes(), _TYPES[path.suffix])
    if f"/{_INDEX}" in found:
        found["/"] = found[f"/{_INDEX}"]
    return MappingProxyType(found)
