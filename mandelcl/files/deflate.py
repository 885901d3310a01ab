"""Deflate, the compression of PNG and `.npz`, by the fastest library that is installed.

That is Intel's ISA-L (package isal) if there is a wheel for the platform, otherwise Python's zlib. Both unpack to the
same bytes, but the packed bytes depend on the library, its version and the processor.
"""

import zlib
from functools import cache
from typing import Protocol

from mandelcl.base.errors import InvalidInputError

FAST, SMALL, STORED = "fast", "small", "stored"
COMPRESSIONS = (FAST, SMALL)  # the values that users can choose

_FAST = {"zlib": 1, "isal": 2}
_SMALL = 8  # zlib's 9 takes up to 50 % longer and saves less than 1 %
_SMALL_WORDS = 6  # on fields, 8 takes three times as long and saves 5 %
_MEMORY = 9


class Stream(Protocol):
    """A raw deflate stream that is being written."""

    def compress(self, data: bytes | memoryview, /) -> bytes:
        """Add bytes; return the packed bytes that are ready."""

    def flush(self, mode: int, /) -> bytes:
        """Return the remaining bytes, up to a byte boundary (Z_SYNC_FLUSH) or to the end of the stream (Z_FINISH)."""


class _Library(Protocol):
    """The common interface of zlib and of ISA-L's equivalent."""

    __name__: str

    def compressobj(self, level: int, method: int, wbits: int, mem_level: int, strategy: int, /) -> Stream: ...

    def adler32(self, data: bytes | memoryview, value: int, /) -> int: ...

    def crc32(self, data: bytes | memoryview, value: int, /) -> int: ...


def require_compression(name: str) -> None:
    """Raise InvalidInputError for a name that is not in COMPRESSIONS."""
    if name not in COMPRESSIONS:
        raise InvalidInputError(f"unknown compression {name!r}; use {' or '.join(COMPRESSIONS)}")


def of_colours(compression: str) -> Stream:
    """Return a stream for RGB pixels."""
    return _stream(compression, _SMALL, zlib.Z_DEFAULT_STRATEGY)


def of_places(compression: str) -> Stream:
    """Return a stream for indices into a colour table.

    Short matches cost more here than they save, as zlib's Z_FILTERED assumes: the result is up to a sixth smaller.
    """
    return _stream(compression, _SMALL, zlib.Z_FILTERED)


def of_words(compression: str) -> Stream:
    """Return a stream for the planes of a field."""
    return _stream(compression, _SMALL_WORDS, zlib.Z_FILTERED)


def adler32(data: bytes | memoryview, value: int = 1) -> int:
    """Return the Adler-32 of the bytes, appended to bytes with the checksum `value`."""
    return _library().adler32(data, value)


def crc32(data: bytes | memoryview, value: int = 0) -> int:
    """Return the CRC-32 of the bytes, appended to bytes with the checksum `value`."""
    return _library().crc32(data, value)


def _stream(compression: str, small: int, strategy: int) -> Stream:
    if compression == FAST:
        library = _library()
        level = _FAST["zlib" if library is zlib else "isal"]
        return library.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, _MEMORY, zlib.Z_DEFAULT_STRATEGY)
    level = small if compression == SMALL else 0
    return zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, _MEMORY, strategy)


@cache
def _library() -> _Library:
    try:
        from isal import isal_zlib
    except ImportError:
        return zlib
    return isal_zlib
