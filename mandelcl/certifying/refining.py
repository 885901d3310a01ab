"""Some pixels of a block, computed again by perturbation with a finer reference."""

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mandelcl.algorithms.schedule import Pace
from mandelcl.block import Block
from mandelcl.cancelling import Token, stop_if
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program
from mandelcl.job import Job
from mandelcl.numbers import DOUBLE, FLOAT
from mandelcl.report import LaunchLog
from mandelcl.words import Words

Indices = npt.NDArray[np.uint32]

# Bits of steps and tail by number: so fine, few counts are left in doubt, and a pixel takes some three times as long.
_FINER = {DOUBLE.name: (22, 8), FLOAT.name: (11, 3)}


def finer(job: Job, double: bool) -> Job:
    """Return a job by perturbation with finer steps over the same orbit, in `double` where there is double."""
    reference = job.reference
    assert reference is not None, "a settled job by perturbation has a reference"
    number = DOUBLE.name if double else job.number
    steps, tail = _FINER[number]
    steps, tail = max(reference.step_bits, steps), min(reference.tail_bits, tail)
    return replace(job, number=number, reference=replace(reference, step_bits=steps, tail_bits=tail))


class Refiner:
    """Computes single pixels on a device with the program of a finer job."""

    def __init__(self, program: Program, pace: Pace) -> None:
        self._program, self._pace = program, pace

    def refined(self, block: Block, indices: Indices, log: LaunchLog, cancel: Token) -> Words:
        """Return the results of the pixels at these places of a block, words × pixels; `log` notes the launches.

        Raises CancelledError after a launch if `cancel` is set.
        """
        program = self._program
        memory = Memory(program.device, program.job, block.pixels, 1, indices.size)
        parts = [
            self._part(memory, block, indices[first : first + memory.capacity], log, cancel)
            for first in range(0, indices.size, memory.capacity)
        ]
        return np.concatenate(parts, axis=1)

    def _part(self, memory: Memory, block: Block, indices: Indices, log: LaunchLog, cancel: Token) -> Words:
        program = self._program
        begin = program.method.start_words
        assert begin is not None, "orbits by perturbation begin alike"
        start = begin(program.job)
        saved = np.zeros((1 + len(start), memory.capacity), np.uint32)
        saved[0, : indices.size] = indices
        saved[1:, : indices.size] = np.array(start, np.uint32)[:, None]
        program.device.wait(program.device.write(memory.lists()[0], saved))
        left, strides = indices.size, program.first_strides
        while left:
            ready = time.perf_counter()
            launch = program.launch_survivors(memory, block, left, 0, min(strides, program.most_strides))
            launch.wait(program.device)
            seconds, left = launch.seconds(ready), launch.survivors
            log.add(seconds)
            stop_if(cancel)
            strides = self._pace.next(launch.strides, seconds, program.most_strides)
        results = np.empty((memory.words, block.height, block.width), np.uint32)
        program.device.wait(program.device.read(memory.results, results))
        found: Words = results.reshape(memory.words, -1)[:, indices]
        return found
