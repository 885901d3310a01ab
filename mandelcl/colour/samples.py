"""The positions of a pixel's samples."""

from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted

MOST_SAMPLES = 256
AUTO = "auto"
LEVELS = (4, 8, 16)  # a pixel's total number of samples, after each decision that it needs more


def most_of(samples: int | str) -> int:
    """Return the maximum number of samples per pixel. Raises InvalidInputError for an invalid number."""
    if samples == AUTO:
        return LEVELS[-1]
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MOST_SAMPLES:
        raise InvalidInputError(
            f"the number of samples must be from 1 to {MOST_SAMPLES}, or auto, not {quoted(samples)}"
        )
    return samples


def bits_of(samples: int) -> int:
    """Return the smallest k for which this many samples lie at multiples of 2^−k of a pixel."""
    return (samples - 1).bit_length()


def shifts(samples: int) -> list[tuple[Fraction, Fraction]]:
    """Return the offsets of the samples from the pixel's own point, in columns and rows, from −1/2 to below 1/2.

    The first offset is 0. They are the start of the (0, 2)-sequence of I. M. Sobol ("On the distribution of points in a
    cube", 1967): among 2^m of them, each rectangle of 2^−a by 2^(a−m) of the pixel has one.
    """
    bits = bits_of(samples)
    return [(_centred(_reversed(k, bits), bits), _centred(_second(k, bits), bits)) for k in range(samples)]


def _centred(place: int, bits: int) -> Fraction:
    """Return a place among 2^bits as a fraction of a pixel, with the upper half wrapped to negative values."""
    part = Fraction(place, 1 << bits)
    return part if part < Fraction(1, 2) else part - 1


def _reversed(number: int, bits: int) -> int:
    return sum((number >> k & 1) << (bits - 1 - k) for k in range(bits))


def _second(number: int, bits: int) -> int:
    """Return the place in the second dimension, whose matrix is Pascal's triangle modulo 2."""
    place, direction = 0, 1 << bits >> 1
    while number:
        if number & 1:
            place ^= direction
        number >>= 1
        direction ^= direction >> 1
    return place
