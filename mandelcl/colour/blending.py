"""From the colours of a palette to those of a whole cycle: curves through the colours."""

import numpy as np
import numpy.typing as npt

from mandelcl.base.srgb import decode, encode

Reals = npt.NDArray[np.float64]

# Linear sRGB to OKLab (Björn Ottosson, "A perceptual color space for image processing", 2020, as corrected 2021).
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
_BETWEEN = 2048  # points per segment of an even curve


def cycle_of(colours: npt.NDArray[np.uint8], blend: str, positions: tuple[float, ...], size: int) -> Reals:
    """Return `size` colours of a closed curve through the given ones, as sRGB values from 0 to 1.

    `blend` and `positions` are those of a `Palette`.
    """
    if blend == "even":
        return _even_cycle(colours, size)
    places = np.array(positions) if positions else np.arange(len(colours)) / len(colours)
    at = np.arange(size) / size
    # The stop at or before each place, and the fraction of the way to the next stop.
    k = (np.searchsorted(places, at, side="right") - 1) % len(places)
    gaps = np.diff(np.append(places, places[0] + 1))
    t = (((at - places[k]) % 1) / gaps[k])[:, np.newaxis]
    if blend == "oklab":
        lab = _srgb_to_oklab(colours)
        return _oklab_to_srgb(_cubic(lab, gaps, k, t))
    if blend == "sine":
        t = (1 - np.cos(np.pi * t)) / 2
    values = colours / 255
    return np.asarray(values[k] + t * (values[(k + 1) % len(values)] - values[k]))


def as_bytes(values: Reals) -> npt.NDArray[np.uint8]:
    """Return sRGB values from 0 to 1 as bytes."""
    return np.asarray(np.rint(values * 255), dtype=np.uint8)


def _cubic(values: Reals, gaps: Reals, k: npt.NDArray[np.intp], t: Reals) -> Reals:
    """Return a closed monotone cubic through values with these gaps, at the fractions t of the gaps behind values k.

    Slopes are weighted harmonic means (Fritsch and Butland, 1984), so no channel overshoots.
    """
    width = gaps[:, np.newaxis]
    step = (np.roll(values, -1, axis=0) - values) / width
    before, narrow = np.roll(step, 1, axis=0), np.roll(width, 1, axis=0)
    same_sign = before * step > 0
    first, second = 2 * width + narrow, width + 2 * narrow
    divisor = np.where(same_sign, first * step + second * before, 1)
    slope = np.where(same_sign, (first + second) * before * step / divisor, 0)
    rise, here, after = step[k], slope[k], slope[(k + 1) % len(values)]
    curve = t * here + t**2 * (3 * rise - 2 * here - after) + t**3 * (here + after - 2 * rise)
    return np.asarray(values[k] + width[k] * curve)


def _even_cycle(colours: npt.NDArray[np.uint8], size: int) -> Reals:
    """Return colours on a closed curve through the given ones, at equal distances in OKLab.

    Each coordinate is a monotone cubic (Fritsch and Carlson, 1980; slopes are harmonic means). No channel overshoots,
    so no band of an unwanted hue appears.
    """
    lab = _srgb_to_oklab(colours)
    step = np.roll(lab, -1, axis=0) - lab
    before = np.roll(step, 1, axis=0)
    same_sign = before * step > 0
    slope = np.where(same_sign, 2 * before * step / np.where(same_sign, before + step, 1), 0)
    place = np.arange(len(lab) * _BETWEEN + 1) / _BETWEEN
    k = place.astype(np.intp) % len(lab)
    after = (k + 1) % len(lab)
    t = (place % 1)[:, None]
    curve = lab[k] + t * slope[k] + t**2 * (3 * step[k] - 2 * slope[k] - slope[after])
    curve += t**3 * (slope[k] + slope[after] - 2 * step[k])
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    even = np.arange(size) * (length[-1] / size)
    return _oklab_to_srgb(np.stack([np.interp(even, length, channel) for channel in curve.T], axis=1))


def _srgb_to_oklab(rgb: npt.NDArray[np.uint8]) -> Reals:
    return np.asarray(np.cbrt(decode(rgb / 255) @ _TO_LMS.T) @ _TO_LAB.T)


def _oklab_to_srgb(lab: Reals) -> Reals:
    return encode((lab @ np.linalg.inv(_TO_LAB).T) ** 3 @ np.linalg.inv(_TO_LMS).T)
