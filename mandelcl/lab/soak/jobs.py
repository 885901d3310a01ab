"""The known jobs of a soak on one device: arithmetic in each number, large results, and copies."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from mandelcl.base.errors import NEVER
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import FP128, NUMBERS, by_name
from mandelcl.engine.computing.settings import Settings
from mandelcl.lab.soak.record import JobFacts, JobRun
from mandelcl.lab.studies.jobs import whole_set
from mandelcl.lab.studies.timing import Timed
from mandelcl.lab.studies.validation import Validator
from mandelcl.opencl.device import Device

_INSIDE = 0.17  # about the share of the whole set's picture that never escapes
_LEAST_SIDE, _MOST_SIDE = 64, 2048
_LEAST_ITERATIONS = {True: 2000, False: 400}  # by whether the number is the processor's own
_MOST_ITERATIONS = {True: 200_000, False: 50_000}  # beyond, recomputing a sample without OpenCL takes too long
_RESULTS_ITERATIONS = 8  # so few iterations that writing the results takes longer
_RESULTS_SLOWER = 10  # about, than iterating
_RESULTS_SIDE = {"gpu": 4096}
_TRANSFER_BYTES = {"gpu": 64 << 20}
_MOST_REPEATS = 16  # of a picture that is short on a fast device
_TRANSFER_SHARE = 8  # of the device's memory
_ALL_BITS = 0xFFFFFFFF


class SoakJob(Protocol):
    """A job whose results are known."""

    facts: JobFacts

    def run(self, number: int) -> JobRun:
        """Do it once, and compare every word."""


def prepared(device: Device, seconds: float, self_test: bool) -> list[SoakJob]:
    """Return the jobs for a device, each of about `seconds`. The counts are validated in their first run.

    Raises DeviceError if the device cannot do one.
    """
    settings = Settings(guarded=True, self_test=self_test)
    names = [number.name for number in NUMBERS.values() if number.is_native and (device.fp64 or not number.needs_fp64)]
    jobs: list[SoakJob] = []
    for name in [*names, FP128.name]:
        native = by_name(name).is_native
        rate = _rate(device, name, settings)
        side, max_iterations = sized(rate, seconds, _LEAST_ITERATIONS[native], _MOST_ITERATIONS[native])
        jobs.append(
            Counting(
                name,
                whole_set(side, max_iterations, name, "auto"),
                device,
                settings,
                repeats(side, max_iterations, rate, seconds),
            )
        )
    most = _RESULTS_SIDE.get(device.type, _MOST_SIDE)
    rate = _rate(device, "float", settings) / _RESULTS_SLOWER
    side, max_iterations = sized(rate, seconds, _RESULTS_ITERATIONS, _RESULTS_ITERATIONS, most)
    jobs.append(Counting("results", whole_set(side, max_iterations, "float", "auto"), device, settings, steady=False))
    jobs.append(Transfer(device))
    return jobs


def sized(
    rate: float, seconds: float, least_iterations: int, most_iterations: int, most_side: int = _MOST_SIDE
) -> tuple[int, int]:
    """Return the side and the iteration limit of a picture of the whole set that takes about `seconds`, within bounds.

    `rate` is in iterations a second. The iteration limit grows only once the side has.
    """
    pixels = rate * seconds / (_INSIDE * least_iterations + 8)
    side = max(_LEAST_SIDE, min(most_side, int(pixels**0.5) // 16 * 16))
    max_iterations = int(rate * seconds / (_INSIDE * side * side)) if side == most_side else least_iterations
    return side, max(least_iterations, min(max_iterations, most_iterations))


def repeats(side: int, max_iterations: int, rate: float, seconds: float) -> int:
    """Return how often to compute a picture of the whole set so that it takes about `seconds`."""
    return max(1, min(_MOST_REPEATS, int(rate * seconds / (_INSIDE * max_iterations * side * side))))


def _rate(device: Device, number: str, settings: Settings) -> float:
    return Timed(whole_set(_LEAST_SIDE, _LEAST_ITERATIONS[True], number, "auto"), device, settings, NEVER).rate


class Counting:
    """A picture of the whole set, every iteration of it, whose counts are compared with those of the first right run.

    A run is right if a sample of its pixels, recomputed without OpenCL, is. A round computes it `times` times.
    """

    def __init__(
        self, name: str, job: Job, device: Device, settings: Settings, times: int = 1, steady: bool = True
    ) -> None:
        self._timed = Timed(job, device, settings, NEVER)
        self._validator = Validator()
        self._validator.sample(self._timed.job)  # takes seconds, which are no part of a round
        self._device = device
        self._expected: Words | None = None
        self._iterations = 0
        self._times = times
        job, view = self._timed.job, self._timed.job.view
        text = f"{job.number} {job.rounding}, {view.width}x{view.height}, limit {job.iterations}"
        text += f", {times} times" if times > 1 else ""
        self.facts = JobFacts(name, text, "iterations", times * view.pixels, view.width, steady)

    def run(self, number: int) -> JobRun:  # noqa: ARG002 - as SoakJob has it
        """Compute the picture, and compare every count."""
        runs = [self._once() for _ in range(self._times)]
        first = next((run.first for run in runs if run.first is not None), None)
        work, seconds = sum(run.work for run in runs), sum(run.seconds for run in runs)
        return JobRun(work, seconds, sum(run.wrong for run in runs), first)

    def _once(self) -> JobRun:
        clock = seconds_of(self._device)
        kernel_s = self._timed.run().kernel_s
        spent = clock()
        counts = self._timed.counts
        run = JobRun(0, kernel_s if spent is None else spent)
        if self._expected is None:
            wrong = self._wrong_in_sample(counts)
            if wrong.wrong:
                return replace(run, wrong=wrong.wrong, first=wrong.first)
            self._expected = counts.copy()
            self._iterations = int(counts.sum(dtype=np.uint64))
        run = replace(run, work=self._iterations)
        return compared(run, counts, self._expected)

    def _wrong_in_sample(self, counts: Words) -> JobRun:
        """Return a run with the number of wrong words, by recomputed pixels or a known SHA-256."""
        job = self._timed.job
        places, expected = self._validator.sample(job)
        found = counts.reshape(-1)[places]
        wrong = np.flatnonzero(found != expected)
        if wrong.size:
            first = int(wrong[0])
            return JobRun(0, 0, wrong.size, (int(places[first]), int(expected[first]), int(found[first])))
        validation = self._validator.check(job, counts, self._device.spec)
        return JobRun(0, 0) if validation.ok else JobRun(0, 0, validation.differing or 1)


class Transfer:
    """Words that are copied to the device's memory and back, others in each round."""

    def __init__(self, device: Device) -> None:
        most = min(device.max_alloc_bytes, device.memory_bytes // _TRANSFER_SHARE)
        size = min(_TRANSFER_BYTES.get(device.type, 32 << 20), most) // 4096 * 4096
        self._device = device
        self._buffer = device.allocate(size)
        self._base = np.random.default_rng(1).integers(0, 1 << 32, size // 4, np.uint32)
        self._sent, self._back = np.empty_like(self._base), np.empty_like(self._base)
        text = f"{size >> 20} MiB to the device and back"
        self.facts = JobFacts("transfer", text, "bytes", self._base.size, 1024, steady=False)

    def run(self, number: int) -> JobRun:
        """Copy and compare; each bit of each word has both values within two rounds."""
        device = self._device
        chosen = np.random.default_rng(number // 2).integers(0, 1 << 32, dtype=np.uint32)
        np.bitwise_xor(self._base, chosen ^ np.uint32(_ALL_BITS if number % 2 else 0), out=self._sent)
        np.bitwise_not(self._sent, out=self._back)  # a copy that does not take place leaves every word wrong
        clock = seconds_of(device, threads=1)
        started = time.perf_counter()
        device.wait(device.write(self._buffer, self._sent))
        device.wait(device.fetch(self._buffer, self._back))
        wall, spent = time.perf_counter() - started, clock()
        run = JobRun(2 * self._sent.nbytes, wall if spent is None else spent)
        return compared(run, self._back, self._sent)


def compared(run: JobRun, found: Words, expected: Words) -> JobRun:
    """Return a run with how many words are wrong, and the first of them."""
    if np.array_equal(found, expected):
        return run
    found, expected = found.reshape(-1), expected.reshape(-1)
    wrong = np.flatnonzero(found != expected)
    first = int(wrong[0])
    return replace(run, wrong=wrong.size, first=(first, int(expected[first]), int(found[first])))


def seconds_of(device: Device, threads: int = 0) -> Callable[[], float | None]:
    """Start a clock, and return a function that reads it: the time of work on a CPU, as if no other program ran.

    That is processor time over the device's cores, or over `threads`; None for other devices, which have events.
    """
    if device.type != "cpu":
        return lambda: None
    cores = threads or min(device.compute_units, os.cpu_count() or 1)
    started = time.process_time()
    return lambda: (time.process_time() - started) / cores
