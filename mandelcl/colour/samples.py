"""Where the samples of a pixel lie."""

from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted

MOST_SAMPLES = 256
AUTO = "auto"
LEVELS = (4, 8, 16)  # how many samples a pixel has in all, after each decision that it needs more than before


def most_of(samples: int | str) -> int:
    """Return how many samples a pixel has at most; raises InvalidInputError for a number that there may not be."""
    if samples == AUTO:
        return LEVELS[-1]
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MOST_SAMPLES:
        raise InvalidInputError(f"a pixel has from 1 to {MOST_SAMPLES} samples, or auto, not {quoted(samples)}")
    return samples


def bits_of(samples: int) -> int:
    """Return the least k for which so many samples lie at multiples of 2^−k of a pixel."""
    return (samples - 1).bit_length()


def shifts(samples: int) -> list[tuple[Fraction, Fraction]]:
    """Return by how many columns and rows samples lie off the pixel's own point, from −1/2 to below 1/2.

    The first is that point. They begin the (0, 2)-sequence of I. M. Sobol ("On the distribution of points in a cube",
    1967): of 2^m of them, each rectangle of 2^−a by 2^(a−m) of the pixel has one.
    """
    bits = bits_of(samples)
    return [(_centred(_reversed(k, bits), bits), _centred(_second(k, bits), bits)) for k in range(samples)]


def _centred(place: int, bits: int) -> Fraction:
    """Return a place among 2^bits as a part of a pixel, what is beyond its half from the other side."""
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
