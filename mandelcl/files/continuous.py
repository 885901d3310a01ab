"""Continuous counts as Kalles Fraktaler and Fraktaler-3 have them, and ours.

A count of theirs is n + 1 − t, with t = log_d(ln|z_n| / ln R) from 0 to 1 where the orbit of a formula of degree d
leaves the radius R at step n. With ours, ν = count + smooth − 1 = m − log_d log₂|z_m|, it is ν + 1 + log_d log₂ R.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.base.words import Words
from mandelcl.formulas import Formula

_MOST_RADIUS = 10**100
_LARGEST_BELOW_1 = np.nextafter(np.float32(1), np.float32(0))


def shift_of(formula: Formula, radius: Fraction | int) -> float:
    """Return what a count of theirs is more than ours; raises FileError for a radius that no orbit leaves."""
    if not 1 < radius < _MOST_RADIUS:
        raise FileError("its escape radius is none at which smooth counts are taken")
    degree = next((degree for degree in formula.degrees if degree > 1), 2)
    return 1 + math.log2(math.log2(radius)) / math.log2(degree)


def split(
    counts: npt.NDArray[Any], smooth: npt.NDArray[np.float32], shift: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Return the whole part of their counts and the rest, from 0 to below 1."""
    rest = smooth.astype(np.float64) + (shift - 1)
    whole = np.floor(rest)
    rest -= whole
    return counts.astype(np.int64) + whole.astype(np.int64), np.minimum(rest.astype(np.float32), _LARGEST_BELOW_1)


def joined(
    whole: npt.NDArray[np.int64], rest: npt.NDArray[Any], inside: npt.NDArray[np.bool_], cap: int, shift: float
) -> tuple[Words, npt.NDArray[np.float32]]:
    """Return our counts and smooth fractions of their counts `whole` + `rest`; the cap and 0 inside.

    The count is the next whole number above ν, as that of an orbit that leaves a large radius is.
    """
    if not np.isfinite(rest).all() or rest.min(initial=0) < 0 or rest.max(initial=0) > 1:
        raise FileError("its counts have fractions that are not from 0 to 1")
    part = rest.astype(np.float64) - shift
    above = np.ceil(part)
    counts = np.clip(whole + above.astype(np.int64), 1, max(cap - 1, 1))
    smooth = (whole - counts) + part + 1
    return (
        np.where(inside, np.int64(cap), counts).astype(np.uint32),
        np.where(inside, 0.0, smooth).astype(np.float32),
    )
