"""The speed of a built program if no orbit escapes, and the pace of launches that are planned with it."""

import json
import math
import time
from collections.abc import Hashable
from dataclasses import astuple, dataclass

from mandelcl.core import timeline
from mandelcl.engine.loop.schedule import Pace
from mandelcl.engine.program import Program
from mandelcl.files import cache
from mandelcl.opencl import texts

_TARGET_S = 2e-3
_LAUNCHES = 3  # a launch that is measured takes so many times as long as one of a single stride
_MOST_STRIDES = 1 << 24
_MOST_TURNS = 64  # later, many orbits have escaped
_known: dict[Hashable, "_Speed"] = {}  # of this process, in which texts and devices are few
_REPEATS = 5  # the best counts: a moment when the machine was busy must not be remembered


@dataclass(frozen=True, slots=True)
class _Speed:
    """Iterations a second, and the seconds that each launch takes besides: with some drivers, tens of milliseconds."""

    iterations_per_second: float
    launch_s: float


def iterations_per_second(program: Program) -> float:
    """Return iterations a second of a launch that fills the device with orbits that never escape.

    It is measured on c = 0 and remembered by device and kernel text, so it costs a few hundredths of a second, once.
    """
    return _speed(program).iterations_per_second


def pace(program: Program, budget: float) -> Pace:
    """Return the pace of launches of a program whose iterations take about `budget` seconds each."""
    speed = _speed(program)
    uneven = program.method.by_turns
    return Pace(budget, speed.iterations_per_second, program.saturation, uneven, speed.launch_s)


def _speed(program: Program) -> _Speed:
    text = program.kernels.text("block")
    device = program.device
    own = device.identity, device.compute_units, program.variant, text
    if own not in _known:
        speed = _remembered(program, text)
        if program.method.all_inside(program.job):
            return speed  # nothing was iterated
        _known[own] = speed
    return _known[own]


def _remembered(program: Program, text: str) -> _Speed:
    device = program.device
    conditions = f"{program.variant}\nwhole work-groups, best of {_REPEATS}, without the launch"
    key = texts.digest(f"{device.identity}\n{device.compute_units}\n{conditions}\n{text}")
    remembered = _read(cache.read_json("rates", key))
    if remembered is not None:
        return remembered
    with timeline.span("measure rate"):
        speed = _measure(program)
    if not program.method.all_inside(program.job):  # else nothing was iterated
        cache.write("rates", key, json.dumps(astuple(speed)).encode())
    return speed


def _read(remembered: object) -> _Speed | None:
    """Return a speed that was remembered; None if it is none."""
    match remembered:
        case [float(rate), float(launch_s)] if 0 < rate < math.inf and 0 <= launch_s < math.inf:
            return _Speed(rate, launch_s)
    return None


def _measure(program: Program) -> _Speed:
    """Time launches of four times as many strides each until one is long enough for the clock, and that one again.

    What launches of a single stride take is not counted, where that is long.
    """
    variant = program.variant
    columns_each, rows_each = variant.tile
    unit, rows = columns_each * variant.local_columns, rows_each * variant.local_rows
    columns = unit * -(-program.saturation // (unit * rows))  # whole work-groups: none has work-items without an orbit
    memory = program.allocate(columns * rows, columns)

    def timed(strides: int) -> float:
        ready = time.perf_counter()
        launch = program.launch_probe(memory, columns, rows, strides)
        launch.wait(program.device)
        return launch.seconds(ready)

    timed(1)  # some drivers compile on the first launch
    one = min(timed(1) for _ in range(_REPEATS))
    target = max(_TARGET_S, _LAUNCHES * one)
    strides, seconds = 1, 0.0
    most = program.most_strides if program.execution.loop_limit else _MOST_STRIDES
    if program.method.by_turns:
        most = min(most, _MOST_TURNS)
    while seconds < target and 4 * strides <= most:
        strides *= 4
        seconds = timed(strides)
    if not seconds:
        return _Speed(float(columns * rows), 0.0)  # not even a few strides may be run at once: nothing can be measured
    best = min(seconds, *(timed(strides) for _ in range(_REPEATS - 1))) or seconds
    # A moment in which the machine was busy may have made the launches of one stride long.
    one = min(one, best / 2)
    each = (best - one) / (strides - 1)
    return _Speed(columns * rows * program.variant.stride / each, max(0.0, one - each))
