"""`.kfp` files, the palettes of Kalles Fraktaler, and its `.kfr`, which hold one: blue, green and red of each colour.

That program goes from colour to colour along a half wave of a cosine.
"""

import re
from collections.abc import Iterator

from mandelcl.colour.palette_files.colours import hexadecimal, turn_of
from mandelcl.colour.palettes import MOST_COLOURS, Palette

_LINE = re.compile(r"^(\w+):(.*)$", re.MULTILINE)


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette; raises ValueError or LookupError for another text."""
    values = {key: value.strip() for key, value in _LINE.findall(text)}
    parts = [int(part) for part in values["Colors"].rstrip(",").split(",")]
    if len(parts) > 3 * MOST_COLOURS:
        raise ValueError(f"{len(parts) // 3} colours, of {MOST_COLOURS} at most")
    if len(parts) % 3:
        raise ValueError(f"colours of {len(parts)} parts, which are not three each")
    colours = _period([hexadecimal(*parts[k : k + 3][::-1]) for k in range(0, len(parts), 3)])
    inside = hexadecimal(*_parts(values["InteriorColor"])) if "InteriorColor" in values else "#000000"
    yield Palette(name, "of Kalles Fraktaler", colours, cycle=turn_of(colours), inside=inside, blend="sine")


def _period(colours: list[str]) -> tuple[str, ...]:
    """Return the colours until they repeat: that program fills its table with repetitions."""
    for length in range(1, len(colours)):
        if colours[length:] == colours[:-length]:
            return tuple(colours[:length])
    return tuple(colours)


def _parts(text: str) -> tuple[int, int, int]:
    blue, green, red = (int(part) for part in text.rstrip(",").split(","))
    return red, green, blue
