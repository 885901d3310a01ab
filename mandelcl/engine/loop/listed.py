"""Compute the pixels of a list, each from its start, as escape time computes all pixels."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from mandelcl.base.errors import NEVER, DeviceError, Token, stop_if
from mandelcl.base.words import Words
from mandelcl.core.block import Block, Indices
from mandelcl.core.report import LaunchLog
from mandelcl.core.totals import totals_of
from mandelcl.engine.loop.schedule import Pace
from mandelcl.engine.memory import DevicePool, Memory
from mandelcl.engine.program import Program, RunningLaunch
from mandelcl.opencl import texts
from mandelcl.opencl.api import Buffer, Event
from mandelcl.opencl.arguments import arguments

_GROUP = 64
_IN_FLIGHT = 3


@dataclass(slots=True)
class _Part:
    """No more pixels of a list than a list of survivors holds, in progress; `last` if no others follow.

    `words` are their results after the launch, words × pixels, once `copied` has ended.
    """

    program: Program
    memory: Memory
    pixels: Buffer
    launch: RunningLaunch
    words: Words
    copied: Event
    last: bool


def run_each(
    programs: Iterable[Program],
    block: Block,
    indices: Indices,
    pace: Pace,
    cancel: Token = NEVER,
    *,
    device_pool: DevicePool,
) -> Iterator[tuple[Words, LaunchLog]]:
    """Yield the results of the pixels at these places of a block (row·width + column) by each program.

    They are words × pixels, with a log of their launches and totals. The programs are of one device, which goes on with
    the next two while the host has the results of one. Launches are planned by `pace`. Raises CancelledError after a
    launch if `cancel` is set.
    """
    memories = _Memories(device_pool, indices.size)
    starting = (part for program in programs for part in _started(program, block, indices, pace, memories))
    flying: deque[_Part] = deque()
    done: list[Words] = []
    log, ready = LaunchLog(), time.perf_counter()
    try:
        while True:
            while len(flying) < _IN_FLIGHT and (part := next(starting, None)) is not None:
                flying.append(part)
            if not flying:
                break
            part = flying[0]
            ready = _finish(part, block, pace, log, ready, cancel)
            flying.popleft()
            memories.give(part.memory)
            done.append(part.words)
            if part.last:
                results = np.concatenate(done, axis=1)
                log.add_totals(totals_of(part.program.job.planes, part.program.job.iterations, results))
                yield results, log
                done, log = [], LaunchLog()
    finally:
        if flying:  # they write to memory of the host
            with suppress(DeviceError):
                flying[0].program.device.finish()
        memories.end()


class _Memories:
    """Device memory for the parts of lists of some pixels.

    Parts that are done after one launch share theirs: the queue is in order, so each is copied before the next begins.
    """

    def __init__(self, device_pool: DevicePool, pixels: int) -> None:
        self._device_pool, self._pixels = device_pool, pixels
        self._shared: Memory | None = None

    def shared(self, program: Program) -> Memory:
        """Return the memory that parts share."""
        if self._shared is None:
            self._shared = self.own(program)
        return self._shared

    def own(self, program: Program) -> Memory:
        """Return memory for one part, which is to be given back."""
        return self._device_pool.take(program.device, program.job, self._pixels, 1)

    def give(self, memory: Memory) -> None:
        """Take back the memory of a part."""
        if memory is not self._shared:
            self._device_pool.give(memory)

    def end(self) -> None:
        """Give back the shared memory."""
        if self._shared is not None:
            self._device_pool.give(self._shared)


def _started(program: Program, block: Block, indices: Indices, pace: Pace, memories: _Memories) -> Iterator[_Part]:
    """Yield each part of a list after its first launch has been started."""
    device, first = program.device, 0
    while first < indices.size:
        memory = memories.shared(program)
        places = indices[first : first + memory.capacity]
        first += places.size
        plan = pace.first(places.size, 1, program.first_strides, program.variant.stride)
        strides = min(plan.strides, program.most_strides)
        if strides < program.strides:  # orbits that survive the launch keep the memory
            memory = memories.own(program)
        if program.execution.guarded:
            memory.guard()
        pixels = device.upload(np.ascontiguousarray(places))
        launch = program.launch_list(memory, block, pixels, places.size, strides)
        words = np.empty((program.job.words, places.size), np.uint32)
        copied = device.read(memory.results, words)
        yield _Part(program, memory, pixels, launch, words, copied, first >= indices.size)


def _finish(part: _Part, block: Block, pace: Pace, log: LaunchLog, ready: float, cancel: Token) -> float:
    """Wait for a part, continuing its survivors; return the time at which its last launch had ended."""
    program, launch, done = part.program, part.launch, 0
    while True:
        launch.wait(program.device)
        seconds = launch.seconds(ready)
        ready = time.perf_counter()
        log.add(seconds)
        stop_if(cancel)
        pace.learn(max(launch.orbits, program.saturation) * launch.strides, program.variant.stride, seconds)
        done += launch.strides
        left = launch.survivors if done < program.strides else 0
        if not left:
            break
        strides = pace.next(launch.strides, seconds, min(program.strides - done, program.most_strides))
        launch = program.launch_survivors(part.memory, block, left, done, strides, (part.pixels, part.words.shape[1]))
    program.device.wait(part.copied)
    if launch is not part.launch:  # the first copy was made before the survivors had their results
        program.device.wait(program.device.read(part.memory.results, part.words))
    return ready


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
    return texts.assemble(("gather.cl",), {"LANES": 1, "USE_FP64": 0})
