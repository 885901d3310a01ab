"""The rectangles of border tracing as the device has them: their buffers, and the kernels that work on them."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.algorithms.proof import bounds
from mandelcl.algorithms.subdivision import Level, Plan
from mandelcl.block import Block
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program
from mandelcl.numbers import IeeeFormat
from mandelcl.opencl.device import Buffer, Event, Kernel

Words = npt.NDArray[np.uint32]

MIXED = np.uint32(0xFFFFFFFF)  # instead of a count
_PROVERS = 32  # rectangles of a work-group that proves
_LEAST_TRUSTED = 8  # pixels a side: through smaller rectangles a filament passes unseen now and then
_LEAST_WORDS = 1 << 12


class Rectangles:
    """Two generations of rectangles, of which a level divides one and makes the other.

    The device has a word of proof and a word of answer for each of the younger one: a count, or MIXED. `launched` are
    the launches since it was last emptied.
    """

    def __init__(self, program: Program, memory: Memory, plan: Plan) -> None:
        self._program, self._device, self._memory = program, program.device, memory
        self._steps = min(plan.steps, program.most_groups * program.variant.group)
        smooth = program.job.smooth  # which nothing but insides leaves without a result of its own
        self._inside_only = np.uint32(smooth)
        outside = {"nothing": 0, "outside": _LEAST_TRUSTED, "all": 1}[plan.trust]
        self._trust = np.uint32(0 if smooth else outside), np.uint32(plan.trust == "all")
        self.launched: list[Event] = []
        self._older = self._whole = self._device.upload(np.zeros(4, np.uint32))
        self._origin = self._offset = self._size = np.zeros(2, np.uint32)
        self._bounds = program.device.upload(bounds(program.job))
        exact = isinstance(program.number, IeeeFormat)  # else the kernel cannot tell neighbouring pixels apart
        self._components = np.uint32(self._steps if exact and plan.trust == "outside" else 0)
        self._cap = np.uint32(program.job.iterations)
        self._parents, self._children, self._numbers, self._proved, self._answers, self._computed = (
            _Words(program) for _ in range(6)
        )

    def begin(self, block: Block) -> Words:
        """Make the whole block the one rectangle that there is; return its number."""
        self._whole = self._device.upload(np.array([0, 0, block.width - 1, block.height - 1], np.uint32))
        self._device.clear(self._computed.room(1), 4)
        self._origin = _origin(self._program, block)
        self._offset, self._size = self._program.where(block)
        return np.zeros(1, np.uint32)

    def descend(self, numbers: Words) -> None:
        """Make the younger rectangles the older ones, of which those with these numbers are worked on."""
        self._parents, self._children = self._children, self._parents
        self._older = self._parents.buffer
        self._numbers.write(numbers)

    def divide(self, level: Level, numbers: Words) -> None:
        """Divide the younger rectangles of these numbers, and prove what can be proved of the parts."""
        self.descend(numbers)
        if level.outer:
            self._older = self._whole
        program, kernel = self._program, self._program.rectangles_kernel("rectangles_divide")
        total = numbers.size * level.children
        items = -(-total // program.variant.lanes)
        local = min(_PROVERS, self._device.group_limit(kernel)) if program.variant.lanes == 1 else 1
        self._launch(
            kernel,
            (-(-items // local) * local,),
            (local,),
            program.view_words,
            self._offset,
            self._bounds,
            np.uint32(self._steps),
            self._components,
            self._inside_only,
            self._cap,
            self._older,
            self._numbers.buffer,
            np.array(level.parts, np.uint32),
            np.uint32(total),
            self._children.room(4 * total),
            self._proved.room(total),
        )

    def pixels(self, level: Level, first: int, inside: bool) -> tuple[Any, ...]:
        """Return what a launch of orbits must know: the slots from `first` on of a level's lines, or of its insides."""
        rectangles = (self._older, self._numbers.buffer, self._proved.buffer)
        if inside:
            columns, rows = level.inside
            shape = (np.zeros(2, np.uint32), np.array(level.inside, np.uint32), np.uint32(0), np.uint32(columns * rows))
        else:
            parts, most = np.array(level.parts, np.uint32), np.array(level.most, np.uint32)
            shape = (parts, most, np.uint32(level.outer), np.uint32(level.slots))
        return (*rectangles, *shape, np.uint32(first))

    def judge(self, level: Level, divided: int) -> tuple[Words, Event]:
        """Return the counts of the parts, or MIXED, and the event after which they are there."""
        total = divided * level.children
        kernel = self._program.rectangles_kernel("rectangles_judge")
        local = self._local(max(level.child_span), self._device.group_limit(kernel))
        self._launch(
            kernel,
            (total * local,),
            (local,),
            self._children.buffer,
            self._proved.buffer,
            np.array(level.parts, np.uint32),
            np.uint32(level.outer),
            np.uint32(level.last),
            self._origin,
            *self._trust,
            self._cap,
            self._memory.results,
            self._size[0],
            self._answers.room(total),
            self._computed.buffer,
        )
        answers = np.empty(total, np.uint32)
        return answers, self._device.read(self._answers.buffer, answers)

    def fill(self, level: Level, total: int) -> None:
        """Fill the parts that are of one count."""
        kernel = self._program.rectangles_kernel("rectangles_fill")
        limit = self._device.group_limit(kernel)
        across = self._local(level.child_span[0], min(limit, 32))
        down = self._local(level.child_span[1], min(8, limit // across))
        self._launch(
            kernel,
            (total * across, down),
            (across, down),
            self._children.buffer,
            self._proved.buffer,
            self._answers.buffer,
            self._memory.results,
            self._size,
            np.uint32(self._program.job.words),
            self._cap,
        )

    def _launch(self, kernel: Kernel, size: tuple[int, ...], local: tuple[int, ...], *arguments: Any) -> None:
        self.launched.append(self._device.launch(kernel, size, local, *arguments))

    def made(self, total: int) -> tuple[Words, Words]:
        """Return the younger rectangles, a row of four words each, and what is proved of them."""
        corners, proved = np.empty((total, 4), np.uint32), np.empty(total, np.uint32)
        self._device.read(self._children.buffer, corners)
        self._device.wait(self._device.read(self._proved.buffer, proved))
        return corners, proved

    def computed(self) -> int:
        """Return how many pixels of the block were not filled, once all has run."""
        computed = np.empty(1, np.uint32)
        self._device.wait(self._device.read(self._computed.buffer, computed))
        return int(computed[0])

    def _local(self, wanted: int, limit: int) -> int:
        """Return how many work-items share a row or a border: one where a work-item is a vector of its own."""
        if self._program.variant.lanes > 1:
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
        return self.room(1)

    def room(self, words: int) -> Buffer:
        """Return the buffer, large enough for so many words."""
        if self._buffer is None or words > self._words:
            self._words = max(_LEAST_WORDS, 1 << (words - 1).bit_length())
            self._buffer = self._device.allocate(4 * self._words)
        return self._buffer

    def write(self, words: Words) -> None:
        self.room(words.size)
        self._device.write(self.buffer, words)


def _origin(program: Program, block: Block) -> Words:
    """Return the pixel at or above and left of c = 0, or one that no rectangle holds where it is outside the block."""
    view = program.job.view
    column, row = view.lattice.pixel_at(Fraction(0), Fraction(0))
    column, row = column - block.x, row - block.y
    if not (-1 < column < block.width and -1 < row < block.height):
        return np.full(2, MIXED, np.uint32)
    return np.array([max(0, int(column // 1)), max(0, int(row // 1))], np.uint32)
