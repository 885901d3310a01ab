"""Measure properties that a device does not report, with the kernels of a self-test (cl/selftest.cl)."""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from mandelcl.core.numbers import FP128, NumberFormat
from mandelcl.opencl.api import BuiltProgram, Kernel
from mandelcl.opencl.arguments import arguments
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of

_SPEED_TARGET_S = 2e-3
_SOFTWARE_FMA = 6.0
_TRIALS = 3
_LOOP_TRIED = 1 << 17

# Launches a kernel for a number of steps, and returns the seconds that it took.
Launcher: TypeAlias = Callable[[int], float]


def chains(number: NumberFormat) -> int:
    """Return how many chains the speed test has: the unrolled code of wide numbers takes long to compile."""
    return 4 if number.words <= FP128.words else 1


def speed(device: Device, program: BuiltProgram, number: NumberFormat, lanes: int) -> float:
    """Return the steps a second of all lanes of a kernel."""
    steps, seconds = _long_enough(_launcher(device, program, "selftest_speed", number, lanes))
    return _items(device, lanes) * lanes * chains(number) * steps / seconds


def slow_fma(device: Device, program: BuiltProgram, number: NumberFormat, lanes: int) -> bool:
    """Return whether a device's fma, in rounding `fused`, must be software."""
    kinds = ("fma", "sum")
    return is_software(*(_launcher(device, program, f"selftest_{kind}_chains", number, lanes) for kind in kinds))


def is_software(fma: Launcher, sums: Launcher) -> bool:
    """Return whether fma takes so much longer than a product and a sum that it must be software.

    In hardware it takes 0.5 to 1.4 times as long, in software 25 to 200 times. The answer decides how `auto` rounds, so
    it must not depend on what else the device is doing: one launch that is fast enough is proof.
    """
    steps = max(1, _long_enough(sums)[0] // 4)  # fewer are enough: in software they take much longer
    quickest = min(sums(steps) for _ in range(_TRIALS))
    fma(1)
    return all(fma(steps) > _SOFTWARE_FMA * quickest for _ in range(_TRIALS))


def loop_limit(device: Device, kernel: Kernel) -> int:
    """Return the number of iterations after which the driver stops a loop; 0 if it does not."""
    made = np.zeros(1, np.uint32)
    limit, output = device.upload(np.array([_LOOP_TRIED, 0], np.uint32)), device.allocate(4)
    device.launch(kernel, (1,), (1,), *arguments("selftest_loop", {"in": limit, "out": output}))
    device.wait(device.read(output, made))
    return int(made[0]) if made[0] < _LOOP_TRIED else 0


def _launcher(device: Device, program: BuiltProgram, name: str, number: NumberFormat, lanes: int) -> Launcher:
    """Return a function that launches a kernel on the whole device, for a number of steps, and returns the seconds."""
    local = (1,) if lanes > 1 else None
    point = np.concatenate([number.encode(Fraction(n, 4)) for n in (-1, 1)])
    kernel = kernel_of(program, name)
    points, output = device.upload(point), device.allocate(4 * _items(device, lanes))

    def launch(steps: int) -> float:
        started = time.perf_counter()
        values = arguments(name, {"in": points, "out": output, "steps": steps})
        device.wait(device.launch(kernel, (_items(device, lanes),), local, *values))
        return time.perf_counter() - started

    return launch


def _items(device: Device, lanes: int) -> int:
    """Return how many work-items fill a device."""
    return device.compute_units * (4 if lanes > 1 else 512)


def _long_enough(launch: Launcher) -> tuple[int, float]:
    """Return a number of steps that takes long enough to be timed, and the least seconds that it took."""
    launch(1)  # some drivers compile on the first launch
    steps, seconds = 1, 0.0
    while seconds < _SPEED_TARGET_S and steps < 1 << 24:
        steps *= 4
        seconds = min(launch(steps) for _ in range(_TRIALS))
    return steps, seconds
