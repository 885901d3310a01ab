"""Some pixels of a block, which a list names: each from its start, as escape time computes all of them."""

import time

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.report import LaunchLog
from mandelcl.core.totals import totals_of
from mandelcl.engine.gathering import gathered
from mandelcl.engine.loop.schedule import Pace
from mandelcl.engine.memory import DevicePool, Memory
from mandelcl.engine.program import Program

Indices = npt.NDArray[np.uint32]


def run(
    program: Program,
    block: Block,
    indices: Indices,
    pace: Pace,
    log: LaunchLog,
    cancel: Token = NEVER,
    *,
    device_pool: DevicePool,
) -> Words:
    """Return the results of the pixels at these places of a block (row·width + column), words × pixels.

    Launches are planned by `pace`, and noted with the totals in `log`. Raises CancelledError after a launch if `cancel`
    is set.
    """
    memory = device_pool.take(program.device, program.job, block.pixels, 1)
    parts = [
        _part(program, memory, block, indices[first : first + memory.capacity], pace, log, cancel)
        for first in range(0, indices.size, memory.capacity)
    ]
    device_pool.give(memory)
    results = np.concatenate(parts, axis=1)
    log.add_totals(totals_of(program.job.planes, program.job.iterations, results))
    return results


def _part(
    program: Program, memory: Memory, block: Block, indices: Indices, pace: Pace, log: LaunchLog, cancel: Token
) -> Words:
    """Return the results of no more pixels than a list of survivors holds."""
    if program.execution.guarded:
        memory.guard()
    device, stride = program.device, program.variant.stride
    pixels = device.upload(np.ascontiguousarray(indices))
    plan = pace.first(indices.size, 1, program.first_strides, stride)
    ready = time.perf_counter()
    launch = program.launch_list(memory, block, pixels, indices.size, min(plan.strides, program.most_strides))
    done = 0
    while True:
        launch.wait(device)
        seconds = launch.seconds(ready)
        ready = time.perf_counter()
        log.add(seconds)
        stop_if(cancel)
        pace.learn(max(launch.orbits, program.saturation) * launch.strides, stride, seconds)
        done += launch.strides
        left = launch.survivors if done < program.strides else 0
        if not left:
            break
        strides = pace.next(launch.strides, seconds, min(program.strides - done, program.most_strides))
        launch = program.launch_survivors(memory, block, left, done, strides)
    return gathered(program, memory, block.pixels, pixels, indices.size)
