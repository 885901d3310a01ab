"""Time a job on one device. It is built once, and repeated as often as the spread of its times requires."""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError, Token
from mandelcl.base.words import Words
from mandelcl.core.block import Block, whole_of
from mandelcl.core.job import Job
from mandelcl.core.report import LaunchLog
from mandelcl.engine import choose
from mandelcl.engine.computing.block_loop import BlockLoop
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_output import NOWHERE, Array, OutputPlan, fresh
from mandelcl.opencl.device import Device

_STEADY = 0.02  # the largest relative error of a median that is called steady
_GROWTH = 5  # at most this many times the repeats asked for
_GROWTH_S = 1.0  # at most this many seconds for the extra repeats
_COARSE = 0.01  # a clock whose steps are a larger share of a time than this is coarse
_LEAST_REPEATS = 3  # with fewer nothing can be said of the spread


@dataclass(frozen=True, slots=True)
class TimingSample:
    """One run: seconds by the device's events, of copies back, by the host's clock; launches and the longest."""

    kernel_s: float
    copy_s: float
    wall_s: float
    launches: int
    longest_s: float


def plain(settings: Settings | None) -> Settings:
    """Return the settings with every iteration counted: no shortcut may make a study's arithmetic look fast."""
    return replace(settings or Settings(), shortcuts=False)


class Timed:
    """A job built for a device, to be run more than once; `counts` holds the last run's, `filled` how many it filled.

    The settings' shortcuts are switched off unless they are asked for here. Raises what `Computation` raises; another
    loop may be given. Setting `cancel` ends a run with CancelledError.
    """

    def __init__(
        self,
        job: Job,
        device: Device,
        settings: Settings | None,
        cancel: Token,
        shortcuts: bool = False,
        kind: Callable[[choose.Choice, Settings], BlockLoop] = Computation,
    ) -> None:
        settings = replace(settings or Settings(), shortcuts=shortcuts)
        self._work = kind(choose.fastest(job, [device], settings.self_test), settings)
        self.filled = 0
        self._cancel = cancel
        self.job = self._work.job
        self.counts = picture_memory(device, self.job)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user should know of the job, such as that the number does not resolve the view."""
        return self._work.warnings

    @property
    def build_s(self) -> float:
        """Seconds that building its kernels has taken."""
        return self._work.program.kernels.build_seconds

    @property
    def rate(self) -> float:
        """Iterations a second, where no orbit escapes."""
        return self._work.rate

    def run(self) -> TimingSample:
        """Compute all counts once."""
        return self._run(OutputPlan(self._memory, totals=False))

    def run_on_device(self) -> TimingSample:
        """Compute all counts once and leave them on the device; `counts` stays as it was."""
        return self._run(NOWHERE)

    def _run(self, output_plan: OutputPlan) -> TimingSample:
        work, log = self._work, LaunchLog()
        started = time.perf_counter()
        queue = work.queue([whole_of(self.job.view)])
        for block, results in work.run_blocks(queue, log=log, cancel=self._cancel, output_plan=output_plan):
            if results.size and not np.may_share_memory(results, self.counts):
                self.counts[block.y : block.y + block.height, block.x : block.x + block.width] = results[0]
        wall = time.perf_counter() - started
        self.filled = log.pixels_filled
        return TimingSample(log.kernel_seconds, log.copy_seconds, wall, len(log.seconds), log.longest)

    def _memory(self, block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return the block's rows of `counts` where nothing else lies in them, otherwise new memory."""
        rows = self.counts[np.newaxis, block.y : block.y + block.height]
        return rows if rows.shape == shape else fresh(block, shape, dtype)


def picture_memory(device: Device, job: Job) -> Words:
    """Return memory for a picture's counts: such as the device copies to fast; raises DeviceError without room."""
    shape = job.view.height, job.view.width
    try:
        return device.host_memory(shape)
    except (MemoryError, ValueError):
        raise DeviceError(f"counts of {shape[1]}x{shape[0]} do not fit the host's memory") from None


def repeated(
    run: Callable[[], TimingSample],
    repeat: int,
    patience: float,
    clock: Callable[[], float] = time.perf_counter,
) -> list[TimingSample]:
    """Return at least one timed run, `repeat` where they end within `patience` seconds.

    Where the kernel times of `repeat` runs spread so much that their median is not known to 2 %, they grow to at most
    five times as many, for at most a second longer.
    """
    samples: list[TimingSample] = []
    started = clock()
    grown: float | None = None
    while True:
        samples.append(run())
        now = clock()
        if now - started > patience:
            return samples
        if len(samples) < repeat:
            continue
        grown = now if grown is None else grown
        enough = len(samples) >= _GROWTH * repeat or now - grown > _GROWTH_S
        if repeat < _LEAST_REPEATS or enough or steady([sample.kernel_s for sample in samples]):
            return samples


def steady(seconds: Sequence[float]) -> bool:
    """Return whether the median is known well: its standard error, from the quartiles, is small beside it."""
    low, middle, high = statistics.quantiles(seconds, n=4)
    # For a normal distribution the quartiles lie 1.35 σ apart, and a median's error is 1.25 σ/√n.
    error = 1.25 * (high - low) / 1.35 / len(seconds) ** 0.5
    return error <= _STEADY * middle and coarse_step(seconds) is None


def coarse_step(seconds: Sequence[float]) -> float | None:
    """Return the step of the clock that the times were read from, where it is coarse beside them; else None.

    Times from a coarse clock fall on few values, at least a step apart.
    """
    values = sorted(set(seconds))
    if len(seconds) < _LEAST_REPEATS or len(values) > (len(seconds) + 1) // 2:
        return None
    if len(values) == 1:
        return None  # nothing to read a step from; equal times may be true ones
    step = min(b - a for a, b in pairwise(values))
    return step if step > _COARSE * statistics.median(seconds) else None
