"""Frames of pixels in the format of docs/explore-protocol.md. The page receives exactly what a worker sends."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.core.block import Block
from mandelcl.core.planes import COUNTS as COUNTS_PLANE
from mandelcl.core.planes import DISTANCE, LAST, PLANES, SMOOTH, TRAILS

TILE = 256  # side in pixels; a frame lies in one tile
COUNTS, COLOURS, VALUES = 1, 2, 3
INSIDE = 0xFFFFFFFE  # the word of a pixel at the iteration limit, in a frame of values
# The planes that may follow the counts, in this order. Their flags are 1, 2, 4, …
FOLLOWING = (SMOOTH.name, DISTANCE.name, LAST.name, *(plane.name for plane in TRAILS))
MAGIC = 0x314C434D  # MCL1
_HEADER = struct.Struct("<IHHIIIiiHH")
HEADER_BYTES = _HEADER.size


@dataclass(frozen=True, slots=True)
class FrameAddress:
    """The address of pixels: a pane, its generation, and a level of its lattice, with the anchor at pixel (0, 0)."""

    pane: int
    generation: int
    level: int

    def header(self, block: Block, kind: int, flags: int = 0) -> bytes:
        """Return the header of a frame. Its block is counted from the anchor."""
        return _HEADER.pack(
            *(MAGIC, kind, flags, self.pane, self.generation, self.level),
            *(block.x, block.y, block.width, block.height),
        )


@dataclass(frozen=True, slots=True)
class FramePart:
    """A frame of counts: its block, counted from the anchor, the planes that follow, and the complete bytes."""

    block: Block
    planes: tuple[str, ...]
    frame: memoryview

    def plane(self, name: str) -> npt.NDArray[Any] | None:
        """Return the values of a plane, height × width, or None if the frame lacks it."""
        start, shape = HEADER_BYTES, (self.block.height, self.block.width)
        for one in (COUNTS_PLANE.name, *self.planes):
            dtype = np.dtype(PLANES[one].dtype)
            if one != name:
                start += dtype.itemsize * self.block.pixels
            elif dtype.kind != "c":
                return np.frombuffer(self.frame, dtype, self.block.pixels, start).reshape(shape)
            else:
                values = np.empty(shape, dtype)
                parts = np.frombuffer(self.frame, "<f4", 2 * self.block.pixels, start).reshape(2, *shape)
                values.real, values.imag = parts
                return values
        return None

    @property
    def counts(self) -> npt.NDArray[np.uint32]:
        """The counts, height × width."""
        counts = self.plane(COUNTS_PLANE.name)
        assert counts is not None
        return counts

    def addressed(self, address: FrameAddress) -> "FramePart":
        """Return a copy of the pixels with another address."""
        body = self.frame[HEADER_BYTES:]
        return FramePart(
            self.block, self.planes, memoryview(address.header(self.block, COUNTS, _flags(self.planes)) + body)
        )


def following(planes: Sequence[str]) -> tuple[str, ...]:
    """Return the planes of a job that follow the counts in a frame."""
    return tuple(name for name in FOLLOWING if name in planes)


def has_values(planes: Sequence[str]) -> bool:
    """Return whether frames of values hold all planes of a job: counts, and perhaps smooth fractions."""
    return set(planes) <= {COUNTS_PLANE.name, SMOOTH.name}


def values_bytes(block: Block) -> int:
    """Return the size in bytes of a block's frame of values."""
    return HEADER_BYTES + 4 * block.pixels


def pixel_bytes(planes: Sequence[str]) -> int:
    """Return the size in bytes of a pixel: its count and the planes that follow."""
    return sum(np.dtype(PLANES[name].dtype).itemsize for name in (COUNTS_PLANE.name, *following(planes)))


def _flags(planes: Sequence[str]) -> int:
    return sum(1 << FOLLOWING.index(name) for name in planes)


def tiled(block: Block) -> Iterator[Block]:
    """Yield the parts of a block by tile, row by row. The block is counted from the anchor."""
    y = block.y
    while y < block.y + block.height:
        bottom = min((y // TILE + 1) * TILE, block.y + block.height)
        x = block.x
        while x < block.x + block.width:
            right = min((x // TILE + 1) * TILE, block.x + block.width)
            yield Block(x, y, right - x, bottom - y)
            x = right
        y = bottom


def packed_bytes(block: Block, planes: Sequence[str]) -> int:
    """Return the total size in bytes of a block's frames, for a job with these planes."""
    tiles = sum(1 for _ in tiled(block))
    return HEADER_BYTES * tiles + pixel_bytes(planes) * block.pixels


def pack(
    address: FrameAddress, block: Block, values: Mapping[str, npt.NDArray[Any]], into: npt.NDArray[np.uint8]
) -> None:
    """Write the frames of a block, one after the other. The block is counted from the anchor.

    `values` are those of its planes, by name. For complex planes, all real parts come before the imaginary parts.
    """
    at = 0
    planes = following(tuple(values))
    for part in tiled(block):
        rows = slice(part.y - block.y, part.y - block.y + part.height)
        columns = slice(part.x - block.x, part.x - block.x + part.width)
        into[at : at + HEADER_BYTES] = np.frombuffer(address.header(part, COUNTS, _flags(planes)), np.uint8)
        at += HEADER_BYTES
        for words in _words(values, planes):
            size = 4 * part.pixels
            target = into[at : at + size].view(words.dtype).reshape(part.height, part.width)
            np.copyto(target, words[rows, columns])
            at += size


def pack_values(values: Mapping[str, npt.NDArray[Any]], max_iterations: int, into: npt.NDArray[np.float32]) -> None:
    """Write the values of some rows, for pictures in motion: count plus fraction, in one float per pixel."""
    counts, smooth = values[COUNTS_PLANE.name], values.get(SMOOTH.name)
    if smooth is None:
        np.copyto(into, counts, casting="unsafe")
    else:
        np.add(counts, smooth, out=into, dtype=np.float32, casting="unsafe")
    np.copyto(into.view(np.uint32), np.uint32(INSIDE), where=counts == np.uint32(max_iterations))


def _words(values: Mapping[str, npt.NDArray[Any]], planes: Sequence[str]) -> Iterator[npt.NDArray[Any]]:
    """Yield the counts and the planes that follow as arrays with 32 bits per pixel."""
    for name in (COUNTS_PLANE.name, *planes):
        plane = values[name]
        yield from (plane.real, plane.imag) if plane.dtype.kind == "c" else (plane,)


def unpacked(block: Block, planes: Sequence[str], frames: memoryview) -> Iterator[FramePart]:
    """Yield the parts of a block from the output of `pack`. Raises ValueError if their sizes do not match."""
    if len(frames) != packed_bytes(block, planes):
        raise ValueError("the frames have a wrong size")
    at, own = 0, following(planes)
    each = pixel_bytes(own)
    for part in tiled(block):
        size = HEADER_BYTES + each * part.pixels
        yield FramePart(part, own, frames[at : at + size])
        at += size


def colours(address: FrameAddress, block: Block, pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return a frame of colours, height × width × 3."""
    return address.header(block, COLOURS) + np.ascontiguousarray(pixels).tobytes()
