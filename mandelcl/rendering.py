"""A job and a device in, a field and a report out."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mandelcl import choose, rate
from mandelcl.algorithms import escape
from mandelcl.device import Device
from mandelcl.errors import InvalidInputError, MandelclError
from mandelcl.field import Field
from mandelcl.job import Job
from mandelcl.program import Program
from mandelcl.report import LaunchLog, Report
from mandelcl.schedule import Pace, block_shape, grid
from mandelcl.variant import Variant

BUDGET_S = 0.1
_NO_BUDGET = 1e9
_CPU_BLOCK_PIXELS = 1 << 18
_GPU_BLOCK_PIXELS = 1 << 24
_PAINTING_BYTES = 256  # a column's share of the strips that are being painted and packed, on all cores
_MEMORY_SHARE = 4  # a block's memory may take this fraction of the device's


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a render has come: pixels done and in all, iterations counted in them, seconds since it began."""

    pixels: int
    pixels_total: int
    iterations: int
    seconds: float


def render(
    job: Job,
    device: Device | None = None,
    *,
    progress: Callable[[Progress], None] | None = None,
    self_test: bool = True,
    variant: Variant | None = None,
    budget: float = BUDGET_S,
    block_pixels: int | None = None,
    blocks: tuple[int, int] | None = None,
    shortcuts: bool = True,
) -> tuple[Field, Report]:
    """Return the field of a job and a report of how it was computed.

    `device` is by default the fastest that passes its self-test. `variant`, `budget` (seconds a launch should last),
    `block_pixels` and `shortcuts` change the speed, never a byte of the field. `blocks` (columns, rows) cuts the
    picture into that many, each one launch to the cap, however long that takes. `progress` is called after each block.
    Raises DeviceError where no device will do, InvalidInputError for a job that no number can hold.
    """
    started = time.perf_counter()
    devices = [device] if device is not None else choose.matching(())
    choice = choose.fastest(job, devices, self_test)
    job, device = choice.job, choice.device
    program = Program(device, job, variant or choice.variant, choice.loop_limit, shortcuts)
    counts, smooth = _allocate(job)
    pace = Pace(_NO_BUDGET if blocks else budget, rate.measured(program), program.saturation)
    width, height = _block_shape(program, block_pixels, blocks)
    log = LaunchLog()
    done = iterations = 0
    for block, results in escape.run(program, grid(job.view.width, job.view.height, width, height), pace, log):
        place = np.s_[block.y : block.y + block.height, block.x : block.x + block.width]
        counts[place] = results[0]
        if smooth is not None:
            smooth[place] = smooth_fraction(results, job.iterations)
        done += block.pixels
        iterations += int(results[0].sum(dtype=np.uint64))
        if progress:
            progress(Progress(done, job.view.pixels, iterations, time.perf_counter() - started))
    field = Field(job, counts, smooth)
    return field, _report(program, field, iterations, log, time.perf_counter() - started)


def smooth_fraction(results: npt.NDArray[np.uint32], cap: int) -> npt.NDArray[np.float32]:
    """Return the smooth fraction of a block's results (counts, smooth steps m, |z_m|² as float bits).

    The continuous count is m − log₂ log₂ |z_m|, which hardly depends on the radius at which it is taken; the fraction
    is what it adds to count − 1 (Vepstas, "Renormalizing the Mandelbrot escape", 1997). Inside it is 0.
    """
    counts, steps, bits = results
    norm = np.clip(bits.view(np.float32), np.float32(4), np.finfo(np.float32).max).astype(np.float64)
    fraction: npt.NDArray[np.float64] = (steps.astype(np.float64) - counts) + 1 - np.log2(np.log2(norm) / 2)
    fraction[counts == np.uint32(cap)] = 0
    return fraction.astype(np.float32)


def _block_shape(program: Program, pixels: int | None, blocks: tuple[int, int] | None) -> tuple[int, int]:
    view = program.job.view
    if blocks is None:
        return block_shape(view.width, view.height, pixels or _block_pixels(program))
    columns, rows = blocks
    if not (1 <= columns <= view.width and 1 <= rows <= view.height):
        raise InvalidInputError(f"{view.width}x{view.height} cannot be cut into {columns}x{rows} blocks")
    return -(-view.width // columns), -(-view.height // rows)


def _block_pixels(program: Program) -> int:
    """Return how many pixels a block has: enough to fill the device, few enough for its memory and for progress."""
    wanted = _GPU_BLOCK_PIXELS if program.device.type == "gpu" else _CPU_BLOCK_PIXELS
    lists, results = 4 * program.number.state_words, 4 * program.planes
    by_memory = program.device.memory_bytes // _MEMORY_SHARE // (2 * (results + 2 * lists))
    by_allocation = program.device.max_alloc_bytes // max(lists, results)
    return max(1, min(wanted, by_memory, by_allocation))


def _allocate(job: Job) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32] | None]:
    shape = (job.view.height, job.view.width)
    needed = job.view.pixels * (8 if job.smooth else 4) + job.view.width * _PAINTING_BYTES
    try:
        _require_memory(needed)
        return np.zeros(shape, np.uint32), np.zeros(shape, np.float32) if job.smooth else None
    except (MemoryError, ValueError):
        raise MandelclError(
            f"a picture of {job.view.width}x{job.view.height} needs {needed / 2**30:.1f} GiB of memory, "
            "more than there is; choose a smaller --size"
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


def _report(program: Program, field: Field, iterations: int, log: LaunchLog, wall: float) -> Report:
    job, device = program.job, program.device
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
        pixels_computed=job.view.pixels,
        launches=len(log.seconds),
        longest_launch_ms=log.longest * 1e3,
        build_s=program.build_seconds,
        kernel_s=sum(log.seconds),
        copy_s=log.copy_seconds,
        wall_s=wall,
        counts_sha256=field.counts_sha256(),
    )
