"""Fused multiply-add for numpy arrays, rounded once, without a fused multiply-add in the machine.

Rounding to odd is the tool: a sum that is kept with more bits than the result needs, its last bit set wherever
it is inexact, may be rounded again without harm (S. Boldo and G. Melquiond, Emulation of FMA and correctly
rounded sums: proved algorithms using rounding to odd, IEEE Trans. Computers 57(4), 2008).
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from tests.oracle.formats import FORMATS, fma, from_float, to_float

Doubles = npt.NDArray[np.float64]


def fma_float(a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a·b + c of float32 arrays, rounded once.

    The product of two floats is exact in double and so is the error of the sum: nothing is below 2^−298 or
    above 2^257. 53 bits rounded to odd, then to 24 or fewer, is one rounding.
    """
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64)
        return _sum_to_odd(product, c.astype(np.float64)).astype(np.float32)


def fma_double(a: npt.NDArray[Any], b: npt.NDArray[Any], c: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a·b + c of float64 arrays, rounded once.

    Boldo and Melquiond's algorithm, where no intermediate value can overflow or lose bits below the least
    denormal; integers for the rest.
    """
    with np.errstate(all="ignore"):
        out = _fma_in_range(a, b, c)
        product = np.abs(a * b)
    small = (product < 2.0**-968) & (a != 0) & (b != 0)
    large = ~((np.abs(a) < 2.0**990) & (np.abs(b) < 2.0**990) & (product < 2.0**1020) & (np.abs(c) < 2.0**1020))
    for place in np.flatnonzero(small | large):
        x, y, z = (from_float(float(values.flat[place])) for values in (a, b, c))
        out.flat[place] = to_float(fma(x, y, z, FORMATS["double"]))
    return out


def _fma_in_range(a: Doubles, b: Doubles, c: Doubles) -> Doubles:
    high = a * b
    low = _product_error(a, b, high)
    middle, low = _two_sum(c, low)
    high, rest = _two_sum(high, middle)
    return high + _sum_to_odd(low, rest)


def _two_sum(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """Return the rounded sum and its exact error (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _sum_to_odd(a: Doubles, b: Doubles) -> Doubles:
    """Return a + b rounded to odd: where inexact, the neighbour whose last bit is set."""
    total, error = _two_sum(a, b)
    bits = total.view(np.int64)
    inexact = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    away = (error > 0) == (total > 0)  # the exact sum lies further from zero than its rounding
    return np.where(inexact, bits + np.where(away, 1, -1), bits).view(np.float64)


def _product_error(a: Doubles, b: Doubles, product: Doubles) -> Doubles:
    """Return a·b − product exactly (Dekker)."""
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _split(value: Doubles) -> tuple[Doubles, Doubles]:
    """Return halves of 26 bits that sum to the value (Veltkamp)."""
    scaled = value * 134217729.0
    high = scaled - (scaled - value)
    return high, value - high
