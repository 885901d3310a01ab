"""The colours in a file of mandelcl or of another program, and conversion to and from those of Kalles Fraktaler.

Its palette has 1024 entries. A pixel gets the entry (f(x)/IterDiv + ColorOffset) mod 1024, and f is the function that
`ColorMethod` names (its sources, 2.15). With methods 5 to 8, x is the steepness of the count (`colour.measures`).
Otherwise x is our count plus the difference from `shift_of`.
"""

import math
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np

from mandelcl.base.errors import FileError, InvalidInputError, MandelclError
from mandelcl.base.exact import parse_number
from mandelcl.base.text import printable
from mandelcl.colour.colour import Colouring
from mandelcl.colour.cycles import BEND, BENDS
from mandelcl.colour.palette_files.kalles_fraktaler import read
from mandelcl.core.planes import DISTANCE
from mandelcl.files import loading, places
from mandelcl.files.continuous import shift_of
from mandelcl.files.places import ForeignPlace, kalles_fraktaler, toml

_ENTRIES = 1024
_METHODS: Mapping[int, str] = {0: "linear", 1: "root2", 3: "log", 11: "root4"}
_BY_DISTANCE: Mapping[int, str] = {5: "linear", 6: "root2", 7: "log", 8: "root2"}
_WRITTEN_BY_DISTANCE = {5: "linear", 7: "log", 8: "root2"}
_RADIUS = Fraction(10_000)  # for a location without a radius
_PLAIN_SHADER = "KF_Colour();"

# Other keys that affect colours, with their required values.
_WITHOUT_COUNTERPART = {
    "smooth": ("1", "its colours in steps"),
    "flat": ("0", "its flat colours"),
    "slopes": ("0", "its slopes"),
    "multicolor": ("0", "its waves of colours"),
    "textureenabled": ("0", "its textures"),
    "colorphasestrength": ("0", "its colours by phase"),
    "inversetransition": ("0", "its inverse transitions"),
}


def colouring_of(text: str, place: ForeignPlace) -> tuple[Colouring | None, tuple[str, ...]]:
    """Return the colouring in the `.kfr` of a location, or None, and sentences on what was left out."""
    values = kalles_fraktaler.values_of(text)
    if not values.get("colors"):
        return None, ()
    notes = [
        f"{what} are left out because they have no counterpart here"
        for what in kalles_fraktaler.unusual(values, _WITHOUT_COUNTERPART)
    ]
    if values.get("useopengl") == "1" and _PLAIN_SHADER not in values.get("glsl", _PLAIN_SHADER).replace("\\", ""):
        notes.append("its colours by a shader (glsl) are left out because they have no counterpart here")
    try:
        return _laid(values, place, notes), tuple(notes)
    except (ArithmeticError, LookupError, TypeError, ValueError, InvalidInputError) as error:
        return None, (f"its colours cannot be read ({type(error).__name__}: {printable(str(error), 100)})",)


def lines_of(colouring: Colouring, place: ForeignPlace) -> tuple[str, tuple[str, ...]]:
    """Return a colouring as lines for the `.kfr` of a location, and sentences on what Kalles Fraktaler lacks.

    Offsets are rounded to 1/1024 of a cycle.
    """
    notes = [f"its {effect.name} is left out because it has no counterpart there" for effect in colouring.effects]
    if colouring.equalise is not None:
        notes.append("its equalisation is left out because it has no counterpart there")
    if colouring.height is not None:
        notes.append("it is a height map, which has no counterpart there; its palette is written instead")
    palette, transfer, cycle = colouring.palette, colouring.bend, colouring.cycle_length
    colours = list(palette.colours)
    if palette.smooth and (palette.blend != "sine" or palette.positions or len(colours) > _ENTRIES):
        values = (palette.values(_ENTRIES) * 255).round().astype(int).tolist()
        colours = [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in values]
    elif len(colours) > _ENTRIES:
        notes.append(f"its palette has more than {_ENTRIES} colours; only the first {_ENTRIES} are written")
        cycle, colours = cycle * _ENTRIES / len(colours), colours[:_ENTRIES]
    methods = _METHODS if colouring.by != DISTANCE.name else _WRITTEN_BY_DISTANCE
    method = next((number for number, name in methods.items() if name == transfer), None)
    if colouring.by not in (None, DISTANCE.name) or method is None:
        notes.append(f"its colours by {colouring.by} have no counterpart there: they are written as by the count")
        method, cycle = 11, palette.cycle
    start = colouring.offset - (0 if methods is not _METHODS else _start(transfer, cycle, place, palette.smooth))
    lines = {
        "IterDiv": repr(cycle / _ENTRIES),
        "ColorMethod": str(method),
        "ColorOffset": str(round(start * _ENTRIES) % _ENTRIES),
        "Colors": ",".join(_parts(colour) for colour in colours) + ",",
        "InteriorColor": _parts(palette.inside) + ",",
        "Smooth": "1" if palette.smooth else "0",
        "Flat": "0",
        "MultiColor": "0",
        "Slopes": "0",
    }
    return "".join(f"{key}: {value}\r\n" for key, value in lines.items()), tuple(notes)


def _laid(values: Mapping[str, str], place: ForeignPlace, notes: list[str]) -> Colouring:
    """Return the colouring with the palette and mapping that the values describe."""
    inside = {"InteriorColor": values["interiorcolor"]} if values.get("interiorcolor") else {}
    lines = {"Colors": values["colors"]} | inside
    palette = next(read("".join(f"{key}: {value}\n" for key, value in lines.items()), "of a .kfr"))
    # A repeating palette is read as one period, which has fewer entries.
    entries = _ENTRIES * len(palette.colours) / len(values["colors"].rstrip(",").split(",")) * 3
    offset = float(parse_number(values.get("coloroffset") or "0", "ColorOffset")) / entries
    method = int(values.get("colormethod") or "0")
    transfer = _METHODS.get(method)
    if method in _BY_DISTANCE:
        if method == 6:
            notes.append("where it is steeper than IterDiv, its colours go by the count, which is left out")
        cycle = _cycle(values, entries)
        return Colouring(palette, cycle, offset % 1, transfer=_BY_DISTANCE[method], by=DISTANCE.name)
    if transfer is None:
        notes.append(f"its colour method (colormethod: {method}) is unknown here; the default is used")
        return Colouring(palette, offset=offset % 1)
    cycle = _cycle(values, entries)
    return Colouring(palette, cycle, (offset + _start(transfer, cycle, place, smooth=True)) % 1, transfer=transfer)


def _cycle(values: Mapping[str, str], entries: float) -> float:
    """Return the length of a cycle of this many entries. Raises ValueError if it is not a length."""
    cycle = float(parse_number(values.get("iterdiv") or "1", "IterDiv")) * entries
    if not 0 < cycle < math.inf:
        raise ValueError(f"IterDiv is {cycle}")
    return cycle


def _start(transfer: str, cycle: float, place: ForeignPlace, smooth: bool) -> float:
    """Return by which fraction of a cycle that program is ahead of ours, which begins at the count 0.

    With a bent count, ours begins with 8 added, and that program's with `shift_of`. They agree far from 0.
    """
    if transfer != "linear":
        return float(BENDS[transfer](np.array(BEND))) / cycle
    return shift_of(place.formula, place.radius or _RADIUS) / cycle if smooth else 0.0


def _parts(colour: str) -> str:
    """Return the blue, green and red parts of a colour."""
    return ",".join(str(part) for part in bytes.fromhex(colour[1:])[::-1])


def read_colouring(path: str | Path) -> tuple[Colouring | None, tuple[str, ...]]:
    """Return the colouring in a picture of mandelcl or a file of Kalles Fraktaler, and sentences on what is left out.

    The colouring is None if there is none. Raises FileError for a file that cannot be read at all, and
    InvalidInputError for a mandelcl file with an invalid colouring.
    """
    remembered = loading.read_colouring(path)
    if remembered is not None:
        return Colouring.from_json(remembered), ()
    text = None
    with suppress(FileError):
        text = places.read_text(path)
    if text is None:
        return None, ()
    try:
        if toml.values_of(text) is not None:
            return None, ()
        place = places.place_in(text)
    except MandelclError:  # code that needs the location reports its errors
        return None, ()
    return colouring_of(text, place)
