"""Frames from keyframes: light, filtered over the area of each pixel, and blended from one keyframe to the next.

Between levels k and k + 1 a frame is made from keyframe k, which covers it, and keyframe k + 1, which covers its middle
with four times as many points. The weight of keyframe k + 1 grows from 0 to 1 smoothly at both ends, so neither the
picture nor its rate of change jumps when one keyframe takes over from another.

This module defines the frame. Devices make the same bytes (`on_device`): every sum and product here is one of floats,
rounded once, and cl/film.cl has the same operations in the same order.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.colour.linear_light import Light, encoded, steps_of
from mandelcl.film.filtering import PLACE_BITS, Lying, Placement, SampleGrid, lying, places
from mandelcl.film.path import Leg

Rgb = npt.NDArray[np.uint8]
_FEATHER = 0.06  # of the deeper keyframe's sides: its weight grows over this width, from the edges
_STRIP_PIXELS = 1 << 14  # per step, so that the data stays in a processor's cache
_HALF = 1 << PLACE_BITS - 1


@dataclass(frozen=True, slots=True)
class Composition:
    """The inputs of a frame: keyframes of a leg, the frame's placement on each, and the weight of the deeper one."""

    number: int
    placement: Placement
    deeper: Placement | None = None
    share: float = 0.0
    gap: float = 0.0  # how far the frame extends beyond the deeper keyframe, in sides of that keyframe
    rotated: bool = False  # whether the leg rotates


@dataclass(frozen=True, slots=True)
class Shares:
    """The region and the weight of a deeper keyframe: its weight grows from its edges to `share`.

    `most` are the places of its last column and row. `per_unit` is the growth of the weight there per unit of a place,
    before smoothing.
    """

    places: SampleGrid
    most: tuple[int, int]
    per_unit: tuple[np.float32, np.float32]
    share: np.float32


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything needed to make a frame of a given size, except the light of its keyframes."""

    size: tuple[int, int]
    base: Lying
    deeper: Lying | None = None
    shares: Shares | None = None


def composition(leg: Leg, travelled: float) -> Composition:
    """Return the composition of the frame that is `travelled` doublings from the start of a leg."""
    level = leg.level(travelled)
    number = min(math.floor(level), leg.last)
    part = level - number
    rotated = bool(leg.rotation)
    if part <= 0 or number == leg.last:
        return Composition(number, leg.placement(level, number), rotated=rotated)
    share = part * part * (3 - 2 * part)
    gap = (2.0 ** (1 - part) - 1) / 2
    return Composition(number, leg.placement(level, number), leg.placement(level, number + 1), share, gap, rotated)


def scaled(made_of: Composition, scale: float) -> Composition:
    """Return the composition of the same frame with pixels `scale` times as wide and high."""

    def wider(placement: Placement) -> Placement:
        (a, b, c, d), (x, y) = placement
        half = (scale - 1) / 2
        return (a * scale, b * scale, c * scale, d * scale), (x + (a + b) * half, y + (c + d) * half)

    deeper = None if made_of.deeper is None else wider(made_of.deeper)
    return Composition(made_of.number, wider(made_of.placement), deeper, made_of.share, made_of.gap, made_of.rotated)


def recipes(
    frames: Sequence[Composition], base: tuple[int, int], deeper: tuple[int, int] | None, size: tuple[int, int]
) -> list[Recipe]:
    """Return the recipes of frames of a leg that use the same keyframes. All sizes are width and height."""
    rotated = frames[0].rotated
    lies = lying([made_of.placement for made_of in frames], rotated, base, size)
    placements = [made_of.deeper for made_of in frames if made_of.deeper is not None]
    if deeper is None or len(placements) < len(frames):
        return [Recipe(size, one) for one in lies]
    over = lying(placements, rotated, deeper, size)
    shares = [_shares_of(*pair, deeper) for pair in zip(frames, places(placements, size), strict=True)]
    return [Recipe(size, *each) for each in zip(lies, over, shares, strict=True)]


def _shares_of(made_of: Composition, where: SampleGrid, deeper: tuple[int, int]) -> Shares:
    """Return the weights of a deeper keyframe. `where` has the places of the frame's pixels on it."""
    feather = max(min(_FEATHER, made_of.gap), 1e-6)
    most = (deeper[0] - 1) << PLACE_BITS, (deeper[1] - 1) << PLACE_BITS
    per_unit = tuple(np.float32(1 / (feather * (side << PLACE_BITS))) for side in deeper)
    if not made_of.rotated:
        none = np.zeros(1, np.int32)
        where = SampleGrid(where.along, none, none, where.down)
    return Shares(where, most, (per_unit[0], per_unit[1]), np.float32(made_of.share))


def assembled(how: Recipe, base: Light, deeper: Light | None = None, table: Rgb | None = None) -> Rgb:
    """Return a frame, height × width × 3: sRGB bytes, or the bytes of another table for steps of light.

    `base` and `deeper` are the light of the keyframes: 3 × rows × columns.
    """
    width, height = how.size
    frame = np.empty((height, width, 3), np.uint8)
    step = max(1, _STRIP_PIXELS // width)
    for top in range(0, height, step):
        rows = slice(top, min(top + step, height))
        light = _filtered(how.base, base, rows, slice(0, width))
        if deeper is not None:
            _lay_over(light, how, deeper, rows)
        frame[rows] = np.moveaxis(encoded(steps_of(light), table), 0, -1)
    return frame


def _lay_over(light: Light, how: Recipe, deeper: Light, rows: slice) -> None:
    """Blend the deeper keyframe into the light of some rows."""
    assert how.deeper is not None
    assert how.shares is not None
    over = _shares(how.shares, rows)
    there = np.flatnonzero(over.any(axis=0))
    if there.size:
        columns = slice(int(there[0]), int(there[-1]) + 1)
        laid = _filtered(how.deeper, deeper, rows, columns)
        laid -= light[:, :, columns]
        laid *= over[:, columns]
        light[:, :, columns] += laid


def _shares(shares: Shares, rows: slice) -> npt.NDArray[np.float32]:
    """Return the weight of the deeper keyframe for the pixels of some rows, from 0 to 1."""
    where = shares.places
    along_down = where.along_down[rows] if where.along_down.size > 1 else where.along_down
    x = where.along + along_down[:, np.newaxis]
    y = where.down_along + where.down[rows][:, np.newaxis]
    across, down = (
        _from_edges(place, most, per_unit)
        for place, most, per_unit in zip((x, y), shares.most, shares.per_unit, strict=True)
    )
    return np.minimum(across, down) * shares.share


def _from_edges(place: npt.NDArray[np.int32], most: int, per_unit: np.float32) -> npt.NDArray[np.float32]:
    """Return the growth of the weight at places along a side, from 0 to 1, and 0 beyond its ends."""
    inner = np.minimum(place, np.int32(most) - place)
    ramp = np.minimum((inner + np.int32(_HALF)).astype(np.float32) * per_unit, np.float32(1))
    grown: npt.NDArray[np.float32] = ramp * ramp * (np.float32(3) - np.float32(2) * ramp)
    grown[inner < 0] = 0
    return grown


def _filtered(lies: Lying, light: Light, rows: slice, columns: slice) -> Light:
    """Return the light of a rectangle of a frame: 3 × rows × columns."""
    left, right = lies.columns.reach(columns.start, columns.stop)
    first, weights = lies.rows.first[rows], lies.rows.weights[:, rows, np.newaxis]
    total = _summed((_points(lies, light, first + k, left, right) for k in range(len(weights))), weights)
    first, weights = lies.columns.first[columns] - left, lies.columns.weights[:, columns]
    return _summed((np.take(total, first + k, axis=2, mode="clip") for k in range(len(weights))), weights)


def _summed(parts: Iterable[Light], weights: npt.NDArray[np.float32]) -> Light:
    """Return the weighted sum of parts, in order. The parts are overwritten, which is faster than new arrays."""
    total: Light | None = None
    for part, weight in zip(parts, weights, strict=True):
        part *= weight
        if total is None:
            total = part
        else:
            total += part
    assert total is not None
    return total


def _points(lies: Lying, light: Light, rows: npt.NDArray[np.int32], left: int, right: int) -> Light:
    """Return a copy of the light of some rows and of columns left … right − 1, of a keyframe or of the finer grid."""
    where = lies.places
    if where is None:
        points: Light = light[:, rows, left:right]
        return points
    _, height, width = light.shape
    x, x_part = _split(where.along[left:right] + where.along_down[rows][:, np.newaxis], width)
    y, y_part = _split(where.down_along[left:right] + where.down[rows][:, np.newaxis], height)
    flat, at = light.reshape(3, -1), y * np.int64(width) + x
    upper, lower = (_between(flat, at + offset, x_part) for offset in (0, width))
    lower -= upper
    lower *= y_part
    upper += lower
    return upper


def _split(place: npt.NDArray[np.int32], side: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
    """Return the point at or before a place (never the last of a side), and the fraction of the way to the next."""
    inside = np.clip(place, 0, ((side - 1) << PLACE_BITS) - 1)
    part = (inside & ((1 << PLACE_BITS) - 1)).astype(np.float32)
    part *= np.float32(2.0**-PLACE_BITS)
    return inside >> PLACE_BITS, part


def _between(flat: Light, at: npt.NDArray[np.int64], part: npt.NDArray[np.float32]) -> Light:
    """Return light interpolated between points and their right neighbours."""
    first = np.take(flat, at, axis=1, mode="clip")
    second = np.take(flat, at + 1, axis=1, mode="clip")
    second -= first
    second *= part
    first += second
    return first
