"""`.map` files of Fractint and its successors: lines with red, green and blue, each from 0 to 255, and any remark."""

from collections.abc import Iterator

from mandelcl.colour.palette_files.colours import hexadecimal
from mandelcl.colour.palettes import Palette

_MOST = 256


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette, with one colour per count as in these programs. Raises ValueError for an invalid text."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if len(lines) > _MOST:
        raise ValueError(f"{len(lines)} colours, more than the limit of {_MOST}")
    colours = tuple(hexadecimal(*(int(part) for part in line[:3])) for line in lines)
    yield Palette(name, "a Fractint map", colours, cycle=max(1, len(colours)), discrete=True)
