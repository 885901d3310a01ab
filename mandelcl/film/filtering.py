"""How a frame's pixels are placed on a keyframe: the weights of its points, and the places between them if it rotates.

The filter is a sinc in a Hamming window. It is as wide as a pixel and its two neighbours, or as three points if these
are farther apart. It is applied along columns, then along rows. A rotated picture is first sampled on a grid that is
upright in the frame and has two by two places per pixel, each interpolated between four points of the keyframe.

Everything that needs more than sums and products of floats is done here, once per frame, for a row and a column of it.
The work for each pixel is in `assembly` and, for devices, in cl/film.cl, with the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.film.path import Floats

Placement = tuple[Floats, tuple[float, float]]  # matrix and offset: from a frame's pixels to a keyframe's
Side = npt.NDArray[np.int32]

FINER = 2  # for rotated pictures: samples per pixel along each side, before filtering
PLACE_BITS = 12  # fractional bits of a place between two points


@dataclass(frozen=True, slots=True)
class Taps:
    """The filter along a side of a frame: for each pixel, `weights` of the points from `first` on.

    `first` never decreases. Weights are taps × pixels, and all points lie in the keyframe.
    """

    first: Side
    weights: npt.NDArray[np.float32]

    def reach(self, begin: int, end: int) -> tuple[int, int]:
        """Return the first point of pixels begin … end − 1, and the one after their last."""
        return int(self.first[begin]), int(self.first[end - 1]) + len(self.weights)


@dataclass(frozen=True, slots=True)
class SampleGrid:
    """Places on a keyframe, in units of 2^−PLACE_BITS of its pixels, as sums of a column's and a row's part.

    The place of pixel (u, v) of the frame, or of the finer grid, is `along[u] + along_down[v]` from the left and
    `down_along[u] + down[v]` from the top, counted from the centre of the first point.
    """

    along: Side
    down_along: Side
    along_down: Side
    down: Side


@dataclass(frozen=True, slots=True)
class Lying:
    """A frame's placement on a keyframe: taps of its columns and rows on the keyframe, or on `places` if given."""

    columns: Taps
    rows: Taps
    places: SampleGrid | None = None


def lying(
    placements: Sequence[Placement], turned: bool, keyframe: tuple[int, int], frame: tuple[int, int]
) -> list[Lying]:
    """Return the placement of each of some frames on a keyframe. Sizes are width and height.

    Many frames at once take hardly more interpreter time than one, which leaves it to other threads.
    """
    (width, height) = frame
    if not turned:
        across = taps(width, [(a, x0) for (a, _, _, _), (x0, _) in placements], keyframe[0])
        down = taps(height, [(d, y0) for (_, _, _, d), (_, y0) in placements], keyframe[1])
        return [Lying(columns, rows) for columns, rows in zip(across, down, strict=True)]
    finer = [(float(FINER), (FINER - 1) / 2)]
    (columns,), (rows,) = (taps(side, finer, FINER * side) for side in frame)
    return [Lying(columns, rows, where) for where in places(placements, frame, FINER)]


def taps(pixels: int, sides: Sequence[tuple[float, float]], points: int) -> list[Taps]:
    """Return the taps of pixels along each of some sides that have `points` points.

    A side is given by the distance of its pixels in points, and by the point at the centre of its first pixel. A pixel
    beyond the keyframe uses the nearest point.
    """
    scale, origin = (np.array(values)[:, np.newaxis] for values in zip(*sides, strict=True))
    middle = origin + scale * np.arange(pixels) + 0.5
    reach = np.maximum(scale, 1.0)
    first = np.clip(np.floor(middle - reach + 0.5), 0, points - 1).astype(np.int64)
    last = np.clip(np.floor(middle + reach + 0.5), 1, points).astype(np.int64)
    numbers = np.clip((last - first).max(axis=1), 1, points)
    first = np.minimum(first, points - numbers[:, np.newaxis])
    point = np.arange(numbers.max())[:, np.newaxis]
    weights = _hamming((first[:, np.newaxis] + point + 0.5 - middle[:, np.newaxis]) / reach[:, np.newaxis])
    weights *= point < numbers[:, np.newaxis, np.newaxis]
    beyond = weights.sum(axis=1) <= 0
    for side in np.flatnonzero(beyond.any(axis=1)):
        before = middle[side] < points / 2
        weights[side, 0, beyond[side] & before] = 1
        weights[side, numbers[side] - 1, beyond[side] & ~before] = 1
    shares, nearest = (weights / weights.sum(axis=1)[:, np.newaxis]).astype(np.float32), first.astype(np.int32)
    return [Taps(nearest[side], shares[side, :number]) for side, number in enumerate(numbers)]


def places(placements: Sequence[Placement], frame: tuple[int, int], finer: int = 1) -> list[SampleGrid]:
    """Return the places on a keyframe of the pixels of some frames, or of a grid `finer` times as fine."""
    x, y = ((np.arange(finer * side) + 0.5) / finer - 0.5 for side in frame)
    flat = [(*matrix, *offset) for matrix, offset in placements]
    a, b, c, d, x0, y0 = (np.array(entries)[:, np.newaxis] for entries in zip(*flat, strict=True))
    each = zip(_units(a * x + x0), _units(c * x), _units(b * y), _units(d * y + y0), strict=True)
    return [SampleGrid(*sides) for sides in each]


def _units(places: npt.NDArray[np.float64]) -> Side:
    return np.rint(places * (1 << PLACE_BITS)).astype(np.int32)


def _hamming(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the filter's weights at places, which are in units of its reach."""
    weights: npt.NDArray[np.float64] = np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x))
    weights[np.abs(x) >= 1] = 0
    return weights
