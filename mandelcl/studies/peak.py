"""The ceiling: how many multiply-adds a second a device does when it does nothing else."""

import time

from mandelcl.engine import source
from mandelcl.engine.arguments import arguments
from mandelcl.engine.variant import default_variant
from mandelcl.numbers import NumberFormat
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of

_CHAINS = 12
_LAUNCHES = 12
_LONG_ENOUGH_S = 0.02
_TOO_LONG_S = 0.5


def multiply_adds(device: Device, number: NumberFormat, rounding: str = "fused") -> float:
    """Return multiply-adds a second in a rounding, all lanes together: independent chains, the best of some launches.

    Raises DeviceError where the device cannot do them.
    """
    lanes = default_variant(device, number).lanes
    defines = {"LANES": lanes, "USE_FP64": int(number.needs_fp64), "ROUNDING_FUSED": int(rounding == "fused")}
    defines |= {"SMOOTH_RADIUS_SQUARED": 1, "CHAINS": _CHAINS}
    text = source.assemble((*number.parts(double_digits=True), "study_peak.cl"), defines)
    kernel = kernel_of(device.build(text), "study_peak")
    items = device.compute_units * (8 if lanes > 1 else 2048)
    out = device.allocate(4 * items)
    best, steps = 0.0, 256
    for _ in range(_LAUNCHES):
        started = time.perf_counter()
        device.wait(
            device.launch(
                kernel, (items,), (1,) if lanes > 1 else None, *arguments("study_peak", {"out": out, "steps": steps})
            )
        )
        seconds = time.perf_counter() - started
        best = max(best, items * lanes * _CHAINS * steps / seconds)
        if seconds < _LONG_ENOUGH_S:
            steps *= 2
        elif seconds > _TOO_LONG_S:
            break
    return best
