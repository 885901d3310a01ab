"""The colour maps of the library `cmap` (from the extra `palettes`), by name."""

from collections.abc import Sequence
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.extras import load
from mandelcl.base.text import quoted
from mandelcl.colour.palette_files.colours import cycle_of
from mandelcl.colour.palettes import Palette

_ENTRIES = 128


def palette(name: str) -> Palette:
    """Return the palette of a colour map. Discrete maps are used as they are; non-cyclic maps are mirrored.

    Raises InvalidInputError for a name that the library does not know, or if it is not installed.
    """
    cmap = _library()
    try:
        found = cmap.Colormap(name)
    except Exception as error:  # the library parses many kinds of names, and may raise anything for malformed ones
        hint = "`mandelcl palettes cmap:` lists those that it has"
        raise InvalidInputError(f"the library cmap has no colour map {quoted(name)}; {hint}") from error
    if found.interpolation == "nearest":
        colours = [stop.color.hex[:7] for stop in found.color_stops]
        return Palette(f"cmap:{name}", found.name, tuple(colours), cycle=max(1, len(colours)), discrete=True)
    cyclic = found.category == "cyclic"
    places = [k / _ENTRIES if cyclic else k / (_ENTRIES - 1) for k in range(_ENTRIES)]
    colours = [found(place).hex[:7] for place in places]
    if not cyclic:
        colours += colours[-2:0:-1]
    return Palette(f"cmap:{name}", found.name, tuple(colours), cycle=cycle_of(colours[:7]), blend="linear")


def names() -> Sequence[str]:
    """Return the names of all colour maps. Raises InvalidInputError if the library is not installed."""
    return sorted(_library().Catalog().unique_keys())


def _library() -> Any:
    """Import and return the library. Raises InvalidInputError if it is not installed."""
    return load("cmap", "cmap:NAME needs the library cmap", "palettes", InvalidInputError)
