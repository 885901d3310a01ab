"""A job on one device: blocks in, results out, and what that took."""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.report import LateText, LaunchLog, Report, report_of
from mandelcl.engine import choose, rate
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.computing.timed_blocks import noted
from mandelcl.engine.computing.work import Finished, Place, Results, Room, anywhere, boundless
from mandelcl.engine.device_output import TO_HOST, Array, Delivered, DeviceOutput, MakeOutput, OutputPlan
from mandelcl.engine.host_buffers import HostPool
from mandelcl.engine.loop import escape, listed, sizing, survey
from mandelcl.engine.loop.schedule import BlockQueue, BlockSource, Pace, default_budget
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.program import Execution, Program
from mandelcl.opencl.device import Device

_NO_BUDGET = 1e9


class Computation:
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
        self.device, self.warnings = choice.device, choice.warnings
        self.log = LaunchLog()
        self._settings = settings
        self._device_pool, self._host_pool = device_pool or DevicePool(), host_pool or HostPool(self.device)
        program = Program(self.device, choice.job, settings.variant or choice.variant, execution_of(choice, settings))
        self.rate = rate.iterations_per_second(program)
        self._begin(program)

    def _begin(self, program: Program) -> None:
        settings = self._settings
        self.program = program
        self.job = program.job
        self._form: DeviceOutput | None = None
        budget = (
            _NO_BUDGET if settings.blocks else settings.budget or default_budget(self.device.watchdog, self.device.type)
        )
        self._pace = Pace(budget, self.rate, program.saturation, program.method.by_turns)
        self._traced = self.job.algorithm == "border"
        self._division = sizing.divided(program, self.rate, settings.block_pixels, settings.blocks, self._traced)
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
        self.log = LaunchLog()
        choice = choose.fastest(job, [self.device], self._settings.self_test)  # another formula is tested first
        self.warnings = choice.warnings
        program = self.program.sibling(choice.job)
        self.rate = rate.iterations_per_second(program)
        self._begin(program)

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        """Yield the blocks of some bands with their results (words × height × width) or their form, as they finish.

        They come to their `place` or, where that does not matter, to memory that is lent.
        """

        def host(block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
            placed = place(block, shape, dtype)
            return self.lend(shape, dtype) if placed is None else placed

        output_plan = OutputPlan(host, form=self._form)
        for block, values in self.run_blocks(self.queue(bands, room), cancel=cancel, output_plan=output_plan):
            yield Finished(block, values)

    def lend(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return host memory that results reach fast, not initialised; it is lent until nothing views it any more."""
        return self._host_pool.lend(shape, dtype)

    def set_output(self, make: MakeOutput) -> bool:
        """Have the next blocks of `run` yielded in the form that `make` returns for the device; return whether so.

        They are not where it returns None, and where results are guarded: in a form, what was never written might not
        show.
        """
        self._form = None if self._settings.guarded else make(self.device, self.job)
        return self._form is not None

    def queue(self, bands: Iterable[Block], room: Room = boundless) -> BlockQueue:
        """Return the blocks of some bands as this work cuts them."""
        return BlockQueue(bands, self._division.cut, room)

    def run_blocks(
        self,
        blocks: BlockSource,
        *,
        log: LaunchLog | None = None,
        cancel: Token = NEVER,
        output_plan: OutputPlan = TO_HOST,
    ) -> Iterator[tuple[Block, Delivered]]:
        """Yield blocks from another source, with their results, as they finish.

        `log` is by default the work's own, and `output_plan` says how results leave the device.
        """
        log = log or self.log

        def run(blocks: BlockSource) -> Iterator[tuple[Block, Delivered]]:
            loop = (self.program, blocks, self._pace, log)
            if not self._traced:
                return escape.run(*loop, cancel=cancel, device_pool=self._device_pool, output_plan=output_plan)
            from mandelcl.engine.loop import border

            watch = self._settings.watch
            return border.run(*loop, watch=watch, cancel=cancel, device_pool=self._device_pool, output_plan=output_plan)

        return noted(blocks, log, run)

    def run_listed(self, block: Block, indices: listed.Indices, cancel: Token = NEVER) -> Words:
        """Return the results of some pixels of a block, words × pixels; no borders are traced for them."""
        return listed.run(self.program, block, indices, self._pace, self.log, cancel)

    def report(self, counts_sha256: LateText | None, stages: dict[str, float]) -> Report:
        """Return the report of what has been done so far."""
        built = self.program.kernels.build_seconds
        return report_of(self.job, [self.device], self.log, built, self.seconds, counts_sha256, stages)


def execution_of(choice: choose.Choice, settings: Settings) -> Execution:
    """Return how a program is run by some settings; a picture cut into a number of blocks is one launch of each."""
    execution = Execution(settings.shortcuts, settings.guarded, choice.loop_limit)
    return replace(execution, first_iterations=choice.job.iterations) if settings.blocks else execution


def fastest_computation(job: Job, devices: Sequence[Device], settings: Settings) -> Computation:
    """Return the computation on the fastest of some devices, by default all; raises what `choose.fastest` does."""
    return Computation(survey.fastest(job, devices or choose.matching(()), settings.self_test), settings)
