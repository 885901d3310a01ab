"""Run the survey of a job whose iteration limit or algorithm is open, and find the fastest device for it."""

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.base.words import NO_COUNT, Words, little_endian
from mandelcl.core.block import Block
from mandelcl.core.counts import MOST_NARROW, Counts
from mandelcl.core.job import Job
from mandelcl.core.report import LaunchLog
from mandelcl.engine import choose, rate
from mandelcl.engine.device_output import OutputPlan
from mandelcl.engine.iteration_limit import Proofs
from mandelcl.engine.loop import escape
from mandelcl.engine.loop.schedule import BUDGET_S, BlockQueue
from mandelcl.engine.methods import method_of
from mandelcl.engine.program import Execution, Program
from mandelcl.files import cache
from mandelcl.opencl.device import Device
from mandelcl.opencl.texts import digest

_KIND = "surveys"
_FORM = 1  # of the entries
_LEAST_PROOF = 4096  # iterations in which a proof is looked for


def fastest(
    job: Job, devices: Sequence[Device], self_test: bool = True, wait: Callable[[Job], None] = lambda _job: None
) -> choose.Choice:
    """Return the choice of `choose.fastest`. If the job needs a survey, it runs on the fastest device.

    `wait` is called with each surveyed job before anything of it is computed.
    """
    return choose.fastest(job, devices, self_test, DeviceSurvey(devices, self_test, wait))


class DeviceSurvey:
    """Surveys on the fastest of some devices (a `Survey`); `wait` is called with each job first."""

    def __init__(
        self,
        devices: Sequence[Device],
        self_test: bool = True,
        wait: Callable[[Job], None] = lambda _job: None,
        cancel: Token = NEVER,
    ) -> None:
        self._devices, self._self_test, self._wait, self._cancel = devices, self_test, wait, cancel
        self._choice: choose.Choice | None = None  # for the last job; the next one may differ in its limit alone

    def counts(self, job: Job) -> Counts:
        """Return the counts, rows × columns; they are kept on disk for the next time."""
        return kept_counts(job, self._computed)

    def proved(self, job: Job) -> Proofs:
        """Return which pixels shortcuts know never to escape, after about as many iterations as the job's limit.

        Below a low limit few cycles show, so there are some thousands in any case. They are kept on disk, too.
        """
        beyond = _endless(job)
        if method_of(beyond).host_work(beyond):  # a reference without an end: it would have to go as far
            return np.zeros((job.view.height, job.view.width), np.bool_)
        return _kept("proofs", job, 1, self._proofs).astype(np.bool_)

    def period(self, job: Job) -> int:
        """Return the period of the job's reference, if it has one within the limit; else 0."""
        self._wait(job)
        return method_of(job).period(job)

    def _computed(self, job: Job) -> Counts:
        self._wait(job)
        program, log = self._program(job), LaunchLog()
        blocks, plan = BlockQueue.of([_whole(job)]), OutputPlan(totals=False)
        ((_, results),) = escape.run(
            program, blocks, rate.pace(program, BUDGET_S), log, cancel=self._cancel, output_plan=plan
        )
        return job.counts.of(results)

    def _proofs(self, job: Job) -> Words:
        """Return 1 for pixels that are known never to escape, and 0 for the others."""
        beyond = _endless(job)
        program = self._program(beyond, guarded=True)
        counts = _counts_so_far(program, _whole(job), max(job.iterations, _LEAST_PROOF), self._cancel)
        proofs: Words = (counts == beyond.iterations).astype(np.uint32)
        return proofs

    def _program(self, job: Job, guarded: bool = False) -> Program:
        if self._choice is None or self._choice.job != replace(job, iterations=self._choice.job.iterations):
            self._choice = choose.fastest(job, self._devices, self._self_test)
        choice = self._choice
        return Program(choice.device, job, choice.variant, Execution(guarded=guarded, loop_limit=choice.loop_limit))


def kept_counts(job: Job, compute: Callable[[Job], Counts]) -> Counts:
    """Return the counts of a small resolved job, from the cache or from `compute`."""
    return _kept("", job, job.iterations, compute, job.counts.dtype)


def _kept(what: str, job: Job, most: int, compute: Callable[[Job], Counts], dtype: npt.DTypeLike = np.uint32) -> Counts:
    """Return numbers of a job's pixels, none larger than `most`, from the cache or from `compute`."""
    key, shape = digest(f"{_FORM}{what} {job.to_json()}"), (job.view.height, job.view.width)
    kept = cache.read(_KIND, key)
    if kept is not None:
        try:
            little = np.frombuffer(zlib.decompress(kept), np.dtype(dtype).newbyteorder("<"))
            words: Counts = little.astype(dtype).reshape(shape)
        except (ValueError, zlib.error):
            cache.remove(_KIND, key)  # this version does not write such entries
        else:
            if words.max() <= most:
                return words
    words = compute(job)
    cache.write(_KIND, key, zlib.compress(little_endian(words, dtype), 1))
    return words


def _counts_so_far(program: Program, block: Block, iterations: int, cancel: Token) -> Words:
    """Return the counts that are decided after about this many iterations of each orbit; NO_COUNT for the others."""
    device, pace, stride = program.device, rate.pace(program, BUDGET_S), program.variant.stride
    memory = program.allocate(block.pixels, block.pixels)
    memory.guard()
    most = iterations if program.method.by_turns else -(-iterations // stride)
    strides = min(pace.first(block.width, block.height, most, stride).strides, program.most_strides)
    ready, done = time.perf_counter(), 0
    launch = program.launch_block(memory, block, 0, block.height, strides)
    while True:
        launch.wait(device)
        seconds = launch.seconds(ready)
        ready = time.perf_counter()
        stop_if(cancel)
        done += launch.strides
        if done >= most or not launch.survivors:
            break
        strides = pace.next(launch.strides, seconds, min(most - done, program.most_strides))
        launch = program.launch_survivors(memory, block, launch.survivors, done, strides)
    results = np.full((memory.words, block.pixels), NO_COUNT, np.uint32)
    device.wait(device.read(memory.results, results))
    return program.job.counts.of(results).reshape(block.height, block.width)


def _endless(job: Job) -> Job:
    """Return a job whose limit is above all that a survey iterates."""
    return replace(job, iterations=max(job.iterations, MOST_NARROW))


def _whole(job: Job) -> Block:
    return Block(0, 0, job.view.width, job.view.height)
