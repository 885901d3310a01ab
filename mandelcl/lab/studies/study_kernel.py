"""Kernels of studies: whole pictures of counts, by other loops than a render's."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.lab.studies.timing import TimingSample, picture_memory
from mandelcl.opencl import texts
from mandelcl.opencl.api import Shape, event_seconds
from mandelcl.opencl.arguments import KERNELS, arguments, declared
from mandelcl.opencl.device import Device

_LAUNCH_S = 0.1  # a launch that takes a display no longer than this wakes no watchdog
_GROWTH = 4


@dataclass(frozen=True, slots=True)
class Launch:
    """The work-items of a launch over some rows, and those of a work-group (None: as the driver likes)."""

    size: Shape
    local: Shape | None = None


class StudyKernel:
    """A job's counts by one of the studies' kernels on one device; `counts` holds the last run's.

    The job must be resolved, and its number float or double. `launch(rows)` says how so many rows, at most `most_rows`,
    are launched. Raises DeviceError if the device has no such number. `check` is called after each launch and may
    raise.
    """

    def __init__(
        self,
        name: str,
        job: Job,
        device: Device,
        check: Callable[[], None],
        launch: Callable[[int], Launch],
        defines: Mapping[str, int],
        options: Sequence[str] = (),
        most_rows: int | None = None,
    ) -> None:
        number = by_name(job.number)
        if not number.is_native or (number.needs_fp64 and not device.fp64):
            raise DeviceError(f"{device.label} has no {job.number}")
        self.job, self._name, self._device, self._check, self._launch_of = job, name, device, check, launch
        text = texts.assemble(
            (*number.parts(double_digits=True), f"{name}.cl"), {"SMOOTH_RADIUS_SQUARED": 4, **defines}
        )
        started = time.perf_counter()
        self._kernel = declared(device.build(text, tuple(options)), name)
        self.build_s = time.perf_counter() - started
        view = job.view
        values = (view.lattice.re, view.lattice.im, view.pitch, job.radius_squared)
        self._view = device.upload(np.concatenate([number.encode(value) for value in values]))
        self._results = device.allocate(4 * view.pixels)
        self._most_rows = min(view.height, most_rows or view.height)
        self._rows = 0  # of a launch; not known before the first
        self.counts: Words = picture_memory(device, job)

    def rate(self) -> float:
        """Return iterations a second, roughly and not too high: of the middle rows, which the set fills most.

        So many rows as are launched at once are found out here, too.
        """
        height, most, rows = self.job.view.height, self._most_rows, 1
        self._enqueue(height // 2, 1)  # some drivers compile on the first launch
        while True:
            first = (height - rows) // 2
            seconds = self._enqueue(first, rows)
            if rows == most or seconds * _GROWTH > _LAUNCH_S:
                break
            rows = min(most, _GROWTH * rows)
        self._rows = rows
        self._fetch()
        return float(max(1, self.counts[first : first + rows].sum(dtype=np.uint64))) / seconds

    def run(self) -> TimingSample:
        """Compute all counts once."""
        if not self._rows:
            self.rate()
        height, rows = self.job.view.height, self._rows
        started = time.perf_counter()
        seconds = [self._enqueue(top, min(rows, height - top)) for top in range(0, height, rows)]
        copied = self._fetch()
        return TimingSample(sum(seconds), copied, time.perf_counter() - started, len(seconds), max(seconds))

    def _enqueue(self, top: int, rows: int) -> float:
        """Compute some rows and return the seconds."""
        view = self.job.view
        values = {"view_words": self._view, "offset": (-view.lattice.column, view.lattice.row)}
        values |= {
            "size": (view.width, view.height),
            "first_row": top,
            "rows": rows,
            "max_iterations": self.job.iterations,
        }
        values["counts"] = self._results
        kernel_arguments = arguments(self._name, {name: values[name] for name in KERNELS[self._name]})
        launch = self._launch_of(rows)
        started = time.perf_counter()
        event = self._device.launch(self._kernel, launch.size, launch.local, *kernel_arguments)
        self._device.wait(event)
        seconds = event_seconds(event)
        self._check()
        return time.perf_counter() - started if seconds is None else seconds

    def _fetch(self) -> float:
        started = time.perf_counter()
        self._device.wait(self._device.fetch(self._results, self.counts))
        return time.perf_counter() - started
