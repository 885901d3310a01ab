"""Fixed point in whole numbers: z² + c to any number of bits, and how its values become doubles.

A number is a whole number of units of 2^−bits. gmpy2's integers are used for long ones where gmpy2 is installed,
otherwise Python's own: the same values, later. Nothing is left to either's conversion to float, which differs between
versions of gmpy2.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import repeat
from operator import rshift
from typing import SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from mandelcl.base.exact import floor_log2

try:
    import gmpy2
except ImportError:
    gmpy2 = None

Doubles: TypeAlias = npt.NDArray[np.float64]
Floors: TypeAlias = npt.NDArray[np.int64]
Words64: TypeAlias = npt.NDArray[np.uint64]

# Parts below 2^least are 0 as doubles, and 2^most stands for those above it: their squares are no trouble, either.
LEAST_EXPONENT, MOST_EXPONENT = -900, 400
_GUARD_BITS = 64  # below the distance of two pixels
_ACROSS_BITS = 13  # a picture of 8192 pixels from corner to corner resolves a radius to this many bits
_ROUNDINGS_BITS = 9  # 2^32 iterations instead of the 2^23 for which the guard is meant
_UNWATCHED = 8  # steps between two looks at the size: what begins below 4 grows to less than 2^(3·2^8)
_SHORT_BITS = 448  # up to these Python's own integers are the faster: they take less memory, and less time to make
DOUBLE_BITS = 53
BULK_BITS = 60  # fraction bits at which numbers below 4 fit words of 64 bits


@dataclass(frozen=True, slots=True)
class Integers:
    """A kind of whole numbers, and what makes one of Python's."""

    name: str
    whole: Callable[[int], int]


class WordIntegers(Sequence[int]):
    """Whole numbers in words of 64 bits, numbers × words, the lowest first, in two's complement.

    Each is made when it is asked for.
    """

    def __init__(self, words: Words64) -> None:
        self.words = words

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...

    @overload
    def __getitem__(self, index: "slice[int | None]") -> "WordIntegers": ...

    def __getitem__(self, index: "SupportsIndex | slice[int | None]") -> "int | WordIntegers":
        if isinstance(index, slice):
            return WordIntegers(self.words[index])
        return int.from_bytes(self.words[index].astype("<u8", copy=False).tobytes(), "little", signed=True)

    def floors(self, shift: int) -> Floors:
        """Return each of them divided by 2^shift and rounded down, where that has 64 bits."""
        word, by = divmod(shift, 64)
        low = self.words[:, word]
        if not by:
            return low.astype(np.int64)
        last = word + 1 == self.words.shape[1]
        high = (self.words[:, word].astype(np.int64) >> 63).astype(np.uint64) if last else self.words[:, word + 1]
        return ((low >> np.uint64(by)) | (high << np.uint64(64 - by))).astype(np.int64)

    def leading(self, places: npt.NDArray[np.intp], digits: int) -> tuple[Floors, Floors]:
        """Return the bits of the absolute values at some places, and their first `digits` bits, which are below 63."""
        words = self.words[places]
        sign = (words[:, -1].astype(np.int64) >> 63).astype(np.uint64)
        words = words ^ sign[:, None]
        carry = sign & np.uint64(1)
        for column in words.T:
            column += carry
            carry &= column == 0
        rows = np.arange(len(words))
        top = words.shape[1] - 1 - np.argmax(words[:, ::-1] != 0, axis=1)
        high, low = words[rows, top], np.where(top > 0, words[rows, np.maximum(top - 1, 0)], np.uint64(0))
        length = np.frexp(high.astype(np.float64))[1]
        length -= (high >> np.maximum(length - 1, 0).astype(np.uint64)) == 0  # it was rounded up to a power of two
        up = np.clip(64 - length, 0, 63).astype(np.uint64)
        joined = (high << up) | ((low >> np.uint64(1)) >> (np.uint64(63) - up))
        return 64 * top + length, (joined >> np.uint64(64 - digits)).astype(np.int64)


def reference_bits(radius: Fraction) -> int:
    """Return the bits after the point to which c is known where the reference for points within a radius is iterated.

    They are −⌊log2 radius⌋ + 13 + 64 + 9: a picture of 8192 pixels across has 64 bits below its pixels, and each
    rounding of a long orbit takes less than one of up to 2^32 parts of the 9 bits more.
    """
    return max(0, -floor_log2(radius)) + _ACROSS_BITS + _GUARD_BITS + _ROUNDINGS_BITS


def advanced(re: int, im: int, c_re: int, c_im: int, bits: int, steps: int) -> tuple[list[int], list[int]]:
    """Return (all re, all im) of the next values of z² + c, each rounded down.

    They are up to 7 more than so many steps; where a part reaches 4, they may be fewer, but not none.
    """
    a, b, less, most = re, im, bits - 1, bits + 2
    every_re: list[int] = []
    every_im: list[int] = []
    add_re, add_im = every_re.append, every_im.append
    while True:
        for _ in repeat(None, _UNWATCHED):
            a, b = ((a + b) * (a - b) >> bits) + c_re, (a * b >> less) + c_im
            add_re(a)
            add_im(b)
        if len(every_re) >= steps or a.bit_length() > most or b.bit_length() > most:
            return every_re, every_im


def double(value: int, bits: int) -> float:
    """Return value·2^−bits rounded toward zero to a double: 0.0 below 2^LEAST_EXPONENT, at most 2^MOST_EXPONENT."""
    size = abs(value)
    length = size.bit_length()
    if length - bits <= LEAST_EXPONENT:
        return 0.0
    drop = max(0, length - DOUBLE_BITS)
    large = length - bits > MOST_EXPONENT
    magnitude = 2.0**MOST_EXPONENT if large else math.ldexp(int(size >> drop), drop - bits)
    return magnitude if value >= 0 else -magnitude


def floors_of(values: Sequence[int], bits: int) -> Floors:
    """Return numbers of absolute values below 4 in units of 2^−BULK_BITS, rounded down."""
    if isinstance(values, WordIntegers) and bits >= BULK_BITS:
        return values.floors(bits - BULK_BITS)
    return np.fromiter(map(rshift, values, repeat(bits - BULK_BITS)), np.int64, len(values))


def doubles(values: Sequence[int], bits: int, floors: Floors | None = None) -> Doubles:
    """Return `double` of each of several numbers of absolute values below 4, from their `floors_of`."""
    if floors is None:
        floors = floors_of(values, bits)
    sizes = np.abs(floors)
    results = sizes.astype(np.float64)  # to nearest
    excess = results.astype(np.int64) - sizes
    results.view(np.int64)[...] -= excess > 0  # the double before it
    results *= 2.0**-BULK_BITS
    # Too few bits are left of a small number. A negative one was rounded away from zero, which its last bits may show.
    unsure = np.flatnonzero((sizes < 1 << (DOUBLE_BITS - 1)) | ((floors < 0) & (excess == 0)))
    if len(unsure):
        results[unsure] = _magnitudes(values, unsure, bits)
    return np.negative(results, out=results, where=(floors < 0) & (results > 0))


def _magnitudes(values: Sequence[int], places: npt.NDArray[np.intp], bits: int) -> Doubles:
    """Return the absolute values of `double` of numbers below 4 at some places, whatever their sizes."""
    if isinstance(values, WordIntegers):
        lengths, leading = values.leading(places, DOUBLE_BITS)
        found = np.ldexp(leading.astype(np.float64), lengths - bits - DOUBLE_BITS)
        return np.where(lengths - bits <= LEAST_EXPONENT, 0.0, found)
    sizes = [abs(values[place]) for place in places.tolist()]
    lengths = np.fromiter(map(type(sizes[0]).bit_length, sizes), np.int64, len(sizes))
    drops = np.maximum(lengths - DOUBLE_BITS, 0)
    leading = np.fromiter(map(rshift, sizes, drops.tolist()), np.int64, len(sizes))
    return np.where(lengths - bits <= LEAST_EXPONENT, 0.0, np.ldexp(leading.astype(np.float64), drops - bits))


def normalised(re: int, im: int, bits: int) -> tuple[float, float, int]:
    """Return (x, y, e) with (re + im·i)·2^−bits = (x + y·i)·2^e, rounded toward zero, max(|x|, |y|) in [1/2, 1).

    A part 2^LEAST_EXPONENT times smaller than that is 0. One of the numbers must not be 0.
    """
    length = max(re.bit_length(), im.bit_length())
    return double(re, length), double(im, length), length - bits


PLAIN = Integers("int", int)
FASTEST = PLAIN if gmpy2 is None else Integers("gmpy2", gmpy2.mpz)


def integers_for(bits: int) -> Integers:
    """Return the kind that is the faster for orbits of so many bits, of those there are."""
    return FASTEST if bits > _SHORT_BITS else PLAIN
