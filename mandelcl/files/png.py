"""PNG files, written strip by strip on all cores. Their text chunks are read without decoding a pixel.

Pixels from a colour table repeat exactly. So without PNG's filters they pack smaller, and several times faster, than
with the filters that Pillow always applies to RGB. Without filters, no strip depends on the one above it.
"""

import os
import struct
import zlib
from collections.abc import Callable, Collection, Mapping
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import FileError
from mandelcl.files import deflate
from mandelcl.files.strips import Picture, in_order

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_END_BYTES = 12
_STRIP_BYTES = 1 << 19
_SHORT_TEXT = 2000
_LONGEST_TEXT = 1 << 20
_LONGEST_TEXTS = 4 * _LONGEST_TEXT
_MOST_CHUNKS = 1 << 20  # takes seconds to scan; a picture of half a terabyte has this many
_ADLER_BASE = 65521
_KINDS = {1: 0, 2: 4, 3: 2, 4: 6}  # PNG's colour type, by the number of channels


def write_png(file: BinaryIO, picture: Picture, texts: Mapping[str, str], compression: str = deflate.FAST) -> None:
    """Write a picture: RGB or grey, with transparency if it has any, or indexed if it has a colour table.

    It is painted strip by strip, in several threads. `texts` are keyword → ASCII text. The bytes depend on the pixels
    and on the deflate library (`mandelcl.files.deflate`), not on the number of threads. `file` need not be seekable.
    """
    width, height, table = picture.width, picture.height, picture.table
    file.write(_SIGNATURE)
    kind = _KINDS[picture.channels] if table is None else 3
    _write_chunk(file, b"IHDR", struct.pack(">IIBBBBB", width, height, picture.depth, kind, 0, 0, 0))
    for keyword, text in texts.items():
        name, data = keyword.encode("latin-1") + b"\0", text.encode("ascii")
        if len(data) <= _SHORT_TEXT:
            _write_chunk(file, b"tEXt", name + data)
        else:
            _write_chunk(file, b"zTXt", name + b"\0" + zlib.compress(data))
    if table is not None:
        _write_chunk(file, b"PLTE", table.tobytes())
    line = width * (picture.channels if table is None else 1) * picture.depth // 8
    rows = max(1, min(4 * _STRIP_BYTES, max(_STRIP_BYTES, line * height // 64)) // line)
    stream = deflate.of_colours if table is None else deflate.of_places

    def pack(top: int) -> tuple[list[bytes], int, int]:
        bottom = min(top + rows, height)
        pixels = picture.paint(top, bottom)
        if picture.depth == 16:
            pixels = pixels.astype(">u2").view(np.uint8)
        pixels = pixels.reshape(bottom - top, -1)
        with picture.watch.of("encode"):
            return _pack_lines(pixels, stream(compression), bottom == height)

    check, lead = 1, b"\x78\x01"  # the zlib stream's own header
    for packed, strip_check, size in in_order(pack, range(0, height, rows)):
        check = _adler32_combine(check, strip_check, size)
        _write_chunk(file, b"IDAT", lead, *packed)
        lead = b""
    _write_chunk(file, b"IDAT", struct.pack(">I", check))
    _write_chunk(file, b"IEND")


def append_texts(file: BinaryIO, texts: Mapping[str, str]) -> None:
    """Add short texts at the end of a PNG from `write_png`. The file must be open for reading and writing."""
    file.seek(-_END_BYTES, os.SEEK_END)
    for keyword, text in texts.items():
        _write_chunk(file, b"tEXt", keyword.encode("latin-1") + b"\0" + text.encode("ascii"))
    _write_chunk(file, b"IEND")


def require_short_texts(file: BinaryIO, most: int) -> None:
    """Raise FileError for a PNG with a text chunk of more than `most` bytes. The file is back at its start afterwards.

    Files of other kinds, and damaged ones, are left to their readers.
    """
    if file.read(len(_SIGNATURE)) == _SIGNATURE:
        for _ in range(_MOST_CHUNKS):
            head = file.read(8)
            size, kind = int.from_bytes(head[:4], "big"), head[4:]
            if kind in _READERS and size > most:
                raise FileError(f"a PNG picture with a text of more than {most >> 10} KiB")
            if len(head) < 8 or kind == b"IEND":
                break
            file.seek(size + 4, os.SEEK_CUR)
    file.seek(0)


def _pack_lines(pixels: npt.NDArray[np.uint8], stream: deflate.Stream, last: bool) -> tuple[list[bytes], int, int]:
    """Return rows of pixels as a part of the zlib stream, their checksum and their size."""
    lines = np.empty((pixels.shape[0], pixels.shape[1] + 1), dtype=np.uint8)
    lines[:, 0] = 0  # no filter
    lines[:, 1:] = pixels
    packed = [stream.compress(lines.data.cast("B")), stream.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)]
    return packed, deflate.adler32(lines.data.cast("B")), lines.size


def read_texts(file: BinaryIO, keywords: Collection[str]) -> dict[str, str]:
    """Return the texts of a PNG with these keywords, without decoding pixels.

    Other texts are not unpacked. Raises FileError for a damaged or truncated file, and for one with more texts or
    chunks than any picture has.
    """
    if file.read(len(_SIGNATURE)) != _SIGNATURE:
        raise FileError("neither a PNG picture nor a mandelcl field")
    texts: dict[str, str] = {}
    unpacked = 0
    for _ in range(_MOST_CHUNKS):
        head = _read_exactly(file, 8)
        (size,), kind = struct.unpack(">I", head[:4]), head[4:]
        if kind in _READERS and size <= _LONGEST_TEXT:
            data = _read_exactly(file, size)
            if struct.pack(">I", zlib.crc32(kind + data)) != _read_exactly(file, 4):
                raise FileError("a damaged PNG picture: a text's checksum is wrong")
            keyword, _, rest = data.partition(b"\0")
            name = keyword.decode("latin-1")
            if name in keywords:
                texts[name] = _READERS[kind](rest)
                unpacked += len(texts[name])
                if unpacked > _LONGEST_TEXTS:
                    raise FileError(f"a PNG picture with texts of more than {_LONGEST_TEXTS} bytes")
        elif kind == b"IEND":
            _read_exactly(file, 4)
            return texts
        else:
            file.seek(size + 3, os.SEEK_CUR)
            _read_exactly(file, 1)
    raise FileError(f"a PNG picture of more than {_MOST_CHUNKS} chunks")


def _adler32_combine(first: int, second: int, size: int) -> int:
    """Return the Adler-32 of two concatenated strings, from their checksums and the second's size (as zlib does)."""
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + size * ((first & 0xFFFF) - 1)
    return high % _ADLER_BASE << 16 | low % _ADLER_BASE


def _write_chunk(file: BinaryIO, kind: bytes, *parts: bytes) -> None:
    check = deflate.crc32(kind)
    file.write(struct.pack(">I", sum(map(len, parts))) + kind)
    for part in parts:
        file.write(part)
        check = deflate.crc32(part, check)
    file.write(struct.pack(">I", check))


def _read_exactly(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) != size:
        raise FileError("a PNG picture that is cut off")
    return data


def _inflate(data: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(data, _LONGEST_TEXT)
    except zlib.error as error:
        raise FileError("a damaged PNG picture: a text cannot be unpacked") from error
    if not stream.eof:
        raise FileError(f"a PNG picture with a text that is cut off or longer than {_LONGEST_TEXT} bytes")
    return text


def _read_international(rest: bytes) -> str:
    packed, (_language, _, tail) = rest[:1] == b"\1", rest[2:].partition(b"\0")
    text = tail.partition(b"\0")[2]
    return (_inflate(text) if packed else text).decode("utf-8", errors="replace")


# Other programs may rewrite our texts in any of PNG's three forms.
_READERS: Mapping[bytes, Callable[[bytes], str]] = {
    b"tEXt": lambda rest: rest.decode("latin-1"),
    b"zTXt": lambda rest: _inflate(rest[1:]).decode("latin-1"),
    b"iTXt": _read_international,
}
