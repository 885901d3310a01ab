"""Zip files from packed members. Python's zipfile only packs with zlib, and in one thread."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, Self

from mandelcl.files import deflate

_LOCAL = struct.Struct("<4s5H3I2H")
_SIZES = struct.Struct("<2H2Q")  # the extra field of local headers: 64-bit sizes
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END_64 = struct.Struct("<4sQ2H2I4Q")
_LOCATOR = struct.Struct("<4sIQI")
_END = struct.Struct("<4s4H2IH")
_VERSION = 45  # the first version of the format with 64-bit sizes
_MADE_BY = 3 << 8 | _VERSION  # Unix
_MODE = 0o644 << 16
_DEFLATED = 8
_DATE = 1 << 5 | 1  # 1980-01-01, the earliest date: the same field gives the same bytes
_NARROW = 0xFFFFFFFF


@dataclass(slots=True)
class Unpacked:
    """The size and CRC-32 of a member's bytes before packing."""

    size: int = 0
    check: int = 0

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes."""
        self.size += len(data)
        self.check = deflate.crc32(data, self.check)


@dataclass(slots=True)
class _Member:
    name: bytes
    start: int
    unpacked: Unpacked = field(default_factory=Unpacked)
    packed: int = 0

    def local(self) -> bytes:
        """Return the header before the member. Its length does not depend on the sizes."""
        sizes = _SIZES.pack(1, _SIZES.size - 4, self.unpacked.size, self.packed)
        head = (b"PK\3\4", _VERSION, 0, _DEFLATED, 0, _DATE, self.unpacked.check, _NARROW, _NARROW)
        return _LOCAL.pack(*head, len(self.name), len(sizes)) + self.name + sizes

    def central(self) -> bytes:
        """Return the member's entry in the directory."""
        wide = [value for value in (self.unpacked.size, self.packed, self.start) if value >= _NARROW]
        extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
        size, packed, start = (min(value, _NARROW) for value in (self.unpacked.size, self.packed, self.start))
        head = (b"PK\1\2", _MADE_BY, _VERSION, 0, _DEFLATED, 0, _DATE, self.unpacked.check, packed, size)
        return _CENTRAL.pack(*head, len(self.name), len(extra), 0, 0, 0, _MODE, start) + self.name + extra


class ZipWriter:
    """Writes a zip file to a seekable file. As a context manager, it writes the directory at the end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._members: list[_Member] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if kind is None:
            self._finish()

    @contextmanager
    def member(self, name: str, unpacked: Unpacked) -> Iterator[None]:
        """Begin a member, to which `put` adds data while the body runs.

        At the end of the body, `unpacked` must describe all the data that was put.
        """
        member = _Member(name.encode("ascii"), self._file.tell(), unpacked)
        self._file.write(member.local())
        self._members.append(member)
        yield
        end = self._file.tell()
        self._file.seek(member.start)
        self._file.write(member.local())
        self._file.seek(end)

    def put(self, packed: bytes) -> None:
        """Add raw deflate data to the open member."""
        self._members[-1].packed += len(packed)
        self._file.write(packed)

    def _finish(self) -> None:
        start, count = self._file.tell(), len(self._members)
        directory = b"".join(member.central() for member in self._members)
        self._file.write(directory)
        if start >= _NARROW:
            end = (_END_64.size - 12, _MADE_BY, _VERSION, 0, 0, count, count, len(directory), start)
            self._file.write(_END_64.pack(b"PK\6\6", *end))
            self._file.write(_LOCATOR.pack(b"PK\6\7", 0, start + len(directory), 1))
        self._file.write(_END.pack(b"PK\5\6", 0, 0, count, count, len(directory), min(start, _NARROW), 0))
