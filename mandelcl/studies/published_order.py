"""The HPC report's own order of operations on a device: the one that its counts of differing pixels come from."""

import time
from collections.abc import Callable

import numpy as np

from mandelcl.engine import source
from mandelcl.engine.arguments import arguments, declared
from mandelcl.engine.variant import default_variant
from mandelcl.errors import DeviceError
from mandelcl.job import Job
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Device, event_seconds
from mandelcl.studies.timing import TimingSample
from mandelcl.words import Words

ORDER = "published"
_BAND_PIXELS = 1 << 18  # a launch on anything slow
_GPU_BAND_PIXELS = 1 << 22


class PublishedOrder:
    """A job's counts in that order, escape at |z|² > 4, on one device; `counts` holds the last run's.

    Raises DeviceError where the device has no such number. `check` is called after each launch and may raise.
    """

    def __init__(self, job: Job, device: Device, check: Callable[[], None]) -> None:
        number = by_name(job.number)
        if not number.is_native or (number.needs_fp64 and not device.fp64):
            raise DeviceError(f"{device.label} has no {job.number}")
        self.job, self._device, self._check = job, device, check
        self._lanes = default_variant(device, number).lanes
        defines = {"LANES": self._lanes, "USE_FP64": int(number.needs_fp64), "ROUNDING_FUSED": 1}
        parts = (*number.parts(double_digits=True), "study_published_order.cl")
        started = time.perf_counter()
        program = device.build(source.assemble(parts, defines | {"SMOOTH_RADIUS_SQUARED": 4}))
        self._kernel = declared(program, "study_published_order")
        self.build_s = time.perf_counter() - started
        view = job.view
        values = (view.lattice.re, view.lattice.im, view.pitch)
        self._view = device.upload(np.concatenate([number.encode(value) for value in values]))
        self._results = device.allocate(4 * view.pixels)
        self.counts: Words = np.zeros((view.height, view.width), np.uint32)

    def rate(self) -> float:
        """Return iterations a second, roughly and not too high: those of the middle row, which the set fills most."""
        middle = self.job.view.height // 2
        self._launch(middle, 1)  # some drivers compile on the first launch
        started = time.perf_counter()
        self._launch(middle, 1)
        seconds = time.perf_counter() - started
        self._fetch()
        return float(max(1, self.counts[middle].sum(dtype=np.uint64))) / seconds

    def run(self) -> TimingSample:
        """Compute all counts once."""
        view = self.job.view
        started = time.perf_counter()
        pixels = _GPU_BAND_PIXELS if self._device.type == "gpu" else _BAND_PIXELS
        rows = max(1, pixels // view.width)
        seconds = [self._launch(top, min(rows, view.height - top)) for top in range(0, view.height, rows)]
        copied = self._fetch()
        return TimingSample(sum(seconds), copied, time.perf_counter() - started, len(seconds), max(seconds))

    def _launch(self, top: int, rows: int) -> float:
        view = self.job.view
        values = {"view_words": self._view, "offset": (-view.lattice.column, view.lattice.row)}
        values |= {"size": (view.width, view.height), "first_row": top, "cap": self.job.iterations}
        kernel_arguments = arguments("study_published_order", values | {"counts": self._results})
        started = time.perf_counter()
        event = self._device.launch(self._kernel, (-(-view.width // self._lanes), rows), None, *kernel_arguments)
        self._device.wait(event)
        seconds = event_seconds(event)
        self._check()
        return time.perf_counter() - started if seconds is None else seconds

    def _fetch(self) -> float:
        started = time.perf_counter()
        self._device.wait(self._device.fetch(self._results, self.counts))
        return time.perf_counter() - started
