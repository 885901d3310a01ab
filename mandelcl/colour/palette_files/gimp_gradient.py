"""`.ggr` files, GIMP's gradients. Their segments have different curves, so they are sampled; open ones are mirrored."""

import io
from collections.abc import Iterator

from PIL import GimpGradientFile

from mandelcl.base.text import printable
from mandelcl.colour.palette_files.colours import hexadecimal
from mandelcl.colour.palettes import Palette

_ENTRIES = 256


def read(text: str, name: str) -> Iterator[Palette]:
    """Yield the palette. Raises ValueError, or the errors of Pillow's reader, for an invalid text."""
    title = text.partition("\n")[2].partition("\n")[0]
    if title.startswith("Name:"):
        name = printable(title.removeprefix("Name:").strip(), 100)
    gradient = GimpGradientFile.GimpGradientFile(io.BytesIO(text.encode()))
    data = gradient.getpalette(_ENTRIES)[0]
    colours = [hexadecimal(*data[4 * k : 4 * k + 3]) for k in range(_ENTRIES)]
    # A gradient that does not end where it begins is mirrored.
    if colours[0] != colours[-1]:
        colours += colours[-2:0:-1]
    yield Palette(name, "a GIMP gradient", tuple(colours), cycle=1.6, blend="linear")
