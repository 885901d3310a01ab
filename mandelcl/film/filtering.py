"""How a frame's pixels lie on a keyframe: the weights of its points, and the places between them where it is turned.

The filter is a sinc in a Hamming window, as wide as a pixel and its two neighbours, or as three points where these lie
farther apart. It is applied along columns, then along rows. Where a picture is turned, it is first sampled on a grid
upright in the frame, of two by two places a pixel, each between four points of the keyframe.

All that takes more than sums and products of floats is done here, once a frame and for a row and a column of it. What
is then done for each pixel is in `assembly`, and on devices in cl/film.cl, with the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.film.path import Floats

Placement = tuple[Floats, tuple[float, float]]  # matrix and offset: from a frame's pixels to a keyframe's
Side = npt.NDArray[np.int32]

FINER = 2  # where a picture is turned, samples of a pixel along each side before it is filtered
PLACE_BITS = 12  # of a place between two points


@dataclass(frozen=True, slots=True)
class Taps:
    """What pixels along a side of a frame are made of: of each, `weights` of the points from `first` on.

    `first` never decreases; weights are taps × pixels, and all points lie in the keyframe.
    """

    first: Side
    weights: npt.NDArray[np.float32]

    def reach(self, begin: int, end: int) -> tuple[int, int]:
        """Return the first point of pixels begin … end − 1, and the one behind their last."""
        return int(self.first[begin]), int(self.first[end - 1]) + len(self.weights)


@dataclass(frozen=True, slots=True)
class SampleGrid:
    """Places on a keyframe, in units of 2^−PLACE_BITS of its pixels, as sums of what columns and rows add.

    Those of the frame's pixel, or of the finer grid's, (u, v) are `along[u] + along_down[v]` from the left and
    `down_along[u] + down[v]` from the top, counted from the middle of the first point.
    """

    along: Side
    down_along: Side
    along_down: Side
    down: Side


@dataclass(frozen=True, slots=True)
class Lying:
    """How a frame lies on a keyframe: taps of its columns and rows, on the keyframe or, with `places`, on these."""

    columns: Taps
    rows: Taps
    places: SampleGrid | None = None


def lying(
    placements: Sequence[Placement], turned: bool, keyframe: tuple[int, int], frame: tuple[int, int]
) -> list[Lying]:
    """Return how each of some frames lies on a keyframe; sizes are width and height.

    Many at once take hardly more of the interpreter's time than one, and other threads need it.
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
    """Return the taps of pixels along each of some sides of so many points.

    A side is how many points its pixels are apart, and the point at which the middle of its first one is. A pixel
    beyond the keyframe is made of the nearest point.
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
    """Return where the pixels of each of some frames lie on a keyframe, or those of a grid `finer` times as fine."""
    x, y = ((np.arange(finer * side) + 0.5) / finer - 0.5 for side in frame)
    flat = [(*matrix, *offset) for matrix, offset in placements]
    a, b, c, d, x0, y0 = (np.array(entries)[:, np.newaxis] for entries in zip(*flat, strict=True))
    each = zip(_units(a * x + x0), _units(c * x), _units(b * y), _units(d * y + y0), strict=True)
    return [SampleGrid(*sides) for sides in each]


def _units(places: npt.NDArray[np.float64]) -> Side:
    return np.rint(places * (1 << PLACE_BITS)).astype(np.int32)


def _hamming(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the filter's weights at places in units of its reach."""
    weights: npt.NDArray[np.float64] = np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x))
    weights[np.abs(x) >= 1] = 0
    return weights
