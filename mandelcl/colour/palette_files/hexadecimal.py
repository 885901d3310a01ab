"""Lists of colours like `#03071e` or `03071e`, separated by anything that is neither a letter nor a digit."""

import re
from collections.abc import Iterator

from mandelcl.colour.palette_files.colours import turn_of
from mandelcl.colour.palettes import Palette

_COLOUR = re.compile(r"(?<![0-9A-Za-z])#?([0-9a-fA-F]{6})(?![0-9A-Za-z])")
_WORD = re.compile(r"#?[0-9A-Za-z]+")
_REMARK = re.compile(r"^[ \t]*(;|//).*$", re.MULTILINE)


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette. Raises ValueError for a word that is not a colour."""
    words = _WORD.findall(_REMARK.sub("", text))
    for word in words:
        if not _COLOUR.fullmatch(word):
            raise ValueError(f"{word[:40]} is not a colour like #03071e")
    colours = tuple(f"#{word.lstrip('#').lower()}" for word in words)
    yield Palette(name, "a list of colours", colours, cycle=turn_of(colours))
