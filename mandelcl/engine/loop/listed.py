"""Some pixels of a block, which a list names: each from its start, as escape time computes all of them."""

import time

import numpy as np

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.base.words import Words
from mandelcl.core.block import Block, Indices
from mandelcl.core.report import LaunchLog
from mandelcl.core.totals import totals_of
from mandelcl.engine import source
from mandelcl.engine.arguments import arguments
from mandelcl.engine.loop.schedule import Pace
from mandelcl.engine.memory import DevicePool, Memory
from mandelcl.engine.program import Program
from mandelcl.opencl.api import Buffer

_GROUP = 64


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


def gathered(program: Program, memory: Memory, pixels: int, indices: Buffer, count: int) -> Words:
    """Return the results at `count` places of a block of `pixels` pixels, words × count.

    `indices` has the places on the device (row·width + column). What writes the results must have been waited for.
    """
    device = program.device
    found = memory.scratch("gathered", memory.words * count)
    values = {"results": memory.results, "pixels": pixels, "words": memory.words}
    values |= {"indices": indices, "count": count, "found": found}
    kernel = program.kernels.built(source_text(), "gather")
    items = min(_GROUP, device.group_limit(kernel))
    device.launch(kernel, (-(-count // items) * items,), (items,), *arguments("gather", values))
    words = np.empty((memory.words, count), np.uint32)
    device.wait(device.read(found, words))
    return words


def source_text() -> str:
    """Return the source text of the kernel."""
    return source.assemble(("gather.cl",), {"LANES": 1, "USE_FP64": 0})
