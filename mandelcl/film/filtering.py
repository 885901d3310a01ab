"""How a frame's pixels lie on a keyframe: the weights of its points, and the places between them where it is turned.

The filter is a sinc in a Hamming window, as wide as a pixel and its two neighbours, or as three points where these lie
farther apart. It is applied along columns, then along rows. Where a picture is turned, it is first sampled on a grid
upright in the frame, of two by two places a pixel, each between four points of the keyframe.

All that takes more than sums and products of floats is done here, once a frame and for a row and a column of it. What
is then done for each pixel is in `assembly`, and on devices in cl/film.cl, with the same bits.
"""

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
class Places:
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
    places: Places | None = None


def lying(placement: Placement, turned: bool, keyframe: tuple[int, int], frame: tuple[int, int]) -> Lying:
    """Return how a frame lies on a keyframe; sizes are width and height."""
    (width, height), ((a, _, _, d), (x0, y0)) = frame, placement
    if not turned:
        return Lying(taps(width, a, x0, keyframe[0]), taps(height, d, y0, keyframe[1]))
    first = (FINER - 1) / 2
    columns, rows = taps(width, FINER, first, FINER * width), taps(height, FINER, first, FINER * height)
    return Lying(columns, rows, places(placement, frame, FINER))


def taps(pixels: int, scale: float, origin: float, points: int) -> Taps:
    """Return the taps of pixels `scale` points apart, the middle of the first of them at the point `origin`.

    A pixel beyond the keyframe is made of the nearest point.
    """
    middle = origin + scale * np.arange(pixels) + 0.5
    reach = max(scale, 1.0)
    first = np.clip(np.floor(middle - reach + 0.5), 0, points - 1).astype(np.int64)
    last = np.clip(np.floor(middle + reach + 0.5), 1, points).astype(np.int64)
    number = min(max(1, int((last - first).max())), points)
    first = np.minimum(first, points - number)
    weights = _hamming((first + np.arange(number)[:, np.newaxis] + 0.5 - middle) / reach)
    beyond = weights.sum(axis=0) <= 0
    weights[0, beyond & (middle < points / 2)] = 1
    weights[-1, beyond & (middle >= points / 2)] = 1
    return Taps(first.astype(np.int32), (weights / weights.sum(axis=0)).astype(np.float32))


def places(placement: Placement, frame: tuple[int, int], finer: int = 1) -> Places:
    """Return where the pixels of a frame lie on a keyframe, or those of a grid `finer` times as fine."""
    (a, b, c, d), (x0, y0) = placement
    x, y = ((np.arange(finer * side) + 0.5) / finer - 0.5 for side in frame)
    return Places(_units(a * x + x0), _units(c * x), _units(b * y), _units(d * y + y0))


def _units(places: npt.NDArray[np.float64]) -> Side:
    return np.rint(places * (1 << PLACE_BITS)).astype(np.int32)


def _hamming(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the filter's weights at places in units of its reach."""
    weights: npt.NDArray[np.float64] = np.sinc(x) * (0.54 + 0.46 * np.cos(np.pi * x))
    weights[np.abs(x) >= 1] = 0
    return weights
