"""The rules by which border tracing fills rectangles, and the pixels that each rule fills wrongly.

A wrong pixel is the rule's where it lies in a rectangle that the rule filled, and has that rectangle's count. Any other
is the device's fault. So both can be told from the counts, the rectangles and the counts of escape time.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.block_loop import BlockLoop
from mandelcl.engine.computing.computation import execution_of
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop import border, border_in_flight
from mandelcl.engine.loop.subdivision import NO_LIMIT, DivisionPlan
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.program import Program
from mandelcl.formulas import Formula
from mandelcl.lab.studies.bench import Bench, with_extra
from mandelcl.lab.studies.row import Row, Value
from mandelcl.lab.studies.timing import Timed
from mandelcl.lab.studies.validation import Validation
from mandelcl.opencl.device import Device


@dataclass(frozen=True, slots=True)
class DivisionRule:
    """A rule by its name: the plan that it makes of a device's, and whether it fills proved rectangles."""

    name: str
    change: Callable[[DivisionPlan], DivisionPlan]
    proves: bool

    def traced(self, choice: Choice, settings: Settings) -> BlockLoop:
        """Return the job that a device was chosen for, traced by the rule in the division that suits the device."""
        program = Program(choice.device, choice.job, choice.variant, execution_of(choice, settings))
        plan = border_in_flight.default_plan(program) or border.default_plan(program)
        return BlockLoop(program, settings, DevicePool(), choice.warnings, plan=self.change(plan))

    def suits(self, formula: Formula) -> bool:
        """Return whether the rule fills anything of a formula: one that rests on proofs needs their bounds."""
        return formula.traceable or not self.proves


ALONE = DivisionRule("border alone", lambda plan: replace(plan, trust="all", steps=0, below=NO_LIMIT), proves=False)
OUTSIDE = DivisionRule(
    "border outside", lambda plan: replace(plan, trust="outside", steps=0, below=NO_LIMIT), proves=False
)
DEFAULT = DivisionRule("default", lambda plan: replace(plan, trust="outside"), proves=True)
STRICT = DivisionRule("strict", lambda plan: replace(plan, trust="nothing"), proves=True)
RULES = (ALONE, OUTSIDE, DEFAULT, STRICT)


class Fills:
    """The rectangles of a picture that a rule filled, as they are passed to `watch`. The picture is computed once."""

    def __init__(self) -> None:
        self._filled: list[tuple[slice, slice, int]] = []

    def watch(self, block: Block, corners: Words, proved: Words, answers: Words) -> None:
        """Note a level's rectangles (`border.Watch`)."""
        filled = answers != NO_COUNT
        # Where its count is not proved, a rectangle's edges were computed.
        edges = (proved[filled] == NO_COUNT).astype(np.int64)
        x0, y0, x1, y1 = corners[filled].astype(np.int64).T
        rows = np.stack([block.y + y0 + edges, block.y + y1 + 1 - edges], axis=1).tolist()
        columns = np.stack([block.x + x0 + edges, block.x + x1 + 1 - edges], axis=1).tolist()
        for row, column, count in zip(rows, columns, answers[filled].tolist(), strict=True):
            self._filled.append((slice(*row), slice(*column), count))

    def over(self, escape: Words) -> Words:
        """Return the counts of escape time with the rectangles filled: the picture by the rule."""
        counts = escape.copy()
        for rows, columns, count in self._filled:
            counts[rows, columns] = count
        return counts


def judged(escape: Words, counts: Words, fills: Fills) -> tuple[int, Validation]:
    """Return how many pixels the rule has wrong, and whether the device did what the rule says at every pixel.

    `escape` are the counts of escape time, `counts` those by the rule, which has filled `fills`.
    """
    differing = int(np.count_nonzero(counts != fills.over(escape)))
    checked = "every pixel: filled ones against their rectangles, all others against escape time"
    return int(np.count_nonzero(counts != escape)), Validation(not differing, differing, checked)


@dataclass(frozen=True, slots=True)
class Measure:
    """The comparison for rules: the counts of escape time on a device, and its row."""

    counts: Words
    row: Row


def by_rule(bench: Bench, device: Device, job: Job, rule: DivisionRule, measure: Measure | None, row: Row) -> Row:
    """Return the row of a job that is traced by a rule: its times, and what the rule has wrong beside escape time.

    The row is `ok` where the device did what the rule says, whatever that is worth. Raises DeviceError if escape
    time has no counts to compare with.
    """
    if measure is None:
        raise DeviceError("escape time has no counts here to compare with")
    room = min(device.max_alloc_bytes // 4, device.memory_bytes // 16)
    settings = Settings(block_pixels=max(1, room))  # a rectangle is no larger than its block
    timed = Timed(job, device, settings, bench.cancel, kind=rule.traced)
    found: dict[str, Value] = {}

    def check(counts: Words) -> Validation:
        if measure.row.validation != "ok":
            return Validation(False, measure.row.differing_pixels, "the counts of escape time are wrong here")
        fills = Fills()
        watched = replace(settings, watch=fills.watch)
        Timed(job, device, watched, bench.cancel, kind=rule.traced).run()
        wrong, validation = judged(measure.counts, counts, fills)
        if validation.ok:
            found["wrong_pixels"] = wrong
        return validation

    row = bench.measured(row, timed, timed, check)
    found["computed"] = 1 - timed.filled / job.view.pixels
    for name, theirs, mine in (
        ("speed_up", measure.row.compute_s, row.compute_s),
        ("wall_speed_up", measure.row.wall_s, row.wall_s),
    ):
        if theirs and mine:
            found[name] = theirs.median / mine.median
    return with_extra(row, **found)
