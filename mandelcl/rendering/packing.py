"""A band's values as bytes: Zstandard frames, and a table of their lengths.

Rows are packed a few at a time, each of their layers separately, so packing takes little memory besides the band's own.
Checksums cover every byte: the table has two for each frame.
"""

import struct
import sys
import threading
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np

from mandelcl.files import deflate
from mandelcl.rendering.band_layout import BandLayout, Values

_PIXELS = 1 << 18  # per frame; larger frames do not compress better at this level
# On detail, level 1 takes a third longer than this setting; on smooth fractions, which are noise, four times as long.
# A small table of long matches fits a core's cache: that is another 10 to 25 % faster, and only 1 % larger.
_OPTIONS = {"compression_level": -1, "hash_log": 12, "min_match": 7}
_ENTRY = struct.Struct("<BIII")  # bytes per value, bytes of the frame, its CRC-32 and Adler-32
_FRAME_BYTES = 128  # the most that a frame adds to its share of the packed bytes

_own = threading.local()

TABLE_ENTRY_BYTES = _ENTRY.size


def pack(values: Values, form: BandLayout) -> tuple[bytes, list[bytes]]:
    """Pack a band. Return its table and its frames."""
    layers = form.layers(values)
    compressor = _compressor()
    table, frames = [], []
    for top, bottom in _pieces(*layers[0].shape[:2]):
        for layer, near in zip(layers, form.near_first, strict=True):
            piece = _narrow(layer[top:bottom] - layers[0][top:bottom] if near else layer[top:bottom])
            frame = compressor.compress(piece.data.cast("B"), compressor.FLUSH_FRAME)
            table.append(_ENTRY.pack(piece.itemsize, len(frame), *_checksums(frame)))
            frames.append(frame)
    return b"".join(table), frames


def unpack(table: memoryview, data: memoryview, form: BandLayout, rows: int, columns: int) -> Values:
    """Return the packed band. Raises ValueError for damaged bytes."""
    entries = list(_ENTRY.iter_unpack(table))
    if sum(size for _, size, *_ in entries) != len(data):
        raise ValueError("the length of the frames differs from the table's")
    values = np.empty(form.shape(rows, columns), form.dtype)
    layers, start, entry = form.layers(values), 0, iter(entries)
    for top, bottom in _pieces(rows, columns):
        for layer, near in zip(layers, form.near_first, strict=True):
            width, size, *checksums = next(entry)
            frame, start = data[start : start + size], start + size
            if width not in (1, 2, 4) or [*_checksums(frame)] != checksums:
                raise ValueError("a frame's checksums are wrong")
            into = layer[top:bottom]
            into[...] = np.frombuffer(_unpacked(frame, width * into.size), f"<u{width}").reshape(into.shape)
            if near:
                into += layers[0][top:bottom]
    return values


def entries(form: BandLayout, rows: int, columns: int) -> int:
    """Return the number of entries in the table of a band with this many rows and columns."""
    return len(form.near_first) * sum(1 for _ in _pieces(rows, columns))


def most_bytes(form: BandLayout, rows: int, columns: int) -> int:
    """Return a bound on the total size of a band's frames. Zstandard's own bound is the content plus 1/256."""
    size = form.dtype.itemsize * int(np.prod(form.shape(rows, columns)))
    return size + size // 255 + _FRAME_BYTES * entries(form, rows, columns)


def _pieces(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Yield the rows of each frame: the first row, and the one after the last."""
    step = max(1, _PIXELS // columns)
    return pairwise([*range(0, rows, step), rows])


def _narrow(piece: Values) -> Values:
    """Return values as little-endian integers with the fewest bytes that hold them."""
    width = piece.itemsize
    if width == 4:
        largest = int(piece.max())
        width = 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
    return np.ascontiguousarray(piece, f"<u{width}")


def _checksums(frame: bytes | memoryview) -> tuple[int, int]:
    """Return two checksums, which rarely miss the same damage. With ISA-L they cost almost nothing."""
    return deflate.crc32(frame), deflate.adler32(frame)


def _unpacked(frame: memoryview, size: int) -> bytes:
    """Return the content of a frame, which must have `size` bytes. Never more than that is unpacked."""
    zstd = _zstd()
    decompressor = zstd.ZstdDecompressor()
    try:
        data: bytes = decompressor.decompress(frame, size + 1)
    except (EOFError, zstd.ZstdError) as error:
        raise ValueError("a frame cannot be unpacked") from error
    if len(data) != size or not decompressor.eof or decompressor.unused_data:
        raise ValueError("the size of a frame's content is wrong")
    return data


def _compressor() -> Any:
    """Return this thread's compressor. Making one per band would take a fifth of the packing time."""
    if not hasattr(_own, "compressor"):
        zstd = _zstd()
        options = {getattr(zstd.CompressionParameter, name): value for name, value in _OPTIONS.items()}
        _own.compressor = zstd.ZstdCompressor(options=options)
    return _own.compressor


@cache
def _zstd() -> ModuleType:
    """Import and return Zstandard, which only long renders need."""
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
