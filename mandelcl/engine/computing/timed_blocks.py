"""Blocks on the timeline: from when each is taken, or the one before is finished, until its results are there."""

from collections.abc import Iterator

from mandelcl.core import timeline
from mandelcl.core.block import Block
from mandelcl.engine.loop.schedule import BlockSource


class TimedBlocks:
    """Blocks from another source (a `BlockSource`), each of which is a span on the track `blocks`.

    Several are under way at once; a span begins where the one before ends, so that they show how fast blocks come.
    """

    def __init__(self, blocks: BlockSource) -> None:
        self._blocks = blocks
        self._taken: dict[Block, int] = {}
        self._free = 0

    def take(self, wait: bool = True) -> Block | None:
        """Return the next block; None if there is none left or, without `wait`, none yet."""
        block = self._blocks.take(wait)
        if block is not None:
            self._taken[block] = timeline.clock()
        return block

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that are left, waiting for each."""
        for block in self._blocks:
            self._taken[block] = timeline.clock()
            yield block

    def finished(self, block: Block) -> None:
        """Record a block whose results are there."""
        place = {"x": block.x, "y": block.y, "width": block.width, "rows": block.height}
        timeline.add("blocks", "block", "block", max(self._taken.pop(block), self._free), place)
        self._free = timeline.clock()
