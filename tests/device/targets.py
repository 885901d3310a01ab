"""What device tests run on: every device found, every number, every rounding."""

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from _pytest.mark.structures import ParameterSet

from mandelcl.base.words import Words
from mandelcl.core.block import Block, whole_of
from mandelcl.core.job import Job
from mandelcl.core.numbers import NUMBERS, NumberFormat, by_name
from mandelcl.core.report import LaunchLog
from mandelcl.engine import selftest
from mandelcl.engine.device_output import fresh
from mandelcl.engine.loop import border, escape
from mandelcl.engine.loop.schedule import BlockQueue, LaunchPlan, Pace
from mandelcl.engine.loop.subdivision import LEAST_SIDE
from mandelcl.engine.loop.subdivision import DivisionPlan as Division
from mandelcl.engine.program import Execution, Program
from mandelcl.engine.variant import Variant
from mandelcl.opencl.device import Device, discover
from tests import oracle
from tests.oracle import fixed
from tests.oracle.formats import FORMATS
from tests.queues import tiled

_SHORT = {"portable computing language": "pocl"}


@dataclass(frozen=True)
class Target:
    """A device and the arithmetic to run on it."""

    device: Device
    number: NumberFormat
    rounding: str

    def job(self, view: Any, iterations: int, **settings: Any) -> Job:
        """Return a job in this arithmetic, by default with the direct method."""
        return Job(view, iterations, number=self.number.name, rounding=self.rounding, **{"method": "direct"} | settings)

    @property
    def flushes(self) -> bool:
        """Whether the self-test found that denormals are lost here."""
        return not selftest.result(self.device, self.number, self.rounding).denormals


def direct(job: Job) -> Job:
    """Return a job with the direct method, if it leaves its method open: programs take resolved jobs alone."""
    return replace(job, method="direct") if job.method == "auto" else job


def oracle_follows(number: NumberFormat) -> bool:
    """Return whether the oracle computes in this number: the one place that decides which are compared."""
    return number.name in FORMATS


@cache
def _found() -> tuple[Device, ...]:
    return tuple(discover())


def name_of(device: Device) -> str:
    """Return a short name for test ids: `intel`, `pocl`; with its spec where two would be the same."""
    names = [_SHORT.get(found.platform.lower()) or re.split(r"\W", found.platform.lower())[0] for found in _found()]
    own = names[[found.spec for found in _found()].index(device.spec)]
    return f"{own}{device.spec}" if names.count(own) > 1 else own


def devices() -> list[ParameterSet]:
    """Return every device, as a test's parameter."""
    return [pytest.param(device, id=name_of(device)) for device in _found()]


def first() -> Device:
    """Return the first device, of those with double if there are any."""
    return min(_found(), key=lambda device: (not device.fp64, device.spec))


def targets() -> list[ParameterSet]:
    """Return every device × IEEE number × rounding, as parameters; what cannot run is a skip that says why.

    Fixed point has an oracle of its own, and tests of its own: test_fixed.py, test_fixed_pictures.py.
    """
    every = []
    for device in _found():
        for number in filter(oracle_follows, NUMBERS.values()):
            for rounding in number.roundings:
                marks = [pytest.mark.skip(reason=reason) for reason in _lacking(device, number)]
                name = f"{name_of(device)}-{number.name}-{rounding}"
                every.append(pytest.param(Target(device, number, rounding), id=name, marks=marks))
    return every


def _lacking(device: Device, number: NumberFormat) -> list[str]:
    if number.needs_fp64 and not device.fp64:
        return [f"{name_of(device)} has no double precision"]
    return []


@cache
def expected(job: Job) -> Words:
    """Return the oracle's counts of a job in any number; each is computed once for all devices."""
    return oracle.counts(job) if job.number in FORMATS else fixed.counts(job)


class SetPace(Pace):
    """A pace that a test sets: `rows` of fresh orbits a launch, and `strides` of iterations, over and over."""

    def __init__(self, rows: tuple[int, ...], strides: tuple[int, ...]) -> None:
        super().__init__(1.0, 1.0, 1)
        self._rows, self._strides, self._launches = rows, strides, 0

    def _turn(self, values: tuple[int, ...], most: int) -> int:
        self._launches += 1
        return max(1, min(most, values[self._launches % len(values)]))

    def first(self, width: int, rows: int, strides: int, stride: int) -> LaunchPlan:  # noqa: ARG002 - as Pace has it
        return LaunchPlan(self._turn(self._rows, rows), self._turn(self._strides, strides))

    def next(self, previous: int, seconds: float, strides: int) -> int:  # noqa: ARG002 - as Pace has it
        return self._turn(self._strides, strides)

    def learn(self, orbit_strides: float, stride: int, seconds: float) -> None:
        pass


ALL_AT_ONCE = SetPace((1 << 30,), (1 << 30,))


def planes(
    job: Job,
    device: Device,
    variant: Variant | None = None,
    block: tuple[int, int] | None = None,
    pace: Pace = ALL_AT_ONCE,
) -> tuple[Words, int]:
    """Return the raw results (words, height, width) of a job in blocks of a shape, and the number of launches."""
    limit = selftest.result(device, by_name(job.number), job.rounding, formula=job.formula).loop_limit
    program, log, view = Program(device, direct(job), variant, Execution(loop_limit=limit)), LaunchLog(), job.view
    results = np.full((job.words, view.height, view.width), 0xDEADBEEF, np.uint32)
    blocks = tiled([whole_of(view)], *(block or (view.width, view.height)))
    for done, words in escape.run(program, blocks, pace, log):
        results[place(done)] = words
    return results, len(log.seconds)


def place(block: Block) -> tuple[slice, slice, slice]:
    """Return where a block's results lie among a picture's."""
    return np.s_[:, block.y : block.y + block.height, block.x : block.x + block.width]


def traced(
    job: Job,
    device: Device,
    plan: Division,
    variant: Variant | None = None,
    block: tuple[int, int] | None = None,
    pace: Pace = ALL_AT_ONCE,
    clear: bool = True,
) -> tuple[Words, border.Traced, int]:
    """Return the raw results of a job by border tracing, what tracing came to, and the number of launches.

    With `clear` the memory that the results are made in holds no count beforehand, so none can be right by chance.
    """
    limit = selftest.result(device, by_name(job.number), job.rounding, formula=job.formula).loop_limit
    program, log, view = Program(device, direct(job), variant, Execution(loop_limit=limit)), LaunchLog(), job.view
    width, height = block or (view.width, view.height)
    results = np.full((job.words, view.height, view.width), 0xDEADBEEF, np.uint32)
    tracer = border.Tracer(program, program.allocate(width * height, 1), pace, log, plan)
    for part in tiled([whole_of(view)], width, height):
        if min(part.width, part.height) < LEAST_SIDE:
            ((_, words),) = border.run(program, BlockQueue.of([part]), pace, log, plan)
        else:
            if clear:
                device.clear(tracer.memory.results, 4 * job.words * width * height)
            filled = tracer.trace(part)
            assert 0 <= filled <= part.pixels
            words, copied = tracer.memory.read_results(part, fresh, guarded=False)
            device.wait(copied)
        results[place(part)] = words
    return results, tracer.traced, len(log.seconds)
