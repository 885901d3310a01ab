"""The speed of a built program if no orbit escapes. Launches are planned with it."""

import json
import math
import time
from collections.abc import Hashable

from mandelcl.core import timeline
from mandelcl.engine import source
from mandelcl.engine.program import Program
from mandelcl.files import cache

_TARGET_S = 2e-3
_MOST_STRIDES = 1 << 24
_MOST_TURNS = 64  # later, many orbits have escaped
_known: dict[Hashable, float] = {}  # of this process, in which texts and devices are few
_REPEATS = 5  # the best counts: a moment when the machine was busy must not be remembered


def iterations_per_second(program: Program) -> float:
    """Return iterations a second of a launch that fills the device with orbits that never escape.

    It is measured on c = 0 and remembered by device and kernel text, so it costs a few hundredths of a second, once.
    """
    text = program.kernels.text("block")
    device = program.device
    own = device.identity, device.compute_units, program.variant, text
    if own not in _known:
        rate = _remembered(program, text)
        if program.method.all_inside(program.job):
            return rate  # nothing was iterated
        _known[own] = rate
    return _known[own]


def _remembered(program: Program, text: str) -> float:
    device = program.device
    conditions = f"{program.variant}\nwhole work-groups, best of {_REPEATS}"
    key = source.digest(f"{device.identity}\n{device.compute_units}\n{conditions}\n{text}")
    remembered = cache.read_json("rates", key)
    if isinstance(remembered, float) and 0 < remembered < math.inf:
        return remembered
    with timeline.span("measure rate"):
        rate = _measure(program)
    if not program.method.all_inside(program.job):  # else nothing was iterated
        cache.write("rates", key, json.dumps(rate).encode())
    return rate


def _measure(program: Program) -> float:
    """Time launches of four times as many strides each until one is long enough for the clock, and that one again."""
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
    strides, seconds = 1, 0.0
    most = program.most_strides if program.execution.loop_limit else _MOST_STRIDES
    if program.method.by_turns:
        most = min(most, _MOST_TURNS)
    while seconds < _TARGET_S and 4 * strides <= most:
        strides *= 4
        seconds = timed(strides)
    if not seconds:
        return float(columns * rows)  # not even a few strides may be run at once, so nothing can be measured
    best = min(seconds, *(timed(strides) for _ in range(_REPEATS - 1)))
    return columns * rows * strides * program.variant.stride / (best or seconds)
