"""Frames from keyframes: light, filtered over the area of each pixel, and blended from one keyframe to the next.

Between level k and k + 1 a frame is made of keyframe k, which covers it, and of keyframe k + 1, which covers its middle
and has four times as many points there. The share of the latter grows from 0 to 1 with no corner at either end: so
neither what is seen nor how fast it changes jumps where one keyframe takes over from another.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from mandelcl.film.painted import Painted
from mandelcl.film.path import Floats, Leg
from mandelcl.shading.linear_light import Light, bytes_of

Rgb = npt.NDArray[np.uint8]
_FILTER = Image.Resampling.HAMMING
_FEATHER = 0.06  # of the deeper keyframe's sides, over which its share grows from its edges
_FINER = 2  # where a picture is turned, samples of a pixel along each side before it is filtered


@dataclass(frozen=True, slots=True)
class Composition:
    """What a frame is made of: keyframes of a leg, how it lies on each, and the share of the deeper one."""

    number: int
    placement: tuple[Floats, tuple[float, float]]
    deeper: tuple[Floats, tuple[float, float]] | None = None
    share: float = 0.0
    gap: float = 0.0  # how far the frame goes beyond the deeper keyframe, in sides of that one


def composition(leg: Leg, travelled: float) -> Composition:
    """Return what the frame is made of that is so many doublings from the start of a leg."""
    level = leg.level(travelled)
    number = min(math.floor(level), leg.last)
    part = level - number
    if part <= 0 or number == leg.last:
        return Composition(number, leg.placement(level, number))
    share = part * part * (3 - 2 * part)
    gap = 2.0 ** (1 - part) - 1
    return Composition(number, leg.placement(level, number), leg.placement(level, number + 1), share, gap / 2)


def assembled(made_of: Composition, base: Painted, deeper: Painted | None, width: int, height: int) -> Rgb:
    """Return a frame of width × height pixels as sRGB bytes."""
    light = _resampled(base, made_of.placement, (0, 0, width, height))
    if deeper is not None and made_of.deeper is not None:
        _lay_over(light, deeper, made_of, width, height)
    return bytes_of(light)


def scaled(made_of: Composition, scale: float) -> Composition:
    """Return the composition of the same frame with pixels that are `scale` times as wide and high."""

    def wider(placement: tuple[Floats, tuple[float, float]]) -> tuple[Floats, tuple[float, float]]:
        (a, b, c, d), (x, y) = placement
        half = (scale - 1) / 2
        return (a * scale, b * scale, c * scale, d * scale), (x + (a + b) * half, y + (c + d) * half)

    deeper = None if made_of.deeper is None else wider(made_of.deeper)
    return Composition(made_of.number, wider(made_of.placement), deeper, made_of.share, made_of.gap)


def _lay_over(light: Light, deeper: Painted, made_of: Composition, width: int, height: int) -> None:
    assert made_of.deeper is not None
    (a, b, c, d), (x0, y0) = made_of.deeper
    x = np.arange(width, dtype=np.float32)[np.newaxis]
    y = np.arange(height, dtype=np.float32)[:, np.newaxis]
    # Along one axis alone where nothing is turned: these broadcast.
    across = (a * x + (b * y + x0 if b else x0)) / deeper.width
    down = (d * y + (c * x + y0 if c else y0)) / deeper.height
    shares = np.minimum(_from_edges(across, made_of, deeper.width), _from_edges(down, made_of, deeper.height))
    columns, rows = np.flatnonzero(shares.max(0)), np.flatnonzero(shares.max(1))
    if not columns.size or not rows.size:
        return
    box = (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1)
    part = np.s_[box[1] : box[3], box[0] : box[2]]
    over = _resampled(deeper, made_of.deeper, box)
    over -= light[part]
    over *= shares[part][..., np.newaxis]
    light[part] += over


def _from_edges(place: npt.NDArray[np.floating[Any]], made_of: Composition, side: int) -> npt.NDArray[np.float32]:
    """Return the share of the deeper keyframe at places along one of its sides, from 0 to 1."""
    edge = 0.5 / side
    inner = np.minimum(place, 1 - 1 / side - place) + edge
    feather = max(min(_FEATHER, made_of.gap), 1e-6)
    ramp = np.clip(inner / np.float32(feather), 0, 1)
    shares: npt.NDArray[np.float32] = (ramp * ramp * (3 - 2 * ramp) * np.float32(made_of.share)).astype(np.float32)
    shares[inner < edge] = 0
    return shares


def _resampled(
    keyframe: Painted, placement: tuple[Floats, tuple[float, float]], box: tuple[int, int, int, int]
) -> Light:
    """Return the light of a rectangle of a frame, left, top, right and bottom: rows × columns × 3."""
    (a, b, c, d), (x0, y0) = placement
    left, top, right, bottom = box
    size = right - left, bottom - top
    light = np.empty((size[1], size[0], 3), np.float32)
    if not b and not c:
        edges = (x0 + a * (left - 0.5) + 0.5, y0 + d * (top - 0.5) + 0.5)
        ends = (x0 + a * (right - 0.5) + 0.5, y0 + d * (bottom - 0.5) + 0.5)
        area = (max(0.0, edges[0]), max(0.0, edges[1]), min(keyframe.width, ends[0]), min(keyframe.height, ends[1]))
        for k, channel in enumerate(keyframe.channels):
            light[..., k] = np.asarray(channel.resize(size, _FILTER, area))
        return light
    fine = (size[0] * _FINER, size[1] * _FINER)
    p, q, r, s = (entry / _FINER for entry in (a, b, c, d))
    # Where the rectangle's corner lies, as Pillow counts: from the corner of the first pixel.
    at_x = x0 + a * (left - 0.5) + b * (top - 0.5) + 0.5
    at_y = y0 + c * (left - 0.5) + d * (top - 0.5) + 0.5
    for k, channel in enumerate(keyframe.channels):
        turned = channel.transform(fine, Image.Transform.AFFINE, (p, q, at_x, r, s, at_y), Image.Resampling.BILINEAR)
        light[..., k] = np.asarray(turned.resize(size, _FILTER))
    return light
