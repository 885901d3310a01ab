"""Blocks of rows in an OpenEXR file ("OpenEXR File Layout", "Technical Introduction to OpenEXR").

Behind the header is the place of each block, and at each place its first row, its size and its bytes: rows one after
the other, in each the channels in the order of the alphabet. Deflate packs the differences of bytes, those at even
places before those at odd ones.

They are unpacked here: the library OpenEXR says on standard error what it finds wrong, and cannot be kept from it.
"""

import os
import struct
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Self

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.files.exr.header import SIZES, ExrHeader

_DTYPES = ("<u4", "<f2", "<f4")  # of the types of channels
_ROWS = {0: 1, 2: 1, 3: 16}  # in a block: not packed, or by deflate, each row by itself (ZIPS) or sixteen (ZIP)
_MOST_PACKED = 1032  # bytes that a byte of deflate becomes at most
_HEAD = struct.Struct("<ii")


@dataclass(frozen=True, slots=True)
class RowBlocks:
    """Where the rows of a picture are, and the types of their channels; `packed` says whether deflate packs them."""

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
        """Return the blocks of a file with that header; raises FileError where they cannot all be there."""
        if not header.in_rows:
            raise FileError("an OpenEXR picture of several parts, in tiles, or of several depths")
        if header.compression not in _ROWS:
            raise FileError("an OpenEXR picture that is packed in another way than ZIP; save it as ZIP")
        left, top, right, bottom = header.window()
        width, height, rows = right - left + 1, bottom - top + 1, _ROWS[header.compression]
        channels, number = header.channels(), -(-height // rows)
        end = file.seek(0, os.SEEK_END)
        there = end - header.end - number * (8 + _HEAD.size)
        raw = width * height * sum(SIZES[kind] for kind in channels.values())
        if there < 0 or raw > there * (_MOST_PACKED if header.compression else 1):
            raise FileError("an OpenEXR picture that is cut off, or says that it is larger than it is")
        file.seek(header.end)
        places = struct.unpack(f"<{number}Q", file.read(8 * number))
        if max(places) > end - _HEAD.size:
            raise FileError("an OpenEXR picture with rows outside the file")
        return cls(width, height, top, rows, header.compression > 0, channels, places, end)

    def read(self, file: BinaryIO, names: Collection[str]) -> Iterator[tuple[slice, dict[str, npt.NDArray[Any]]]]:
        """Yield the rows of each block, from the top, and their values in some channels: uint32, float16 or float32."""
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
    """Return the bytes of a block, of that size; raises FileError for others. What does not shrink is not packed."""
    if packed and len(data) < size:
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(data, size + 1)
        except zlib.error as error:
            raise FileError("an OpenEXR picture with rows that are damaged") from error
        if not stream.eof:  # its checksum has been compared there
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
