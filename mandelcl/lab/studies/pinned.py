"""Share a job among processes that are pinned to cores, so that the number of cores is certain."""

import os
import queue
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import Words, sha256
from mandelcl.core.block import Block, grid
from mandelcl.lab.studies.timing import TimingSample, plain
from mandelcl.workers.channel import Channel
from mandelcl.workers.dialogue import Dialogue

CHUNKS = 64  # blocks of the shared queue, at least


def can_pin() -> bool:
    """Return whether the system keeps a process to some cores: Linux does."""
    return hasattr(os, "sched_setaffinity")


def cores() -> list[int]:
    """Return the cores that this process may use; raises DeviceError if the system does not say."""
    if not hasattr(os, "sched_getaffinity"):
        raise DeviceError("keeping a process to some cores works on Linux only")
    return sorted(os.sched_getaffinity(0))


def keep_to(number: int) -> None:
    """Keep this process to a number of its cores. Raises DeviceError if that is not possible."""
    allowed = cores()
    if number > len(allowed):
        raise DeviceError(f"the host has {len(allowed)} cores to offer")
    _pin(allowed[:number])


def _pin(allowed: Sequence[int]) -> None:
    if hasattr(os, "sched_setaffinity"):  # where cores are named, it has
        os.sched_setaffinity(0, allowed)


def static_blocks(width: int, height: int, units: int) -> list[list[Block]]:
    """Return one of as many equal bands of rows for each unit."""
    bands = list(grid(Block(0, 0, width, height), width, -(-height // units)))
    return [bands[k : k + 1] for k in range(units)]


def dynamic_blocks(width: int, height: int, units: int, rows: int = 0) -> list[Block]:
    """Return the blocks of a queue that all units share: of so many rows each, 0 for as many as suit the units."""
    return list(grid(Block(0, 0, width, height), width, rows or max(1, height // max(CHUNKS, 4 * units))))


class Workers:
    """Processes that compute blocks of a job, one a core."""

    def __init__(self, processes: Sequence[Dialogue], job: Mapping[str, Any]) -> None:
        self._processes = processes
        with ThreadPoolExecutor(len(processes), "mandelcl unit") as pool:
            questions = [dict(job) | {"core": core} for core in cores()[: len(processes)]]
            answers = list(pool.map(Dialogue.ask, processes, questions))
        self.build_s = max(float(answer["build_s"]) for answer in answers)

    def run(
        self, width: int, height: int, units: int, static: bool, rows: int = 0, expected: Words | None = None
    ) -> TimingSample:
        """Compute all blocks once on `units` processes; with `expected` raise DeviceError where counts differ.

        `rows` is as in `dynamic_blocks`.
        """
        shared: queue.SimpleQueue[Block] = queue.SimpleQueue()
        for block in [] if static else dynamic_blocks(width, height, units, rows):
            shared.put(block)
        queues = static_blocks(width, height, units) if static else [[] for _ in range(units)]

        def work(k: int) -> list[dict[str, Any]]:
            return [self._block(k, block, expected) for block in (queues[k] if static else _drain(shared))]

        started = time.perf_counter()
        with ThreadPoolExecutor(units, "mandelcl unit") as pool:
            answers = list(pool.map(work, range(units)))
        wall = time.perf_counter() - started
        kernel, copies = (max(sum(answer[key] for answer in one) for one in answers) for key in ("kernel_s", "copy_s"))
        every = [answer for one in answers for answer in one]
        return TimingSample(kernel, copies, wall, sum(e["launches"] for e in every), max(e["longest_s"] for e in every))

    def _block(self, k: int, block: Block, expected: Words | None) -> dict[str, Any]:
        answer = self._processes[k].ask(asdict(block) | {"check": expected is not None})
        if expected is not None and answer["sha256"] != sha256(
            expected[block.y : block.y + block.height, block.x : block.x + block.width]
        ):
            raise DeviceError("a process of its own has other counts")
        return answer


@contextmanager
def started(number: int, job: Mapping[str, Any], check: Callable[[], None]) -> Iterator[Workers]:
    """Yield so many workers for a job (its JSON, a device's SPEC, a variant's fields); they end with the body.

    Raises DeviceError if the host has fewer cores or the device cannot do the job.
    """
    check()
    if number > len(cores()):
        raise DeviceError(f"the host has {len(cores())} cores to offer")
    with ExitStack() as ends:
        yield Workers([ends.enter_context(Dialogue("pinned", check)) for _ in range(number)], job)


def _drain(shared: "queue.SimpleQueue[Block]") -> Iterator[Block]:
    while True:
        try:
            yield shared.get_nowait()
        except queue.Empty:
            return


def serve(channel: Channel) -> None:
    """Build a job, then compute blocks of it as they come, the role `pinned`."""
    values = channel.question()
    _pin([values["core"]])  # before the driver starts its threads
    from mandelcl.core.job import Job
    from mandelcl.core.report import LaunchLog
    from mandelcl.engine import choose
    from mandelcl.engine.computing.computation import fastest_computation
    from mandelcl.engine.computing.settings import Settings
    from mandelcl.engine.loop.schedule import BlockQueue
    from mandelcl.engine.variant import Variant

    settings = plain(Settings(variant=Variant(**values["variant"])))
    work = fastest_computation(Job.from_json(values["job"]), choose.matching([values["device"]]), settings)
    view = work.job.view
    for _ in work.run_blocks(BlockQueue.of([Block(0, 0, view.width, min(4, view.height))])):
        pass  # builds, and wakes the device
    channel.answer({"build_s": work.program.kernels.build_seconds})
    while True:
        values = channel.question()
        check = values.pop("check")
        block = Block(**values)
        log = LaunchLog()
        results = [block_results[0] for _, block_results in work.run_blocks(BlockQueue.of([block]), log=log)]
        answer: dict[str, Any] = {"kernel_s": log.kernel_seconds, "copy_s": log.copy_seconds}
        answer |= {"launches": len(log.seconds), "longest_s": log.longest}
        if check:
            answer["sha256"] = sha256(np.concatenate(results))
        channel.answer(answer)
