"""Border tracing: compute the borders of rectangles, fill those that are of one count, divide the rest.

Whole levels at a time. A launch computes all new border pixels of a level, from rectangles that only the device knows by
their corners; another says of each rectangle which count its border has, or that it is mixed; the host reads one word a
rectangle and sends back the numbers of those that are to be divided. What a fill rests on is said in docs/border-tracing.md.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.algorithms import escape
from mandelcl.algorithms.proof import bounds
from mandelcl.algorithms.subdivision import LEAST_SIDE, Level, Plan, levels
from mandelcl.device import Buffer, Event, event_seconds
from mandelcl.program import Launch, Memory, Program
from mandelcl.report import LaunchLog
from mandelcl.schedule import Block, Pace

Words = npt.NDArray[np.uint32]

MIXED = np.uint32(0xFFFFFFFF)
MOST_PIXELS = 1 << 30  # of a block: three planes of it are indexed by 32 bits
_CAPACITY = 1 << 24  # orbits that one launch may leave alive
_ROW = 64  # slots that are planned together
_PROVERS = 32  # rectangles of a work-group that proves


@dataclass(slots=True)
class LevelStats:
    """What a level came to: rectangles judged and filled, orbits launched (slots), launches."""

    side: int
    rectangles: int = 0
    filled: int = 0
    slots: int = 0
    launches: int = 0


@dataclass(slots=True)
class Traced:
    """What tracing a block came to, level by level; the last one is the insides that were computed."""

    pixels: int = 0
    filled: int = 0
    levels: list[LevelStats] = field(default_factory=list)


# Called with a block and the rectangles of a level (n × 4 corners, edges included) and their answers.
Watch = Callable[[Block, Words, Words], None]


def run(
    program: Program,
    blocks: Iterable[Block],
    pace: Pace,
    log: LaunchLog,
    plan: Plan | None = None,
    watch: Watch | None = None,
) -> Iterator[tuple[Block, Words]]:
    """Yield each block with its results (planes × height × width), as they finish."""
    plan = plan or default_plan(program)
    tracer: Tracer | None = None
    copy: tuple[Block, Words, Event] | None = None
    for block in blocks:
        if min(block.width, block.height) < LEAST_SIDE:
            yield from escape.run(program, [block], pace, log)
            continue
        if tracer is None or tracer.memory.pixels < block.pixels:
            tracer = Tracer(program, block.pixels, pace, log, plan)
        tracer.trace(block, watch)
        results, event = program.read_results(tracer.memory, block)
        program.device.wait(event)
        log.add_copy(event_seconds(event) or 0.0)
        yield block, results


def default_plan(program: Program) -> Plan:
    """Return the division that suits the device's class, found by measurement (docs/border-tracing.md)."""
    return Plan(smallest=16 if program.device.type == "gpu" else 8, early=256)


class Tracer:
    """Border tracing on one device: memory for a block and for rectangles, and the launches."""

    def __init__(self, program: Program, pixels: int, pace: Pace, log: LaunchLog, plan: Plan) -> None:
        self.program = program
        self.plan = plan
        self.memory = Memory(program, pixels, min(pixels, _CAPACITY))
        self.traced = Traced()
        self._device = program.device
        self._pace, self._log = pace, log
        self._parents, self._children = _Words(program), _Words(program)
        self._numbers, self._answers, self._filled = _Words(program), _Words(program), _Words(program)
        self._filled.room(1)
        self._bounds = bounds(program.job)
        self._pending: list[Launch] = []
        self._ready = time.perf_counter()

    def trace(self, block: Block, watch: Watch | None = None) -> None:
        """Compute a block; its results are then in `memory`."""
        self._device.clear(self._filled.buffer, 4)
        filled = np.zeros(1, np.uint32)
        whole = np.array([0, 0, block.width - 1, block.height - 1], np.uint32)
        numbers = np.zeros(1, np.uint32)
        self._parents.write(whole)
        for level in levels(block.width, block.height, self.plan):
            numbers = self._divide(block, level, numbers, watch)
            if not numbers.size:
                break
        else:
            self._compute(block, level, numbers)
        self._device.wait(self._device.read(self._filled.buffer, filled))
        self.traced.pixels += block.pixels
        self.traced.filled += int(filled[0])

    def _divide(self, block: Block, level: Level, numbers: Words, watch: Watch | None) -> Words:
        """Divide the numbered rectangles; return the numbers of the children that are mixed."""
        stats = LevelStats(max(level.child_span) + 1, numbers.size * level.children)
        self.traced.levels.append(stats)
        self._numbers.write(numbers)
        pixels = (np.array(level.parts, np.uint32), np.array(level.most, np.uint32), np.uint32(level.outer))
        self._orbits(block, (*pixels, np.uint32(level.probes), np.uint32(level.slots)), numbers.size * level.slots, stats)
        self._judge(block, level, numbers.size)
        if self.plan.prove != "nothing":
            self._prove(block, stats.rectangles)
        answers = np.empty(stats.rectangles, np.uint32)
        read = self._device.read(self._answers.buffer, answers)
        self._fill(block, level, stats.rectangles)
        self._device.wait(read)
        self._settle(stats)
        if watch:
            corners = np.empty((stats.rectangles, 4), np.uint32)
            self._device.wait(self._device.read(self._children.buffer, corners))
            watch(block, corners, answers)
        mixed = np.flatnonzero(answers == MIXED).astype(np.uint32)
        stats.filled = stats.rectangles - mixed.size
        self._parents, self._children = self._children, self._parents
        return mixed

    def _compute(self, block: Block, level: Level, numbers: Words) -> None:
        """Compute the insides of the numbered rectangles, which are mixed and too small to divide."""
        columns, rows = level.inside
        if not columns * rows:
            return
        stats = LevelStats(max(level.child_span) + 1)
        self.traced.levels.append(stats)
        self._numbers.write(numbers)
        pixels = (np.zeros(2, np.uint32), np.array(level.inside, np.uint32), np.uint32(0), np.uint32(0))
        self._orbits(block, (*pixels, np.uint32(columns * rows)), numbers.size * columns * rows, stats)
        self._settle(stats)

    def _orbits(self, block: Block, pixels: tuple[Any, ...], total: int, stats: LevelStats) -> None:
        """Launch `total` slots of the numbered rectangles and all their survivors but for the last launch's end."""
        program, pace = self.program, self._pace
        stats.slots += total
        early = -(-self.plan.early // program.variant.group) or program.groups
        most = min(program.most_groups, program.groups if 4 * early > program.groups else early)
        first = 0
        while first < total:
            planned = pace.first(_ROW, -(-(total - first) // _ROW), program.groups, program.variant.group)
            groups = min(planned.groups, most)
            size = min(total - first, planned.rows * _ROW)
            if groups < program.groups:
                size = min(size, self.memory.capacity)
            launch = program.launch_rectangles(
                self.memory,
                block,
                (self._parents.buffer, self._numbers.buffer, *pixels, np.uint32(first)),
                size,
                groups,
            )
            self._follow(block, launch, stats)
            first += size

    def _follow(self, block: Block, launch: Launch, stats: LevelStats) -> None:
        """Wait for a launch and go on with its survivors; one that reaches the cap is left to run."""
        program, done = self.program, 0
        self._pending.append(launch)
        while done + launch.groups < program.groups:
            launch.wait(self._device)
            seconds = self._settle(stats)
            done += launch.groups
            if not launch.survivors:
                return
            groups = self._pace.next(launch.groups, seconds, min(program.groups - done, program.most_groups))
            launch = program.launch_survivors(self.memory, block, launch.survivors, done, groups)
            self._pending.append(launch)

    def _settle(self, stats: LevelStats) -> float:
        """Note the times of launches that have ended; return the last one's."""
        seconds = 0.0
        for launch in self._pending:
            launch.wait(self._device)
            seconds = launch.seconds(self._ready)
            self._ready = time.perf_counter()
            self._log.add(seconds)
            stats.launches += 1
            held = max(launch.orbits, self.program.saturation) * launch.groups
            self._pace.learn(held, self.program.variant.group, seconds)
        self._pending.clear()
        return seconds

    def _judge(self, block: Block, level: Level, rectangles: int) -> None:
        job, children = self.program.job, rectangles * level.children
        kernel = self.program.rectangles_kernel("rectangles_judge")
        local = self._local(max(level.child_span), self._device.group_limit(kernel))
        self._device.launch(
            kernel,
            (children * local,),
            (local,),
            self._parents.buffer,
            self._numbers.buffer,
            np.array(level.parts, np.uint32),
            _origin(self.program, block),
            np.uint32(job.smooth),
            np.uint32(level.probes),
            np.uint32(job.iterations),
            self.memory.results,
            np.uint32(block.width),
            self._children.room(4 * children),
            self._answers.room(children),
        )

    def _prove(self, block: Block, rectangles: int) -> None:
        """Make those rectangles mixed again whose count is not proved."""
        program, kernel = self.program, self.program.rectangles_kernel("rectangles_prove")
        items = -(-rectangles // program.variant.lanes)
        local = min(_PROVERS, self._device.group_limit(kernel)) if program.variant.lanes == 1 else 1
        self._device.launch(
            kernel,
            (-(-items // local) * local,),
            (local,),
            program.view_words,
            *program.where(block)[:1],
            *self._bounds,
            np.uint32(min(self.plan.steps, program.most_groups * program.variant.group)),
            np.uint32(self.plan.prove == "all"),
            np.uint32(program.job.iterations),
            self._children.buffer,
            np.uint32(rectangles),
            self._answers.buffer,
        )

    def _fill(self, block: Block, level: Level, rectangles: int) -> None:
        kernel = self.program.rectangles_kernel("rectangles_fill")
        limit = self._device.group_limit(kernel)
        across = self._local(level.child_span[0], min(limit, 32))
        down = self._local(level.child_span[1], min(8, limit // across))
        self._device.launch(
            kernel,
            (rectangles * across, down),
            (across, down),
            self._children.buffer,
            self._answers.buffer,
            self.memory.results,
            np.array([block.width, block.height], np.uint32),
            np.uint32(self.program.planes),
            np.uint32(self.program.job.iterations),
            self._filled.buffer,
        )

    def _local(self, wanted: int, limit: int) -> int:
        """Return how many work-items share a row or a border: one where a work-item is a vector of its own."""
        if self.program.variant.lanes > 1:
            return 1
        return int(min(limit, 256, max(32, 1 << (wanted // 2).bit_length())))


class _Words:
    """A buffer of words that grows as it must; what it held is then lost."""

    def __init__(self, program: Program) -> None:
        self._device = program.device
        self._words = 0
        self._buffer: Buffer | None = None

    @property
    def buffer(self) -> Buffer:
        assert self._buffer is not None
        return self._buffer

    def room(self, words: int) -> Buffer:
        """Return the buffer, large enough for so many words."""
        if self._buffer is None or words > self._words:
            self._words = max(1 << 16, 1 << (words - 1).bit_length())
            self._buffer = self._device.allocate(4 * self._words)
        return self._buffer

    def write(self, words: Words) -> None:
        self.room(words.size)
        self._device.write(self.buffer, words)


def _origin(program: Program, block: Block) -> Words:
    """Return the pixel at or above and left of c = 0, or one that no rectangle holds where it is outside the block."""
    view = program.job.view
    column = (view.anchor_column - view.anchor_re / view.pitch) - block.x
    row = (view.anchor_row + view.anchor_im / view.pitch) - block.y
    if not (-1 < column < block.width and -1 < row < block.height):
        return np.full(2, MIXED, np.uint32)
    return np.array([max(0, int(column // 1)), max(0, int(row // 1))], np.uint32)
