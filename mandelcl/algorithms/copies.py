"""Finished blocks on their way to the host, while the device computes the next ones.

With `nowhere` as the host's memory they arrive without results.
"""

import time
from collections import deque
from dataclasses import dataclass

from mandelcl.block import Block
from mandelcl.engine.memory import HostMemory, Memory, Spare, nowhere
from mandelcl.engine.program import Program
from mandelcl.opencl.api import Buffer, Event
from mandelcl.opencl.events import event_seconds
from mandelcl.report import LaunchLog
from mandelcl.words import Words


@dataclass(slots=True)
class _Copy:
    """A finished block whose results are being copied back; its memory is free when the copy has ended.

    Behind them comes how many pixels were computed, where the host does not know it yet.
    """

    block: Block
    memory: Memory
    results: Words
    event: Event | None
    started: float
    computed: tuple[Words, Event] | None = None


class Copies:
    """The copies in progress, first in, first out; their device memory returns to `spare`."""

    def __init__(self, program: Program, log: LaunchLog, spare: Spare, host: HostMemory) -> None:
        self._program, self._log, self._spare, self._host = program, log, spare, host
        self._flying: deque[_Copy] = deque()

    def __len__(self) -> int:
        return len(self._flying)

    def start(self, block: Block, memory: Memory, computed: Buffer | None = None) -> None:
        """Start the copy of a block whose last launch has ended.

        The first word of `computed` is how many of its pixels were computed; the others are noted as filled.
        """
        event: Event | None = None
        if self._host is nowhere:
            results = nowhere(block, ())
        else:
            results, event = memory.read_results(block, self._host, self._program.execution.guarded)
        copy = _Copy(block, memory, results, event, time.perf_counter())
        if computed is not None:
            number = memory.host_words("computed")
            copy.computed = number, self._program.device.fetch(computed, number)
        self._flying.append(copy)

    def arrived(self) -> tuple[Block, Words]:
        """Return the block whose copy was started first, with its results, once the copy has ended."""
        copy = self._flying.popleft()
        if copy.event is not None:
            self._program.device.wait(copy.event)
            seconds = event_seconds(copy.event)
            self._log.add_copy(time.perf_counter() - copy.started if seconds is None else seconds)
        if copy.computed is not None:
            number, event = copy.computed
            self._program.device.wait(event)
            self._log.pixels_filled += copy.block.pixels - int(number[0])
        self._spare.give(copy.memory)
        return copy.block, copy.results
