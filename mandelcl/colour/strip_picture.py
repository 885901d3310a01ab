"""A picture of palettes: for each palette its name and a strip with one cycle."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from mandelcl.base.text import printable
from mandelcl.colour.palettes import Palette

_WIDTH, _STRIP, _LINE, _MARGIN, _INSIDE = 1024, 40, 22, 8, 40


def strips(palettes: Sequence[tuple[str, Palette]]) -> npt.NDArray[np.uint8]:
    """Return the picture of some palettes and of the names to show with them, uint8 (height, width, 3).

    The right end of each strip has the colour of the set.
    """
    height = _MARGIN + len(palettes) * (_LINE + _STRIP + _MARGIN)
    image = Image.new("RGB", (_WIDTH, height), "#202020")
    draw = ImageDraw.Draw(image)
    for k, (name, _) in enumerate(palettes):
        top = _MARGIN + k * (_LINE + _STRIP + _MARGIN)
        draw.text((_MARGIN, top + 4), printable(name, 150).encode("latin-1", "replace").decode("latin-1"), "#e0e0e0")
    pixels = np.array(image)
    for k, (_, palette) in enumerate(palettes):
        top = _MARGIN + k * (_LINE + _STRIP + _MARGIN) + _LINE
        *cycle, inside = palette.table()
        right = _WIDTH - _MARGIN - _INSIDE
        places = np.arange(right - _MARGIN) * len(cycle) // (right - _MARGIN)
        pixels[top : top + _STRIP, _MARGIN:right] = np.array(cycle)[places]
        pixels[top : top + _STRIP, right : _WIDTH - _MARGIN] = inside
    return pixels
