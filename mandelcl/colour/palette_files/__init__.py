"""Palettes from files, from a library, and from lists of colours: one reader per kind of file.

Files are not trusted: they are read up to a maximum size, and their contents are handled as text. To add a kind, write
a module with `read(text, name)`, which yields its palettes, and add a line in `READERS`.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.text import printable, quoted
from mandelcl.colour.palettes import Palette
from mandelcl.files.paths import one_line, require_readable, target, text_of

LIBRARY = "cmap:"
MOST_BYTES = 1 << 22
MOST_ENTRIES = 4096
_SHOWN = 8  # names of entries shown in a message

# The module that reads files with each suffix.
READERS: Mapping[str, str] = MappingProxyType(
    {
        ".map": "fractint",
        ".ugr": "ultrafractal",
        ".ual": "ultrafractal",
        ".gpl": "gimp_palette",
        ".ggr": "gimp_gradient",
        ".kfp": "kalles_fraktaler",
        ".txt": "hexadecimal",
        ".hex": "hexadecimal",
        ".css": "hexadecimal",
        ".json": "described",
    }
)


def palette_of(text: str) -> Palette | None:
    """Return the palette that a text names, or None for other texts.

    The text is FILE, FILE#ENTRY, cmap:NAME, a list of colours, or a JSON object such as pictures store for their
    palette.

    Raises FileError or InvalidInputError, with a one-line message.
    """
    if text.startswith(LIBRARY):
        from mandelcl.colour.palette_files import library

        return library.palette(text.removeprefix(LIBRARY))
    if text.startswith("{"):
        return _described(text)
    path, _, entry = text.rpartition("#")
    if path and suffix_of(path) in READERS:
        return _entry(path, entry)
    if suffix_of(text) in READERS:
        return palettes_in(text)[0]
    if text.startswith("#") or "," in text:
        from mandelcl.colour.palette_files import hexadecimal

        try:
            return next(hexadecimal.read(text, "colours"))
        except ValueError as error:
            raise InvalidInputError(str(error)) from error
    return None


def _described(text: str) -> Palette:
    """Return the palette in a JSON object. Raises InvalidInputError for any other text."""
    from mandelcl.colour.palette_files import described

    try:
        return next(described.read(text, "colours"))
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInputError(f"not a palette: {type(error).__name__}: {printable(str(error), 100)}") from error


def palettes_in(path: str) -> Sequence[Palette]:
    """Return the palettes in a file, at least one. Raises FileError if it cannot be read or has none."""
    with one_line("cannot read", path):
        place = target(path)
        require_readable(place)
        with place.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise FileError(f"a palette file must have at most {MOST_BYTES >> 20} MiB")
        found = list(islice(_read(suffix_of(path), data, place.stem), MOST_ENTRIES))
        if not found:
            raise FileError("it has no palette")
        return found


def _read(suffix: str, data: bytes, name: str) -> Iterator[Palette]:
    """Yield the palettes in the bytes of a file. Raises FileError if they are invalid."""
    reader = importlib.import_module(f"mandelcl.colour.palette_files.{READERS[suffix]}")
    try:
        yield from reader.read(text_of(data), printable(name, 100))
    except (ArithmeticError, LookupError, RecursionError, SyntaxError, TypeError, ValueError) as error:
        kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
        why = f"{kind}{printable(str(error), 100)}"
        raise FileError(f"not a valid {suffix} palette ({why})") from error


def _entry(path: str, entry: str) -> Palette:
    found = palettes_in(path)
    for palette in found:
        if palette.name == entry:
            return palette
    names = ", ".join(printable(palette.name, 40) for palette in found[:_SHOWN])
    more = ", …" if len(found) > _SHOWN else ""
    raise InvalidInputError(f"{path} has no palette {quoted(entry)}; its palettes are {names}{more}")


def suffix_of(path: str) -> str:
    """Return the suffix of a file's name, which selects the reader."""
    return Path(path).suffix.lower()
