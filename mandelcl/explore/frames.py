"""Frames of pixels in the format of docs/explore-protocol.md. The page receives exactly what a worker sends."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import WORD_BITS, WORD_MASK
from mandelcl.core.block import Block
from mandelcl.core.counts import NARROW, WIDE, CountFormat, Counts
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS as COUNTS_PLANE
from mandelcl.core.planes import DISTANCE, LAST, PLANES, SMOOTH, TRAILS

TILE = 256  # side in pixels; a frame lies in one tile
COUNTS, COLOURS, VALUES = 1, 2, 3
INSIDE = 0xFFFFFFFE  # the word of a pixel at the iteration limit, in a frame of values
# The planes that may follow the counts, in this order. Their flags are 1, 2, 4, …
FOLLOWING = (SMOOTH.name, DISTANCE.name, LAST.name, *(plane.name for plane in TRAILS))
_TWO_WORDS = 1 << 15  # the flag of counts of 64 bits: all low words come before the high ones
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
    """A frame of counts: its block, counted from the anchor, the planes that follow, and the complete bytes.

    `format` is that of its counts.
    """

    block: Block
    planes: tuple[str, ...]
    frame: memoryview
    format: CountFormat = NARROW

    def plane(self, name: str) -> npt.NDArray[Any] | None:
        """Return the values of a plane, height × width, or None if the frame lacks it."""
        if name == COUNTS_PLANE.name:
            return self.counts
        shape = self.block.height, self.block.width
        start = HEADER_BYTES + self.format.dtype.itemsize * self.block.pixels
        for one in self.planes:
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
    def counts(self) -> Counts:
        """The counts, height × width."""
        shape = self.format.words, self.block.height, self.block.width
        words = np.frombuffer(self.frame, "<u4", self.format.words * self.block.pixels, HEADER_BYTES)
        return self.format.of(words.reshape(shape))

    def addressed(self, address: FrameAddress) -> "FramePart":
        """Return a copy of the pixels with another address."""
        body = self.frame[HEADER_BYTES:]
        header = address.header(self.block, COUNTS, _flags(self.planes, self.format))
        return replace(self, frame=memoryview(header + body))


def following(planes: Sequence[str]) -> tuple[str, ...]:
    """Return the planes of a job that follow the counts in a frame."""
    return tuple(name for name in FOLLOWING if name in planes)


def has_values(planes: Sequence[str]) -> bool:
    """Return whether frames of values hold all planes of a job: counts, and perhaps smooth fractions."""
    return set(planes) <= {COUNTS_PLANE.name, SMOOTH.name}


def values_bytes(block: Block) -> int:
    """Return the size in bytes of a block's frame of values."""
    return HEADER_BYTES + 4 * block.pixels


def pixel_bytes(job: Job) -> int:
    """Return the size in bytes of a pixel of a job: its count and the planes that follow."""
    return job.counts.dtype.itemsize + sum(np.dtype(PLANES[name].dtype).itemsize for name in following(job.planes))


def _flags(planes: Sequence[str], counts: CountFormat) -> int:
    return sum(1 << FOLLOWING.index(name) for name in planes) | (_TWO_WORDS if counts == WIDE else 0)


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


def packed_bytes(block: Block, job: Job) -> int:
    """Return the total size in bytes of the frames of a job's block."""
    tiles = sum(1 for _ in tiled(block))
    return HEADER_BYTES * tiles + pixel_bytes(job) * block.pixels


def pack(
    address: FrameAddress, block: Block, values: Mapping[str, npt.NDArray[Any]], into: npt.NDArray[np.uint8]
) -> None:
    """Write the frames of a block, one after the other. The block is counted from the anchor.

    `values` are those of its planes, by name. For complex planes, all real parts come before the imaginary parts; for
    counts of 64 bits, all low words before the high ones.
    """
    at = 0
    planes = following(tuple(values))
    flags = _flags(planes, WIDE if values[COUNTS_PLANE.name].dtype == WIDE.dtype else NARROW)
    for part in tiled(block):
        rows = slice(part.y - block.y, part.y - block.y + part.height)
        columns = slice(part.x - block.x, part.x - block.x + part.width)
        into[at : at + HEADER_BYTES] = np.frombuffer(address.header(part, COUNTS, flags), np.uint8)
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
    np.copyto(into.view(np.uint32), np.uint32(INSIDE), where=counts == counts.dtype.type(max_iterations))


def _words(values: Mapping[str, npt.NDArray[Any]], planes: Sequence[str]) -> Iterator[npt.NDArray[Any]]:
    """Yield the counts and the planes that follow as arrays with 32 bits per pixel."""
    for name in (COUNTS_PLANE.name, *planes):
        plane = values[name]
        if plane.dtype.kind == "c":
            yield from (plane.real, plane.imag)
        elif plane.dtype == WIDE.dtype:
            for words in (plane & np.uint64(WORD_MASK), plane >> np.uint64(WORD_BITS)):
                yield words.astype(np.uint32)
        else:
            yield plane


def unpacked(block: Block, job: Job, frames: memoryview) -> Iterator[FramePart]:
    """Yield the parts of a job's block from the output of `pack`. Raises ValueError if their sizes do not match."""
    if len(frames) != packed_bytes(block, job):
        raise ValueError("the frames have a wrong size")
    at, own = 0, following(job.planes)
    each = pixel_bytes(job)
    for part in tiled(block):
        size = HEADER_BYTES + each * part.pixels
        yield FramePart(part, own, frames[at : at + size], job.counts)
        at += size


def colours(address: FrameAddress, block: Block, pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return a frame of colours, height × width × 3."""
    return address.header(block, COLOURS) + np.ascontiguousarray(pixels).tobytes()
