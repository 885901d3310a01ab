"""`.kfp` files, the palettes of Kalles Fraktaler, and palettes in its `.kfr`: blue, green and red of each colour.

Kalles Fraktaler interpolates between colours along a half wave of a cosine.
"""

import re
from collections.abc import Iterator

from mandelcl.colour.palette_files.colours import cycle_of, hexadecimal
from mandelcl.colour.palettes import MOST_COLOURS, Palette

_LINE = re.compile(r"^(\w+):(.*)$", re.MULTILINE)


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette. Raises ValueError or LookupError for an invalid text."""
    values = {key: value.strip() for key, value in _LINE.findall(text)}
    parts = [int(part) for part in values["Colors"].rstrip(",").split(",")]
    if len(parts) > 3 * MOST_COLOURS:
        raise ValueError(f"{len(parts) // 3} colours, more than the limit of {MOST_COLOURS}")
    if len(parts) % 3:
        raise ValueError(f"{len(parts)} parts, which is not a multiple of three")
    colours = _period([hexadecimal(*parts[k : k + 3][::-1]) for k in range(0, len(parts), 3)])
    inside = hexadecimal(*_parts(values["InteriorColor"])) if "InteriorColor" in values else "#000000"
    yield Palette(name, "of Kalles Fraktaler", colours, cycle=cycle_of(colours), inside=inside, blend="sine")


def _period(colours: list[str]) -> tuple[str, ...]:
    """Return the colours of one period, because Kalles Fraktaler fills its table with repetitions."""
    for length in range(1, len(colours)):
        if colours[length:] == colours[:-length]:
            return tuple(colours[:length])
    return tuple(colours)


def _parts(text: str) -> tuple[int, int, int]:
    blue, green, red = (int(part) for part in text.rstrip(",").split(","))
    return red, green, blue
