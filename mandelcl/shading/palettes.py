"""The palettes: closed cycles of colours, perceptually even where they are smooth."""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from mandelcl.errors import InvalidInputError, require_type
from mandelcl.printable import quoted

TABLE_SIZE = 4096
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")

# Linear sRGB to OKLab (Björn Ottosson, "A perceptual color space for image processing", 2020, as corrected 2021).
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


@dataclass(frozen=True, slots=True)
class Palette:
    """A closed cycle of colours.

    `colours` are sRGB hexadecimal (`"#03071e"`). A discrete palette shows them as they are, colour[n mod size]
    for the count n. A smooth one passes through them in OKLab, at constant speed, and returns to the first.
    `cycle` is the default length of a turn: for a discrete palette in counts, for a smooth one in units of
    (8 + count)^(1/4). `inside` is the colour of the set. Raises InvalidInputError for colours that are none, or for a
    cycle that is no length.
    """

    name: str
    description: str
    colours: tuple[str, ...]
    cycle: float
    discrete: bool = False
    inside: str = "#000000"

    def __post_init__(self) -> None:
        require_type(self.colours, (tuple, list), "a palette's colours")
        object.__setattr__(self, "colours", tuple(self.colours))
        if not self.colours:
            raise InvalidInputError("a palette needs at least one colour")
        for colour in (*self.colours, self.inside):
            if not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
                raise InvalidInputError(f"{colour!r} is not a colour; write it like #03071e")
        require_type(self.cycle, (int, float), "a palette's cycle")
        if not 0 < self.cycle < math.inf:
            raise InvalidInputError(f"a palette's cycle must be a length above 0, not {self.cycle}")

    @property
    def smooth(self) -> bool:
        """Whether the palette uses the field's smooth fraction."""
        return not self.discrete

    def table(self) -> npt.NDArray[np.uint8]:
        """Return the sRGB colours of one turn and, last, the inside colour: uint8 (size + 1, 3), read-only.

        A turn is the colours themselves for a discrete palette, and TABLE_SIZE colours for a smooth one.
        """
        return _table(self)


# The coursework's own table, `mapping[16]`.
_COURSEWORK = (
    *("#421e0f", "#19071a", "#09012f", "#040449", "#000764", "#0c2c8a", "#1852b1", "#397dd1"),
    *("#86b5e5", "#d3ecf8", "#f1e9bf", "#f8c95f", "#ffaa00", "#cc8000", "#995700", "#6a3403"),
)

_ALL = (
    Palette(
        "coursework",
        "the 16 colours of the published CUDA coursework, one a count",
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

PALETTES: Mapping[str, Palette] = MappingProxyType({palette.name: palette for palette in _ALL})


def find_palette(name: str) -> Palette:
    """Return the palette of that name; raises InvalidInputError, listing the known ones, if there is none."""
    require_type(name, str, "a palette's name")
    try:
        return PALETTES[name]
    except KeyError:
        raise InvalidInputError(f"unknown palette {quoted(name)}; there is {', '.join(PALETTES)}") from None


def read_colour(text: str) -> str:
    """Return a colour as a `Palette` takes it, like #03071e.

    The text has these digits with or without #, or is a name or a function of CSS. Raises InvalidInputError for
    anything else.
    """
    if _COLOUR.fullmatch(f"#{text}"):
        return f"#{text.lower()}"
    from PIL import ImageColor

    with suppress(ValueError):
        values = ImageColor.getrgb(text)
        if len(values) == 3:
            return "#" + bytes(values).hex()
    raise InvalidInputError(f"{text[:40]!r} is not a colour; write it like 03071e or white")


@cache
def _table(palette: Palette) -> npt.NDArray[np.uint8]:
    colours = _rgb(*palette.colours)
    table = np.vstack([colours if palette.discrete else _even_cycle(colours), _rgb(palette.inside)])
    table.flags.writeable = False  # shared by every caller
    return table


def _even_cycle(colours: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return TABLE_SIZE colours on a closed curve through the given ones, at equal distances in OKLab.

    A monotone cubic (Fritsch and Carlson, 1980; slopes are harmonic means) in each coordinate: no channel
    overshoots, so no band of a hue that nobody asked for.
    """
    lab = _srgb_to_oklab(colours)
    step = np.roll(lab, -1, axis=0) - lab
    before = np.roll(step, 1, axis=0)
    same_sign = before * step > 0
    slope = np.where(same_sign, 2 * before * step / np.where(same_sign, before + step, 1), 0)
    place = np.arange(len(lab) * 2048 + 1) / 2048
    k = place.astype(np.intp) % len(lab)
    after = (k + 1) % len(lab)
    t = (place % 1)[:, None]
    curve = lab[k] + t * slope[k] + t**2 * (3 * step[k] - 2 * slope[k] - slope[after])
    curve += t**3 * (slope[k] + slope[after] - 2 * step[k])
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    even = np.arange(TABLE_SIZE) * (length[-1] / TABLE_SIZE)
    return _oklab_to_srgb(np.stack([np.interp(even, length, channel) for channel in curve.T], axis=1))


def _srgb_to_oklab(rgb: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    value = rgb / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    return np.asarray(np.cbrt(linear @ _TO_LMS.T) @ _TO_LAB.T)


def _oklab_to_srgb(lab: npt.NDArray[np.float64]) -> npt.NDArray[np.uint8]:
    linear = (lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T
    linear = np.clip(linear, 0, 1)
    value = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(value * 255), dtype=np.uint8)


def _rgb(*colours: str) -> npt.NDArray[np.uint8]:
    return np.array([list(bytes.fromhex(colour[1:])) for colour in colours], dtype=np.uint8)
