"""The fastest of some devices for a job whose algorithm may be open: a small copy of the picture decides it."""

from collections.abc import Callable, Sequence

from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.report import LaunchLog
from mandelcl.engine import choose, rate
from mandelcl.engine.device_output import OutputPlan
from mandelcl.engine.loop import escape
from mandelcl.engine.loop.schedule import BUDGET_S, BlockQueue, Pace
from mandelcl.engine.program import Execution, Program
from mandelcl.opencl.device import Device


def fastest(
    job: Job, devices: Sequence[Device], self_test: bool = True, wait: Callable[[Job], None] = lambda _job: None
) -> choose.Choice:
    """Return what `choose.fastest` does, the job's algorithm decided by a survey where it is `auto`.

    `wait` is called with the surveyed job before anything of it is computed.
    """

    def survey(surveyed: Job) -> Words:
        choice = choose.fastest(surveyed, devices, self_test)
        wait(choice.job)
        return _counts(choice)

    return choose.fastest(job, devices, self_test, survey)


def _counts(choice: choose.Choice) -> Words:
    """Return the counts of a small job, computed by escape time."""
    program = Program(choice.device, choice.job, choice.variant, Execution(loop_limit=choice.loop_limit))
    view = choice.job.view
    blocks = BlockQueue.of([Block(0, 0, view.width, view.height)])
    pace = Pace(BUDGET_S, rate.iterations_per_second(program), program.saturation, program.method.by_turns)
    ((_, results),) = escape.run(program, blocks, pace, LaunchLog(), output_plan=OutputPlan(totals=False))
    counts: Words = results[0]
    return counts
