"""Queues of blocks for tests."""

from collections.abc import Callable, Iterable

from mandelcl.core.block import Block, grid
from mandelcl.engine.loop.schedule import BlockQueue


def tiled(
    bands: Iterable[Block], width: int, height: int, room: Callable[[bool], bool] = lambda _wait: True
) -> BlockQueue:
    """Return a queue of bands that are cut into blocks of `width` × `height`."""
    return BlockQueue(bands, lambda band: grid(band, width, height), room)
