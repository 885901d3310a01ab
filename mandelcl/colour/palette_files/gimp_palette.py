"""`.gpl` files, palettes of GIMP, Inkscape and XaoS: lines with red, green and blue, and optionally a name."""

from collections.abc import Iterator

from mandelcl.base.text import printable
from mandelcl.colour.palette_files.colours import cycle_of, hexadecimal
from mandelcl.colour.palettes import Palette


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette. Raises ValueError for an invalid text."""
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
    yield Palette(name, "a GIMP palette", tuple(colours), cycle=cycle_of(colours))
