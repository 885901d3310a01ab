"""Copies of finished blocks to the host, made while the device computes the next blocks."""

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.report import LaunchLog
from mandelcl.engine.device_output import Delivered, OutputPlan
from mandelcl.engine.memory import DevicePool, Memory
from mandelcl.engine.program import Program
from mandelcl.engine.totalling import RunningTotals, Totalling
from mandelcl.opencl.api import Buffer, Event, event_seconds


@dataclass(slots=True)
class _Copy:
    """A finished block whose results are being copied back; its memory is free when the copy has ended.

    Beside them come their totals and how many pixels were computed, where the host does not know it yet.
    """

    block: Block
    memory: Memory
    results: Delivered
    event: Event | None
    started: float
    totals: RunningTotals | None
    computed: tuple[Words, Event] | None = None


class Copies:
    """The copies in progress, first in, first out; their device memory returns to `device_pool`.

    `output_plan` is their destination and form. If they stay on the device, blocks arrive with empty results.
    """

    def __init__(self, program: Program, log: LaunchLog, device_pool: DevicePool, output_plan: OutputPlan) -> None:
        self._program, self._log, self._device_pool, self._output_plan = program, log, device_pool, output_plan
        self._totalling = Totalling(program)
        self._made_in_place = 0  # blocks whose results are made in the host's memory
        self._flying: deque[_Copy] = deque()

    def __len__(self) -> int:
        return len(self._flying)

    def memory(self, block: Block, width: int) -> Memory:
        """Return memory for a block that is about to be computed, with lists of at least `width` orbits.

        A device that shares the host's memory makes the results where they are to be.
        """
        program, host = self._program, None if self._output_plan.form else self._output_plan.host
        memory = self._device_pool.take(program.device, program.job, block.pixels, width)
        if host is not None and program.device.shares_memory:
            shape = memory.words, block.height, block.width
            array = host(block, shape, np.dtype(np.uint32))
            self._made_in_place += memory.use_host_array(array, program.execution.guarded)
        return memory

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for what may still write to the host's memory, where not all blocks have arrived."""
        if self._made_in_place:
            with suppress(DeviceError):
                self._program.device.finish()

    def start(self, block: Block, memory: Memory, computed: Buffer | None = None) -> None:
        """Start the copy of a block whose last launch has ended.

        The first word of `computed` is how many of its pixels were computed; the others are noted as filled.
        """
        event: Event | None = None
        results: Delivered = np.empty(0, np.uint32)
        output_plan = self._output_plan
        totals = self._totalling.start(memory, block) if output_plan.totals else None
        if output_plan.host is not None and output_plan.form is not None:
            results, event = memory.read_form(block, output_plan.host, output_plan.form)
            self._made_in_place += memory.made_in_place
        elif output_plan.host is not None:
            results, event = memory.read_results(block, output_plan.host, self._program.execution.guarded)
        copy = _Copy(block, memory, results, event, time.perf_counter(), totals)
        if computed is not None:
            number = memory.host_words("computed")
            copy.computed = number, self._program.device.fetch(computed, number)
        self._flying.append(copy)

    def pop_finished(self) -> tuple[Block, Delivered]:
        """Return the block whose copy was started first, with its results, once the copy has ended."""
        copy = self._flying.popleft()
        if copy.event is not None:
            self._program.device.wait(copy.event)
        if copy.event is not None and not copy.memory.made_in_place:
            seconds = event_seconds(copy.event)
            self._log.add_copy(time.perf_counter() - copy.started if seconds is None else seconds)
        if copy.totals is not None:
            self._log.add_totals(copy.totals.wait(self._program.device))
        if copy.computed is not None:
            number, event = copy.computed
            self._program.device.wait(event)
            self._log.pixels_filled += copy.block.pixels - int(number[0])
        if copy.memory.made_in_place:
            copy.memory.use_own_buffer()
            self._made_in_place -= 1
        self._device_pool.give(copy.memory)
        return copy.block, copy.results
