"""`.gpl` files, the palettes of GIMP, Inkscape and XaoS: red, green and blue a line, and perhaps the colour's name."""

from collections.abc import Iterator

from mandelcl.base.text import printable
from mandelcl.colour.palette_files.colours import hexadecimal, turn_of
from mandelcl.colour.palettes import Palette


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette; raises ValueError for another text."""
    first, *lines = text.splitlines() or [""]
    if first.strip() != "GIMP Palette":
        raise ValueError("it does not begin with 'GIMP Palette'")
    colours = []
    for line in lines:
        if line.startswith("Name:"):
            name = printable(line.removeprefix("Name:").strip(), 100)
        elif line.strip() and not line.startswith(("Columns:", "#")):
            red, green, blue = line.split()[:3]
            colours.append(hexadecimal(int(red), int(green), int(blue)))
    yield Palette(name, "a GIMP palette", tuple(colours), cycle=turn_of(colours))
