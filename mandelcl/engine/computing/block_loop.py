"""The loop over the blocks of a job on one device. It logs and traces when blocks are started and finished."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.core import timeline
from mandelcl.core.block import Block
from mandelcl.core.report import LaunchLog
from mandelcl.engine import rate
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.work import Room, boundless
from mandelcl.engine.device_output import TO_HOST, Delivered, OutputPlan
from mandelcl.engine.loop import escape, sizing
from mandelcl.engine.loop.schedule import BlockQueue, BlockSource, default_budget
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.program import Program

if TYPE_CHECKING:
    from mandelcl.engine.loop.subdivision import DivisionPlan


class BlockLoop:
    """The job of a program, run by escape time or by border tracing; `log` records its launches.

    With a plan, borders are traced by it whatever the job's algorithm and formula, so counts may be wrong. A launch
    lasts at most `budget` seconds, by default those of the settings or what is usual on the device. Raises
    InvalidInputError for a plan with a strict job.
    """

    def __init__(
        self,
        program: Program,
        settings: Settings,
        device_pool: DevicePool,
        warnings: tuple[str, ...],
        *,
        plan: "DivisionPlan | None" = None,
        budget: float = 0.0,
    ) -> None:
        if plan is not None and program.job.strict:
            raise InvalidInputError("a strict job fills what is proved, and is traced by no other rule")
        self.program, self.job, self.warnings, self.log = program, program.job, warnings, LaunchLog()
        budget = budget or settings.budget or default_budget(program.device.watchdog, program.device.type)
        self._pace = rate.pace(program, budget)
        self.rate = self._pace.measured_rate
        self._traced, self._plan = plan is not None or self.job.algorithm == "border", plan
        self._division = sizing.divided(program, self.rate, settings.block_pixels, settings.blocks, self._traced)
        self._watch, self._device_pool = settings.watch, device_pool

    def queue(self, bands: Iterable[Block], room: Room = boundless) -> BlockQueue:
        """Return the blocks into which this work divides some bands."""
        return BlockQueue(bands, self._division.cut, room)

    def run_blocks(
        self,
        blocks: BlockSource,
        *,
        log: LaunchLog | None = None,
        cancel: Token = NEVER,
        output_plan: OutputPlan = TO_HOST,
    ) -> Iterator[tuple[Block, Delivered]]:
        """Yield blocks from another source, with their results, as they finish.

        `log` is by default the work's own, and `output_plan` is how results leave the device.
        """
        log = log or self.log

        def run(blocks: BlockSource) -> Iterator[tuple[Block, Delivered]]:
            loop = (self.program, blocks, self._pace, log)
            if not self._traced:
                return escape.run(*loop, cancel=cancel, device_pool=self._device_pool, output_plan=output_plan)
            from mandelcl.engine.loop import border

            plan, watch = self._plan, self._watch
            return border.run(*loop, plan, watch, cancel=cancel, device_pool=self._device_pool, output_plan=output_plan)

        return noted(blocks, log, run)


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
    """Blocks from another source (a `BlockSource`). Each is a span on the track `blocks`.

    Several are in flight at once. A span begins when the one before ends, so spans show how fast blocks finish.
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
