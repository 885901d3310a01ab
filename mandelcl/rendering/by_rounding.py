"""A warning for deep pictures of formulas with folds, in which rounding decides many counts.

Beside a fold, orbits that are as near to each other as rounded numbers can be may part. No bound is computed here:
some pixels are computed again at points that are moved by one rounding, with finer steps. Where a count depends on its
roundings, the two differ.
"""

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mandelcl.base.errors import CancelledError, MandelclError, Token, stop_if
from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.counts import Counts
from mandelcl.core.job import Job
from mandelcl.core.numbers.ieee import IEEE_FORMATS
from mandelcl.core.planes import CERTIFIED
from mandelcl.core.report import LaunchLog, Report
from mandelcl.engine import choose, rate
from mandelcl.engine.device_output import OutputPlan
from mandelcl.engine.loop import escape
from mandelcl.engine.loop.schedule import BUDGET_S, BlockQueue
from mandelcl.engine.methods import method_of
from mandelcl.engine.program import Execution, Program
from mandelcl.engine.resolve import FINE
from mandelcl.rendering.session import Session

MOST_PIXELS = 4096
MOST_OF_THE_TIME = 0.05
_LEAST_PIXELS = 256
_BOTH = 8  # a pixel, and it again with finer steps, take no longer than so many pixels of a whole picture
_OFTEN = 0.01
_MORE_BITS = 4
_MOST_STEP_BITS = 40


def lines(job: Job, report: Report, seconds: float, session: Session, self_test: bool, cancel: Token) -> list[str]:
    """Return a line if rounding decides more than 1 % of a resolved job's counts, as far as a sample shows.

    `report` is that of its render, which took so many `seconds`; the sample takes a twentieth of them at most.
    """
    if job.method != "perturbation" or not job.formula.folds or CERTIFIED.name in job.planes or not session.devices:
        return []
    found = _share(job, report, seconds * MOST_OF_THE_TIME, session, self_test, cancel)
    if found is None or found[0] <= _OFTEN:
        return []
    share, pixels = found
    return [
        f"rounding decides the counts of about {math.ceil(share * 100)} % of the pixels ({pixels:,} were sampled); "
        "--certify proves each count"
    ]


def sampled(view: View, most: int) -> View:
    """Return every k-th pixel of a view in both directions, no more than `most`, for the least k."""
    k = max(1, math.isqrt(view.pixels // most))
    while -(-view.width // k) * -(-view.height // k) > most:
        k += 1
    return view.coarser(k)


def _share(
    job: Job, report: Report, seconds: float, session: Session, self_test: bool, cancel: Token
) -> tuple[float, int] | None:
    """Return the share of sampled pixels whose counts differ, and how many were sampled; None if time is too short."""
    deadline = _Deadline(time.monotonic() + seconds, cancel)
    pixel = report.timed_s / job.view.pixels
    most = min(MOST_PIXELS, int(seconds / (_BOTH * pixel)) if pixel else MOST_PIXELS)
    if most < _LEAST_PIXELS:
        return None
    view = sampled(job.view, most)
    plain = replace(job.at(view), algorithm="escape")
    try:
        choice = choose.fastest(plain, session.devices, self_test)
        counts = [_counts(one, choice, deadline) for one in (plain, _otherwise(plain, job.view))]
    except CancelledError:
        stop_if(cancel)
        return None
    except MandelclError:  # the picture is there: a device that fails now is none of its business
        return None
    return float(np.mean(counts[0] != counts[1])), view.pixels


@dataclass(frozen=True, slots=True)
class _Deadline:
    """A cancel token that is set from some time on, or with another one."""

    ends: float
    cancel: Token

    def is_set(self) -> bool:
        """Return whether to stop."""
        return time.monotonic() >= self.ends or self.cancel.is_set()


def _otherwise(job: Job, whole: View) -> Job:
    """Return the job with finer steps, its points moved by one rounding of a coordinate at the edge of a view."""
    reference = job.reference
    assert reference is not None, "a resolved job by perturbation has a reference"
    steps, tail = FINE[job.number]
    steps = min(max(steps, reference.step_bits + _MORE_BITS), _MOST_STEP_BITS)
    reference = replace(reference, step_bits=steps, tail_bits=min(tail, reference.tail_bits))
    unit = Fraction(1, 1 << IEEE_FORMATS[job.number].precision)
    moved = max(whole.width, whole.height) * unit * whole.pitch / job.view.pitch
    return replace(job.at(job.view.shifted(moved, moved)), reference=reference)


def _counts(job: Job, choice: choose.Choice, deadline: _Deadline) -> Counts:
    """Return the counts of a small job on a choice's device. Raises CancelledError at the deadline."""
    method_of(job).prepare(job, lambda _iterations: None, deadline)
    program = Program(choice.device, job, choice.variant, Execution(loop_limit=choice.loop_limit))
    budget = min(BUDGET_S, max(deadline.ends - time.monotonic(), 0) / 4)
    blocks, plan = BlockQueue.of([Block(0, 0, job.view.width, job.view.height)]), OutputPlan(totals=False)
    ((_, results),) = escape.run(
        program, blocks, rate.pace(program, budget), LaunchLog(), cancel=deadline, output_plan=plan
    )
    counts: Counts = job.counts.of(results)
    return counts
