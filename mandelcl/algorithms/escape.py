"""Escape time: every pixel of every block, two blocks in flight so that the device never waits for the host."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.algorithms.schedule import BlockSource, Pace
from mandelcl.block import Block
from mandelcl.engine.launch import Launch
from mandelcl.engine.memory import Memory
from mandelcl.engine.program import Program
from mandelcl.opencl.device import Event, event_seconds
from mandelcl.report import LaunchLog

_IN_FLIGHT = 2


@dataclass(slots=True)
class _Run:
    """A block under way: rows before `row` are done, `rows` from there are in `launch`, after `done` groups."""

    block: Block
    memory: Memory
    launch: Launch
    row: int
    rows: int
    done: int = 0


@dataclass(slots=True)
class _Copy:
    """A finished block's results on their way back; its memory is free once they have arrived."""

    block: Block
    memory: Memory
    results: npt.NDArray[np.uint32]
    event: Event
    started: float


def run(
    program: Program, blocks: BlockSource, pace: Pace, log: LaunchLog
) -> Iterator[tuple[Block, npt.NDArray[np.uint32]]]:
    """Yield each block with its results (planes × height × width), as they finish.

    At most two launches are in flight, of different blocks, each planned by `pace` to last about its budget, while the
    results of a third are copied back.
    """
    flying: deque[_Run] = deque()
    copies: deque[_Copy] = deque()
    spare: list[Memory] = []
    ready = time.perf_counter()

    while True:
        while len(flying) < _IN_FLIGHT and (block := blocks.take(wait=not (flying or copies))) is not None:
            flying.append(_start(program, block, spare, pace))
        if not flying and not copies:
            break
        if not flying:
            yield _arrived(program, copies, spare, log)
            continue
        current = flying.popleft()
        current.launch.wait(program.device)
        seconds = current.launch.seconds(ready)
        ready = time.perf_counter()
        log.add(seconds)
        pace.learn(
            max(current.launch.orbits, program.saturation) * current.launch.groups, program.variant.group, seconds
        )
        if _continue(program, current, pace, seconds):
            flying.append(current)
            continue
        results, event = program.read_results(current.memory, current.block)
        copies.append(_Copy(current.block, current.memory, results, event, time.perf_counter()))
        if len(copies) > 1:
            yield _arrived(program, copies, spare, log)


def _start(program: Program, block: Block, spare: list[Memory], pace: Pace) -> _Run:
    fitting = [memory for memory in spare if memory.pixels >= block.pixels and memory.capacity >= block.width]
    memory = fitting[0] if fitting else program.allocate(block.pixels, block.width)
    if fitting:
        spare.remove(memory)
    if program.guarded:
        memory.fill_results()
    rows, launch = _launch_rows(program, block, memory, 0, pace)
    return _Run(block, memory, launch, 0, rows)


def _launch_rows(program: Program, block: Block, memory: Memory, row: int, pace: Pace) -> tuple[int, Launch]:
    rows, group = block.height - row, program.variant.group
    plan = pace.first(block.width, rows, program.first_groups, group)
    if min(plan.groups, program.most_groups) < program.groups:  # survivors must find room in their list
        plan = pace.first(block.width, min(rows, memory.capacity // block.width), program.first_groups, group)
    groups = min(plan.groups, program.most_groups)
    return plan.rows, program.launch_block(memory, block, row, plan.rows, groups)


def _continue(program: Program, run: _Run, pace: Pace, seconds: float) -> bool:
    """Start the run's next launch; return False where the block is finished."""
    run.done += run.launch.groups
    if run.done < program.groups:
        survivors = run.launch.survivors
        if survivors:
            groups = pace.next(run.launch.groups, seconds, min(program.groups - run.done, program.most_groups))
            run.launch = program.launch_survivors(run.memory, run.block, survivors, run.done, groups)
            return True
    run.row += run.rows
    if run.row == run.block.height:
        return False
    run.done = 0
    run.rows, run.launch = _launch_rows(program, run.block, run.memory, run.row, pace)
    return True


def _arrived(
    program: Program, copies: deque[_Copy], spare: list[Memory], log: LaunchLog
) -> tuple[Block, npt.NDArray[np.uint32]]:
    """Return the block whose copy was started first, once it has come."""
    copy = copies.popleft()
    program.device.wait(copy.event)
    seconds = event_seconds(copy.event)
    log.add_copy(time.perf_counter() - copy.started if seconds is None else seconds)
    spare.append(copy.memory)
    return copy.block, copy.results
