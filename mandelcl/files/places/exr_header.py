"""The text of a place in the header of an OpenEXR file (the format's documentation, "OpenEXR File Layout").

A header is attributes, each a name, a type, a size and so many bytes; an empty name ends it.
"""

import struct
from typing import BinaryIO

from mandelcl.errors import FileError

MAGIC = b"v/1\x01"
_NAMES = (b"KallesFraktaler2+", b"Fraktaler3", b"fraktaler-3")
_MOST_BYTES = 1 << 21
_LONGEST_NAME = 255


def text_in(file: BinaryIO) -> str | None:
    """Return the text that one of the programs has put there, of the first part of the file; None if there is none."""
    data = file.read(_MOST_BYTES)
    place = 8  # behind the magic number and the version
    while place < len(data) and data[place]:
        name, place = _word(data, place)
        kind, place = _word(data, place)
        if place + 4 > len(data):
            break
        (size,) = struct.unpack_from("<i", data, place)
        place += 4
        if not 0 <= size <= len(data) - place:
            break
        if name in _NAMES and kind == b"string":
            return data[place : place + size].decode("utf-8", errors="replace")
        place += size
    else:
        if place < len(data):
            return None
    raise FileError("an OpenEXR picture whose header is damaged, cut off, or longer than any")


def _word(data: bytes, place: int) -> tuple[bytes, int]:
    """Return what is there up to a zero byte, and the place behind that."""
    end = data.find(b"\0", place, place + _LONGEST_NAME + 1)
    if end < 0:
        raise FileError("an OpenEXR picture whose header is damaged")
    return data[place:end], end + 1
