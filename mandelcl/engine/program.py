"""The loop on one device: give it memory, launch it, wait for its launches."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.lattice import Lattice
from mandelcl.base.words import Words
from mandelcl.core import timeline
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.core.timeline import Detail
from mandelcl.engine.kernels import Kernels, shaped
from mandelcl.engine.memory import Memory
from mandelcl.engine.methods import method_of
from mandelcl.engine.variant import Variant, default_variant, fit_local
from mandelcl.opencl.api import Buffer, Event, Kernel, event_seconds
from mandelcl.opencl.arguments import arguments
from mandelcl.opencl.device import Device

_SURVIVORS_LOCAL = 64
_LIST_ITEMS = 16  # work-items for each compute unit of a CPU that share a list: few, as each packs what it has left
_ENDLESS = 1 << 62
_MOST_STRIDES = (1 << 32) - 1
_FIRST_TURNS = 256  # most orbits are decided by then; the rest go on packed together


@dataclass(slots=True)
class RunningLaunch:
    """A running launch: `strides` strides of iterations of at most `orbits` orbits.

    After `wait`, `survivors` is the number of orbits that have not escaped; 0 if it ran to the iteration limit.
    """

    orbits: int
    strides: int
    _event: Event
    _last_event: Event
    _survivor_total: Words | None
    _enqueued: float

    def wait(self, device: Device) -> None:
        """Return when it has ended and its survivors are counted."""
        device.wait(self._last_event)

    def describe(self, device: Device, details: Mapping[str, Detail]) -> None:
        """Add details to its entry in a trace."""
        device.commands.describe(self._event, details)

    @property
    def survivors(self) -> int:
        """Orbits that have not escaped."""
        return 0 if self._survivor_total is None else int(self._survivor_total[0])

    def seconds(self, ready: float) -> float:
        """Return how long it ran, by the device's clock, or by the host's if that is unusable.

        `ready` is the host's time at which the device was free to start it.
        """
        seconds = event_seconds(self._event)
        if seconds is not None:
            return seconds
        return time.perf_counter() - max(ready, self._enqueued)


@dataclass(frozen=True, slots=True)
class Execution:
    """How a program is run: what affects its speed and safety, never a byte of its results.

    `shortcuts` end orbits early that are known never to escape. With `guarded`, memory for results is filled with
    NO_COUNT before they are computed. `loop_limit` is the number of iterations after which the driver stops a
    work-item's loops, 0 for none. A first launch runs about `first_iterations`, if that is far below the iteration
    limit.
    """

    shortcuts: bool = True
    guarded: bool = False
    loop_limit: int = 0
    first_iterations: int = 512


class Program:
    """A resolved job on a device: its kernels, their inputs, and their launches."""

    def __init__(
        self, device: Device, job: Job, variant: Variant | None = None, execution: Execution | None = None
    ) -> None:
        self.device = device
        self.job = job
        self.execution = execution or Execution()
        self.number = by_name(job.number)
        self.method = method_of(job)
        self._shape = variant or default_variant(device, self.number)
        self.variant = shaped(self._shape, job)
        self.kernels = Kernels(device, job, self.variant)
        self._constants: dict[str, Buffer] = {}
        self.view_words = device.upload(_encoded_view(job, self.method.lattice(job)))
        words = self.method.words(job)
        self.method_words = self.view_words if words is None else device.upload(words)

    def sibling(self, job: Job) -> "Program":
        """Return a program for another job on the device, in the same shape; kernels of the same text are shared."""
        sibling = Program(self.device, job, self._shape, self.execution)
        sibling.kernels.build_seconds = self.kernels.build_seconds
        return sibling

    @property
    def strides(self) -> int:
        """Strides of iterations from the start to the iteration limit; a loop by turns ends only with its orbits."""
        return _ENDLESS if self.method.by_turns else -(-self.job.iterations // self.variant.stride)

    @property
    def first_strides(self) -> int:
        """Strides that a first launch may run.

        With shortcuts nearly all orbits are decided early. A work-item waits for the last of its orbits, so the few
        that remain continue in a launch of their own, packed together.
        """
        if self.method.by_turns:
            return _FIRST_TURNS if self.execution.first_iterations < self.job.iterations else _MOST_STRIDES
        first = max(1, self.execution.first_iterations // self.variant.stride)
        return first if self.execution.shortcuts and self.strides > 4 * first else self.strides

    @property
    def most_strides(self) -> int:
        """Strides that a launch may run: fewer than to the iteration limit if the driver stops long loops.

        Every step may be made twice, once in its stride and once to find the escape, and may contain loops of its own.
        """
        if not self.execution.loop_limit:
            return min(self.strides, _MOST_STRIDES)
        if self.method.by_turns:
            return max(1, self.execution.loop_limit // self.method.turn_loops(self.job))
        loops = 2 * self.variant.stride * self.number.loops_per_step(self.job.formula.products) + 4
        return max(1, self.execution.loop_limit // loops)

    @property
    def saturation(self) -> int:
        """Orbits that keep the device busy; a launch of fewer takes as long."""
        return self.variant.saturation(self.device.compute_units)

    def constant(self, name: str, words: Callable[[], npt.NDArray[Any]]) -> Buffer:
        """Return a buffer with these words, shared by all launches of the program."""
        if name not in self._constants:
            self._constants[name] = self.device.upload(words())
        return self._constants[name]

    def allocate(self, pixels: int, width: int) -> Memory:
        """Return memory for a block of at most `pixels` pixels, with lists of at least `width` orbits."""
        return Memory(self.device, self.job, pixels, width)

    def launch_block(self, memory: Memory, block: Block, first_row: int, rows: int, strides: int) -> RunningLaunch:
        """Start some rows of a block and run `strides` strides; results and survivors are written to `memory`."""
        values = self._block_values(block) | {"first_row": first_row, "rows": rows}
        launch = self._launch_rows(memory, block.width, rows, strides, values)
        return self._described(launch, block, first_row, rows)

    def launch_probe(self, memory: Memory, columns: int, rows: int, strides: int) -> RunningLaunch:
        """Run `strides` strides of orbits that never escape, for timing: c = 0 everywhere.

        A loop by turns is timed with the job's own orbits, since the time of a turn depends on the reference.
        """
        words = self.view_words if self.method.by_turns else self.device.upload(_encoded_zero(self.job))
        values = {"view_words": words, "offset": (0, 0), "size": (columns, rows)}
        values |= {"method_words": self.method_words, "first_row": 0, "rows": rows}
        values |= {**self._limits(strides, finishes=True), "shortcuts": 0}
        return self._launch_rows(memory, columns, rows, strides, values, finishes=True)

    def _launch_rows(
        self,
        memory: Memory,
        columns: int,
        rows: int,
        strides: int,
        values: Mapping[str, Any],
        finishes: bool | None = None,
    ) -> RunningLaunch:
        finishes = strides >= self.strides if finishes is None else finishes
        limit = self.device.group_limit(self.kernels.block)  # builds: a shape that no kernel has is refused there
        columns_each, rows_each = self.variant.tile
        items = (-(-columns // columns_each), -(-rows // rows_each))
        local = fit_local(self.variant.local_columns, self.variant.local_rows, limit)
        values = self._limits(strides, finishes) | dict(values) | self._survivor_values(memory, finishes)
        total = columns * rows
        launch = self._launch(
            self.kernels.block, "advance_block", items, local, values, memory, strides, total, counted=not finishes
        )
        self.device.flush()
        return launch

    def launch_survivors(
        self,
        memory: Memory,
        block: Block,
        total: int,
        start: int,
        strides: int,
        listed: tuple[Buffer, int] | None = None,
    ) -> RunningLaunch:
        """Continue the `total` survivors of the last launch, `start` strides in, for `strides` more.

        `listed` are the pixels of `launch_list` and their number, if the orbits were started there.
        """
        saved, survivors = memory.lists()
        memory.swap_lists()
        finishes = start + strides >= self.strides
        values = self._block_values(block) | self._limits(strides, finishes)
        # By turns each orbit keeps its own count.
        values |= {"n": 0 if self.method.by_turns else start * self.variant.stride, "saved": saved, "total": total}
        pixels, pixel_total = listed or (saved, 0)
        values |= {"pixels": pixels, "listed": pixel_total}
        values |= self._survivor_values(memory, finishes=False) | {"survivors": survivors}
        kernel = self.kernels.survivors
        local, items = self._orbits_local(kernel), (-(-total // self.variant.orbits),)
        launch = self._launch(
            kernel, "advance_survivors", items, local, values, memory, strides, total, counted=not finishes
        )
        self.device.flush()
        return self._described(launch, block, 0, block.height)

    def launch_list(self, memory: Memory, block: Block, pixels: Buffer, total: int, strides: int) -> RunningLaunch:
        """Start the `total` pixels of a block that a buffer names, row·width + column each, and run `strides`.

        Results and survivors are of places in the list: `memory` needs no room for the block. Where orbits lie in
        vectors, a work-item takes many.
        """
        finishes = strides >= self.strides
        values = self._block_values(block) | self._limits(strides, finishes) | {"pixels": pixels, "total": total}
        values |= self._survivor_values(memory, finishes)
        kernel = self.kernels.listed
        local, groups = self._orbits_local(kernel), -(-total // self.variant.orbits)
        items = (groups if self.variant.lanes == 1 else min(groups, _LIST_ITEMS * self.device.compute_units),)
        launch = self._launch(
            kernel, "advance_list", items, local, values, memory, strides, total, counted=not finishes
        )
        self.device.flush()
        return self._described(launch, block, 0, block.height)

    def launch_rectangles(
        self, memory: Memory, block: Block, pixels: Mapping[str, Any], total: int, strides: int
    ) -> RunningLaunch:
        """Start `total` slots of rectangles and run `strides` strides; `pixels` selects them."""
        kernel = self.kernels.of_rectangles("advance_rectangles")
        finishes = strides >= self.strides
        values = self._block_values(block) | dict(pixels) | {"total_slots": total}
        values |= self._limits(strides, finishes) | self._survivor_values(memory, finishes)
        local, items = self._orbits_local(kernel), (-(-total // self.variant.orbits),)
        counted = not finishes
        launch = self._launch(kernel, "advance_rectangles", items, local, values, memory, strides, total, counted)
        return self._described(launch, block, 0, block.height)

    def offset(self, block: Block) -> tuple[int, int]:
        """Return how many columns to the right of the anchor, and rows above it, a block's first pixel lies."""
        lattice = self.job.view.lattice
        return block.x - lattice.column, lattice.row - block.y

    def _block_values(self, block: Block) -> dict[str, Any]:
        size = (block.width, block.height)
        words = {"view_words": self.view_words, "method_words": self.method_words}
        return {**words, "offset": self.offset(block), "size": size}

    def _limits(self, strides: int, finishes: bool) -> dict[str, Any]:
        values = {"strides": strides, "max_iterations": self.job.iterations, "limit_reached": finishes}
        return values | {"shortcuts": self.execution.shortcuts}

    def _survivor_values(self, memory: Memory, finishes: bool) -> dict[str, Any]:
        survivors: Buffer = memory.results if finishes else memory.lists()[0]  # not touched by a launch that finishes
        values = {"results": memory.results, "survivors": survivors, "survivor_total": memory.survivor_total}
        return values | {"capacity": memory.capacity}

    def _orbits_local(self, kernel: Kernel) -> tuple[int]:
        return (min(_SURVIVORS_LOCAL if self.variant.lanes == 1 else 1, self.device.group_limit(kernel)),)

    def _launch(
        self,
        kernel: Kernel,
        name: str,
        items: tuple[int, ...],
        local: tuple[int, ...],
        values: Mapping[str, Any],
        memory: Memory,
        strides: int,
        orbits: int,
        counted: bool,
    ) -> RunningLaunch:
        """Start a kernel. If survivors are not `counted`, there are none, or another kernel counts them."""
        rounded = tuple(-(-size // of) * of for size, of in zip(items, local, strict=True))
        kernel_arguments = arguments(name, values)
        if not counted:
            event = self.device.launch(kernel, rounded, local, *kernel_arguments)
            return RunningLaunch(orbits, strides, event, event, None, time.perf_counter())
        survivors = memory.host_words("survivors")
        self.device.clear(memory.survivor_total, 4)
        event = self.device.launch(kernel, rounded, local, *kernel_arguments)
        # Read behind this launch and before the next: the queue is in order.
        copied = self.device.read(memory.survivor_total, survivors)
        return RunningLaunch(orbits, strides, event, copied, survivors, time.perf_counter())

    def _described(self, launch: RunningLaunch, block: Block, first_row: int, rows: int) -> RunningLaunch:
        """Return a launch after noting its block and rows in the trace, if one is recorded."""
        if timeline.on():
            place = {"x": block.x, "y": block.y + first_row, "width": block.width, "rows": rows}
            launch.describe(self.device, {**place, "orbits": launch.orbits, "strides": launch.strides})
        return launch


def _encoded_view(job: Job, lattice: Lattice) -> Words:
    """Return the words that kernels load for a resolved job's view: R², the map's words and the formula's parameters.

    They are as cl/advance.cl has them, with the points on a lattice as cl/map_lattice.cl loads it.
    """
    number = by_name(job.number)
    anchor = ((lattice.re, "the left of the picture"), (lattice.im, "the top of the picture"))
    values = ((job.radius_squared, "the escape radius squared"), *anchor)
    words = [number.encode(value, what) for value, what in values]
    a, b, c, d = lattice.matrix
    words += [number.encode_pitch(step) for step in ((a,) if lattice.is_upright else (a, -b, c, -d))]
    words += [number.encode(part, "the constant") for pair in job.formula.parameters for part in pair]
    return np.concatenate(words)


def _encoded_zero(job: Job) -> Words:
    """Return words of the same length in which every pixel is 0, with R² = 4."""
    words = np.zeros(_encoded_view(job, job.view.lattice).size, np.uint32)
    radius_squared = by_name(job.number).encode(Fraction(4))
    words[: radius_squared.size] = radius_squared
    return words
