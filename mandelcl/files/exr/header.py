"""The header of an OpenEXR file (the format's documentation, "OpenEXR File Layout").

A header is a list of attributes, each with a name, a type, a size and that many bytes. An empty name ends it. It is
read here, not by the library, so that nothing is allocated before the file is known to be sound and of a sensible size.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from mandelcl.base.errors import FileError
from mandelcl.base.text import quoted

MAGIC = b"v/1\x01"
PLACES = ("KallesFraktaler2+", "Fraktaler3", "fraktaler-3")  # attributes with the text of a location
UINT, HALF, FLOAT = 0, 1, 2  # types of channels
SIZES = (4, 2, 4)
_MOST_BYTES = 1 << 21
_LONGEST_NAME = 255
_MOST_SIDE = 1 << 31
_VERSION, _LONG_NAMES = 2, 0x400  # the version, and the flag that may be set for a single-part image in rows
_DAMAGED = "an OpenEXR picture whose header is damaged"


@dataclass(frozen=True, slots=True)
class ExrHeader:
    """The attributes of a file's first part by name (type and bytes), the version, and the offset of their end."""

    attributes: Mapping[str, tuple[str, bytes]]
    version: int
    end: int

    def text(self, name: str) -> str | None:
        """Return a text attribute, or None if there is none."""
        kind, data = self.attributes.get(name, ("", b""))
        return data.decode("utf-8", errors="replace") if kind == "string" else None

    def number(self, name: str) -> int | None:
        """Return an integer attribute, which is a text if it is large; None if there is none."""
        kind, data = self.attributes.get(name, ("", b""))
        if kind == "int" and len(data) == 4:
            return int.from_bytes(data, "little", signed=True)
        digits = data.decode("ascii", errors="replace") if kind == "string" else ""
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 20 else None

    def place(self) -> str | None:
        """Return the text of the location that one of the programs has stored, or None."""
        texts = (self.text(name) for name in PLACES)
        return next((text for text in texts if text is not None), None)

    @property
    def in_rows(self) -> bool:
        """Whether this is a single-part image in rows: without tiles, and without samples at several depths."""
        return self.version & ~_LONG_NAMES == _VERSION

    @property
    def compression(self) -> int:
        """The compression of the blocks. Raises FileError if the header has none."""
        kind, data = self.attributes.get("compression", ("", b""))
        if kind != "compression" or len(data) != 1:
            raise FileError(_DAMAGED)
        return data[0]

    def window(self) -> tuple[int, int, int, int]:
        """Return the first column and row that have pixels, and the last. Raises FileError if there are none."""
        kind, data = self.attributes.get("dataWindow", ("", b""))
        if kind != "box2i" or len(data) != 16:
            raise FileError(_DAMAGED)
        left, top, right, bottom = struct.unpack("<4i", data)
        if not (0 <= right - left < _MOST_SIDE and 0 <= bottom - top < _MOST_SIDE):
            raise FileError("an OpenEXR picture with an impossible size")
        return left, top, right, bottom

    def channels(self) -> dict[str, int]:
        """Return the channels with their types. Raises FileError for a subsampled channel."""
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
                raise FileError(f"an OpenEXR picture with a channel of an unsupported kind, {quoted(name)}")
            found[name] = form
        return found


def read_header(file: BinaryIO) -> ExrHeader:
    """Read the header from the start of a file. Raises FileError if it is damaged."""
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
    raise FileError(f"{_DAMAGED}, cut off or too long")


def is_exr(file: BinaryIO) -> bool:
    """Return whether the file starts like an OpenEXR file. The file's position is its start, before and after."""
    magic = file.read(4)
    file.seek(0)
    return magic == MAGIC


def _word(data: bytes, place: int) -> tuple[str, int]:
    """Return the text up to the next zero byte, and the offset behind it."""
    end = data.find(b"\0", place, place + _LONGEST_NAME + 1)
    if end < 0:
        raise FileError(_DAMAGED)
    return data[place:end].decode("latin-1"), end + 1
