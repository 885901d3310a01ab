"""The rectangles of border tracing on the device: their buffers, and the kernels that work on them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.block import Block
from mandelcl.core.counts import Counts
from mandelcl.core.planes import words_of
from mandelcl.core.report import LaunchLog
from mandelcl.engine.loop.proof import bounds
from mandelcl.engine.loop.subdivision import DivisionLevel, DivisionPlan
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program
from mandelcl.opencl.api import Buffer, Event, event_seconds
from mandelcl.opencl.arguments import arguments

_PROVERS = 32  # rectangles of a work-group that proves
ROW = 64  # slots that are planned together
_COUNTERS = 64  # words: there are at most 32 levels
_LEAST_TRUSTED = 8  # pixels a side: through smaller rectangles a filament passes unseen now and then


class Rectangles:
    """Two generations of rectangles. A level divides one and makes the other.

    For each rectangle of the younger one the device has two counts: the one that is proved, and the one that it is
    filled with; `none` of the job's counts if there is none. `launched` are the launches since it was last emptied.
    """

    def __init__(self, program: Program, memory: Memory, plan: DivisionPlan) -> None:
        self._program, self._device, self._memory = program, program.device, memory
        job = program.job
        self._steps = min(plan.steps, program.most_strides * program.variant.stride)
        # If a pixel has more planes than its count, they are known without iterating only inside the set.
        self._inside_only = job.words > job.counts.words
        outside = {"nothing": 0, "outside": _LEAST_TRUSTED, "all": 1}[plan.trust]
        self._trust = 0 if self._inside_only else outside, plan.trust == "all"
        self._connected = plan.below
        insides = [word.inside_at(job.iterations) for word in words_of(job.planes, job.counts)]
        self._counts = job.counts
        self._insides = program.constant("insides", lambda: np.array(insides, np.uint32))
        self.launched: list[Event] = []
        self._block, self._origin = Block(0, 0, 0, 0), (0, 0)
        self._bounds = program.constant("bounds", lambda: bounds(job))
        # Components are found in the number of far orbits, float for a wide number: too coarse for neighbouring pixels.
        self._components = self._steps if program.number.is_native and plan.trust == "outside" else 0
        self._parents, self._children, self._numbers, self._proved, self._answers, self._computed = (
            _Words(memory, name) for name in ("parents", "children", "numbers", "proved", "answers", "computed")
        )
        self._older = self._parents.buffer
        self._writing: list[Event] = []
        self._listed, self._level = program.constant("unknown", lambda: np.array([NO_COUNT], np.uint32)), 0

    def begin(self, block: Block) -> Words:
        """Make the whole block the only rectangle; return its number."""
        self._device.clear(self._computed.room(1), 4)
        return self._place(block)

    def _place(self, block: Block) -> Words:
        """Take a block; return the number of the rectangle that is the whole of it."""
        self._whole = self._program.constant(
            f"whole {block.width}x{block.height}",
            lambda: np.array([0, 0, block.width - 1, block.height - 1], np.uint32),
        )
        self._block, self._origin = block, _origin(self._program, block)
        return np.zeros(1, np.uint32)

    def begin_listing(self, block: Block) -> Buffer:
        """Make the whole block the only rectangle. From now on the device lists the rectangles to divide.

        Returns the buffer whose first word is the number of pixels computed, once everything has run.
        """
        self.select(self._place(block))
        start = np.zeros(_COUNTERS, np.uint32)
        start[1] = 1  # behind the pixels computed: how many rectangles each level works on
        self._listed, self._level = self._computed.room(_COUNTERS), 1
        self._writing.append(self._device.write(self._listed, start))
        return self._listed

    def select(self, numbers: Words) -> None:
        """Select the rectangles with these numbers for the next step."""
        self._writing = [self._device.write(self._numbers.room(numbers.size), numbers)]

    def collect(self, level: DivisionLevel, most: int) -> None:
        """Select the mixed parts, of at most `most` parts in all, for the next step."""
        values = {"answers": self._answers.buffer, "each": level.children, "most": most, **self._listing()}
        self._launch("rectangles_collect", (most,), None, values | {"ids": self._numbers.room(most)})
        self._level += 1

    def descend(self) -> None:
        """Make the younger rectangles the older ones."""
        self._parents, self._children = self._children, self._parents
        self._older = self._parents.buffer

    def divide(self, level: DivisionLevel, divided: int) -> None:
        """Divide this many listed rectangles of the younger generation, and prove what is possible about the parts."""
        self.descend()
        if level.outer:
            self._older = self._whole
        program = self._program
        total = divided * level.children
        items = -(-total // program.variant.lanes)
        limit = self._device.group_limit(program.kernels.of_rectangles("rectangles_divide"))
        local = min(_PROVERS, limit) if program.variant.lanes == 1 else 1
        values = {
            "view_words": program.view_words,
            "offset": program.offset(self._block),
            "max_iterations": program.job.iterations,
        }
        values |= {"bound_words": self._bounds, "limit": self._steps, "components": self._components}
        values |= {"inside_only": self._inside_only, "parents": self._older, "ids": self._numbers.buffer}
        values |= {"parts": level.parts, "most": total, **self._listing()}
        values |= {"children": self._children.room(4 * total), "proved": self._proved.room(self._counts.words * total)}
        self._launch("rectangles_divide", (-(-items // local) * local,), (local,), values)

    def pixels(self, level: DivisionLevel, first: int, inside: bool) -> dict[str, Any]:
        """Return the arguments for a launch of orbits: the slots from `first` on of a level's lines or insides."""
        values: dict[str, Any] = {"rectangles": self._older, "ids": self._numbers.buffer, "proved": self._proved.buffer}
        if inside:
            columns, rows = level.inside
            values |= {"parts": (0, 0), "most": level.inside, "outer": 0, "slots": columns * rows}
        else:
            values |= {"parts": level.parts, "most": level.most, "outer": level.outer, "slots": level.slots}
        return values | {"first": first, **self._listing()}

    def judge(self, level: DivisionLevel, divided: int) -> None:
        """Find the counts of the parts of this many rectangles; `none` for a mixed part."""
        total = divided * level.children
        limit = self._device.group_limit(self._program.kernels.of_rectangles("rectangles_judge"))
        local = self._local(max(level.child_span), limit)
        outside, inside = self._trust
        values = {"children": self._children.buffer, "proved": self._proved.buffer, "parts": level.parts}
        values |= {
            "outer": level.outer,
            "last": level.last,
            "origin": self._origin,
            "max_iterations": self._program.job.iterations,
        }
        values |= {"trust_outside": outside, "trust_inside": inside, "connected": self._connected}
        values |= {"results": self._memory.results, "size": (self._block.width, self._block.height)}
        values |= {"answers": self._answers.room(self._counts.words * total), "computed": self._computed.buffer}
        self._launch("rectangles_judge", (total * local,), (local,), values | self._listing())

    def answers(self, total: int) -> tuple[Counts, Event]:
        """Return the counts of this many parts, valid until the next call, and the event after which they are there."""
        words = self._memory.host_words("answers", self._counts.words * total)
        return words.view(self._counts.dtype), self._device.read(self._answers.buffer, words)

    def fill(self, level: DivisionLevel, total: int) -> None:
        """Fill the parts that have one count."""
        limit = self._device.group_limit(self._program.kernels.of_rectangles("rectangles_fill"))
        across = self._local(level.child_span[0], min(limit, 32))
        down = self._local(level.child_span[1], min(8, limit // across))
        values: dict[str, Any] = {
            "rectangles": self._children.buffer,
            "proved": self._proved.buffer,
            "answers": self._answers.buffer,
        }
        values |= {"results": self._memory.results, "size": (self._block.width, self._block.height)}
        values |= {"insides": self._insides, "words": self._program.job.words, "each": level.children}
        self._launch("rectangles_fill", (total * across, down), (across, down), values | self._listing())

    def _listing(self) -> dict[str, Any]:
        """Return the arguments with the number of rectangles."""
        return {"listed": self._listed, "level": self._level}

    def note_launches(self, log: LaunchLog) -> None:
        """Add the times of `launched`, which have ended, to a log, and empty it."""
        for event in self.launched:
            seconds = event_seconds(event)
            if seconds is not None:
                log.add(seconds)
        self.launched.clear()

    def _launch(
        self, name: str, size: tuple[int, ...], local: tuple[int, ...] | None, values: Mapping[str, Any]
    ) -> None:
        kernel = self._program.kernels.of_rectangles(name)
        self.launched.append(self._device.launch(kernel, size, local, *arguments(name, values)))

    def made(self, total: int) -> tuple[Words, Counts]:
        """Return the younger rectangles, a row of four words each, and their proved counts."""
        corners, proved = np.empty((total, 4), np.uint32), np.empty(total, self._counts.dtype)
        self._device.read(self._children.buffer, corners)
        self._device.wait(self._device.read(self._proved.buffer, proved))
        return corners, proved

    def computed(self) -> int:
        """Return how many pixels of the block were computed, once everything has run."""
        computed = np.empty(1, np.uint32)
        self._device.wait(self._device.read(self._computed.buffer, computed))
        return int(computed[0])

    def _local(self, span: int, limit: int) -> int:
        """Return how many work-items share a row or a border: one where a work-item is a vector of its own."""
        if self._program.variant.lanes > 1:
            return 1
        return int(min(limit, 256, max(32, 1 << (span // 2).bit_length())))


class _Words:
    """A buffer of a block's memory that grows when it must, losing its contents."""

    def __init__(self, memory: Memory, name: str) -> None:
        self._memory, self._name = memory, name

    @property
    def buffer(self) -> Buffer:
        return self.room(1)

    def room(self, words: int) -> Buffer:
        """Return the buffer, large enough for this many words."""
        return self._memory.scratch(self._name, words)


def _origin(program: Program, block: Block) -> tuple[int, int]:
    """Return the pixel at or above and left of c = 0, or one that no rectangle holds where it is outside the block."""
    column, row = program.job.view.lattice.pixel_at(Fraction(0), Fraction(0))
    column, row = column - block.x, row - block.y
    if not (-1 < column < block.width and -1 < row < block.height):
        return NO_COUNT, NO_COUNT
    return max(0, int(column // 1)), max(0, int(row // 1))
