"""Frames of pixels, as docs/explore-protocol.md describes them: what leaves a worker is what the page receives."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.block import Block

TILE = 256  # pixels a side; a frame lies in one tile
COUNTS, COLOURS = 1, 2
SMOOTH_FOLLOWS = 1
MAGIC = 0x314C434D  # MCL1
_HEADER = struct.Struct("<IHHIIIiiHH")
HEADER_BYTES = _HEADER.size


@dataclass(frozen=True, slots=True)
class Address:
    """To whom pixels belong: a pane, its generation, and a level of its lattice, with the anchor at pixel (0, 0)."""

    pane: int
    generation: int
    level: int

    def header(self, block: Block, kind: int, flags: int = 0) -> bytes:
        """Return the header of a frame; its block is counted from the anchor."""
        return _HEADER.pack(
            *(MAGIC, kind, flags, self.pane, self.generation, self.level),
            *(block.x, block.y, block.width, block.height),
        )


@dataclass(frozen=True, slots=True)
class Part:
    """A frame of counts: its block, counted from the anchor, and the whole of it as bytes."""

    block: Block
    frame: memoryview

    @property
    def counts(self) -> npt.NDArray[np.uint32]:
        """The counts, height × width."""
        block = self.block
        return np.frombuffer(self.frame, "<u4", block.pixels, HEADER_BYTES).reshape(block.height, block.width)

    @property
    def smooth(self) -> npt.NDArray[np.float32] | None:
        """The smooth fractions, height × width; None where there are none."""
        block, start = self.block, HEADER_BYTES + 4 * self.block.pixels
        if len(self.frame) == start:
            return None
        return np.frombuffer(self.frame, "<f4", block.pixels, start).reshape(block.height, block.width)

    def addressed(self, address: Address) -> "Part":
        """Return the same pixels for another generation, in bytes of their own."""
        flags = SMOOTH_FOLLOWS * (self.smooth is not None)
        body = self.frame[HEADER_BYTES:]
        return Part(self.block, memoryview(address.header(self.block, COUNTS, flags) + body))


def tiled(block: Block) -> Iterator[Block]:
    """Yield the parts of a block that lie in one tile each, row by row; the block is counted from the anchor."""
    y = block.y
    while y < block.y + block.height:
        bottom = min((y // TILE + 1) * TILE, block.y + block.height)
        x = block.x
        while x < block.x + block.width:
            right = min((x // TILE + 1) * TILE, block.x + block.width)
            yield Block(x, y, right - x, bottom - y)
            x = right
        y = bottom


def packed_bytes(block: Block, smooth: bool) -> int:
    """Return the bytes of the frames of a block."""
    tiles = sum(1 for _ in tiled(block))
    return HEADER_BYTES * tiles + 4 * (1 + smooth) * block.pixels


def pack(
    address: Address,
    block: Block,
    counts: npt.NDArray[np.uint32],
    smooth: npt.NDArray[np.float32] | None,
    into: npt.NDArray[np.uint8],
) -> None:
    """Write the frames of a block, one behind the other; the block is counted from the anchor."""
    at = 0
    planes: list[npt.NDArray[Any]] = [counts] if smooth is None else [counts, smooth]
    for part in tiled(block):
        rows = slice(part.y - block.y, part.y - block.y + part.height)
        columns = slice(part.x - block.x, part.x - block.x + part.width)
        flags = SMOOTH_FOLLOWS * (smooth is not None)
        into[at : at + HEADER_BYTES] = np.frombuffer(address.header(part, COUNTS, flags), np.uint8)
        at += HEADER_BYTES
        for values in planes:
            size = 4 * part.pixels
            target = into[at : at + size].view(values.dtype).reshape(part.height, part.width)
            np.copyto(target, values[rows, columns])
            at += size


def unpacked(block: Block, smooth: bool, frames: memoryview) -> Iterator[Part]:
    """Yield the parts of a block that `pack` wrote; raises ValueError where their sizes do not fit."""
    if len(frames) != packed_bytes(block, smooth):
        raise ValueError("frames of another size")
    at = 0
    for part in tiled(block):
        size = HEADER_BYTES + 4 * (1 + smooth) * part.pixels
        yield Part(part, frames[at : at + size])
        at += size


def colours(address: Address, block: Block, pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return a frame of colours, height × width × 3."""
    return address.header(block, COLOURS) + np.ascontiguousarray(pixels).tobytes()
