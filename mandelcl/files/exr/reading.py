"""Fields in OpenEXR files of Kalles Fraktaler, Fraktaler-3 and mandelcl."""

import os
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.core.counts import MAX_ITERATIONS
from mandelcl.core.field import Field, Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import DISTANCE, LAST, PLANES, SMOOTH, TRAILS, dtype_of
from mandelcl.files.exr.channels import BIAS, RADIUS, Channels, planes_of
from mandelcl.files.exr.header import SIZES, UINT, ExrHeader, read_header
from mandelcl.files.foreign import Foreign, Origin, origin_of, require_memory

_DTYPES = ("<u4", "<f2", "<f4")  # by the type of a channel
_ROWS = {0: 1, 2: 1, 3: 16}  # per block: not packed, or deflate of single rows (ZIPS) or of sixteen (ZIP)
_MOST_PACKED = 1032  # deflate expands one byte to this many at most
_HEAD = struct.Struct("<ii")
_PIXEL_BYTES = 32  # of memory: all planes, and some more while rows are converted
_OWN = "mandelcl"
_REALS = ("NF", "DEX", "DEY", "T", *(plane.name for plane in TRAILS))


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """The offsets of a picture's rows, and the types of their channels. `packed` says whether deflate packs them."""

    width: int
    height: int
    first: int
    rows: int
    packed: bool
    channels: dict[str, int]
    places: tuple[int, ...]
    end: int

    @classmethod
    def of(cls, header: ExrHeader, file: BinaryIO) -> Self:
        """Return the blocks of a file with this header. Raises FileError if they cannot all be in the file."""
        if not header.in_rows:
            raise FileError("an OpenEXR picture with several parts, tiles or several depths, which cannot be read")
        if header.compression not in _ROWS:
            raise FileError("an OpenEXR picture with a compression other than ZIP; save it as ZIP")
        left, top, right, bottom = header.window()
        width, height, rows = right - left + 1, bottom - top + 1, _ROWS[header.compression]
        channels, number = header.channels(), -(-height // rows)
        end = file.seek(0, os.SEEK_END)
        there = end - header.end - number * (8 + _HEAD.size)
        raw = width * height * sum(SIZES[kind] for kind in channels.values())
        if there < 0 or raw > there * (_MOST_PACKED if header.compression else 1):
            raise FileError("an OpenEXR picture that is cut off, or whose header gives a wrong size")
        file.seek(header.end)
        places = struct.unpack(f"<{number}Q", file.read(8 * number))
        if max(places) > end - _HEAD.size:
            raise FileError("an OpenEXR picture with rows outside the file")
        return cls(width, height, top, rows, header.compression > 0, channels, places, end)

    def read(self, file: BinaryIO, names: Collection[str]) -> Iterator[tuple[slice, dict[str, npt.NDArray[Any]]]]:
        """Yield the rows of each block, and their values in these channels: uint32, float16 or float32."""
        row_bytes = self.width * sum(SIZES[kind] for kind in self.channels.values())
        for number, place in enumerate(self.places):
            top = number * self.rows
            bottom = min(top + self.rows, self.height)
            file.seek(place)
            row, size = _HEAD.unpack(file.read(_HEAD.size))
            if row != self.first + top or not 0 < size <= self.end - place - _HEAD.size:
                raise FileError("an OpenEXR picture with rows that are damaged or missing")
            data = _unpacked(file.read(size), (bottom - top) * row_bytes, self.packed)
            yield slice(top, bottom), self._values(data.reshape(bottom - top, row_bytes), names)

    def _values(self, rows: npt.NDArray[np.uint8], names: Collection[str]) -> dict[str, npt.NDArray[Any]]:
        found, place = {}, 0
        for name in sorted(self.channels, key=str.encode):
            kind = self.channels[name]
            size = SIZES[kind] * self.width
            if name in names:
                values = np.ascontiguousarray(rows[:, place : place + size]).view(_DTYPES[kind])
                found[name] = values.astype(values.dtype.newbyteorder("="), copy=False)
            place += size
        return found


def _unpacked(data: bytes, size: int, packed: bool) -> npt.NDArray[np.uint8]:
    """Return the unpacked bytes of a block. Raises FileError for a wrong size. Incompressible blocks are stored raw."""
    if packed and len(data) < size:
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(data, size + 1)
        except zlib.error as error:
            raise FileError("an OpenEXR picture with rows that are damaged") from error
        if not stream.eof:  # at the end of the stream, zlib has compared the checksum
            raise FileError("an OpenEXR picture with rows that are damaged")
        steps = np.frombuffer(data, np.uint8).copy()
        steps[1:] -= np.uint8(128)
        together = np.cumsum(steps, dtype=np.uint8)
        half, values = -(-len(together) // 2), np.empty_like(together)
        values[::2], values[1::2] = together[:half], together[half:]
    else:
        values = np.frombuffer(data, np.uint8)
    if len(values) != size:
        raise FileError("an OpenEXR picture with rows that are damaged or cut off")
    return values


def read_field(file: BinaryIO) -> Foreign:
    """Return the field in a file. Raises FileError, or InvalidInputError for a bad mandelcl job."""
    header = read_header(file)
    channels, blocks = _channels(header), RowBlocks.of(header, file)
    notes: list[str] = []
    require_memory(blocks.width * blocks.height, _PIXEL_BYTES)
    max_iterations = header.number("Iterations")
    if max_iterations is None or not 1 <= max_iterations <= MAX_ITERATIONS:
        raise FileError("it has no iteration limit")
    origin = _origin(header, blocks.width, blocks.height, max_iterations, notes)
    bias = header.number("IterationsBias")
    radius = RADIUS if origin.radius is None else origin.radius
    read = blocks.read(file, channels)
    planes, missing = _planes(read, origin.job, channels, BIAS if bias is None else bias, radius)
    if missing:
        notes.append(f"{missing} pixels were not computed and count as inside")
    job = replace(origin.job, planes=tuple(planes))
    return Foreign(Field(job, planes), origin.placed, tuple(notes))


def _channels(header: ExrHeader) -> list[str]:
    """Return the channels to read. Raises FileError if there are no counts, or if they have a wrong type."""
    channels = header.channels()
    counts = ["N0", "N1"] if "N0" in channels else ["N"]
    if any(channels.get(name) != UINT for name in counts):
        raise FileError("an OpenEXR picture without counts (N)")
    reals = [name for name in _REALS if name in channels]
    if any(channels[name] == UINT for name in reals):
        raise FileError("an OpenEXR picture whose fractions (NF) are integers")
    return counts + reals


def _origin(header: ExrHeader, width: int, height: int, max_iterations: int, notes: list[str]) -> Origin:
    own = header.text(_OWN)
    if own is None:
        return origin_of(header.place(), width, height, max_iterations, notes.append)
    job = Job.from_json(own)
    if (job.view.width, job.view.height, job.iterations) != (width, height, max_iterations):
        raise FileError("its job has a different size or iteration limit than its pixels")
    return Origin(job, True, Fraction(RADIUS))


def _planes(
    blocks: Iterable[tuple[slice, Channels]], job: Job, channels: Collection[str], bias: int, radius: Fraction | int
) -> tuple[Rows, int]:
    """Return the planes of the blocks, and the number of pixels that were not computed."""
    names = ["counts"]
    names += [SMOOTH.name] if "NF" in channels else []
    names += [DISTANCE.name] if {"DEX", "DEY"} <= set(channels) else []
    names += [LAST.name] if {"T", "NF"} <= set(channels) else []
    names += [plane.name for plane in TRAILS if plane.name in channels]
    shape, missing = (job.view.height, job.view.width), 0
    planes = {name: np.empty(shape, dtype_of(name, job.counts).newbyteorder("=")) for name in PLANES if name in names}
    for rows, values in blocks:
        found, absent = planes_of(values, job.formula, bias, job.iterations, radius)
        missing += absent
        for name, plane in planes.items():
            plane[rows] = found[name]
    return planes, missing
