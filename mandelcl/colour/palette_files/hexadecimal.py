"""Lists of colours like `#03071e`, `03071e` or `gold`, separated by anything that is neither a letter nor a digit."""

import re
from collections.abc import Iterator

from mandelcl.base.errors import InvalidInputError
from mandelcl.colour.palette_files.colours import cycle_of
from mandelcl.colour.palettes import Palette, mirrored, read_colour

_COLOUR = re.compile(r"(?<![0-9A-Za-z])#?([0-9a-fA-F]{6})(?![0-9A-Za-z])")
_SHORT = 5  # colours of a list that is mirrored
_WORD = re.compile(r"#?[0-9A-Za-z]+")
_REMARK = re.compile(r"^[ \t]*(;|//).*$", re.MULTILINE)


def closed(colours: tuple[str, ...]) -> tuple[str, ...]:
    """Return the colours of a cycle: a short list there and back, unless it is closed already.

    From the last colour of a few to the first one the way is long, and mostly grey.
    """
    back = colours[1:] == colours[:0:-1] or colours[:1] == colours[-1:]
    return colours if back or len(colours) > _SHORT else mirrored(colours)


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette. Raises ValueError for a word that is not a colour."""
    words = _WORD.findall(_REMARK.sub("", text))
    colours = closed(tuple(_colour(word) for word in words))
    yield Palette(name, "a list of colours", colours, cycle=cycle_of(colours))


def _colour(word: str) -> str:
    """Return a colour as a `Palette` has it, of digits or a CSS name. Raises ValueError for another word."""
    if _COLOUR.fullmatch(word):
        return f"#{word.lstrip('#').lower()}"
    try:
        return read_colour(word)
    except InvalidInputError as error:
        raise ValueError(str(error)) from error
