"""`.ugr` and `.ual` files, the gradients of Ultra Fractal: several entries, each with colours at up to 400 places.

An entry is `NAME { gradient: key=value … opacity: … }`. A colour is one number, R + 256·G + 65536·B, at an index modulo
400. `smooth=yes` means a curve, `smooth=no` straight lines. `rotation` is ignored: it says how far the editor has
rotated the indices, which are already rotated.
"""

import re
from collections.abc import Iterator

from mandelcl.base.text import printable
from mandelcl.colour.palette_files.colours import hexadecimal
from mandelcl.colour.palettes import Palette

_PLACES = 400
_SECTION = re.compile(r"\bgradient:(.*?)(?:\b[a-z]+:\s|\Z)", re.DOTALL)
_PAIR = re.compile(r'(\w{1,32})=("[^"]*"|\S+)')
_REMARK = re.compile(r'("[^"\n]*")|;[^\n]*')


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palettes that have colours. Raises ValueError for invalid numbers."""
    plain = _REMARK.sub(lambda found: found[1] or "", text)
    for piece in plain.split("}")[:-1]:
        before, _, body = piece.rpartition("{")
        section = _SECTION.search(body)
        if section is None:
            continue
        entry = (before.strip().splitlines() or [name])[-1].strip()
        palette = _palette(printable(entry, 100), _PAIR.findall(section[1]))
        if palette is not None:
            yield palette


def _palette(name: str, pairs: list[tuple[str, str]]) -> Palette | None:
    stops: dict[int, str] = {}
    smooth, index, title = False, 0, ""
    for key, value in pairs:
        if key == "index":
            index = int(value) % _PLACES
        elif key == "color":
            number = int(value)
            if not 0 <= number < 1 << 24:
                raise ValueError(f"the colour {value[:40]} is not a 24-bit number")
            stops[index] = hexadecimal(number & 255, number >> 8 & 255, number >> 16)
        elif key == "smooth":
            smooth = value.lower() == "yes"
        elif key == "title":
            title = printable(value.strip('"'), 100)
    if not stops:
        return None
    places = sorted(stops)
    return Palette(
        name,
        title or "of Ultra Fractal",
        tuple(stops[place] for place in places),
        cycle=1.6,
        blend="oklab" if smooth else "linear",
        positions=tuple(place / _PLACES for place in places),
    )
