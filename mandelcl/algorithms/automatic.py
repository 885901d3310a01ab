"""Border tracing or escape time: which is likely to be faster, judged from a small copy of the picture."""

from dataclasses import replace

import numpy as np

from mandelcl.algorithms import escape
from mandelcl.algorithms.proof import connected_below
from mandelcl.algorithms.schedule import BUDGET_S, BlockQueue, Pace
from mandelcl.block import Block
from mandelcl.engine.delivery import Delivery
from mandelcl.engine.program import Program
from mandelcl.job import Job
from mandelcl.planes import CERTIFIED, COUNTS, DISTANCE
from mandelcl.report import LaunchLog
from mandelcl.view import View
from mandelcl.words import Words

CELLS = 64  # along the longer side, about as many as border tracing begins with
_LEAST_CELL = 8  # pixels: smaller rectangles of one count are not worth tracing
MOST_WORK = 500  # iterations
_LEAST_SHARE = 0.4  # of the work must lie in cells of one count
_LEAST_SECONDS = 0.5  # of escape time, in all: below that, building more kernels would cost more than is saved


def settled(program: Program, rate: float) -> Program:
    """Return the program, its job's algorithm settled if it was `auto`; `rate` is its iterations a second."""
    job = program.job
    if job.algorithm != "auto":
        return program
    cell = max(job.view.width, job.view.height) // CELLS
    most_seconds = job.view.pixels * program.method.cost(job) / rate
    pays = False
    if (
        job.formula.traceable
        and not {CERTIFIED.name, DISTANCE.name} & set(job.planes)
        and cell >= _LEAST_CELL
        and most_seconds >= _LEAST_SECONDS
        and connected_below(job) == job.iterations
    ):
        program = program.sibling(_copy(job, cell))
        counts, seconds = _sampled(program, rate)
        seconds *= job.view.pixels / max(program.job.view.pixels, program.saturation)
        pays = seconds >= _LEAST_SECONDS and share_of_one_count(counts, job) >= _LEAST_SHARE
    return program.sibling(replace(job, algorithm="border" if pays else "escape", strict=job.strict and pays))


def share_of_one_count(counts: Words, job: Job) -> float:
    """Return the share of all iterations that lies in cells with one count at all corners.

    Where more than counts is kept, the count must be the cap.

    Only the first MOST_WORK iterations of an orbit are counted: shortcuts may end a long one.
    """
    corners = counts[:-1, :-1], counts[:-1, 1:], counts[1:, :-1], counts[1:, 1:]
    alike = np.logical_and.reduce([corner == corners[0] for corner in corners[1:]])
    if job.planes != (COUNTS.name,):
        alike &= corners[0] == np.uint32(job.iterations)
    work = sum(np.minimum(corner, MOST_WORK).astype(np.float64) for corner in corners)
    total = float(np.sum(work))
    return float(np.sum(np.where(alike, work, 0.0))) / total if total else 0.0


def _copy(job: Job, cell: int) -> Job:
    """Return the job of every `cell`th pixel of every `cell`th row, from the picture's first on, by escape time."""
    re, im = job.view.point(0, 0)
    first = replace(job.view.lattice, re=re, im=im, column=0, row=0)
    width, height = (max(2, side // cell) for side in (job.view.width, job.view.height))
    return replace(job, view=View(first.coarser(cell), width, height), algorithm="escape", strict=False)


def _sampled(program: Program, rate: float) -> tuple[Words, float]:
    """Return the counts of a program's job, and how long its launches took."""
    view, log = program.job.view, LaunchLog()
    blocks = BlockQueue.of([Block(0, 0, view.width, view.height)])
    pace = Pace(BUDGET_S, rate, program.saturation)
    ((_, results),) = escape.run(program, blocks, pace, log, delivery=Delivery(totals=False))
    return results[0], log.kernel_seconds
