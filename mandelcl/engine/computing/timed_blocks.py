"""When blocks are taken and finished, in a log and on the timeline."""

from collections.abc import Callable, Iterator

from mandelcl.core import timeline
from mandelcl.core.block import Block
from mandelcl.core.report import LaunchLog
from mandelcl.engine.device_output import Delivered
from mandelcl.engine.loop.schedule import BlockSource


def noted(
    blocks: BlockSource, log: LaunchLog, run: Callable[[BlockSource], Iterator[tuple[Block, Delivered]]]
) -> Iterator[tuple[Block, Delivered]]:
    """Yield the blocks that `run` yields of a source; `log` notes when the first is handed out and the last received.

    Where a timeline is recorded, each block is a span on it.
    """
    log.begin()
    timed = TimedBlocks(blocks) if timeline.on() else None
    for block, results in run(timed or blocks):
        log.end()
        if timed is not None:
            timed.finished(block)
        yield block, results


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
