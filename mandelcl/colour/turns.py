"""From counts to places in a palette's table, in operations that every device and every platform makes alike.

A count, with its smooth fraction where there is one, turns the palette by so much of a turn: a binary fraction of 32 or
64 bits, whose carries are whole turns and are dropped. Its place is the whole part of that times the table's size.
cl/shade.cl does the same, to the last bit. Reals are rounded once, as floats, or not at all.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.smooth import CHORD_BITS, UNIT_BITS, Chords
from mandelcl.base.words import WORD_MASK, Words

BEND = 8.0  # counts until the fourth root bends: keeps the surroundings of the whole set calm
BEND_BITS = 0x41000000  # those of BEND as a float
MOST_BITS = 0x4FFFFFFF  # those of the largest float below 2³³: above all counts
# In units of a bend: what turns faster is noise in any case.
_LEAST_TURNS = {"root4": 2.0**-20, "root2": 2.0**-13, "log": 2.0**-20}
_BELOW_A_TURN = 1 - 2.0**-40
_FRACTION_LIMIT = np.float32(1 << 30)  # beyond any fraction of an orbit
_SMALL_DENOMINATOR = 1 << 16
_FLOAT_ERROR = Fraction(1, 1 << 52)

Places: TypeAlias = npt.NDArray[np.int64]
Bend: TypeAlias = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]

# How BEND + count may turn a palette where it does not do so itself.
BENDS: Mapping[str, Bend] = MappingProxyType(
    {"root4": lambda value: np.sqrt(np.sqrt(value)), "root2": np.sqrt, "log": np.log, "linear": lambda value: value}
)
# A turn in units of each is that of the fourth root times this: so they turn alike about the count 248.
UNITS: Mapping[str, float] = MappingProxyType({"root4": 1.0, "root2": 8.0, "log": 1.0, "linear": 256.0})


@dataclass(frozen=True, slots=True)
class Linear:
    """A turn for so many counts: `start` + count·`per_count` + fraction·`per_unit`, in 2⁻⁶⁴ of a turn.

    The fraction is in units of 2⁻²⁶, and 0 for a table that is laid over plain counts. For the fractions of a float,
    `per_count` and `start` are the least that are not too small, so a whole number of colours is reached, not missed.
    """

    size: int
    per_count: int
    per_unit: int
    start: int

    def places(self, counts: Words, smooth: npt.NDArray[np.float32] | None) -> Places:
        """Return the place in the turn of each count, and of its smooth fraction where there is one."""
        turned = counts.astype(np.uint64)
        turned *= np.uint64(self.per_count)
        if smooth is not None:
            units = np.clip(smooth, -_FRACTION_LIMIT, _FRACTION_LIMIT) * np.float32(1 << UNIT_BITS)
            turned += units.astype(np.int64).view(np.uint64) * np.uint64(self.per_unit)
        turned += np.uint64(self.start)
        size, half = np.uint64(self.size), np.uint64(32)
        places = (turned & np.uint64(WORD_MASK)) * size
        places >>= half
        turned >>= half
        turned *= size
        places += turned
        places >>= half
        return places.view(np.int64)


@dataclass(frozen=True, slots=True)
class Bent:
    """A turn of a bend of BEND + count, such as its fourth root, read off `chords` in 2⁻³² of a turn.

    BEND + count + fraction − 1 is a float, its terms rounded as they are added. As flat as the fourth root is, the last
    bit of that is a fiftieth of a place at most for the palettes here. A chord's rise is that for one more of this bit.
    """

    size: int
    chords: Chords

    def places(self, counts: Words, smooth: npt.NDArray[np.float32] | None) -> Places:
        """Return the place in the turn of each count, and of its smooth fraction where there is one."""
        bent = counts.astype(np.float32)
        # Far from the set the continuous count falls a little below 0.
        bent += np.float32(BEND) if smooth is None else smooth + np.float32(BEND - 1)
        np.maximum(bent, np.float32(BEND), out=bent)
        bits = bent.view(np.uint32)
        np.minimum(bits, np.uint32(MOST_BITS), out=bits)
        bits -= np.uint32(BEND_BITS)
        chord = (bits >> np.uint32(CHORD_BITS)).astype(np.intp)
        bits &= np.uint32((1 << CHORD_BITS) - 1)
        bits *= np.take(self.chords.rises, chord, mode="clip")
        bits += np.take(self.chords.starts, chord, mode="clip")
        turned = bits.astype(np.int64)
        turned *= self.size
        turned >>= 32
        return turned


@dataclass(frozen=True, slots=True, eq=False)
class Equalised:
    """One turn laid over a picture so that each part of it has as many pixels, up to `strength`; the rest is `bend`'s.

    `knots` are the counts below which 0, 1/256, 2/256 … of the picture's pixels lie, or its continuous counts. The rest
    begins at the least of them and turns once in `length`. An offset is in turns.
    """

    size: int
    knots: npt.NDArray[np.float64]
    strength: float
    bend: Bend
    length: float
    offset: float

    def places(self, counts: Words, smooth: npt.NDArray[np.float32] | None) -> Places:
        """Return the place in the turn of each count, and of its smooth fraction where there is one."""
        value = counts.astype(np.float64)
        if smooth is not None:
            value += smooth
            value -= 1
        turned = np.interp(value, self.knots, np.linspace(0, 1, len(self.knots)))
        np.minimum(turned, _BELOW_A_TURN, out=turned)
        if self.strength < 1:
            bent = self.bend(np.maximum(value, 0) + BEND) - self.bend(np.maximum(self.knots[:1], 0) + BEND)
            turned = self.strength * turned + (1 - self.strength) * bent / self.length
        turned += self.offset % 1
        turned -= np.floor(turned)
        return np.minimum((turned * self.size).astype(np.int64), self.size - 1)


Turns: TypeAlias = Linear | Bent | Equalised


@lru_cache(maxsize=8)
def linear(size: int, cycle: float, offset: float, continuous: bool) -> Linear:
    """Return what turns `size` colours once in `cycle` counts, shifted by `offset` turns.

    With `continuous`, counts have fractions, and the continuous count is count + fraction − 1.
    """
    per_count = _meant(Fraction(size) / Fraction(cycle)) / size
    whole = ceil(per_count * 2**64)
    start = _start(size, offset) - (whole if continuous else 0)
    return Linear(size, whole % 2**64, round(per_count * 2 ** (64 - UNIT_BITS)) % 2**64, start % 2**64)


@lru_cache(maxsize=8)
def bent(size: int, transfer: str, turn: float, offset: float) -> Bent:
    """Return what turns `size` colours once while a bend of BEND + count grows by `turn`, shifted by `offset` turns.

    `transfer` is one of `BENDS` but "linear", which is `linear`'s. Square roots, products and quotients of float64 are
    the same on every platform. The last bit of a logarithm may differ, and with it the place of few counts, by one.
    """
    ends = np.arange(BEND_BITS, MOST_BITS + 2, 1 << CHORD_BITS, dtype=np.uint32).view(np.float32)
    values = BENDS[transfer](ends.astype(np.float64))
    turned = ((values - values[0]) * (2.0**32 / max(turn, _LEAST_TURNS[transfer]))).astype(np.int64)
    rises = np.diff(turned) >> CHORD_BITS
    starts = turned[:-1] + (_start(size, offset) >> 32)
    return Bent(size, Chords(starts.astype(np.uint32), rises.astype(np.uint32)))


def _start(size: int, offset: float) -> int:
    """Return an offset in 2⁻⁶⁴ of a turn: one that is a whole number of colours reaches the colour."""
    return ceil(_meant(Fraction(offset) * size) / size * 2**64) % 2**64


def _meant(value: Fraction) -> Fraction:
    """Return the simple fraction that a float's may stand for, such as 10 for 16/1.6, or the value itself."""
    simple = value.limit_denominator(_SMALL_DENOMINATOR)
    return simple if abs(simple - value) <= abs(value) * _FLOAT_ERROR else value
