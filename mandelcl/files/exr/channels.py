"""Conversion between the planes of a field and the channels of Kalles Fraktaler and Fraktaler-3.

N is their whole count plus a bias, in two words if one cannot hold it. All bits are set inside, and N is 0 if a pixel
was not computed. NF is the fractional part of their count. T is the direction of z as the orbit leaves, from 0 to
below 1 for 360°. DEX and DEY are the distance estimate in pixels, to the right and down. Planes of last iterates have
channels with their own names, which those programs ignore.
"""

import math
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.core.counts import count_format
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, DISTANCE, LAST, SMOOTH, TRAILS
from mandelcl.files.continuous import joined, shift_of, split
from mandelcl.formulas import Formula

BIAS = 1024
RADIUS = 625  # Fraktaler-3's, if the file has none
_INSIDE = 0xFFFFFFFF
_TWO_WORDS = 0xFFFFFFFE  # from this iteration limit on, counts have two words
_FULL_ANGLE = 2 * math.pi

Channels = Mapping[str, npt.NDArray[Any]]


def names_of(job: Job) -> tuple[str, ...]:
    """Return the channels for a job's planes, in alphabetical order as in files."""
    names = ["N0", "N1"] if job.iterations + BIAS >= _TWO_WORDS else ["N"]
    for plane, channels in ((SMOOTH, ["NF"]), (DISTANCE, ["DEX", "DEY"]), (LAST, ["T"])):
        names += channels if plane.name in job.planes else []
    return tuple(sorted([*names, *_trails(job.planes)]))


def channels_of(job: Job, rows: Rows) -> dict[str, npt.NDArray[Any]]:
    """Return the channels of some rows: N as uint32, the others as float32."""
    counts = rows[COUNTS.name]
    inside = np.equal(counts, job.iterations)
    whole = counts.astype(np.int64)
    made: dict[str, npt.NDArray[Any]] = {}
    if SMOOTH.name in rows:
        whole, rest = split(whole, rows[SMOOTH.name], shift_of(job.formula, RADIUS))
        made["NF"] = np.where(inside, 0, rest).astype(np.float32)
    biased = np.where(inside, -1, whole + BIAS).astype(np.uint64)
    if "N" in names_of(job):
        made["N"] = biased.astype(np.uint32)
    else:
        made |= {"N0": biased.astype(np.uint32), "N1": (biased >> np.uint64(32)).astype(np.uint32)}
    if DISTANCE.name in rows:
        made |= {"DEX": rows[DISTANCE.name].real.copy(), "DEY": -rows[DISTANCE.name].imag}
    if LAST.name in rows:
        made["T"] = _directions(job.formula, rows[LAST.name])
    return made | {name: rows[name] for name in _trails(rows)}


def planes_of(
    channels: Channels, formula: Formula, bias: int, max_iterations: int, radius: Fraction | int
) -> tuple[Rows, int]:
    """Return the planes for the channels of some rows, and the number of pixels that were not computed.

    Such pixels count as inside, like those marked as inside. Raises FileError for values that no program writes.
    """
    low = channels["N"] if "N" in channels else channels["N0"]
    high = channels["N1"] if "N1" in channels else np.where(low == _INSIDE, np.uint32(_INSIDE), np.uint32(0))
    inside = (low == _INSIDE) & (high == _INSIDE)
    rest = channels.get("NF")
    missing = (low == 0) & (high == 0) & (True if rest is None else rest == 0)
    inside |= missing
    whole = (low.astype(np.int64) | (high.astype(np.int64) << 32)) - bias
    if np.any((whole < 0) | (whole > max_iterations + 64), where=~inside):
        raise FileError("it has counts below 0 or above its iteration limit")
    planes: dict[str, npt.NDArray[Any]] = {}
    if rest is None:
        counts = np.where(
            inside, max_iterations, np.clip(whole, 0 if formula.begins_inside else 1, max(max_iterations - 1, 1))
        )
        planes[COUNTS.name] = counts.astype(count_format(max_iterations).dtype)
    else:
        rest = np.where(inside, np.float32(0), rest)
        planes[COUNTS.name], planes[SMOOTH.name] = joined(
            whole, rest, inside, max_iterations, shift_of(formula, radius)
        )
    if "DEX" in channels:
        planes[DISTANCE.name] = _complex(channels["DEX"], -channels["DEY"], inside)
    if "T" in channels and rest is not None:
        degree = next((degree for degree in formula.degrees if degree > 1), 2)
        with np.errstate(all="ignore"):  # values that are not finite are refused
            size = np.float64(radius) ** (np.float64(degree) ** (1 - rest.astype(np.float64)))
            angle = channels["T"].astype(np.float64) * _FULL_ANGLE
            planes[LAST.name] = _complex(size * np.cos(angle), size * np.sin(angle), inside)
    for name in _trails(channels):
        planes[name] = np.where(inside, np.float32(0), channels[name])
        if not np.isfinite(planes[name]).all():
            raise FileError(f"its channel {name} has values that are not finite")
    return planes, int(np.count_nonzero(missing))


def _trails(names: Collection[str]) -> list[str]:
    """Return the planes of last iterates among some names: their channels have the same."""
    return [plane.name for plane in TRAILS if plane.name in names]


def _directions(formula: Formula, last: npt.NDArray[np.complex64]) -> npt.NDArray[np.float32]:
    """Return the direction of z outside the radius, from 0 to below 1. For z^d + c, z inside it first becomes z^d."""
    angles = np.arctan2(last.imag.astype(np.float64), last.real) / _FULL_ANGLE
    if formula.power:
        angles *= np.where(np.abs(last) > RADIUS, 1, formula.power)
    angles -= np.floor(angles)
    directions = angles.astype(np.float32)
    directions[(directions >= 1) | (last == 0)] = 0
    return directions


def _complex(
    real: npt.NDArray[Any], imaginary: npt.NDArray[Any], inside: npt.NDArray[np.bool_]
) -> npt.NDArray[np.complex64]:
    values = np.empty(inside.shape, np.complex64)
    values.real, values.imag = real, imaginary
    values[inside] = 0
    if not np.isfinite(values).all():
        raise FileError("it has distances or directions that are not finite")
    return values
