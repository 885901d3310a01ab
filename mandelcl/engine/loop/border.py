"""Border tracing: compute the borders of rectangles, fill those that have one count, divide the rest.

It works on whole levels. The device divides rectangles, which the host knows only by number, and proves what it can
about the parts. A launch computes the pixels of all new borders that no proof covers; another finds the count of each
part, or that it is mixed. The host reads one word for each part and sends back the numbers of those to be divided.
docs/border-tracing.md explains what justifies a fill.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.counts import Counts
from mandelcl.core.report import LaunchLog
from mandelcl.engine.device_output import TO_HOST, Delivered, OutputPlan
from mandelcl.engine.loop import border_in_flight, escape
from mandelcl.engine.loop.border_in_flight import EnqueuedBlock
from mandelcl.engine.loop.copies import Copies
from mandelcl.engine.loop.rectangles import ROW, Rectangles
from mandelcl.engine.loop.schedule import BlockQueue, BlockSource, Pace
from mandelcl.engine.loop.subdivision import LEAST_SIDE, DivisionLevel, DivisionPlan, levels
from mandelcl.engine.memory import DevicePool, Memory
from mandelcl.engine.program import Program, RunningLaunch
from mandelcl.engine.resolve import connected_below

# Caps, and the smallest rectangle below each: the longer orbits are, the more rectangles it pays to trace.
_GPU_SMALLEST = ((1 << 14, 16), (1 << 64, 5))


@dataclass(slots=True)
class LevelStats:
    """What happened at a level: rectangles made and filled, slots for pixels, launches of orbits."""

    side: int
    rectangles: int = 0
    filled: int = 0
    slots: int = 0
    launches: int = 0


@dataclass(slots=True)
class Traced:
    """What tracing did: pixels in all and computed, and the levels, including the insides computed at the end."""

    pixels: int = 0
    computed: int = 0
    levels: list[LevelStats] = field(default_factory=list)


# Called with a block, the rectangles of a level (n × 4 corners, edges included), and two counts of each, or `none` of
# the job's counts: the one that a proof or theorem gives, and the one with which it is filled.
Watch = Callable[[Block, Words, Counts, Counts], None]


def run(
    program: Program,
    blocks: BlockSource,
    pace: Pace,
    log: LaunchLog,
    plan: DivisionPlan | None = None,
    watch: Watch | None = None,
    *,
    cancel: Token = NEVER,
    device_pool: DevicePool | None = None,
    output_plan: OutputPlan = TO_HOST,
) -> Iterator[tuple[Block, Delivered]]:
    """Yield each block with its results (words × height × width) as it finishes, as `escape.run` does.

    Cheap blocks are traced ahead (border_ahead), two in flight; others with the host between their levels. Each is
    traced while the results of one before are copied.
    """
    device_pool = device_pool or DevicePool()
    plan_in_flight = plan or border_in_flight.default_plan(program)
    enqueued = deque[EnqueuedBlock]()
    ready = time.perf_counter()
    with Copies(program, log, device_pool, output_plan) as copies:
        while True:
            block = blocks.take(wait=not (copies or enqueued))
            if block is None and not enqueued:
                if not copies:
                    return
                yield copies.pop_finished()
                continue
            if block is not None and min(block.width, block.height) < LEAST_SIDE:
                alone = BlockQueue.of([block])
                yield from escape.run(
                    program, alone, pace, log, cancel=cancel, device_pool=device_pool, output_plan=output_plan
                )
                continue
            if block is not None:
                memory = copies.memory(block, 1)
                if watch is None and plan_in_flight and border_in_flight.suits(program, block, pace, plan_in_flight):
                    enqueued.append(EnqueuedBlock(program, memory, block, plan_in_flight))
                else:
                    tracer = Tracer(program, memory, pace, log, plan, cancel)
                    log.pixels_filled += tracer.trace(block, watch)
                    copies.start(block, memory)
            if enqueued and (block is None or len(enqueued) > 1):
                first = enqueued.popleft()
                ready = first.finish(log, ready)
                stop_if(cancel)
                copies.start(first.block, first.memory, first.computed)
            if len(copies) > 1:
                yield copies.pop_finished()


def default_plan(program: Program) -> DivisionPlan:
    """Return the division that suits the device's class, found by measurement (docs/border-tracing.md)."""
    job = program.job
    trust, below = "nothing" if job.strict else "outside", connected_below(job)
    if program.device.type == "gpu":
        smallest = next(side for max_iterations, side in _GPU_SMALLEST if job.iterations < max_iterations)
        return DivisionPlan(first=64, split=4, smallest=smallest, trust=trust, below=below)
    return DivisionPlan(smallest=4, early=256, trust=trust, below=below)


class Tracer:
    """Border tracing of blocks on one device, in memory large enough for each of them."""

    def __init__(
        self,
        program: Program,
        memory: Memory,
        pace: Pace,
        log: LaunchLog,
        plan: DivisionPlan | None = None,
        cancel: Token = NEVER,
    ) -> None:
        self.program = program
        self.plan = plan or default_plan(program)
        self.memory = memory
        self.traced = Traced()
        self._cancel = cancel
        self._device = program.device
        self._pace, self._log = pace, log
        self._rectangles = Rectangles(program, self.memory, self.plan)
        self._pending: list[RunningLaunch] = []
        self._ready = time.perf_counter()

    def trace(self, block: Block, watch: Watch | None = None) -> int:
        """Compute a block; its results are then in `memory`. Return how many of its pixels were filled."""
        if self.program.execution.guarded:
            self.memory.guard()
        numbers = self._rectangles.begin(block)
        for level in levels(block.width, block.height, self.plan):
            numbers = self._divide(block, level, numbers, watch)
            if not numbers.size:
                break
            if level.last:
                self._compute(block, level, numbers)
        computed = self._rectangles.computed()
        self.traced.pixels += block.pixels
        self.traced.computed += computed
        self._rectangles.note_launches(self._log)
        return block.pixels - computed

    def _divide(self, block: Block, level: DivisionLevel, numbers: Words, watch: Watch | None) -> Words:
        """Divide the numbered rectangles; return the numbers of the parts that are mixed."""
        stats = LevelStats(max(level.child_span) + 1, numbers.size * level.children, slots=numbers.size * level.slots)
        self.traced.levels.append(stats)
        self._rectangles.select(numbers)
        self._rectangles.divide(level, numbers.size)
        self._orbits(block, level, stats, inside=False)
        self._rectangles.judge(level, numbers.size)
        answers, read = self._rectangles.answers(stats.rectangles)
        self._rectangles.fill(level, stats.rectangles)
        self._device.wait(read)
        self._finish_level(stats)
        if watch:
            watch(block, *self._rectangles.made(stats.rectangles), answers)
        mixed = np.flatnonzero(answers == self.program.job.counts.none).astype(np.uint32)
        stats.filled = stats.rectangles - mixed.size
        return mixed

    def _compute(self, block: Block, level: DivisionLevel, numbers: Words) -> None:
        """Compute the insides of the numbered parts of a last level, which are mixed."""
        columns, rows = level.inside
        if columns * rows:
            stats = LevelStats(max(level.child_span) + 1, slots=numbers.size * columns * rows)
            self.traced.levels.append(stats)
            self._rectangles.select(numbers)
            self._rectangles.descend()
            self._orbits(block, level, stats, inside=True)
            self._finish_level(stats)

    def _orbits(self, block: Block, level: DivisionLevel, stats: LevelStats, inside: bool) -> None:
        """Launch a level's slots and continue their survivors.

        Launches that reach the iteration limit may still run when it returns.
        """
        program, pace, total = self.program, self._pace, stats.slots
        early = -(-self.plan.early // program.variant.stride) or program.strides
        most = min(program.most_strides, program.strides if 4 * early > program.strides else early)
        first = 0
        while first < total:
            planned = pace.first(ROW, -(-(total - first) // ROW), program.strides, program.variant.stride)
            strides = min(planned.strides, most)
            size = min(total - first, planned.rows * ROW)
            if strides < program.strides:
                size = min(size, self.memory.capacity)
            pixels = self._rectangles.pixels(level, first, inside)
            self._follow(block, program.launch_rectangles(self.memory, block, pixels, size, strides), stats)
            first += size

    def _follow(self, block: Block, launch: RunningLaunch, stats: LevelStats) -> None:
        """Wait for a launch and continue its survivors; one that reaches the iteration limit is left running."""
        program, done = self.program, 0
        self._pending.append(launch)
        while done + launch.strides < program.strides:
            launch.wait(self._device)
            seconds = self._finish_level(stats)
            done += launch.strides
            if not launch.survivors:
                return
            strides = self._pace.next(launch.strides, seconds, min(program.strides - done, program.most_strides))
            launch = program.launch_survivors(self.memory, block, launch.survivors, done, strides)
            self._pending.append(launch)

    def _finish_level(self, stats: LevelStats) -> float:
        """Note the times of launches that have ended; return the last one's."""
        seconds = 0.0
        for launch in self._pending:
            launch.wait(self._device)
            seconds = launch.seconds(self._ready)
            self._ready = time.perf_counter()
            self._log.add(seconds)
            stop_if(self._cancel)
            stats.launches += 1
            held = max(launch.orbits, self.program.saturation) * launch.strides
            self._pace.learn(held, self.program.variant.stride, seconds)
        self._pending.clear()
        return seconds
