"""`.kfb` files of Kalles Fraktaler: counts, transitions between them, and perhaps distances.

The layout is that of its sources (2.15, `SaveMapB`), little-endian: `KFB`; width and height; n of each pixel, column by
column; a palette; the cap; t of each pixel; and, where that was computed, the length of the distance estimate. A count
is n + 1 − t. Inside n is the cap, where nothing was computed −1, and t is below 0 where it would be wrong.
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
_MOST_BYTES = 1 << 20  # of a .kfr
_PIXEL_BYTES = 32  # of memory
_RADIUS = 10_000  # where no .kfr says another


def is_kfb(file: BinaryIO) -> bool:
    """Whether the file begins as such a file does, of this kind or an older one; it is left at its beginning."""
    magic = file.read(3)
    file.seek(0)
    return magic == _MAGIC or magic in _OLD


def read_field(file: BinaryIO, place: str | None) -> Foreign:
    """Return the field in a file, whose place is in the text of a `.kfr`; raises FileError for a damaged file."""
    notes: list[str] = []
    magic, width, height = struct.unpack("<3sii", _read(file, 11))
    if magic != _MAGIC:
        raise FileError("a map of an older kind than .kfb")
    if not (0 < width < _MOST_SIDE and 0 < height < _MOST_SIDE):
        raise FileError("a .kfb of a size that no picture has")
    pixels, end = width * height, file.seek(0, os.SEEK_END)
    if 8 * pixels > end:
        raise FileError("a .kfb that is cut off, or says that it is larger than it is")
    require_memory(pixels, _PIXEL_BYTES)
    file.seek(11)
    counts = _columns(file, "<i4", width, height)
    (_, parts) = struct.unpack("<ii", _read(file, 8))
    if not 0 <= parts <= _MOST_COLOURS:
        raise FileError(f"a .kfb with a palette of {parts} colours")
    _read(file, 3 * parts)
    (cap,) = struct.unpack("<i", _read(file, 4))
    transitions = _columns(file, "<f4", width, height)
    rest = end - file.tell()
    if rest not in (0, 4 * pixels):
        raise FileError("a .kfb that is cut off, or longer than it says")
    if rest:
        notes.append("its distances have no direction, and are left out")
    origin = origin_of(place, width, height, cap, notes.append)
    planes = _planes(counts, transitions, cap, shift_of(origin.formula, origin.radius or _RADIUS), notes)
    job = replace(origin.job, planes=tuple(planes))
    return Foreign(Field(job, planes), origin.placed, tuple(notes))


def text_beside(path: Path) -> str | None:
    """Return the text of the `.kfr` of the same name in the same folder; None where there is none."""
    beside = path.with_suffix(".kfr")
    return text_of(read_bounded(beside, _MOST_BYTES)) if beside.is_file() else None


def _planes(
    counts: npt.NDArray[Any], transitions: npt.NDArray[Any], cap: int, shift: float, notes: list[str]
) -> Mapping[str, npt.NDArray[Any]]:
    missing = (counts == -1) | (transitions < 0)
    inside = (counts == cap) | missing
    if np.any((counts < 0) | (counts > cap), where=~missing):
        raise FileError("it has counts below 0, or beyond its cap")
    if missing.any():
        notes.append(f"pixels that were not computed there count as inside: {int(np.count_nonzero(missing))}")
    parts = 1 - np.where(inside, np.float32(0), transitions)
    made = joined(counts.astype(np.int64), parts, inside, cap, shift)
    return dict(zip((COUNTS.name, SMOOTH.name), made, strict=True))


def _columns(file: BinaryIO, dtype: str, width: int, height: int) -> npt.NDArray[Any]:
    """Return a number for each pixel, height × width, which the file has column by column."""
    return np.frombuffer(_read(file, 4 * width * height), dtype).reshape(width, height).T


def _read(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise FileError("a .kfb that is cut off")
    return data
