"""From counts to positions in a palette's table, with operations that are identical on every device and platform.

A count, with its smooth fraction if there is one, advances the palette by a fraction of a cycle: a binary fraction of
32 or 64 bits. Its carries are whole cycles and are dropped. The place is the integer part of that fraction times the
table's size. cl/shade.cl does the same, to the last bit. Reals are rounded once, as floats, or not at all.
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

BEND = 8.0  # counts before the fourth root bends, which keeps the surroundings of the whole set calm
BEND_BITS = 0x41000000  # the bits of BEND as a float
MOST_BITS = 0x58FFFFFF  # the bits of the largest float below 2⁵¹, above all counts
_PHASES = 1 << 62  # in 2⁻³² of a cycle: whole multiples of this are dropped, as whole cycles are
# In units of a bend: a faster palette would only show noise.
_LEAST_CYCLES = {"root4": 2.0**-20, "root2": 2.0**-13, "log": 2.0**-20}
BELOW_A_CYCLE = 1 - 2.0**-40
_FRACTION_LIMIT = np.float32(1 << 30)  # above any fraction of an orbit
_SMALL_DENOMINATOR = 1 << 16
_FLOAT_ERROR = Fraction(1, 1 << 52)

Places: TypeAlias = npt.NDArray[np.int64]
Bend: TypeAlias = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]

# Functions of BEND + count that can advance a palette, besides the count itself.
BENDS: Mapping[str, Bend] = MappingProxyType(
    {"root4": lambda value: np.sqrt(np.sqrt(value)), "root2": np.sqrt, "log": np.log, "linear": lambda value: value}
)
# The cycle for each is the fourth root's times this factor, so all advance at the same rate near the count 248.
UNITS: Mapping[str, float] = MappingProxyType({"root4": 1.0, "root2": 8.0, "log": 1.0, "linear": 256.0})


@dataclass(frozen=True, slots=True)
class Linear:
    """A cycle with a fixed number of counts: `start` + count·`per_count` + fraction·`per_unit`, in 2⁻⁶⁴ of a cycle.

    The fraction is in units of 2⁻²⁶, and 0 for a table that uses plain counts. For the fractions of a float,
    `per_count` and `start` are rounded up, so that an integer number of colours is reached and not missed.
    """

    size: int
    per_count: int
    per_unit: int
    start: int

    def places(self, counts: Words, smooth: npt.NDArray[np.float32] | None) -> Places:
        """Return the place in the cycle of each count, with its smooth fraction if there is one."""
        phase = counts.astype(np.uint64)
        phase *= np.uint64(self.per_count)
        if smooth is not None:
            units = np.clip(smooth, -_FRACTION_LIMIT, _FRACTION_LIMIT) * np.float32(1 << UNIT_BITS)
            phase += units.astype(np.int64).view(np.uint64) * np.uint64(self.per_unit)
        phase += np.uint64(self.start)
        size, half = np.uint64(self.size), np.uint64(32)
        places = (phase & np.uint64(WORD_MASK)) * size
        places >>= half
        phase >>= half
        phase *= size
        places += phase
        places >>= half
        return places.view(np.int64)


@dataclass(frozen=True, slots=True)
class Bent:
    """A cycle of a bend of BEND + count, such as its fourth root, interpolated along `chords` in 2⁻³² of a cycle.

    BEND + count + fraction − 1 is a float, rounded after each addition. The fourth root is so flat that the last bit of
    that sum is at most a fiftieth of a place for the palettes here. A chord's rise is that for one more of this bit.
    """

    size: int
    chords: Chords

    def places(self, counts: Words, smooth: npt.NDArray[np.float32] | None) -> Places:
        """Return the place in the cycle of each count, with its smooth fraction if there is one."""
        bent = counts.astype(np.float32)
        # Far from the set, the continuous count is slightly below 0.
        bent += np.float32(BEND) if smooth is None else smooth + np.float32(BEND - 1)
        np.maximum(bent, np.float32(BEND), out=bent)
        bits = bent.view(np.uint32)
        np.minimum(bits, np.uint32(MOST_BITS), out=bits)
        bits -= np.uint32(BEND_BITS)
        chord = (bits >> np.uint32(CHORD_BITS)).astype(np.intp)
        bits &= np.uint32((1 << CHORD_BITS) - 1)
        bits *= np.take(self.chords.rises, chord, mode="clip")
        bits += np.take(self.chords.starts, chord, mode="clip")
        phase = bits.astype(np.int64)
        phase *= self.size
        phase >>= 32
        return phase


@dataclass(frozen=True, slots=True, eq=False)
class Equalised:
    """One cycle laid over a picture so that each part of it covers equally many pixels, to the extent of `strength`.

    The rest comes from `bend`. `knots` are the quantiles 0, 1/256, 2/256 … of the picture's counts or continuous
    counts. The rest begins at the smallest of them and has one cycle per `length`. An offset is in cycles.
    """

    size: int
    knots: npt.NDArray[np.float64]
    strength: float
    bend: Bend
    length: float
    offset: float

    def places(self, counts: Words, smooth: npt.NDArray[np.float32] | None) -> Places:
        """Return the place in the cycle of each count, with its smooth fraction if there is one."""
        value = counts.astype(np.float64)
        if smooth is not None:
            value += smooth
            value -= 1
        phase = np.interp(value, self.knots, np.linspace(0, 1, len(self.knots)))
        np.minimum(phase, BELOW_A_CYCLE, out=phase)
        if self.strength < 1:
            bent = self.bend(np.maximum(value, 0) + BEND) - self.bend(np.maximum(self.knots[:1], 0) + BEND)
            phase = self.strength * phase + (1 - self.strength) * bent / self.length
        phase += self.offset % 1
        phase -= np.floor(phase)
        return np.minimum((phase * self.size).astype(np.int64), self.size - 1)


CycleMapping: TypeAlias = Linear | Bent | Equalised


@lru_cache(maxsize=8)
def linear(size: int, cycle: float, offset: float, continuous: bool) -> Linear:
    """Return the mapping that runs through `size` colours once in `cycle` counts, shifted by `offset` cycles.

    With `continuous`, counts have fractions, and the continuous count is count + fraction − 1.
    """
    per_count = _meant(Fraction(size) / Fraction(cycle)) / size
    whole = ceil(per_count * 2**64)
    start = _start(size, offset) - (whole if continuous else 0)
    return Linear(size, whole % 2**64, round(per_count * 2 ** (64 - UNIT_BITS)) % 2**64, start % 2**64)


@lru_cache(maxsize=8)
def bent(size: int, transfer: str, cycle: float, offset: float) -> Bent:
    """Return the mapping that runs through `size` colours once while a bend of BEND + count grows by `cycle`.

    `offset` shifts it by that many cycles. `transfer` is one of `BENDS` except "linear", for which there is `linear`.
    Square roots, products and quotients of float64 are the same on every platform. The last bit of a logarithm may
    differ, and with it the place of a few counts, by one.
    """
    ends = np.arange(BEND_BITS, MOST_BITS + 2, 1 << CHORD_BITS, dtype=np.uint32).view(np.float32)
    values = BENDS[transfer](ends.astype(np.float64))
    advanced = (values - values[0]) * (2.0**32 / max(cycle, _LEAST_CYCLES[transfer]))
    phase = np.fmod(advanced, float(_PHASES)).astype(np.int64)
    rises = np.diff(phase) % _PHASES >> CHORD_BITS
    starts = phase[:-1] + (_start(size, offset) >> 32)
    return Bent(size, Chords(starts.astype(np.uint32), rises.astype(np.uint32)))


def _start(size: int, offset: float) -> int:
    """Return an offset in 2⁻⁶⁴ of a cycle. An offset of an integer number of colours reaches that colour exactly."""
    return ceil(_meant(Fraction(offset) * size) / size * 2**64) % 2**64


def _meant(value: Fraction) -> Fraction:
    """Return the simple fraction that a float probably stands for, such as 10 for 16/1.6, or the value itself."""
    simple = value.limit_denominator(_SMALL_DENOMINATOR)
    return simple if abs(simple - value) <= abs(value) * _FLOAT_ERROR else value
