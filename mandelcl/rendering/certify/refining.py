"""Recompute single pixels of a block on a device: by perturbation with finer steps, or with another program."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import Token, stop_if
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE
from mandelcl.core.report import LaunchLog
from mandelcl.engine.loop.listed import gathered
from mandelcl.engine.loop.schedule import Pace
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program
from mandelcl.engine.resolve import FINE

Indices = npt.NDArray[np.uint32]


def finer(job: Job, double: bool) -> Job:
    """Return the job by perturbation with finer steps along the same orbit, in double precision if available."""
    reference = job.reference
    assert reference is not None, "a resolved job by perturbation has a reference"
    number = DOUBLE.name if double else job.number
    steps, tail = FINE[number]  # few counts stay uncertain, and a pixel takes about three times as long
    steps, tail = max(reference.step_bits, steps), min(reference.tail_bits, tail)
    return replace(job, number=number, reference=replace(reference, step_bits=steps, tail_bits=tail))


def _silent(_done: int) -> None:
    """Report nothing."""


@dataclass(frozen=True, slots=True)
class Watch:
    """A stage's deadline on the monotonic clock, and the callback `on_progress` for the number of pixels done."""

    ends: float = math.inf
    on_progress: Callable[[int], None] = _silent

    def after(self, more: int) -> "Watch":
        """Return a watch for the next part, which counts from `more` pixels that are already done."""
        return Watch(self.ends, lambda done: self.on_progress(more + done))


class Refiner:
    """Computes single pixels on a device with another job's program."""

    def __init__(self, program: Program, pace: Pace) -> None:
        self._program, self._pace = program, pace

    def refined(
        self,
        block: Block,
        indices: Indices,
        log: LaunchLog,
        cancel: Token,
        watch: Watch | None = None,
        most_turns: float = math.inf,
    ) -> Words:
        """Return the results of these pixels of a block, words × pixels. `log` records the launches.

        Pixels that are not decided within `most_turns` turns, or before the deadline of `watch`, get `none` of the
        counts. Raises CancelledError after a launch if `cancel` is set.
        """
        watch = watch or Watch()
        program = self._program
        memory = Memory(program.device, program.job, block.pixels, 1, indices.size)
        parts = [
            self._part(
                memory, block, indices[first : first + memory.capacity], log, cancel, watch.after(first), most_turns
            )
            for first in range(0, indices.size, memory.capacity)
        ]
        return np.concatenate(parts, axis=1)

    def _part(
        self,
        memory: Memory,
        block: Block,
        indices: Indices,
        log: LaunchLog,
        cancel: Token,
        watch: Watch,
        most_turns: float,
    ) -> Words:
        program = self._program
        memory.guard()
        begin = program.method.start_words
        assert begin is not None, "perturbed orbits share their starting point"
        start = begin(program.job)
        saved = np.zeros((1 + len(start), memory.capacity), np.uint32)
        saved[0, : indices.size] = indices
        saved[1:, : indices.size] = np.array(start, np.uint32)[:, None]
        program.device.wait(program.device.write(memory.lists()[0], saved))
        left, strides, turns = indices.size, program.first_strides, 0
        while left and turns < most_turns and time.monotonic() < watch.ends:
            ready = time.perf_counter()
            launch = program.launch_survivors(memory, block, left, 0, min(strides, program.most_strides))
            launch.wait(program.device)
            seconds, left = launch.seconds(ready), launch.survivors
            log.add(seconds)
            turns += launch.strides
            watch.on_progress(indices.size - left)
            stop_if(cancel)
            strides = self._pace.next(launch.strides, seconds, program.most_strides)
        places = program.device.upload(np.ascontiguousarray(indices))
        return gathered(program, memory, block.pixels, places, indices.size)
