"""The loop on one device: build it for a job, give it memory, launch it."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyopencl as cl

from mandelcl import cache, numbers, source
from mandelcl.device import Device, binary_of, opencl_errors
from mandelcl.errors import BuildError
from mandelcl.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.schedule import Block
from mandelcl.variant import Variant, default_variant, fit_local

SMOOTH_LIMIT = 1000
_SURVIVORS_LOCAL = 64
_TRUSTED_EVENT_NS = 1000  # a clock that says less than a microsecond says nothing


def build(device: Device, text: str) -> cl.Program:
    """Return a program for the device, from the cached binary of an earlier build where there is one."""
    key = source.digest(f"{device.identity}\n{text}")
    binary = cache.read("binaries", key)
    if binary is not None:
        try:
            return device.load(binary)
        except BuildError:
            pass  # another driver's, or a damaged one: build afresh
    program = device.build(text)
    binary = binary_of(program)
    if binary is not None:
        cache.write("binaries", key, binary)
    return program


class Memory:
    """Device memory for one block in flight: its results and, made when first needed, two lists of survivors."""

    def __init__(self, program: "Program", pixels: int) -> None:
        self.pixels = pixels
        self._program = program
        self.results = self._allocate(4 * program.planes * pixels)
        self.survivor_total = self._allocate(4)
        self._lists: list[cl.Buffer] = []

    def lists(self) -> list[cl.Buffer]:
        """Return the two lists of survivors: the one last written first."""
        if not self._lists:
            size = 4 * self._program.number.state_words * self.pixels
            self._lists = [self._allocate(size), self._allocate(size)]
        return self._lists

    def swap_lists(self) -> None:
        """Make the list written next the other one."""
        self._lists.reverse()

    def _allocate(self, size: int) -> cl.Buffer:
        device = self._program.device
        with opencl_errors(device):
            return cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size)


@dataclass(slots=True)
class Launch:
    """A launch under way: `groups` groups of iterations of at most `orbits` orbits.

    `survivors` is, once it has been waited for, how many orbits it left alive; 0 where it reached the cap.
    """

    orbits: int
    groups: int
    _event: cl.Event
    _last_event: cl.Event
    _survivor_total: npt.NDArray[np.uint32]
    _enqueued: float

    def wait(self, device: Device) -> None:
        """Return when it has ended and its survivors are counted."""
        with opencl_errors(device):
            self._last_event.wait()

    @property
    def survivors(self) -> int:
        """Orbits that it left alive."""
        return int(self._survivor_total[0])

    def seconds(self, ready: float) -> float:
        """Return how long it ran, by the device's clock or, where that is of no use, by the host's.

        `ready` is when the device was free to begin with it, as the host saw it.
        """
        nanoseconds: int = self._event.profile.end - self._event.profile.start
        if nanoseconds > _TRUSTED_EVENT_NS:
            return nanoseconds * 1e-9
        return time.perf_counter() - max(ready, self._enqueued)


class Program:
    """The kernels of a resolved job, built for a device when first used.

    `planes` is the number of words a pixel has in the results: its count and, for smooth colouring, the step and
    |z|² (float bits) at which it left the smooth radius.
    """

    def __init__(self, device: Device, job: Job, variant: Variant | None = None) -> None:
        self.device = device
        self.job = job
        self.number = numbers.by_name(job.number)
        self.variant = variant or default_variant(device, self.number)
        self.planes = 3 if job.smooth else 1
        self.build_seconds = 0.0
        self._view = self._upload(self._encoded_view())

    @property
    def groups(self) -> int:
        """Groups of iterations from z₀ to the cap."""
        return -(-self.job.iterations // self.variant.group)

    @property
    def saturation(self) -> int:
        """Orbits below which a launch takes as long as with that many."""
        return self.device.compute_units * self.variant.orbits * (1 if self.variant.lanes > 1 else 1024)

    def launch_block(self, memory: Memory, block: Block, first_row: int, rows: int, groups: int) -> Launch:
        """Start rows of a block from z₀ and run `groups` groups; results and survivors are left in `memory`."""
        kernel = self._block_kernel
        columns_each, rows_each = self.variant.tile
        wanted = (-(-block.width // columns_each), -(-rows // rows_each))
        local = fit_local(self.variant.local_columns, self.variant.local_rows, self._group_limit(kernel))
        finishes = groups >= self.groups
        survivors = memory.results if finishes else memory.lists()[0]  # not touched by the launch that finishes
        arguments = (
            *self._where(block),
            np.uint32(first_row),
            np.uint32(rows),
            *self._how_far(groups, finishes),
            memory.results,
            survivors,
            memory.survivor_total,
            np.uint32(memory.pixels),
        )
        return self._launch(kernel, wanted, local, arguments, memory, groups, block.width * rows)

    def launch_survivors(self, memory: Memory, block: Block, total: int, start: int, groups: int) -> Launch:
        """Go on for `groups` groups with the `total` survivors of the last launch, which have done `start`."""
        kernel = self._survivors_kernel
        saved, survivors = memory.lists()
        memory.swap_lists()
        arguments = (
            *self._where(block),
            np.uint32(start * self.variant.group),
            *self._how_far(groups, start + groups >= self.groups),
            memory.results,
            saved,
            np.uint32(total),
            survivors,
            memory.survivor_total,
            np.uint32(memory.pixels),
        )
        local = min(_SURVIVORS_LOCAL if self.variant.lanes == 1 else 1, self._group_limit(kernel))
        return self._launch(kernel, (-(-total // self.variant.orbits),), (local,), arguments, memory, groups, total)

    def _where(self, block: Block) -> tuple[Any, ...]:
        view = self.job.view
        offset = np.array([block.x - view.anchor_column, view.anchor_row - block.y], np.int32)
        return self._view, offset, np.array([block.width, block.height], np.uint32)

    def _how_far(self, groups: int, finishes: bool) -> tuple[Any, ...]:
        return np.uint32(groups), np.uint32(self.job.iterations), np.uint32(finishes)

    def _launch(
        self,
        kernel: cl.Kernel,
        wanted: tuple[int, ...],
        local: tuple[int, ...],
        arguments: tuple[Any, ...],
        memory: Memory,
        groups: int,
        orbits: int,
    ) -> Launch:
        queue = self.device.queue
        rounded = tuple(-(-size // of) * of for size, of in zip(wanted, local, strict=True))
        with opencl_errors(self.device):
            cl.enqueue_fill_buffer(queue, memory.survivor_total, np.zeros(1, np.uint32), 0, 4)
            event = kernel(queue, rounded, local, *arguments)
            # Read behind this launch and before the next: the queue is in order.
            survivors = np.zeros(1, np.uint32)
            copied = cl.enqueue_copy(queue, survivors, memory.survivor_total, is_blocking=False)
            queue.flush()
        return Launch(orbits, groups, event, copied, survivors, time.perf_counter())

    def _group_limit(self, kernel: cl.Kernel) -> int:
        """Return the most work-items that a work-group of this built kernel may have."""
        limit: int = kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, self.device.handle)
        return min(limit, self.device.max_group_size)

    def read_results(self, memory: Memory, block: Block) -> tuple[npt.NDArray[np.uint32], cl.Event]:
        """Return the results of a block, planes × height × width, and the event after which they are there."""
        results = np.empty((self.planes, block.height, block.width), np.uint32)
        with opencl_errors(self.device):
            event = cl.enqueue_copy(self.device.queue, results, memory.results, is_blocking=False)
            self.device.queue.flush()
        return results, event

    @cached_property
    def _block_kernel(self) -> cl.Kernel:
        return self._build("block").advance_block

    @cached_property
    def _survivors_kernel(self) -> cl.Kernel:
        return self._build("survivors").advance_survivors

    def _build(self, source_name: str) -> cl.Program:
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
            (view.anchor_re, "the left of the picture"),
            (view.anchor_im, "the top of the picture"),
            (view.pitch, "the distance between pixels"),
            (self.job.radius_squared, "the escape radius squared"),
            (SMOOTH_RADIUS_SQUARED, "the smooth radius squared"),
        )
        return np.concatenate([self.number.encode(value, what) for value, what in values])

    def _upload(self, words: npt.NDArray[np.uint32]) -> cl.Buffer:
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        with opencl_errors(self.device):
            return cl.Buffer(self.device.context, flags, hostbuf=words)


def loop_text(job: Job, variant: Variant, source_name: str) -> str:
    """Return the source text that computes a resolved job with a variant."""
    number = numbers.by_name(job.number)
    defines = variant.defines() | {
        "USE_FP64": int(number.needs_fp64),
        "ROUNDING_FUSED": int(job.rounding == "fused"),
        "SMOOTH": int(job.smooth),
        "SMOOTH_LIMIT": SMOOTH_LIMIT,
    }
    return source.loop(number.parts, job.formula, source_name, defines)
