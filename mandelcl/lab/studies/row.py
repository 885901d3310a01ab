"""The row of a study's table, and its times."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from mandelcl.opencl.device import Device

Value = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Times:
    """The times of the repeats of a measurement, in seconds."""

    min: float
    median: float
    max: float
    mean: float

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Self:
        """Return the times of at least one repeat."""
        return cls(min(seconds), statistics.median(seconds), max(seconds), statistics.fmean(seconds))


@dataclass(frozen=True, slots=True)
class Row:
    """A case on a device: its measurement, or why there is none.

    `kernel_s` is device events, all launches of a run together; `wall_s` is from the call to the counts in the host's
    memory, kernels being built and memory kept from the run before. `compute_s` is from the first call that enqueues
    to the end of the last kernel, all round trips of the host included, in runs whose counts stay on the device: most
    studies do not measure it. `build_s` is the first build, `copy_s` the median of what the copies back took.
    `samples` is how many runs were timed; the first run is not among them. `clock` says so where the device's clock
    is coarse or of no use. `validation` is `ok`, `WRONG` (then `differing_pixels`, None if only a checksum says
    so) or empty if nothing was computed; `checked` is how. `error` is empty unless there is nothing to show.
    `extra` holds the study's own values. `machine` tells the machines of a merged table apart; it is empty in others.
    """

    case: str
    spec: str
    device: str
    platform: str
    driver: str
    runtime: str
    type: str
    samples: int = 0
    kernel_s: Times | None = None
    wall_s: Times | None = None
    compute_s: Times | None = None
    build_s: float | None = None
    copy_s: float | None = None
    launches: int | None = None
    longest_launch_ms: float | None = None
    mpix_s: float | None = None
    giter_s: float | None = None
    clock: str = ""
    validation: str = ""
    differing_pixels: int | None = None
    checked: str = ""
    error: str = ""
    extra: Mapping[str, Value] = field(default_factory=dict)
    machine: str = ""

    @classmethod
    def of(cls, device: Device, case: str, extra: Mapping[str, Value]) -> Self:
        """Return the row of a case and a device before anything is measured."""
        runtime = str(device.handle.platform.version).strip()
        return cls(
            case, device.spec, device.name, device.platform, device.driver, runtime, device.type, extra=dict(extra)
        )
