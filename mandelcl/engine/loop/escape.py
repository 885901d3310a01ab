"""Escape time: compute every pixel of every block, two blocks in flight so that the device never waits for the host."""

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.core.block import Block
from mandelcl.core.report import LaunchLog
from mandelcl.engine.device_output import TO_HOST, Delivered, OutputPlan
from mandelcl.engine.loop.copies import Copies
from mandelcl.engine.loop.schedule import BlockSource, Pace
from mandelcl.engine.memory import DevicePool, Memory
from mandelcl.engine.program import Program, RunningLaunch

_IN_FLIGHT = 2


@dataclass(slots=True)
class _Run:
    """A block in progress: rows before `row` are done; the next `rows` are in `launch`, after `done` strides."""

    block: Block
    memory: Memory
    launch: RunningLaunch
    row: int
    rows: int
    done: int = 0


def run(
    program: Program,
    blocks: BlockSource,
    pace: Pace,
    log: LaunchLog,
    *,
    cancel: Token = NEVER,
    device_pool: DevicePool | None = None,
    output_plan: OutputPlan = TO_HOST,
) -> Iterator[tuple[Block, Delivered]]:
    """Yield each block with its results (words × height × width) as it finishes.

    At most two launches are in flight, of different blocks, each planned by `pace` to last about its budget, while the
    results of a third are copied according to `output_plan`. Device memory comes from `device_pool` and returns to it.
    Raises CancelledError after a launch if `cancel` is set.
    """
    flying: deque[_Run] = deque()
    ready = time.perf_counter()
    with Copies(program, log, device_pool or DevicePool(), output_plan) as copies:
        while True:
            while len(flying) < _IN_FLIGHT and (block := blocks.take(wait=not (flying or copies))) is not None:
                flying.append(_start(program, block, copies, pace))
            if not flying and not copies:
                break
            if not flying:
                yield copies.pop_finished()
                continue
            current = flying.popleft()
            current.launch.wait(program.device)
            seconds = current.launch.seconds(ready)
            ready = time.perf_counter()
            log.add(seconds)
            stop_if(cancel)
            held = max(current.launch.orbits, program.saturation) * current.launch.strides
            pace.learn(held, program.variant.stride, seconds)
            if _continue(program, current, pace, seconds):
                flying.append(current)
                continue
            copies.start(current.block, current.memory)
            if len(copies) > 1:
                yield copies.pop_finished()


def _start(program: Program, block: Block, copies: Copies, pace: Pace) -> _Run:
    memory = copies.memory(block, block.width)
    if program.execution.guarded:
        memory.guard()
    rows, launch = _launch_rows(program, block, memory, 0, pace)
    return _Run(block, memory, launch, 0, rows)


def _launch_rows(program: Program, block: Block, memory: Memory, row: int, pace: Pace) -> tuple[int, RunningLaunch]:
    rows, stride = block.height - row, program.variant.stride
    plan = pace.first(block.width, rows, program.first_strides, stride)
    if min(plan.strides, program.most_strides) < program.strides:  # the list must have room for all survivors
        plan = pace.first(block.width, min(rows, memory.capacity // block.width), program.first_strides, stride)
    strides = min(plan.strides, program.most_strides)
    return plan.rows, program.launch_block(memory, block, row, plan.rows, strides)


def _continue(program: Program, run: _Run, pace: Pace, seconds: float) -> bool:
    """Start the run's next launch; return False if the block is finished."""
    run.done += run.launch.strides
    if run.done < program.strides:
        survivors = run.launch.survivors
        if survivors:
            most = min(program.strides - run.done, program.most_strides)
            strides = pace.next(run.launch.strides, seconds, most)
            run.launch = program.launch_survivors(run.memory, run.block, survivors, run.done, strides)
            return True
    run.row += run.rows
    if run.row == run.block.height:
        return False
    run.done = 0
    run.rows, run.launch = _launch_rows(program, run.block, run.memory, run.row, pace)
    return True
