"""The `Work` of one device: blocks in, results and their timings out."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.base.words import Words
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.core.report import LateText, LaunchLog, Report, report_of
from mandelcl.engine import choose
from mandelcl.engine.computing.block_loop import BlockLoop
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.work import Finished, Place, Results, Room, anywhere, boundless
from mandelcl.engine.device_output import Array, DeviceOutput, MakeOutput, OutputPlan
from mandelcl.engine.host_buffers import HostPool
from mandelcl.engine.loop import listed, survey
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.program import Execution, Program
from mandelcl.opencl.device import Device

_NO_BUDGET = 1e9


class Computation(BlockLoop):
    """A job on a device, as resolved by `choose` (a `Work`); `log` records its launches.

    Device memory comes from `device_pool`, host memory from `host_pool`, and both return for the next job.
    """

    def __init__(
        self,
        choice: choose.Choice,
        settings: Settings,
        *,
        device_pool: DevicePool | None = None,
        host_pool: HostPool | None = None,
    ) -> None:
        self.started = time.perf_counter()
        self.device, self._settings = choice.device, settings
        self._device_pool, self._host_pool = device_pool or DevicePool(), host_pool or HostPool(self.device)
        self._begin(
            Program(self.device, choice.job, settings.variant or choice.variant, execution_of(choice, settings)), choice
        )

    def _begin(self, program: Program, choice: choose.Choice) -> None:
        settings = self._settings
        budget = _NO_BUDGET if settings.blocks else 0.0
        super().__init__(program, settings, self._device_pool, choice.warnings, budget=budget)
        self._form: DeviceOutput | None = None
        self.band_rows, self.block_pixels = self._division.band_rows, self._division.pixels

    @property
    def seconds(self) -> float:
        """Seconds since it began, or was last reset."""
        return time.perf_counter() - self.started

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.name

    def close(self) -> None:
        """Do nothing: the device and its memory belong to the caller."""

    def reset(self, job: Job) -> None:
        """Take another resolved job, in the same number and rounding; memory and kernels are kept.

        Raises InvalidInputError for a job of another kind, and DeviceError where the device cannot do it.
        """
        kinds = [(one.method, one.number, one.rounding) for one in (self.job, job)]
        if kinds[0] != kinds[1]:
            raise InvalidInputError(f"this work is {', '.join(kinds[0])}; start a new one for {', '.join(kinds[1])}")
        self.started = time.perf_counter()
        choice = choose.fastest(job, [self.device], self._settings.self_test)  # another formula is tested first
        self._begin(self.program.sibling(choice.job), choice)

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        """Yield the blocks of some bands with their results (words × height × width) or their form, as they finish.

        They are written to their `place` or, if that does not matter, to memory from the pool.
        """

        def host(block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
            placed = place(block, shape, dtype)
            return self.acquire(shape, dtype) if placed is None else placed

        output_plan = OutputPlan(host, form=self._form)
        for block, values in self.run_blocks(self.queue(bands, room), cancel=cancel, output_plan=output_plan):
            yield Finished(block, values)

    def acquire(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return uninitialised host memory to which copies are fast. It returns to the pool when no array views it."""
        return self._host_pool.acquire(shape, dtype)

    def set_output(self, make: MakeOutput) -> bool:
        """Have the next blocks of `run` yielded in the form that `make` returns for the device; return whether so.

        They are not where it returns None, and where results are guarded: in a form, what was never written might not
        show.
        """
        self._form = None if self._settings.guarded else make(self.device, self.job)
        return self._form is not None

    def run_listed(self, pixels: PixelList, cancel: Token = NEVER) -> Results:
        """Yield the results of the pixels of a list, words × 1 × pixels, at once; no borders are traced for them."""
        yield Finished(pixels.whole, self.listed(pixels, self.log, cancel)[:, np.newaxis])

    def run_lists(self, jobs: Iterable[Job], pixels: PixelList, cancel: Token = NEVER) -> Iterator[Results]:
        """Yield the results of the pixels of a list for each of some jobs, which differ from this one in the view.

        The device goes on with further jobs while one is consumed.
        """
        programs = (self.program.sibling(job) for job in jobs)
        for words, log in self._lists(programs, pixels, cancel):
            self.log = log
            yield iter([Finished(pixels.whole, words[:, np.newaxis])])

    def listed(self, pixels: PixelList, log: LaunchLog, cancel: Token) -> Words:
        """Return the results of the pixels of a list, words × pixels; their launches are noted in a log."""
        ((words, own),) = self._lists([self.program], pixels, cancel)
        log.add_all(own)
        return words

    def _lists(
        self, programs: Iterable[Program], pixels: PixelList, cancel: Token
    ) -> Iterator[tuple[Words, LaunchLog]]:
        where = pixels.block, pixels.indices
        return listed.run_each(programs, *where, self._pace, cancel, device_pool=self._device_pool)

    def report(self, counts_sha256: LateText | None, stages: dict[str, float]) -> Report:
        """Return the report of what has been done so far."""
        built = self.program.kernels.build_seconds
        return report_of(self.job, [self.device], self.log, built, self.seconds, counts_sha256, stages)


def execution_of(choice: choose.Choice, settings: Settings) -> Execution:
    """Return how a program is run by some settings; a picture cut into a number of blocks is one launch of each."""
    execution = Execution(settings.shortcuts, settings.guarded, choice.loop_limit)
    return replace(execution, first_iterations=choice.job.iterations) if settings.blocks else execution


def fastest_computation(job: Job, devices: Sequence[Device], settings: Settings) -> Computation:
    """Return the computation on the fastest of some devices, by default of all. Raises as `choose.fastest` does."""
    return Computation(survey.fastest(job, devices or choose.matching(()), settings.self_test), settings)
