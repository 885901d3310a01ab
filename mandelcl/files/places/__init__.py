"""Locations in other programs' files, read and written.

Kalles Fraktaler and Fraktaler-3 store the text of a location in pictures as well. Files are not trusted: they are read
up to a maximum size, and their contents are handled as text. To add a program, write a module with `read` and, if it
is written, `write`, and add its line in `WRITERS`.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from mandelcl.base.errors import FileError
from mandelcl.files.paths import one_line, read_bounded, require_readable, target, text_of
from mandelcl.files.places import fraktaler_3, kalles_fraktaler, pictures, rust_fractal, toml
from mandelcl.files.places.place import ForeignPlace, Orientation

__all__ = ["SUFFIXES", "WRITERS", "ForeignPlace", "Orientation", "is_place_file", "read_place", "write_place"]

_MOST_BYTES = 1 << 20

# Suffixes of files that hold only a location, with their writers.
SUFFIXES = (".kfr", ".toml")
WRITERS: Mapping[str, Callable[[ForeignPlace], str]] = MappingProxyType(
    {".kfr": kalles_fraktaler.write, ".toml": fraktaler_3.write}
)


def is_place_file(path: str | Path) -> bool:
    """Return whether a file's suffix is that of a location file rather than of a mandelcl job."""
    return Path(path).suffix.lower() in SUFFIXES


def read_place(path: str | Path) -> ForeignPlace:
    """Return the location in a file of another program, or in a picture that it wrote.

    Raises FileError or InvalidInputError for a file without a location, or with one that cannot be drawn.
    """
    with one_line("cannot read", path):
        text = read_text(path)
        if text is None:
            raise FileError("a picture without a location")
        return place_in(text)


def read_text(path: str | Path) -> str | None:
    """Return the text of the location in a file of another program or in a picture; None for a picture without one.

    Raises FileError for other or damaged files.
    """
    with one_line("cannot read", path):
        place = target(path)
        if is_place_file(path):
            return text_of(read_bounded(place, _MOST_BYTES))
        require_readable(place)
        with place.open("rb") as file:
            return text_in(file)


def text_in(file: BinaryIO) -> str | None:
    """Return the text of the location that another program has stored in a picture, or None."""
    return pictures.text_in(file)


def place_in(text: str) -> ForeignPlace:
    """Return the location that a text in any of the formats describes. Raises FileError or InvalidInputError."""
    values = toml.values_of(text)
    if values is None:
        return kalles_fraktaler.read(text)
    if rust_fractal.recognises(values):
        return rust_fractal.read(values)
    if not isinstance(values.get("location"), dict):
        raise FileError("not a location of Fraktaler-3 or rust-fractal: it has neither `location` nor `real`")
    return fraktaler_3.read(values)


def write_place(path: str | Path, place: ForeignPlace) -> str:
    """Return a location as the text of a file with this path's suffix. Raises FileError for other suffixes."""
    try:
        writer = WRITERS[Path(path).suffix.lower()]
    except KeyError:
        raise FileError(f"cannot write {path}: the suffix of a location must be {' or '.join(WRITERS)}", path) from None
    return writer(place)
