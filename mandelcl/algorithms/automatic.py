"""Border tracing or escape time: which is likely to be sooner done, from a small copy of the picture."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mandelcl.algorithms import escape
from mandelcl.job import TRACEABLE, Job
from mandelcl.program import Program
from mandelcl.report import LaunchLog
from mandelcl.schedule import BUDGET_S, Block, BlockQueue, Pace

CELLS = 64  # along the longer side, about as many as border tracing begins with
_LEAST_CELL = 8  # pixels: rectangles that are of one count only when they are smaller are not worth tracing
_LEAST_SHARE = 0.4  # of the work must lie in cells of one count
_LEAST_SECONDS = 0.5  # of escape time, in all: below that, building more kernels would cost more than is saved


def settled(program: Program, rate: float) -> Program:
    """Return the program, its job's algorithm settled where that is `auto`; `rate` is rate.measured's."""
    if program.job.algorithm != "auto":
        return program
    algorithm = "border" if _pays(program, rate) else "escape"
    job = replace(program.job, algorithm=algorithm, strict=program.job.strict and algorithm == "border")
    return Program(program.device, job, program.variant, program.loop_limit)


def _pays(program: Program, rate: float) -> bool:
    view = program.job.view
    cell = max(view.width, view.height) // CELLS
    most_seconds = view.pixels * program.job.iterations / rate
    if program.job.formula not in TRACEABLE or cell < _LEAST_CELL or most_seconds < _LEAST_SECONDS:
        return False
    counts = _corners(program, cell, rate)
    seconds = float(counts.mean()) * view.pixels / rate
    return seconds >= _LEAST_SECONDS and share_of_one_count(counts, program.job) >= _LEAST_SHARE


def share_of_one_count(counts: npt.NDArray[np.uint32], job: Job) -> float:
    """Return the share of all iterations that lies in cells with one count at all corners; if smooth, the cap."""
    corners = counts[:-1, :-1], counts[:-1, 1:], counts[1:, :-1], counts[1:, 1:]
    alike = np.logical_and.reduce([corner == corners[0] for corner in corners[1:]])
    if job.smooth:
        alike &= corners[0] == np.uint32(job.iterations)
    work = sum(corner.astype(np.float64) for corner in corners)
    total = float(np.sum(work))
    return float(np.sum(np.where(alike, work, 0.0))) / total if total else 0.0


def _corners(program: Program, cell: int, rate: float) -> npt.NDArray[np.uint32]:
    """Return the counts of every `cell`th pixel of every `cell`th row, from the picture's first on."""
    view = program.job.view
    re, im = view.point(0, 0)
    width, height = (max(2, side // cell) for side in (view.width, view.height))
    small = replace(view, anchor_re=re, anchor_im=im, pitch=view.pitch * cell, width=width, height=height)
    small = replace(small, anchor_column=0, anchor_row=0)
    job = replace(program.job, view=small, algorithm="escape", strict=False)
    sample = Program(program.device, job, program.variant, program.loop_limit)
    blocks = BlockQueue([Block(0, 0, width, height)], width, height)
    ((_, results),) = escape.run(sample, blocks, Pace(BUDGET_S, rate, sample.saturation), LaunchLog())
    counts: npt.NDArray[np.uint32] = results[0]
    return counts
