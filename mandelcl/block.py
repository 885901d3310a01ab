"""Rectangles of pixels: the unit in which a picture is computed."""

from collections.abc import Iterator
from dataclasses import dataclass


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


def grid(whole: Block, width: int, height: int) -> Iterator[Block]:
    """Yield the blocks that a rectangle is cut into, row by row from the top left; the last may be smaller."""
    for y in range(whole.y, whole.y + whole.height, height):
        for x in range(whole.x, whole.x + whole.width, width):
            yield Block(x, y, min(width, whole.x + whole.width - x), min(height, whole.y + whole.height - y))
