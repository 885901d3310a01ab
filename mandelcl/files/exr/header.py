"""The header of an OpenEXR file (the format's documentation, "OpenEXR File Layout").

A header is attributes, each a name, a type, a size and so many bytes; an empty name ends it. It is read here, and not
by the library, so that nothing is allocated for a file before it is known to be sound and of a sensible size.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from mandelcl.base.errors import FileError
from mandelcl.base.text import quoted

MAGIC = b"v/1\x01"
PLACES = ("KallesFraktaler2+", "Fraktaler3", "fraktaler-3")  # attributes with the text of a place
UINT, HALF, FLOAT = 0, 1, 2  # types of channels
SIZES = (4, 2, 4)
_MOST_BYTES = 1 << 21
_LONGEST_NAME = 255
_MOST_SIDE = 1 << 31
_VERSION, _LONG_NAMES = 2, 0x400  # the first and what else may be set of an image of one part, in rows
_DAMAGED = "an OpenEXR picture whose header is damaged"


@dataclass(frozen=True, slots=True)
class ExrHeader:
    """The attributes of a file's first part by name, each its type and its bytes; its version; and where they end."""

    attributes: Mapping[str, tuple[str, bytes]]
    version: int
    end: int

    def text(self, name: str) -> str | None:
        """Return an attribute that is a text; None where there is none."""
        kind, data = self.attributes.get(name, ("", b""))
        return data.decode("utf-8", errors="replace") if kind == "string" else None

    def number(self, name: str) -> int | None:
        """Return a whole number, which is a text where it is large; None where there is none."""
        kind, data = self.attributes.get(name, ("", b""))
        if kind == "int" and len(data) == 4:
            return int.from_bytes(data, "little", signed=True)
        digits = data.decode("ascii", errors="replace") if kind == "string" else ""
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None

    def place(self) -> str | None:
        """Return the text of the place that one of the programs has noted; None where none has."""
        texts = (self.text(name) for name in PLACES)
        return next((text for text in texts if text is not None), None)

    @property
    def in_rows(self) -> bool:
        """Whether it is an image of one part, in rows: no tiles, no samples at several depths."""
        return self.version & ~_LONG_NAMES == _VERSION

    @property
    def compression(self) -> int:
        """How blocks of rows are packed; raises FileError where that is not said."""
        kind, data = self.attributes.get("compression", ("", b""))
        if kind != "compression" or len(data) != 1:
            raise FileError(_DAMAGED)
        return data[0]

    def window(self) -> tuple[int, int, int, int]:
        """Return the least column and row that there are pixels of, and the last; raises FileError for none."""
        kind, data = self.attributes.get("dataWindow", ("", b""))
        if kind != "box2i" or len(data) != 16:
            raise FileError(_DAMAGED)
        left, top, right, bottom = struct.unpack("<4i", data)
        if not (0 <= right - left < _MOST_SIDE and 0 <= bottom - top < _MOST_SIDE):
            raise FileError("an OpenEXR picture of a size that no picture has")
        return left, top, right, bottom

    def channels(self) -> dict[str, int]:
        """Return the channels, and of which type each is; raises FileError for any that has not every pixel."""
        kind, data = self.attributes.get("channels", ("", b""))
        if kind != "chlist":
            raise FileError(_DAMAGED)
        found, place = {}, 0
        while place < len(data) and data[place]:
            name, place = _word(data, place)
            if place + 16 > len(data):
                raise FileError(_DAMAGED)
            form, _, *steps = struct.unpack_from("<iIii", data, place)
            place += 16
            if form not in (UINT, HALF, FLOAT) or steps != [1, 1]:
                raise FileError(f"an OpenEXR picture with a channel of an unknown kind, {quoted(name)}")
            found[name] = form
        return found


def read_header(file: BinaryIO) -> ExrHeader:
    """Return the header of a file, which is at its beginning; raises FileError for one that is damaged."""
    data = file.read(_MOST_BYTES)
    if data[:4] != MAGIC or len(data) < 8:
        raise FileError(_DAMAGED)
    attributes, place = {}, 8
    while place < len(data) and data[place]:
        name, place = _word(data, place)
        kind, place = _word(data, place)
        if place + 4 > len(data):
            break
        (size,) = struct.unpack_from("<i", data, place)
        place += 4
        if not 0 <= size <= len(data) - place:
            break
        attributes[name] = kind, data[place : place + size]
        place += size
    else:
        if place < len(data):
            return ExrHeader(attributes, int.from_bytes(data[4:8], "little"), place + 1)
    raise FileError(f"{_DAMAGED}, cut off, or longer than any")


def is_exr(file: BinaryIO) -> bool:
    """Whether the file begins as an OpenEXR file does; it is left at its beginning."""
    magic = file.read(4)
    file.seek(0)
    return magic == MAGIC


def _word(data: bytes, place: int) -> tuple[str, int]:
    """Return what is there up to a zero byte, and the place behind that."""
    end = data.find(b"\0", place, place + _LONGEST_NAME + 1)
    if end < 0:
        raise FileError(_DAMAGED)
    return data[place:end].decode("latin-1"), end + 1
