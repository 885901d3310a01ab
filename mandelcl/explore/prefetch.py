"""Prebuild the kernels that slightly deeper or less deep views will need, in a separate thread.

A continued zoom eventually needs another number format, or perturbation, whose kernels take a second to build. Only
the program is built: tests and measurements would disturb a busy device. One exception: the first views do without the
kernel that makes fractions on the device, so that kernel is built here and, once per driver, tested.
"""

import queue
import threading
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

from mandelcl.base.errors import MandelclError
from mandelcl.base.exact import floor_log2
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine import selftest, smoothing
from mandelcl.engine.choose import variants_of
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.job_text import loop_text
from mandelcl.engine.kernels import shaped
from mandelcl.engine.resolve import resolve
from mandelcl.opencl.building import build
from mandelcl.opencl.device import Device

# Continuous zooming covers two octaves per second.
_OCTAVES = (*range(1, 9), *range(-1, -5, -1))
_DEEP = -120  # far below the last octave that a number resolves directly
_ORBITS = ("block", "survivors")  # the kernels that every escape-time picture needs


class BuildPrefetcher:
    """Prebuilds kernels for views near a given one. If several are waiting, only the last one counts."""

    def __init__(self) -> None:
        self._looks: queue.Queue[tuple[Job, Device]] = queue.Queue()
        self._last: tuple[Any, ...] = ()
        self._thread: threading.Thread | None = None

    def look(self, job: Job, device: Device) -> None:
        """Prebuild kernels around a view, given by its unresolved job. Returns at once."""
        octave = floor_log2(max(abs(entry) for entry in job.view.lattice.matrix))
        if job.formula.perturbable and job.number == "auto":
            octave = max(octave, _DEEP)  # deeper views need the same kernels
        here = device, octave, job.iterations.bit_length(), job.formula, job.number, job.rounding, job.planes
        if here == self._last:
            return
        self._last = here
        self._looks.put((job, device))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="mandelcl building ahead", daemon=True)
            self._thread.start()

    def join(self) -> None:
        """Wait until everything is built."""
        self._looks.join()

    def _work(self) -> None:
        while True:
            job, device = self._looks.get()
            with suppress(MandelclError):  # on failure, the host makes the fractions
                smoothing.smoothed(device, job)
            for octaves in _OCTAVES:
                if not self._looks.empty():
                    break  # the view has moved on
                with suppress(MandelclError):  # a view that needs the kernel will report the error
                    for text in texts(zoomed(job, octaves), device):
                        if text not in device.programs:
                            build(device, text)
            self._looks.task_done()


def zoomed(job: Job, octaves: int) -> Job:
    """Return the job of a view `octaves` deeper, or less deep if negative."""
    view, factor = job.view, Fraction(2) ** -octaves
    a, b, c, d = (entry * factor for entry in view.lattice.matrix)
    deeper = View(replace(view.lattice, matrix=(a, b, c, d)), view.width, view.height)
    if job.number == "auto":
        return replace(job, view=deeper, reference=None, method="auto")
    return replace(job, view=deeper, reference=None)


def texts(job: Job, device: Device) -> list[str]:
    """Return the texts to build for a job on a device: pending self-tests and the job's kernels.

    Before a self-test, the kernels are those of a device that passes all of it. Nothing is computed. Raises the errors
    of `resolve`.
    """
    of = DeviceClass.of(device, lambda number: bool(selftest.known_slow_fma(device, number)))
    resolved = resolve(job, [of]).job
    number, rounding = by_name(resolved.number), resolved.rounding
    variants = variants_of(number, device)
    results = [(variant, selftest.known(device, number, rounding, variant, job.formula)) for variant in variants]
    tests = [
        selftest.source_text(number, rounding, variant, job.formula) for variant, result in results if result is None
    ]
    found = [(result.passed, result.speed, variant) for variant, result in results if result is not None]
    variant = variants[0] if tests else max(found, key=lambda one: one[:2])[2]
    return tests + [loop_text(resolved, shaped(variant, resolved), orbits) for orbits in _ORBITS]
