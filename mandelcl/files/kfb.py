"""`.kfb` files of Kalles Fraktaler: counts, fractions between them, and optionally distances.

The layout is taken from its sources (2.15, `SaveMapB`). It is little-endian: `KFB`; width and height; n of each pixel,
column by column; a palette; the iteration limit; t of each pixel; and, if it was computed, the length of the distance
estimate. A count is n + 1 − t. Inside, n is the iteration limit. n is −1 if a pixel was not computed, and t is below 0
where it would be wrong.
"""

import os
import struct
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.core.field import Field
from mandelcl.core.planes import COUNTS, SMOOTH
from mandelcl.files.continuous import joined, shift_of
from mandelcl.files.foreign import Foreign, origin_of, require_memory
from mandelcl.files.paths import read_bounded, text_of

_MAGIC, _OLD = b"KFB", (b"KFC", b"KFD")
_MOST_COLOURS = 1024
_MOST_SIDE = 1 << 31
_MOST_BYTES = 1 << 20  # the largest .kfr that is read
_PIXEL_BYTES = 32  # of memory per pixel
_RADIUS = 10_000  # without a .kfr that names another


def is_kfb(file: BinaryIO) -> bool:
    """Return whether the file starts like a .kfb, or its older form. The position is the start, before and after."""
    magic = file.read(3)
    file.seek(0)
    return magic == _MAGIC or magic in _OLD


def read_field(file: BinaryIO, place: str | None) -> Foreign:
    """Return the field in a file, with the location from the text of a `.kfr`. Raises FileError for a damaged file."""
    notes: list[str] = []
    magic, width, height = struct.unpack("<3sii", _read(file, 11))
    if magic != _MAGIC:
        raise FileError("a map in an older format than .kfb, which cannot be read")
    if not (0 < width < _MOST_SIDE and 0 < height < _MOST_SIDE):
        raise FileError("a .kfb with an impossible size")
    pixels, end = width * height, file.seek(0, os.SEEK_END)
    if 8 * pixels > end:
        raise FileError("a .kfb that is cut off, or whose header gives a wrong size")
    require_memory(pixels, _PIXEL_BYTES)
    file.seek(11)
    counts = _columns(file, "<i4", width, height)
    (_, parts) = struct.unpack("<ii", _read(file, 8))
    if not 0 <= parts <= _MOST_COLOURS:
        raise FileError(f"a .kfb with an impossible palette of {parts} colours")
    _read(file, 3 * parts)
    (max_iterations,) = struct.unpack("<i", _read(file, 4))
    transitions = _columns(file, "<f4", width, height)
    rest = end - file.tell()
    if rest not in (0, 4 * pixels):
        raise FileError("a .kfb that is cut off, or longer than its header says")
    if rest:
        notes.append("its distances are left out because they have no direction")
    origin = origin_of(place, width, height, max_iterations, notes.append)
    planes = _planes(counts, transitions, max_iterations, shift_of(origin.formula, origin.radius or _RADIUS), notes)
    job = replace(origin.job, planes=tuple(planes))
    return Foreign(Field(job, planes), origin.placed, tuple(notes))


def text_beside(path: Path) -> str | None:
    """Return the text of the `.kfr` of the same name in the same folder, or None."""
    beside = path.with_suffix(".kfr")
    return text_of(read_bounded(beside, _MOST_BYTES)) if beside.is_file() else None


def _planes(
    counts: npt.NDArray[Any], transitions: npt.NDArray[Any], max_iterations: int, shift: float, notes: list[str]
) -> Mapping[str, npt.NDArray[Any]]:
    missing = (counts == -1) | (transitions < 0)
    inside = (counts == max_iterations) | missing
    if np.any((counts < 0) | (counts > max_iterations), where=~missing):
        raise FileError("it has counts below 0 or above its iteration limit")
    if missing.any():
        notes.append(f"{int(np.count_nonzero(missing))} pixels were not computed and count as inside")
    parts = 1 - np.where(inside, np.float32(0), transitions)
    made = joined(counts.astype(np.int64), parts, inside, max_iterations, shift)
    return dict(zip((COUNTS.name, SMOOTH.name), made, strict=True))


def _columns(file: BinaryIO, dtype: str, width: int, height: int) -> npt.NDArray[Any]:
    """Read one number per pixel, height × width. The file has them column by column."""
    return np.frombuffer(_read(file, 4 * width * height), dtype).reshape(width, height).T


def _read(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise FileError("a .kfb that is cut off")
    return data
