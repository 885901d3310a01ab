"""Places in other programs' files: what they say of a view, and the same written.

Kalles Fraktaler writes its text into pictures, too, and so does Fraktaler-3. No file is trusted: it is read up to a
size, and what it says is looked at as text. To add a program: a module with `read` and, where it is written, `write`,
and its line in `WRITERS`.
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

# Files that hold nothing but a place, and what writes them.
SUFFIXES = (".kfr", ".toml")
WRITERS: Mapping[str, Callable[[ForeignPlace], str]] = MappingProxyType(
    {".kfr": kalles_fraktaler.write, ".toml": fraktaler_3.write}
)


def is_place_file(path: str | Path) -> bool:
    """Whether a file's name says that it holds a place, and no job of mandelcl's."""
    return Path(path).suffix.lower() in SUFFIXES


def read_place(path: str | Path) -> ForeignPlace:
    """Return the place in a file of another program, or in a picture that it wrote.

    Raises FileError or InvalidInputError for a file that has none, or one that cannot be drawn.
    """
    with one_line("cannot read", path):
        text = read_text(path)
        if text is None:
            raise FileError("a picture in which no program has noted a place")
        return place_in(text)


def read_text(path: str | Path) -> str | None:
    """Return the text of the place in a file of another program, or in a picture; None for a picture without one.

    Raises FileError for another file, or a damaged one.
    """
    with one_line("cannot read", path):
        place = target(path)
        if is_place_file(path):
            return text_of(read_bounded(place, _MOST_BYTES))
        require_readable(place)
        with place.open("rb") as file:
            return text_in(file)


def text_in(file: BinaryIO) -> str | None:
    """Return the text with a place that another program has put into a picture; None where there is none."""
    return pictures.text_in(file)


def place_in(text: str) -> ForeignPlace:
    """Return the place that a text describes, in whichever form; raises FileError or InvalidInputError."""
    values = toml.values_of(text)
    if values is None:
        return kalles_fraktaler.read(text)
    if rust_fractal.recognises(values):
        return rust_fractal.read(values)
    if not isinstance(values.get("location"), dict):
        raise FileError("it is no place of Fraktaler-3 or rust-fractal: it has neither `location` nor `real`")
    return fraktaler_3.read(values)


def write_place(path: str | Path, place: ForeignPlace) -> str:
    """Return a place as the text of a file with that path's suffix; raises FileError where there is no such format."""
    try:
        writer = WRITERS[Path(path).suffix.lower()]
    except KeyError:
        raise FileError(f"cannot write {path}: a place is written as {' or '.join(WRITERS)}", path) from None
    return writer(place)
