"""A job and a device in, a field and a report out."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mandelcl import choose, rate
from mandelcl.algorithms import automatic, border, escape
from mandelcl.device import Device
from mandelcl.errors import InvalidInputError, MandelclError
from mandelcl.field import Field, smooth_fraction
from mandelcl.job import Job
from mandelcl.program import Program
from mandelcl.report import LaunchLog, Report
from mandelcl.schedule import Block, BlockQueue, Pace, block_shape, default_budget
from mandelcl.variant import Variant

_NO_BUDGET = 1e9
_CPU_BLOCK_PIXELS = 1 << 18
_GPU_BLOCK_PIXELS = 1 << 24
_MOST_BLOCKS = 512  # a picture is cut into about so many at most, where memory allows
_BLOCK_BYTES = 32 << 20
_BLOCK_SECONDS = 5.0  # even where nothing escapes: what an interrupt loses
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


@dataclass(frozen=True, slots=True)
class Settings:
    """How a job is computed: what changes its speed, never a byte of its field.

    `variant` is by default the device's own. `budget` is how many seconds a launch should last; by default 0.1, and
    less where the driver stops long kernels. `block_pixels` bounds the unit of work. `blocks` (columns, rows) cuts
    the picture into that many, each one launch to the cap, however long that takes. With `self_test` off the device
    is trusted. `shortcuts` end orbits early that are known never to escape. `watch` is told of the rectangles of border
    tracing.
    """

    variant: Variant | None = None
    budget: float | None = None
    block_pixels: int | None = None
    blocks: tuple[int, int] | None = None
    self_test: bool = True
    shortcuts: bool = True
    watch: border.Watch | None = None


class Computation:
    """A job on the fastest of some devices, by default of all; what it did is in `log`. Raises as `choose` does."""

    def __init__(self, job: Job, devices: Sequence[Device], settings: Settings) -> None:
        self.started = time.perf_counter()
        choice = choose.fastest(job, devices or choose.matching(()), settings.self_test)
        self.device, self.warnings = choice.device, choice.warnings
        variant = settings.variant or choice.variant
        program = Program(self.device, choice.job, variant, choice.loop_limit, settings.shortcuts)
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

    def run(self, blocks: BlockQueue) -> Iterator[tuple[Block, npt.NDArray[np.uint32]]]:
        """Yield each block with its results (planes × height × width), as they finish."""
        if self.job.algorithm == "border":
            return border.run(self.program, blocks, self.pace, self.log, watch=self._watch)
        return escape.run(self.program, blocks, self.pace, self.log)

    def report(self, iterations: int, counts_sha256: str, stages: dict[str, float]) -> Report:
        """Return the report of what has been done, by now."""
        job, device, log = self.job, self.device, self.log
        return Report(
            device=device.name,
            platform=device.platform,
            driver=device.driver,
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
            build_s=self.program.build_seconds,
            kernel_s=log.kernel_seconds,
            copy_s=log.copy_seconds,
            wall_s=self.seconds,
            counts_sha256=counts_sha256,
            stages_s=stages,
        )

    def _block_shape(self, settings: Settings) -> tuple[int, int]:
        view = self.job.view
        if settings.blocks is None:
            pixels = settings.block_pixels or self._block_pixels()
            return block_shape(view.width, view.height, min(pixels, border.MOST_PIXELS))
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
        least = _GPU_BLOCK_PIXELS if device.type == "gpu" or traced else _CPU_BLOCK_PIXELS
        wanted = max(least, self.job.view.pixels // _MOST_BLOCKS)
        results = 4 * program.planes
        by_host = _BLOCK_BYTES // results
        by_time = max(program.saturation, int(self.rate * _BLOCK_SECONDS / self.job.iterations))
        by_memory = device.memory_bytes // _MEMORY_SHARE // (_MEMORIES * results)  # lists are bounded by themselves
        by_allocation = device.max_alloc_bytes // results
        return max(1, min(wanted, by_host, by_time, by_memory, by_allocation))


def render(
    job: Job,
    device: Device | None = None,
    *,
    progress: ShowProgress | None = None,
    self_test: bool = True,
    variant: Variant | None = None,
    budget: float | None = None,
    block_pixels: int | None = None,
    blocks: tuple[int, int] | None = None,
    shortcuts: bool = True,
) -> tuple[Field, Report]:
    """Return the field of a job and a report of how it was computed; the whole field is in memory.

    `device` is by default the fastest that passes its self-test; the other options are those of `Settings`, and change
    the speed, never a byte of the field. `progress` is called after each block.
    Raises DeviceError where no device will do, InvalidInputError for a job that no number can hold.
    """
    settings = Settings(variant, budget, block_pixels, blocks, self_test, shortcuts)
    work = Computation(job, [device] if device else [], settings)
    job, view = work.job, work.job.view
    counts, smooth = _allocate(job)
    done = iterations = 0
    whole = Block(0, 0, view.width, view.height)
    for block, results in work.run(BlockQueue([whole], work.block_width, work.block_height)):
        place = np.s_[block.y : block.y + block.height, block.x : block.x + block.width]
        counts[place] = results[0]
        if smooth is not None:
            smooth[place] = smooth_fraction(results, job.iterations)
        done += block.pixels
        iterations += int(results[0].sum(dtype=np.uint64))
        if progress:
            progress(Progress(done, view.pixels, iterations, work.seconds, work.device.name))
    field = Field(job, counts, smooth)
    return field, work.report(iterations, field.counts_sha256(), {})


def _allocate(job: Job) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32] | None]:
    shape = (job.view.height, job.view.width)
    needed = job.view.pixels * (8 if job.smooth else 4)
    try:
        _require_memory(needed)
        return np.zeros(shape, np.uint32), np.zeros(shape, np.float32) if job.smooth else None
    except (MemoryError, ValueError):
        raise MandelclError(
            f"a field of {job.view.width}x{job.view.height} needs {needed / 2**30:.1f} GiB of memory, "
            "more than there is; choose a smaller size, or draw it to files with render_to"
        ) from None


def _require_memory(needed: int) -> None:
    """Raise MemoryError where the system says that so much is not available; it may not say."""
    try:
        with Path("/proc/meminfo").open() as lines:
            available = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return
    if needed > available:
        raise MemoryError
