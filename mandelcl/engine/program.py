"""The loop on one device: build it for a job, give it memory, launch it."""

import time
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.block import Block
from mandelcl.engine.building import build, loop_text
from mandelcl.engine.launch import Launch
from mandelcl.engine.memory import NOT_WRITTEN, Memory
from mandelcl.engine.variant import Variant, default_variant, fit_local
from mandelcl.job import Job
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Buffer, BuiltProgram, Device, Event, Kernel, kernel_of

HostMemory: TypeAlias = Callable[[Block, tuple[int, ...]], npt.NDArray[np.uint32]]

_SURVIVORS_LOCAL = 64
_FIRST_ITERATIONS = 512


class Program:
    """The kernels of a resolved job, built for a device when first used."""

    def __init__(
        self, device: Device, job: Job, variant: Variant | None = None, loop_limit: int = 0, shortcuts: bool = True
    ) -> None:
        self.device = device
        self.job = job
        self.loop_limit = loop_limit
        self.shortcuts = shortcuts
        self.first_iterations = _FIRST_ITERATIONS
        self.number = by_name(job.number)
        self.variant = variant or default_variant(device, self.number)
        self.build_seconds = 0.0
        self.guarded = False  # fill results with NOT_WRITTEN before they are computed
        self.host_memory: HostMemory = lambda _block, shape: np.empty(shape, np.uint32)  # where results are copied to
        self._rectangles_kernels: dict[str, Kernel] = {}
        self._view = self._upload(self._encoded_view())

    def sibling(self, job: Job) -> "Program":
        """Return a program for a job that differs in its view or algorithm alone, and so has the same kernels."""
        sibling = Program(self.device, job, self.variant, self.loop_limit, self.shortcuts)
        sibling.first_iterations = self.first_iterations
        sibling.build_seconds = self.build_seconds
        return sibling

    @property
    def groups(self) -> int:
        """Groups of iterations from z₀ to the cap."""
        return -(-self.job.iterations // self.variant.group)

    @property
    def first_groups(self) -> int:
        """Groups that a first launch may run, where that is not up to the cap.

        With shortcuts nearly all orbits are decided early. A work-item waits for the last of its orbits, so the few
        that are not go on in a launch of their own, side by side.
        """
        first = max(1, self.first_iterations // self.variant.group)
        return first if self.shortcuts and self.groups > 4 * first else self.groups

    @property
    def most_groups(self) -> int:
        """Groups that a launch may run: where the driver stops a work-item's loops after so many iterations, fewer.

        Every step may be made twice, in its group and then tested, and may hold loops of its own.
        """
        if not self.loop_limit:
            return self.groups
        return max(1, self.loop_limit // (2 * self.variant.group * self.number.loops_per_step + 4))

    @property
    def saturation(self) -> int:
        """Orbits below which a launch takes as long as with that many."""
        return self.variant.saturation(self.device.compute_units)

    def allocate(self, pixels: int, width: int) -> Memory:
        """Return memory for a block of at most `pixels` pixels whose lists take `width` orbits at the least."""
        return Memory(self.device, self.job, pixels, width)

    def launch_block(self, memory: Memory, block: Block, first_row: int, rows: int, groups: int) -> Launch:
        """Start rows of a block from z₀ and run `groups` groups; results and survivors are left in `memory`."""
        finishes = groups >= self.groups
        survivors = memory.results if finishes else memory.lists()[0]  # not touched by a launch that finishes
        how = (*self.where(block), np.uint32(first_row), np.uint32(rows), *self._how_far(groups, finishes))
        return self._launch_rows((self._view, *how, memory.results, survivors), memory, block.width, rows, groups)

    def launch_probe(self, memory: Memory, columns: int, rows: int, groups: int) -> Launch:
        """Run `groups` groups of orbits that never escape (c = 0), without shortcuts, for timing."""
        zero = np.zeros(self.number.words, np.uint32)
        radius_squared, pitch = self.number.encode(Fraction(4)), np.zeros(self.number.pitch_words, np.uint32)
        view = self._upload(np.concatenate([zero, zero, radius_squared, pitch]))
        where = (np.zeros(2, np.int32), np.array([columns, rows], np.uint32), np.uint32(0), np.uint32(rows))
        how = (*where, *self._limits(groups, finishes=True, shortcuts=False))
        return self._launch_rows((view, *how, memory.results, memory.results), memory, columns, rows, groups)

    def _launch_rows(self, arguments: tuple[Any, ...], memory: Memory, columns: int, rows: int, groups: int) -> Launch:
        kernel = self._block_kernel
        columns_each, rows_each = self.variant.tile
        wanted = (-(-columns // columns_each), -(-rows // rows_each))
        local = fit_local(self.variant.local_columns, self.variant.local_rows, self.device.group_limit(kernel))
        arguments = (*arguments, memory.survivor_total, np.uint32(memory.capacity))
        return self._launch(kernel, wanted, local, arguments, memory, groups, columns * rows)

    def launch_survivors(self, memory: Memory, block: Block, total: int, start: int, groups: int) -> Launch:
        """Go on for `groups` groups with the `total` survivors of the last launch, which have done `start`."""
        kernel = self._survivors_kernel
        saved, survivors = memory.lists()
        memory.swap_lists()
        arguments = (
            self._view,
            *self.where(block),
            np.uint32(start * self.variant.group),
            *self._how_far(groups, start + groups >= self.groups),
            memory.results,
            saved,
            np.uint32(total),
            survivors,
            memory.survivor_total,
            np.uint32(memory.capacity),
        )
        local = min(_SURVIVORS_LOCAL if self.variant.lanes == 1 else 1, self.device.group_limit(kernel))
        return self._launch(kernel, (-(-total // self.variant.orbits),), (local,), arguments, memory, groups, total)

    def launch_rectangles(
        self, memory: Memory, block: Block, pixels: tuple[Any, ...], total: int, groups: int
    ) -> Launch:
        """Start `total` slots of rectangles from z₀ and run `groups` groups; `pixels` says which slots of which."""
        kernel = self.rectangles_kernel("advance_rectangles")
        finishes = groups >= self.groups
        survivors = memory.results if finishes else memory.lists()[0]
        how = (*self.where(block), *pixels, np.uint32(total), *self._how_far(groups, finishes))
        counted = (memory.survivor_total, np.uint32(memory.capacity))
        arguments = (self._view, *how, memory.results, survivors, *counted)
        local = min(_SURVIVORS_LOCAL if self.variant.lanes == 1 else 1, self.device.group_limit(kernel))
        wanted = (-(-total // self.variant.orbits),)
        return self._launch(kernel, wanted, (local,), arguments, memory, groups, total, counted=not finishes)

    def rectangles_kernel(self, name: str) -> Kernel:
        """Return one of the kernels that work on rectangles; they are built when first used."""
        if name not in self._rectangles_kernels:
            self._rectangles_kernels[name] = kernel_of(self._rectangles_program, name)
        return self._rectangles_kernels[name]

    @cached_property
    def _rectangles_program(self) -> BuiltProgram:
        return self._build("rectangles")

    @property
    def view_words(self) -> Buffer:
        """The encoded view, as kernels take it."""
        return self._view

    def where(self, block: Block) -> tuple[Any, ...]:
        """Return a block's offset from the anchor and its size, as kernels take them."""
        view = self.job.view
        offset = np.array([block.x - view.lattice.column, view.lattice.row - block.y], np.int32)
        return offset, np.array([block.width, block.height], np.uint32)

    def _how_far(self, groups: int, finishes: bool) -> tuple[Any, ...]:
        return self._limits(groups, finishes, self.shortcuts)

    def _limits(self, groups: int, finishes: bool, shortcuts: bool) -> tuple[Any, ...]:
        return np.uint32(groups), np.uint32(self.job.iterations), np.uint32(finishes), np.uint32(shortcuts)

    def _launch(
        self,
        kernel: Kernel,
        wanted: tuple[int, ...],
        local: tuple[int, ...],
        arguments: tuple[Any, ...],
        memory: Memory,
        groups: int,
        orbits: int,
        counted: bool = True,
    ) -> Launch:
        rounded = tuple(-(-size // of) * of for size, of in zip(wanted, local, strict=True))
        survivors = np.zeros(1, np.uint32)
        if not counted:
            event = self.device.launch(kernel, rounded, local, *arguments)
            return Launch(orbits, groups, event, event, survivors, time.perf_counter())
        self.device.clear(memory.survivor_total, 4)
        event = self.device.launch(kernel, rounded, local, *arguments)
        # Read behind this launch and before the next: the queue is in order.
        copied = self.device.read(memory.survivor_total, survivors)
        return Launch(orbits, groups, event, copied, survivors, time.perf_counter())

    def read_results(self, memory: Memory, block: Block) -> tuple[npt.NDArray[np.uint32], Event]:
        """Return the results of a block, planes × height × width, and the event after which they are there.

        The block's last launch has been waited for.
        """
        results = self.host_memory(block, (self.job.words, block.height, block.width))
        if self.guarded:
            results.fill(NOT_WRITTEN)
        return results, self.device.fetch(memory.results, results)

    def prepare(self) -> None:
        """Build now what would be built when first used."""
        _ = self._block_kernel, self._survivors_kernel

    @cached_property
    def _block_kernel(self) -> Kernel:
        return kernel_of(self._build("block"), "advance_block")

    @cached_property
    def _survivors_kernel(self) -> Kernel:
        return kernel_of(self._build("survivors"), "advance_survivors")

    def _build(self, source_name: str) -> BuiltProgram:
        started = time.perf_counter()
        program = build(self.device, self.text(source_name))
        self.build_seconds += time.perf_counter() - started
        return program

    def text(self, source_name: str) -> str:
        """Return the source text of one of the program's kernels (`source.SOURCES`)."""
        return loop_text(self.job, self.variant, source_name)

    def _encoded_view(self) -> npt.NDArray[np.uint32]:
        view = self.job.view
        values = (
            (view.lattice.re, "the left of the picture"),
            (view.lattice.im, "the top of the picture"),
            (self.job.radius_squared, "the escape radius squared"),
        )
        words = [self.number.encode(value, what) for value, what in values]
        return np.concatenate([*words, self.number.encode_pitch(view.pitch)])

    def _upload(self, words: npt.NDArray[np.uint32]) -> Buffer:
        return self.device.upload(words)
