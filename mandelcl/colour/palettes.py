"""The palettes: closed cycles of colours. Smooth ones are perceptually even."""

import json
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import InvalidInputError, require_type
from mandelcl.base.names import matching, unknown
from mandelcl.base.text import quoted
from mandelcl.colour.blending import as_bytes, cycle_of


@dataclass(frozen=True, slots=True)
class ColourMap:
    """A colour map by its colours at equal distances; whether it closes, and a sentence on it with its licence."""

    about: str
    closed: bool
    colours: tuple[str, ...]

    def cycle(self) -> tuple[str, ...]:
        """Return the colours of one cycle. A map that is not closed runs there and back."""
        return self.colours if self.closed else mirrored(self.colours)


def mirrored(colours: tuple[str, ...]) -> tuple[str, ...]:
    """Return colours there and back, each end once."""
    return colours + colours[-2:0:-1]


def colour_maps() -> Mapping[str, ColourMap]:
    """Return the maps by name."""
    text = Path(__file__).with_name("maps.json").read_text(encoding="utf-8")
    return {
        name: ColourMap(values["about"], values["closed"], tuple(f"#{colour}" for colour in values["colours"].split()))
        for name, values in json.loads(text).items()
    }


TABLE_SIZE = 4096
MOST_COLOURS = 4096
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")

# How colours are blended: "even" takes even steps in OKLab along a curve through the colours, and "oklab" follows the
# same curve at given positions. "linear" and "sine" use straight lines and half waves of a cosine, in sRGB.
BLENDS = ("even", "oklab", "linear", "sine")


@dataclass(frozen=True, slots=True)
class Palette:
    """A closed cycle of colours.

    `colours` are sRGB in hexadecimal (`"#03071e"`). A discrete palette shows them unchanged: colour[n mod size] for the
    count n. A smooth palette passes through them in OKLab at constant speed, and returns to the first. If `blend` is
    one of `BLENDS` other than "even", each colour has a place in the cycle, ascending in [0, 1): `positions`, or equal
    distances without these. `cycle` is the default length of a cycle: in counts for a discrete palette, and in units of
    (8 + count)^(1/4) for a smooth one. `inside` is the colour of the set. Raises InvalidInputError for invalid or too
    many colours, an invalid cycle, and invalid positions.
    """

    name: str
    description: str
    colours: tuple[str, ...]
    cycle: float
    discrete: bool = False
    inside: str = "#000000"
    blend: str = "even"
    positions: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        require_type(self.colours, (tuple, list), "a palette's colours")
        object.__setattr__(self, "colours", tuple(self.colours))
        if not self.colours:
            raise InvalidInputError("a palette needs at least one colour")
        if len(self.colours) > MOST_COLOURS:
            raise InvalidInputError(f"a palette has at most {MOST_COLOURS} colours, not {len(self.colours)}")
        for colour in (*self.colours, self.inside):
            if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
                raise InvalidInputError(f"{colour!r} is not a colour; write it like #03071e")
        require_type(self.cycle, (int, float), "a palette's cycle")
        if not 0 < self.cycle <= sys.float_info.max:
            raise InvalidInputError(f"a palette's cycle must be a length above 0, not {quoted(self.cycle)}")
        if self.blend not in BLENDS:
            raise InvalidInputError(f"unknown blend {quoted(self.blend)}; use one of {', '.join(BLENDS)}")
        self._check_positions()

    def _check_positions(self) -> None:
        require_type(self.positions, (tuple, list), "a palette's positions")
        object.__setattr__(self, "positions", tuple(self.positions))
        if not self.positions:
            return
        for position in self.positions:
            require_type(position, (int, float), "a colour's position")
        if self.discrete or self.blend == "even":
            raise InvalidInputError("positions need a palette that is not discrete, with a blend other than even")
        steps = [*self.positions, self.positions[0] + 1]
        ascending = all(left < right for left, right in pairwise(steps))
        if len(self.positions) != len(self.colours) or not (steps[0] >= 0 and steps[-2] < 1 and ascending):
            raise InvalidInputError("a palette needs one position per colour, in ascending order, from 0 to below 1")

    @property
    def smooth(self) -> bool:
        """Whether the palette uses the field's smooth fractions."""
        return not self.discrete

    def table(self) -> npt.NDArray[np.uint8]:
        """Return the sRGB colours of one cycle and, last, the inside colour: uint8 (size + 1, 3), read-only.

        A cycle is the colours themselves for a discrete palette, and TABLE_SIZE colours for a smooth one.
        """
        return _table(self)

    def values(self, size: int) -> npt.NDArray[np.float64]:
        """Return the sRGB values, 0 to 1, of one cycle in `size` places, or of a discrete palette's colours."""
        colours = _rgb(*self.colours)
        return colours / 255 if self.discrete else cycle_of(colours, self.blend, self.positions, size)

    def to_json(self) -> str | dict[str, Any]:
        """Return a value for `from_json`: the name of a built-in palette, or all fields of another."""
        if PALETTES.get(self.name) == self:
            return self.name
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_json(cls, values: Any) -> "Palette":
        """Parse the output of `to_json`. Raises InvalidInputError for anything else."""
        if isinstance(values, str):
            return listed_palette(values)
        names = {field.name for field in fields(cls)}
        if not isinstance(values, dict) or not {"colours", "cycle"} <= set(values) <= names:
            raise InvalidInputError(f"not a palette: {quoted(values)}")
        for name in ("name", "description", "inside", "blend"):
            require_type(values.setdefault(name, _DEFAULTS[name]), str, f"a palette's {name}")
        require_type(values.get("discrete", False), bool, "whether a palette is discrete")
        return cls(**values)


# The coursework's own table, `mapping[16]`.
_COURSEWORK = (
    *("#421e0f", "#19071a", "#09012f", "#040449", "#000764", "#0c2c8a", "#1852b1", "#397dd1"),
    *("#86b5e5", "#d3ecf8", "#f1e9bf", "#f8c95f", "#ffaa00", "#cc8000", "#995700", "#6a3403"),
)

_ALL = (
    Palette(
        "coursework",
        "the 16 colours of the published CUDA coursework, one per count",
        _COURSEWORK,
        cycle=16,
        discrete=True,
    ),
    Palette(
        "classic",
        "midnight blue, azure, white, gold and rust",
        ("#050a24", "#123f8c", "#4a9fd8", "#f2f6ee", "#f2b134", "#a4480f", "#2a0d14"),
        cycle=1.6,
    ),
    Palette(
        "ember",
        "coals: black, deep red, orange, pale flame",
        ("#090205", "#5a0a12", "#c62f0b", "#f79a1b", "#ffeeb0", "#e8742a", "#7a1730"),
        cycle=1.6,
    ),
    Palette(
        "ice",
        "polar night, teal, pale cyan, snow and slate",
        ("#040d1a", "#0b3a55", "#1f8a9c", "#a8e3e0", "#f7fbfb", "#8fb0cf", "#34496f"),
        cycle=1.6,
    ),
    Palette(
        "forest",
        "dark pine, moss, spring leaf, cream and bark",
        ("#06120c", "#17462a", "#5a8f2f", "#c9d86a", "#f6f0cf", "#b5793a", "#46260f"),
        cycle=1.6,
    ),
    Palette(
        "silver",
        "black to white and back, like a photograph",
        ("#08090b", "#7d8086", "#f7f6f2", "#7f7d7b"),
        cycle=1.2,
    ),
    Palette(
        "grey",
        "black to white and back, without any tint",
        ("#080808", "#ffffff"),
        cycle=1.2,
    ),
    Palette(
        "spectrum",
        "every hue, vivid, dark and light in turn",
        ("#140a3c", "#2a5fe0", "#b4f0f4", "#12805a", "#b8e02e", "#fff7b0", "#f58a12", "#8c1022", "#f05c9c", "#5a1a8c"),
        cycle=2.2,
    ),
    Palette(
        "aurora",
        "night sky, green and turquoise curtains, a violet edge",
        ("#050716", "#0c3b4a", "#14a37f", "#a8f0b0", "#5fb3e0", "#6a3fb5", "#1f0f45"),
        cycle=1.6,
    ),
    Palette(
        "dusk",
        "indigo, plum, rose, peach and cream",
        ("#0d0a26", "#4a1f63", "#b33b7a", "#f28c79", "#fde8c4", "#9fa3cf", "#33407a"),
        cycle=1.6,
    ),
    Palette(
        "parchment",
        "sepia ink on old paper: light, with dark lines",
        ("#f6ecd4", "#d9b98a", "#8c5a32", "#2e1a12", "#8a6f56", "#e6d8ba"),
        cycle=1.4,
        inside="#1c100b",
    ),
)

_DEFAULTS = {
    "name": "palette",
    "description": "",
    "inside": "#000000",
    "blend": "even",
}  # for fields that files leave out
_MAPS = tuple(Palette(name, found.about, found.cycle(), cycle=1.6) for name, found in colour_maps().items())
PALETTES: Mapping[str, Palette] = MappingProxyType({palette.name: palette for palette in (*_ALL, *_MAPS)})


def listed_palette(name: str) -> Palette:
    """Return the built-in palette of this name. If there is none, raises InvalidInputError with the known names."""
    try:
        return PALETTES[name]
    except KeyError:
        hint = "`mandelcl palettes` lists them, and `mandelcl palettes cmap:` those of the library cmap, as cmap:NAME"
        raise unknown("palette", name, PALETTES, hint) from None


def find_palette(name: str) -> Palette:
    """Return the palette that a text names: built-in, from a file or a library, or a list of colours.

    Examples: "ice", "sunset.ugr", "sunset.ugr#NAME", "cmap:viridis", "#03071e,#ffba08". Raises InvalidInputError for
    other texts, and FileError for a file that is not a palette.
    """
    require_type(name, str, "a palette's name")
    if name in PALETTES:
        return PALETTES[name]
    from mandelcl.colour import palette_files  # imported here because few renders need them

    return palette_files.palette_of(name) or listed_palette(matching(name, PALETTES) or name)


def read_colour(text: str) -> str:
    """Return a colour in the notation of a `Palette`, like #03071e.

    The text has these digits with or without #, or is a CSS name or function. Raises InvalidInputError for anything
    else.
    """
    if _COLOUR.fullmatch(f"#{text}"):
        return f"#{text.lower()}"
    from PIL import ImageColor

    with suppress(ValueError):
        values = ImageColor.getrgb(text)
        if len(values) == 3:
            return "#" + bytes(values).hex()
    clear = "; --transparent-inside makes the set transparent" if text.casefold() in ("transparent", "none") else ""
    raise InvalidInputError(f"{text[:40]!r} is not a colour; write it like 03071e or white{clear}")


@cache
def _table(palette: Palette) -> npt.NDArray[np.uint8]:
    colours = _rgb(*palette.colours)
    cycle = colours if palette.discrete else as_bytes(cycle_of(colours, palette.blend, palette.positions, TABLE_SIZE))
    table = np.vstack([cycle, _rgb(palette.inside)])
    table.flags.writeable = False  # shared by all callers
    return table


def _rgb(*colours: str) -> npt.NDArray[np.uint8]:
    return np.array([list(bytes.fromhex(colour[1:])) for colour in colours], dtype=np.uint8)
