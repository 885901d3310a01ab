"""Quantise sRGB values to 8 or 16 bits per channel, with or without ordered dithering."""

from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.lattice import Lattice

Values = npt.NDArray[np.float32]  # 0 … 1 per channel
Pixels = npt.NDArray[Any]  # uint8 or uint16

_SIDE = 8


def type_of(depth: int) -> type[np.uint8] | type[np.uint16]:
    """Return the dtype of a channel with this depth."""
    return np.uint8 if depth == 8 else np.uint16


def quantised(values: Values, depth: int, thresholds: Values | None = None) -> Pixels:
    """Return values as integers with this depth, clipped to their range.

    `thresholds`, rows × columns, are added before rounding, in units of the last place.
    """
    units = scaled(values, depth)
    if thresholds is not None:
        units += thresholds[..., np.newaxis]
    return np.asarray(np.clip(np.rint(units), 0, _most(depth)).astype(type_of(depth)))


def scaled(values: Values, depth: int) -> Values:
    """Return values in units of the last place of a channel with this depth."""
    return values * np.float32(_most(depth))


def _most(depth: int) -> int:
    return (1 << depth) - 1


def thresholds(lattice: Lattice, left: int, top: int, columns: int, rows: int) -> Values:
    """Return the thresholds of the pixels from column `left` and row `top` on: between −1/2 and 1/2, with mean 0.

    They repeat every eight pixels of the lattice, counted from its anchor, so parts of a picture agree (B. E. Bayer,
    "An optimum method for two-level rendition of continuous-tone pictures", 1973).
    """
    column, row = threshold_corner(lattice, left, top)
    return threshold_matrix()[np.ix_((np.arange(rows) + row) % _SIDE, (np.arange(columns) + column) % _SIDE)]


def threshold_corner(lattice: Lattice, left: int, top: int) -> tuple[int, int]:
    """Return the column and row of the matrix of thresholds for the pixel in column `left` and row `top`."""
    return (left - lattice.column) % _SIDE, (top - lattice.row) % _SIDE


def threshold_matrix() -> Values:
    """Return the thresholds of eight rows of eight pixels."""
    matrix = np.zeros((1, 1))
    while len(matrix) < _SIDE:
        matrix = np.block([[4 * matrix, 4 * matrix + 2], [4 * matrix + 3, 4 * matrix + 1]])
    return ((matrix + 0.5) / matrix.size - 0.5).astype(np.float32)
