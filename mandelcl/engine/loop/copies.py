"""Finished blocks on their way to the host, while the device computes the next ones."""

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
from mandelcl.engine.delivery import Delivered, Delivery
from mandelcl.engine.memory import Memory, Spare
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
    """The copies in progress, first in, first out; their device memory returns to `spare`.

    `delivery` says where they go, and as what. Where they stay on the device, blocks arrive with results of no size.
    """

    def __init__(self, program: Program, log: LaunchLog, spare: Spare, delivery: Delivery) -> None:
        self._program, self._log, self._spare, self._delivery = program, log, spare, delivery
        self._totalling = Totalling(program)
        self._made_in_place = 0  # blocks whose results are made in the host's memory
        self._flying: deque[_Copy] = deque()

    def __len__(self) -> int:
        return len(self._flying)

    def memory(self, block: Block, width: int) -> Memory:
        """Return memory for a block that is about to be computed, with lists of at least `width` orbits.

        A device that shares the host's memory makes the results where they are to be.
        """
        program, host = self._program, None if self._delivery.form else self._delivery.host
        memory = self._spare.take(program.device, program.job, block.pixels, width)
        if host is not None and program.device.shares_memory:
            shape = memory.words, block.height, block.width
            array = host(block, shape, np.dtype(np.uint32))
            self._made_in_place += memory.make_in(array, program.execution.guarded)
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
        delivery = self._delivery
        totals = self._totalling.start(memory, block) if delivery.totals else None
        if delivery.host is not None and delivery.form is not None:
            results, event = memory.read_form(block, delivery.host, delivery.form)
            self._made_in_place += memory.made_in_place
        elif delivery.host is not None:
            results, event = memory.read_results(block, delivery.host, self._program.execution.guarded)
        copy = _Copy(block, memory, results, event, time.perf_counter(), totals)
        if computed is not None:
            number = memory.host_words("computed")
            copy.computed = number, self._program.device.fetch(computed, number)
        self._flying.append(copy)

    def arrived(self) -> tuple[Block, Delivered]:
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
            copy.memory.make_here()
            self._made_in_place -= 1
        self._spare.give(copy.memory)
        return copy.block, copy.results
