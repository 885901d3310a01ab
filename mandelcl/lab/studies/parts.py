"""Time a job on parts of a device in other processes, so that a driver that crashes does not end the study."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError, MandelclError
from mandelcl.base.words import Words, sha256
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.report import LaunchLog
from mandelcl.engine import choose
from mandelcl.engine.computing.computation import Computation, fastest_computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop.schedule import BlockQueue
from mandelcl.engine.variant import Variant
from mandelcl.lab.studies import pinned
from mandelcl.lab.studies.bench import filled
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.timing import TimingSample, plain, repeated
from mandelcl.lab.studies.validation import Validation
from mandelcl.opencl.device import Device
from mandelcl.workers.channel import Channel
from mandelcl.workers.dialogue import Dialogue

PINNED, PINNED_STATIC, PINNED_DYNAMIC = "pinned", "pinned static", "pinned dynamic"


@dataclass(frozen=True, slots=True)
class PartsTask:
    """A measurement: a job (JSON) on `units` compute units of a device (by SPEC), shared by a schedule.

    `pinned` keeps the process to a number of the host's cores. The others divide the device into parts.
    """

    job: str
    device: str
    units: int
    schedule: str
    variant: Mapping[str, Any]
    repeat: int
    patience: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The times of a task, the SHA-256 of its counts, and the first build's seconds; or `error`."""

    samples: tuple[TimingSample, ...] = ()
    counts_sha256: str = ""
    build_s: float = 0.0
    error: str = ""


class Parts:
    """A job on some parts of a device at once, one thread each; `counts` holds the last run's.

    With `static` each part takes one of as many equal bands of rows; otherwise all take blocks from one queue.
    """

    def __init__(self, job: Job, parts: Sequence[Device], variant: Variant, static: bool) -> None:
        self._works = [fastest_computation(job, [part], plain(Settings(variant=variant))) for part in parts]
        self._static = static
        view = job.view
        self._whole = Block(0, 0, view.width, view.height)
        self.counts = np.zeros((view.height, view.width), np.uint32)
        self.build_s = max(work.program.kernels.build_seconds for work in self._works)

    def run(self) -> TimingSample:
        """Compute all counts once. Kernel and copy times are those of the busiest part."""
        logs, queues = [LaunchLog() for _ in self._works], self._queues()
        started = time.perf_counter()
        with ThreadPoolExecutor(len(self._works), "mandelcl part") as pool:
            for done in [
                pool.submit(self._work, *arguments) for arguments in zip(self._works, queues, logs, strict=True)
            ]:
                done.result()
        wall = time.perf_counter() - started
        longest, launches = max(log.longest for log in logs), sum(len(log.seconds) for log in logs)
        kernel, copies = max(log.kernel_seconds for log in logs), max(log.copy_seconds for log in logs)
        return TimingSample(kernel, copies, wall, launches, longest)

    def _queues(self) -> list[BlockQueue]:
        height, width = self.counts.shape
        if len(self._works) == 1:
            work = self._works[0]
            return [work.queue([self._whole])]
        units = len(self._works)
        if self._static:
            return [BlockQueue.of(blocks) for blocks in pinned.static_blocks(width, height, units)]
        return [BlockQueue.of(pinned.dynamic_blocks(width, height, units))] * units

    def _work(self, work: Computation, queue: BlockQueue, log: LaunchLog) -> None:
        for block, results in work.run_blocks(queue, log=log):
            self.counts[block.y : block.y + block.height, block.x : block.x + block.width] = results[0]


def answers(tasks: Sequence[PartsTask], check: Callable[[], None]) -> Iterator[Answer]:
    """Yield the answer to each task, in order. `check` is called from time to time, and may raise.

    Tasks share a process, except that each number of pinned cores needs its own. If a process ends early, the current
    task gets an answer that says so, and another process continues with the next.
    """
    left = list(tasks)
    while left:
        alike = [task for task in left if _cores(task) == _cores(left[0])]
        alike = alike[: next((k for k, task in enumerate(left) if _cores(task) != _cores(left[0])), len(left))]
        done = 0
        for answer in _process(alike, check):
            yield answer
            done += 1
        left = left[done:]


def _cores(task: PartsTask) -> int:
    return task.units if task.schedule == PINNED else 0


def _process(tasks: Sequence[PartsTask], check: Callable[[], None]) -> Iterator[Answer]:
    try:
        with Dialogue("parts", check) as process:
            for task in tasks:
                values = process.ask(asdict(task))
                samples = tuple(TimingSample(**sample) for sample in values.pop("samples"))
                yield Answer(samples=samples, **values)
    except DeviceError as error:
        yield Answer(error=str(error))


def filled_from(row: Row, answer: Answer, job: Job, counts: Words, validation: Validation) -> Row:
    """Return the row with an answer's times; raises DeviceError if it is an error.

    `counts` are this process's own, with the validation on them: the answer's must be the same.
    """
    if answer.error:
        raise DeviceError(answer.error)
    if validation.ok and answer.counts_sha256 != sha256(counts):
        validation = Validation(False, None, "a process of its own differs")
    return filled(row, job, answer.samples, validation, int(counts.sum(dtype=np.uint64)), answer.build_s)


def work(task: PartsTask) -> Answer:
    """Return the answer to a task, from this process."""
    device = choose.matching([task.device])[0]
    if task.schedule == PINNED or (task.schedule == "driver" and task.units == device.compute_units):
        parts = [device]
    elif task.schedule == "driver":
        parts = device.partition([task.units])
    else:
        parts = device.partition([1] * task.units)
    runner = Parts(Job.from_json(task.job), parts, Variant(**task.variant), task.schedule == "static")
    first = runner.run()
    samples = repeated(runner.run, task.repeat, task.patience - first.wall_s)
    return Answer(tuple(samples), sha256(runner.counts), runner.build_s)


def serve(channel: Channel) -> None:
    """Do tasks as they come, the role `parts`."""
    while True:
        task = PartsTask(**channel.question())
        try:
            if task.schedule == PINNED:
                pinned.keep_to(task.units)  # before the driver starts its threads
            answer = work(task)
        except MandelclError as error:
            answer = Answer(error=str(error))
        channel.answer(asdict(answer))
