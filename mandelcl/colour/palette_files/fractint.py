"""`.map` files, as Fractint and its heirs have them: red, green and blue a line, each from 0 to 255, and any remark."""

from collections.abc import Iterator

from mandelcl.colour.palette_files.colours import hexadecimal
from mandelcl.colour.palettes import Palette

_MOST = 256


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette: a colour a count, as these programs show them. Raises ValueError for another text."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if len(lines) > _MOST:
        raise ValueError(f"{len(lines)} colours, of {_MOST} at most")
    colours = tuple(hexadecimal(*(int(part) for part in line[:3])) for line in lines)
    yield Palette(name, "a Fractint map", colours, cycle=max(1, len(colours)), discrete=True)
