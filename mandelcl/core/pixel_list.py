"""Some pixels of a block, which a list names."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.core.block import Block

Indices = npt.NDArray[np.uint32]


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
