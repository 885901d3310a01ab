"""Conversion between the continuous counts of Kalles Fraktaler and Fraktaler-3, and ours.

Their count is n + 1 − t. Here t = log_d(ln|z_n| / ln R), from 0 to 1, if the orbit of a formula of degree d leaves the
radius R at step n. In terms of our ν = count + smooth − 1 = m − log_d log₂|z_m|, their count is ν + 1 + log_d log₂ R.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.core.counts import Counts, count_format
from mandelcl.formulas import Formula

_MOST_RADIUS = 10**100
_LARGEST_BELOW_1 = np.nextafter(np.float32(1), np.float32(0))


def shift_of(formula: Formula, radius: Fraction | int) -> float:
    """Return by how much their counts exceed ours. Raises FileError for a radius without smooth counts."""
    if not 1 < radius < _MOST_RADIUS:
        raise FileError("its escape radius is too small for smooth counts")
    degree = next((degree for degree in formula.degrees if degree > 1), 2)
    return 1 + math.log2(math.log2(radius)) / math.log2(degree)


def split(
    counts: npt.NDArray[Any], smooth: npt.NDArray[np.float32], shift: float
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """Return the integer parts of their counts, and the fractions in [0, 1)."""
    rest = smooth.astype(np.float64) + (shift - 1)
    whole = np.floor(rest)
    rest -= whole
    return counts.astype(np.int64) + whole.astype(np.int64), np.minimum(rest.astype(np.float32), _LARGEST_BELOW_1)


def joined(
    whole: npt.NDArray[np.int64],
    rest: npt.NDArray[Any],
    inside: npt.NDArray[np.bool_],
    max_iterations: int,
    shift: float,
) -> tuple[Counts, npt.NDArray[np.float32]]:
    """Return our counts and smooth fractions for their counts `whole` + `rest`; the iteration limit and 0 inside.

    Our count is the next integer above ν, as for an orbit that leaves a large radius.
    """
    if not np.isfinite(rest).all() or rest.min(initial=0) < 0 or rest.max(initial=0) > 1:
        raise FileError("its counts have fractions that are not from 0 to 1")
    part = rest.astype(np.float64) - shift
    above = np.ceil(part)
    counts = np.clip(whole + above.astype(np.int64), 1, max(max_iterations - 1, 1))
    smooth = (whole - counts) + part + 1
    return (
        np.where(inside, np.int64(max_iterations), counts).astype(count_format(max_iterations).dtype),
        np.where(inside, 0.0, smooth).astype(np.float32),
    )
