"""Deflate, in which PNG and `.npz` are packed, by the fastest library that is installed.

That is Intel's ISA-L (package isal) wherever there is a wheel of it, and else Python's zlib. What is packed unpacks to
the same with either, but packed bytes depend on the library, its version and the processor.
"""

import zlib
from functools import cache
from typing import Protocol

from mandelcl.base.errors import InvalidInputError

FAST, SMALL, STORED = "fast", "small", "stored"
COMPRESSIONS = (FAST, SMALL)  # what a user may choose

_FAST = {"zlib": 1, "isal": 2}
_SMALL = 8  # zlib's 9 takes up to half as long again, and saves no hundredth
_SMALL_WORDS = 6  # on fields 8 takes three times as long, and saves a twentieth
_MEMORY = 9


class Stream(Protocol):
    """A raw deflate stream on its way."""

    def compress(self, data: bytes | memoryview, /) -> bytes:
        """Take bytes, and return what is packed by now."""

    def flush(self, mode: int, /) -> bytes:
        """Return the rest up to a byte boundary (Z_SYNC_FLUSH), or to the stream's end (Z_FINISH)."""


class _Library(Protocol):
    """What zlib and ISA-L's imitation of it share."""

    __name__: str

    def compressobj(self, level: int, method: int, wbits: int, mem_level: int, strategy: int, /) -> Stream: ...

    def adler32(self, data: bytes | memoryview, value: int, /) -> int: ...

    def crc32(self, data: bytes | memoryview, value: int, /) -> int: ...


def require_compression(name: str) -> None:
    """Raise InvalidInputError for a name that is not in COMPRESSIONS."""
    if name not in COMPRESSIONS:
        raise InvalidInputError(f"there is no compression {name!r}; there is {' and '.join(COMPRESSIONS)}")


def of_colours(compression: str) -> Stream:
    """Return a stream for RGB."""
    return _stream(compression, _SMALL, zlib.Z_DEFAULT_STRATEGY)


def of_places(compression: str) -> Stream:
    """Return a stream for places in a table of colours.

    Short matches cost more there than they save, which is what zlib's Z_FILTERED supposes: up to a sixth less.
    """
    return _stream(compression, _SMALL, zlib.Z_FILTERED)


def of_words(compression: str) -> Stream:
    """Return a stream for the planes of a field."""
    return _stream(compression, _SMALL_WORDS, zlib.Z_FILTERED)


def adler32(data: bytes | memoryview, value: int = 1) -> int:
    """Return the Adler-32 of the bytes, following those whose checksum is `value`."""
    return _library().adler32(data, value)


def crc32(data: bytes | memoryview, value: int = 0) -> int:
    """Return the CRC-32 of the bytes, following those whose checksum is `value`."""
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
