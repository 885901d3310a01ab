"""The missing rectangles of a view, and the order and sizes in which they are computed."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from mandelcl.core.block import Block, grid

_LEAST_SIDE = 32  # in pixels; a smaller block costs more in launches than in iterations


def overlap(one: Block, other: Block) -> Block | None:
    """Return the intersection of two blocks, or None if it is empty."""
    left, top = max(one.x, other.x), max(one.y, other.y)
    right, bottom = min(one.x + one.width, other.x + other.width), min(one.y + one.height, other.y + other.height)
    return Block(left, top, right - left, bottom - top) if left < right and top < bottom else None


def missing(whole: Block, there: Iterable[Block]) -> list[Block]:
    """Return disjoint blocks that cover `whole` except for what is `there`."""
    there = list(there)
    if not there:
        return [whole]
    covered = np.zeros((whole.height, whole.width), bool)
    for block in there:
        common = overlap(whole, block)
        if common is not None:
            covered[_slices(common, whole)] = True
    found: list[Block] = []
    begun: dict[tuple[int, int], int] = {}  # missing spans of columns, with their first row
    changes = np.flatnonzero((covered[1:] != covered[:-1]).any(axis=1)) + 1  # rows that differ from the one above
    for row in [0, *changes.tolist(), whole.height]:
        spans = _spans(~covered[row]) if row < whole.height else []
        for span in [span for span in begun if span not in spans]:
            first = begun.pop(span)
            found.append(Block(whole.x + span[0], whole.y + first, span[1] - span[0], row - first))
        for span in spans:
            begun.setdefault(span, row)
    return found


def _slices(block: Block, whole: Block) -> tuple[slice, slice]:
    x, y = block.x - whole.x, block.y - whole.y
    return slice(y, y + block.height), slice(x, x + block.width)


def _spans(marked: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> list[tuple[int, int]]:
    """Return (first, end) of each run of marked columns."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def cut(blocks: Sequence[Block], pixels: int, near: tuple[float, float]) -> list[Block]:
    """Cut blocks into blocks of about `pixels` each. Those nearest to a pixel come last, as they are popped first."""
    return by_distance([part for block in blocks for part in _cut(block, pixels)], near)


def by_distance(blocks: Iterable[Block], near: tuple[float, float]) -> list[Block]:
    """Sort blocks by their distance from a pixel, the nearest last."""
    return sorted(blocks, key=lambda block: _distance(block, near), reverse=True)


def _cut(block: Block, pixels: int) -> Iterable[Block]:
    pieces = max(1, round(block.pixels / pixels))
    side = math.sqrt(block.pixels / pieces)
    columns = max(1, min(round(block.width / side), block.width // _LEAST_SIDE or 1))
    rows = max(1, min(-(-pieces // columns), block.height // _LEAST_SIDE or 1))
    return grid(block, -(-block.width // columns), -(-block.height // rows))


def _distance(block: Block, near: tuple[float, float]) -> float:
    """Return the square of a block's distance from a pixel; inside the block, that from its centre, scaled down.

    The scaled distance is less than a pixel.
    """
    across = max(block.x - near[0], near[0] - (block.x + block.width - 1), 0)
    down = max(block.y - near[1], near[1] - (block.y + block.height - 1), 0)
    middle = (block.x + block.width / 2 - near[0]) ** 2 + (block.y + block.height / 2 - near[1]) ** 2
    return across**2 + down**2 + middle * 2.0**-64


def coarse(whole: Block, level: int) -> Block:
    """Return the pixels of a level that represent a block, where a page shows the nearest one for each pixel."""
    half = (1 << level) >> 1
    x, y = (whole.x + half) >> level, (whole.y + half) >> level
    right, bottom = (whole.x + whole.width - 1 + half) >> level, (whole.y + whole.height - 1 + half) >> level
    return Block(x, y, right - x + 1, bottom - y + 1)
