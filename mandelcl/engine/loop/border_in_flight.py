"""Border tracing with all launches enqueued at once: the device lists the rectangles to divide.

The host need not read anything in between, so blocks are traced without a pause, while results of other blocks are
copied. Nobody knows beforehand how many rectangles a level has, so that each launch is as large as if all were mixed;
what is superfluous ends at once. This is for blocks so cheap that even the largest launches keep to the budget.
"""

import time
from collections.abc import Iterator

from mandelcl.core.block import Block
from mandelcl.core.report import LaunchLog
from mandelcl.engine.loop.rectangles import ROW, Rectangles
from mandelcl.engine.loop.schedule import Pace
from mandelcl.engine.loop.subdivision import DivisionLevel, DivisionPlan, levels
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program, RunningLaunch
from mandelcl.engine.resolve import connected_below
from mandelcl.opencl.api import Buffer

_MOST_PIXELS = 1 << 27  # of a block: from there on, what is superfluous takes longer than to ask what is not


def default_plan(program: Program) -> DivisionPlan | None:
    """Return the division for blocks that are traced ahead, found by measurement: few levels, many rectangles.

    None for devices that run the kernels on the host's own cores: there the host need not be spared.
    """
    if program.device.type != "gpu":
        return None
    trust = "nothing" if program.job.strict else "outside"
    return DivisionPlan(first=256, split=4, smallest=32, trust=trust, below=connected_below(program.job))


def suits(program: Program, block: Block, pace: Pace, plan: DivisionPlan) -> bool:
    """Return whether each launch of a block may have full size and run to the iteration limit within its budget."""
    if plan.early or program.most_strides < program.strides or block.pixels > _MOST_PIXELS:
        return False
    for level, divided in _worst(block, plan):
        slots = divided * level.children * level.inside[0] * level.inside[1] if level.last else 0
        slots = max(slots, divided * level.slots)
        planned = pace.first(ROW, -(-slots // ROW), program.strides, program.variant.stride)
        if planned.strides < program.strides or planned.rows * ROW < slots or slots >= 1 << 32:
            return False
    return True


def _worst(block: Block, plan: DivisionPlan) -> Iterator[tuple[DivisionLevel, int]]:
    """Yield the levels of a block, and how many rectangles each divides if none is filled."""
    divided = 1
    for level in levels(block.width, block.height, plan):
        yield level, divided
        divided *= level.children


class EnqueuedBlock:
    """A block whose launches are all enqueued; its results will be in `memory`.

    The first word of `computed` will be how many of its pixels were computed.
    """

    def __init__(self, program: Program, memory: Memory, block: Block, plan: DivisionPlan) -> None:
        self.block, self.memory = block, memory
        self._program = program
        self._rectangles = Rectangles(program, memory, plan)
        self._launches: list[RunningLaunch] = []
        self._enqueued = time.perf_counter()
        if program.execution.guarded:
            memory.guard()
        self.computed: Buffer = self._rectangles.begin_listing(block)
        for level, divided in _worst(block, plan):
            self._level(level, divided)
        program.device.flush()

    def _level(self, level: DivisionLevel, divided: int) -> None:
        """Enqueue the division of at most this many rectangles and, at the last level, the insides of the parts."""
        rectangles, children = self._rectangles, divided * level.children
        rectangles.divide(level, divided)
        self._orbits(level, divided * level.slots, inside=False)
        rectangles.judge(level, divided)
        rectangles.fill(level, children)
        rectangles.collect(level, children)
        columns, rows = level.inside
        if level.last and columns * rows:
            rectangles.descend()
            self._orbits(level, children * columns * rows, inside=True)

    def _orbits(self, level: DivisionLevel, slots: int, inside: bool) -> None:
        pixels = self._rectangles.pixels(level, 0, inside)
        program = self._program
        self._launches.append(program.launch_rectangles(self.memory, self.block, pixels, slots, program.strides))

    def finish(self, log: LaunchLog, ready: float) -> float:
        """Wait until the block is computed and note its launches; return the host's time then.

        `ready` is the host's time at which the device was free to begin.
        """
        device = self._program.device
        device.wait(self._rectangles.launched[-1])
        self._launches[-1].wait(device)
        now = time.perf_counter()
        self._rectangles.note_launches(log)
        for launch in self._launches:
            log.add(launch.seconds(max(ready, self._enqueued)))
        return now
