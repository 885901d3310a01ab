"""Blocks: rectangles of pixels, the unit of computation, and lists of some pixels of a rectangle."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Block:
    """A rectangle of pixels: columns x … x + width − 1, rows y … y + height − 1."""

    x: int
    y: int
    width: int
    height: int

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        return self.width * self.height


class Sized(Protocol):
    """A picture's size."""

    @property
    def width(self) -> int:
        """Columns."""

    @property
    def height(self) -> int:
        """Rows."""


def whole_of(picture: Sized) -> Block:
    """Return all of a picture."""
    return Block(0, 0, picture.width, picture.height)


def grid(whole: Block, width: int, height: int) -> Iterator[Block]:
    """Yield the blocks that a rectangle is cut into, row by row from the top left; the last may be smaller."""
    for y in range(whole.y, whole.y + whole.height, height):
        for x in range(whole.x, whole.x + whole.width, width):
            yield Block(x, y, min(width, whole.x + whole.width - x), min(height, whole.y + whole.height - y))


@dataclass(frozen=True, slots=True, eq=False)
class PixelList:
    """The pixels of a block at `indices` (row·width + column).

    Parts of the list are blocks of one row, whose columns are places in the list.
    """

    block: Block
    indices: Indices

    @property
    def whole(self) -> Block:
        """All of the list."""
        return Block(0, 0, self.indices.size, 1)

    def part(self, part: Block) -> Indices:
        """Return the indices of a part of the list."""
        return self.indices[part.x : part.x + part.width]

    def pixel(self, place: int) -> tuple[int, int]:
        """Return the column and the row in the picture of the pixel at a place in the list."""
        row, column = divmod(int(self.indices[place]), self.block.width)
        return self.block.x + column, self.block.y + row
