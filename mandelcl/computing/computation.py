"""A job on one device: blocks in, results out, and what that took."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.algorithms import automatic, border, escape
from mandelcl.algorithms.schedule import BlockQueue, BlockSource, Pace, block_shape, default_budget
from mandelcl.block import Block
from mandelcl.engine import choose, rate
from mandelcl.engine.program import Program
from mandelcl.engine.variant import Variant
from mandelcl.errors import InvalidInputError
from mandelcl.job import Job
from mandelcl.opencl.device import Device
from mandelcl.report import LaunchLog, Report

_NO_BUDGET = 1e9
_CPU_CORE_PIXELS = 1 << 17
_GPU_BLOCK_PIXELS = 1 << 24
_MOST_BLOCKS = 512  # a picture is cut into about so many at most, where memory allows
_CPU_BLOCK_BYTES = 32 << 20  # of results; a CPU's buffers lie in the host's memory, too
_GPU_BLOCK_BYTES = 64 << 20
_BLOCK_SECONDS = 20.0
_MEMORIES = 3  # blocks on the device: two in flight, one on its way back
_MEMORY_SHARE = 4  # their memory may take this fraction of the device's


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a render has come.

    Pixels done and in all, iterations counted in those done now, seconds since it began, and the device's name.
    """

    pixels: int
    pixels_total: int
    iterations: int
    seconds: float
    device: str


ShowProgress = Callable[[Progress], None]
Results = Iterator[tuple[Block, npt.NDArray[np.uint32]]]


@dataclass(frozen=True, slots=True)
class Settings:
    """How a job is computed: what changes its speed, never a byte of its field.

    `variant` is by default the device's own. `budget` is how many seconds a launch should last; by default 0.1, and
    less where the driver stops long kernels. `block_pixels` bounds the unit of work. `blocks` (columns, rows) cuts
    the picture into that many, each one launch to the cap, however long that takes. With `self_test` off the device
    is trusted. `shortcuts` end orbits early that are known never to escape. `watch` is told of the rectangles of border
    tracing. With `guarded`, results are filled with NOT_WRITTEN before they are computed.
    """

    variant: Variant | None = None
    budget: float | None = None
    block_pixels: int | None = None
    blocks: tuple[int, int] | None = None
    self_test: bool = True
    shortcuts: bool = True
    watch: border.Watch | None = None
    guarded: bool = False


class Computation:
    """A job on a device, as `choose` has settled it; what it did is in `log`."""

    def __init__(self, choice: choose.Choice, settings: Settings) -> None:
        self.started = time.perf_counter()
        self.device, self.warnings = choice.device, choice.warnings
        variant = settings.variant or choice.variant
        program = Program(self.device, choice.job, variant, choice.loop_limit, settings.shortcuts)
        program.guarded = settings.guarded
        if settings.blocks:
            program.first_iterations = choice.job.iterations
        self.rate = rate.measured(program)
        self.program = automatic.settled(program, self.rate)
        self.job = self.program.job
        self._watch = settings.watch
        budget = settings.budget or default_budget(self.device.watchdog)
        self.pace = Pace(_NO_BUDGET if settings.blocks else budget, self.rate, self.program.saturation)
        self.block_width, self.block_height = self._block_shape(settings)
        self.log = LaunchLog()

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.perf_counter() - self.started

    @property
    def name(self) -> str:
        """The device's name."""
        return self.device.name

    def close(self) -> None:
        """Do nothing; a crew has processes to end."""

    def run(self, bands: Iterable[Block], room: Callable[[bool], bool] = lambda _wait: True) -> Results:
        """Yield the blocks of some bands with their results (planes × height × width), as they finish.

        `room(wait)` says whether there is memory for another band.
        """
        return self.run_blocks(BlockQueue(bands, self.block_width, self.block_height, room))

    def run_blocks(self, blocks: BlockSource) -> Results:
        """Yield blocks that come from elsewhere, with their results, as they finish."""
        self.log.begin()
        how = (self.program, blocks, self.pace, self.log)
        run = border.run(*how, watch=self._watch) if self.job.algorithm == "border" else escape.run(*how)
        for block, results in run:
            self.log.end()
            yield block, results

    def report(self, iterations: int, counts_sha256: str, stages: dict[str, float]) -> Report:
        """Return the report of what has been done, by now."""
        built = self.program.build_seconds
        return report_of(self.job, [self.device], self.log, built, self.seconds, iterations, counts_sha256, stages)

    def _block_shape(self, settings: Settings) -> tuple[int, int]:
        view = self.job.view
        if settings.blocks is None:
            most = min(settings.block_pixels or self._block_pixels(), border.MOST_PIXELS)
            return block_shape(view.width, view.height, most)
        columns, rows = settings.blocks
        if not (1 <= columns <= view.width and 1 <= rows <= view.height):
            raise InvalidInputError(f"{view.width}x{view.height} cannot be cut into {columns}x{rows} blocks")
        return -(-view.width // columns), -(-view.height // rows)

    def _block_pixels(self) -> int:
        """Return how many pixels a block has.

        Enough to fill the device, and no more blocks than needed; few enough for its memory and the host's, and that
        one takes seconds rather than minutes even where no orbit escapes, since a block is what an interrupt loses.
        """
        program, device = self.program, self.device
        traced = self.job.algorithm == "border"  # the larger the block, the larger what is filled
        pixels = self.job.view.pixels
        cores = min(device.compute_units * _CPU_CORE_PIXELS, max(2 * _CPU_CORE_PIXELS, pixels // 4))
        least = _GPU_BLOCK_PIXELS if device.type == "gpu" or traced else cores
        wanted = max(least, pixels // _MOST_BLOCKS)
        results = 4 * self.job.words
        by_host = (_GPU_BLOCK_BYTES if device.type == "gpu" else _CPU_BLOCK_BYTES) // results
        by_time = max(program.saturation, int(self.rate * _BLOCK_SECONDS / self.job.iterations))
        by_memory = device.memory_bytes // _MEMORY_SHARE // (_MEMORIES * results)  # lists are bounded by themselves
        by_allocation = device.max_alloc_bytes // results
        return max(1, min(wanted, by_host, by_time, by_memory, by_allocation))


def report_of(
    job: Job,
    devices: Sequence[Device],
    log: LaunchLog,
    build_s: float,
    wall_s: float,
    iterations: int,
    counts_sha256: str,
    stages: dict[str, float],
    faults: Sequence[str] = (),
) -> Report:
    """Return the report of a resolved job that `devices` have done."""

    def named(names: list[str]) -> str | list[str]:
        return names[0] if len(names) == 1 else names

    return Report(
        device=named([device.name for device in devices]),
        platform=named([device.platform for device in devices]),
        driver=named([device.driver for device in devices]),
        number=job.number,
        rounding=job.rounding,
        algorithm=job.algorithm,
        width=job.view.width,
        height=job.view.height,
        iterations_cap=job.iterations,
        iterations_total=iterations,
        pixels_computed=job.view.pixels - log.pixels_filled,
        launches=len(log.seconds),
        median_launch_ms=log.quantile(0.5) * 1e3,
        p99_launch_ms=log.quantile(0.99) * 1e3,
        longest_launch_ms=log.longest * 1e3,
        build_s=build_s,
        kernel_s=log.kernel_seconds,
        copy_s=log.copy_seconds,
        compute_s=log.ended - log.began,
        wall_s=wall_s,
        counts_sha256=counts_sha256,
        stages_s=stages,
        faults=list(faults),
    )


def fastest(job: Job, devices: Sequence[Device], settings: Settings) -> Computation:
    """Return the computation by the fastest of some devices, by default of all; raises as `choose.fastest` does."""
    return Computation(choose.fastest(job, devices or choose.matching(()), settings.self_test), settings)
