"""What views a little deeper, or less deep, will need of a device: built in a thread of its own before they are there.

A zoom that is held comes to another number, and to perturbation, and their kernels take a second to build. What is
built is a program's text alone: tests and measurements of a device are not for moments at which it is busy. But the
first views do without what makes fractions on the device, which is built and, once for a driver, tested here.
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
from mandelcl.engine import selftest, smoothing
from mandelcl.engine.building import build, loop_text
from mandelcl.engine.choose import variants_of
from mandelcl.engine.device_class import DeviceClass
from mandelcl.engine.kernels import shaped
from mandelcl.engine.resolve import resolve
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Device

# A wheel that is held makes two octaves a second.
_OCTAVES = (*range(1, 9), *range(-1, -5, -1))
_ORBITS = ("block", "survivors")  # the kernels that every picture takes by escape time


class BuildPrefetcher:
    """Builds for views beside those that it is told of: of several that wait, for the last."""

    def __init__(self) -> None:
        self._looks: queue.Queue[tuple[Job, Device]] = queue.Queue()
        self._last: tuple[Any, ...] = ()
        self._thread: threading.Thread | None = None

    def look(self, job: Job, device: Device) -> None:
        """Build what is needed around a view, a job as it was asked for; returns at once."""
        octave = floor_log2(max(abs(entry) for entry in job.view.lattice.matrix))
        here = device, octave, job.iterations.bit_length(), job.formula, job.number, job.rounding, job.planes
        if here == self._last:
            return
        self._last = here
        self._looks.put((job, device))
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="mandelcl building ahead", daemon=True)
            self._thread.start()

    def join(self) -> None:
        """Return when all is built."""
        self._looks.join()

    def _work(self) -> None:
        while True:
            job, device = self._looks.get()
            with suppress(MandelclError):  # then the host makes them
                smoothing.smoothed(device, job)
            for octaves in _OCTAVES:
                if not self._looks.empty():
                    break  # the view has moved on
                with suppress(MandelclError):  # which the view will be told that comes to it
                    for text in texts(zoomed(job, octaves), device):
                        if text not in device.programs:
                            build(device, text)
            self._looks.task_done()


def zoomed(job: Job, octaves: int) -> Job:
    """Return a job as it will be asked for so many octaves deeper, or, below 0, less deep."""
    view, factor = job.view, Fraction(2) ** -octaves
    a, b, c, d = (entry * factor for entry in view.lattice.matrix)
    deeper = View(replace(view.lattice, matrix=(a, b, c, d)), view.width, view.height)
    if job.number == "auto":
        return replace(job, view=deeper, reference=None, method="auto")
    return replace(job, view=deeper, reference=None)


def texts(job: Job, device: Device) -> list[str]:
    """Return the texts to build for a job on a device: those of self-tests that are still to be run, and its kernels'.

    Before a self-test, the kernels are those of a device that passes it well. Nothing is computed. Raises what
    `resolve` does.
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
