"""Measure which shape of the kernels is fastest on a device, and store it.

The search begins with the shape of the device's class and changes one choice at a time, keeping the best value of each
for the next. A shape that gives different counts is never taken: tuning changes no result.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.names import TUNING_S
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.numbers import NumberFormat
from mandelcl.engine import rate, selftest
from mandelcl.engine.device_output import fresh
from mandelcl.engine.program import Execution, Program
from mandelcl.engine.variant import Variant, forget, remember, suited
from mandelcl.opencl.device import Device

_ITERATIONS = 1000
_LAUNCH_S = 0.03
_MEAN_COUNT = 170  # of the picture that is measured
_SIDES = (64, 4096)
_REPEATS = 5
_LEAST_GAIN = 1.02  # less is noise

Choices = dict[str, tuple[tuple[int, ...], ...]]  # names of choices that belong together, and values for them
_CPU_CHOICES: Choices = {
    "vectors": ((3,), (4,), (5,), (6,), (8,)),
    "stride unrolled": ((16, 4), (16, 8), (24, 4), (32, 4), (32, 8)),
    "lanes lane_columns": ((16, 4), (8, 4), (8, 2), (4, 2)),
    "local_columns local_rows": ((1, 1), (1, 4), (4, 1)),
}
_DIGITS_CHOICES: Choices = {
    "vectors": ((1,), (2,), (3,), (4,)),
    "stride unrolled": ((16, 1), (16, 2), (16, 4)),
    "local_columns local_rows": ((1, 1), (8, 4), (8, 8), (8, 16)),
}
_GPU_CHOICES: Choices = {
    "vectors stride unrolled": (
        *((1, 16, 16), (1, 32, 32), (1, 64, 64), (1, 96, 96)),
        *((2, 64, 32), (3, 64, 16), (3, 96, 16), (4, 64, 16)),
    ),
    "local_columns local_rows": ((8, 4), (8, 8), (8, 16), (16, 8), (8, 32), (32, 4)),
}


@dataclass(frozen=True, slots=True)
class Tuned:
    """What tuning found: the shape, its iterations a second and those of the class's shape, and what was tried."""

    variant: Variant
    rate: float
    class_rate: float
    tried: int
    seconds: float

    @property
    def gain(self) -> float:
        """How many times faster than the class's shape it is."""
        return self.rate / self.class_rate


def tune(
    device: Device,
    number: NumberFormat,
    *,
    seconds: float = TUNING_S,
    progress: Callable[[Variant, float | None], None] | None = None,
) -> Tuned:
    """Return the fastest shape found in `seconds`, and remember it for later runs.

    `progress` is called with each shape tried and its iterations a second; None if it does not work on the device.
    Raises DeviceError if the device fails its self-test.
    """
    started = time.perf_counter()
    forget(device, number)
    class_variant = suited(device, number).variant
    bench = _Bench(device, number, class_variant)
    class_rate = bench.rate(class_variant)
    best = [(class_rate, class_variant)]
    if progress:
        progress(class_variant, class_rate)
    choices = _DIGITS_CHOICES if number.has_digits else _CPU_CHOICES if class_variant.lanes > 1 else _GPU_CHOICES
    for candidate in _candidates(class_variant, choices, lambda: best[-1][1]):
        if time.perf_counter() - started > seconds:
            break
        rate_found = bench.rate(candidate)
        if progress:
            progress(candidate, rate_found or None)
        if rate_found > best[-1][0] * _LEAST_GAIN:
            best.append((rate_found, candidate))
    best_rate, variant = best[-1]
    if variant != class_variant:
        remember(device, number, variant)
    return Tuned(variant, best_rate, class_rate, bench.tried, time.perf_counter() - started)


def _candidates(class_variant: Variant, choices: Choices, best: Callable[[], Variant]) -> Iterator[Variant]:
    """Yield shapes that differ from the best so far in one choice, each once."""
    seen = {class_variant}
    for names, values in choices.items():
        for value in values:
            changes: dict[str, Any] = dict(zip(names.split(), value, strict=True))
            candidate = replace(best(), **changes)
            if candidate not in seen and candidate.lanes <= class_variant.lanes:
                seen.add(candidate)
                yield candidate


class _Bench:
    """Times a picture of the whole set, without shortcuts, on one device."""

    def __init__(self, device: Device, number: NumberFormat, class_variant: Variant) -> None:
        rounding = number.roundings[1 if selftest.slow_fma(device, number) else 0]
        result = selftest.result(device, number, rounding, class_variant)
        if not result.passed:
            raise DeviceError(f"{device.label} fails its self-test: {result.reason}")
        self._device, self._loop_limit = device, result.loop_limit
        self.tried = 0
        self._counts: Words | None = None
        self._job = _job(number, rounding, _SIDES[0])
        if (
            program := Program(device, self._job, class_variant, Execution(loop_limit=result.loop_limit))
        ).most_strides < program.strides:
            raise DeviceError(f"{device.label} stops long loops, which leaves nothing to tune")
        side = (self._speed(class_variant) * _LAUNCH_S / _MEAN_COUNT) ** 0.5
        self._job = _job(number, rounding, max(_SIDES[0], min(_SIDES[1], int(side))))

    def _speed(self, class_variant: Variant) -> float:
        return rate.iterations_per_second(
            Program(self._device, self._job, class_variant, Execution(loop_limit=self._loop_limit))
        )

    def rate(self, variant: Variant) -> float:
        """Return useful iterations a second; 0 where the shape does not build, run, or give the same counts."""
        self.tried += 1
        view = self._job.view
        try:
            execution = Execution(shortcuts=False, loop_limit=self._loop_limit)
            program = Program(self._device, self._job, variant, execution)
            block, memory = Block(0, 0, view.width, view.height), program.allocate(view.pixels, view.width)
            seconds = []
            for _ in range(_REPEATS + 1):
                ready = time.perf_counter()
                launch = program.launch_block(memory, block, 0, view.height, program.strides)
                launch.wait(self._device)
                seconds.append(launch.seconds(ready))
            results, copied = memory.read_results(block, fresh, guarded=False)
            self._device.wait(copied)
        except DeviceError:
            return 0.0
        if self._counts is None:
            self._counts = results
        elif not np.array_equal(results, self._counts):
            return 0.0
        return float(results.sum(dtype=np.uint64)) / min(seconds[1:])


def _job(number: NumberFormat, rounding: str, side: int) -> Job:
    view = View.centred(Fraction(-1, 2), Fraction(0), Fraction(4, 3), side, side)
    return Job(view, _ITERATIONS, number=number.name, rounding=rounding, method="direct")
