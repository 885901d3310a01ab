"""The device output of counts with smooth fractions, with the host's bits. Known answers test it before use.

On the host it takes as long as a quick view takes to compute.
"""

from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mandelcl.base import smooth
from mandelcl.base.errors import DeviceError
from mandelcl.base.smooth import logarithms
from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, SMOOTH, Values, values_of
from mandelcl.engine import verdicts
from mandelcl.engine.device_output import KernelOutput
from mandelcl.opencl import texts
from mandelcl.opencl.api import Buffer
from mandelcl.opencl.building import build
from mandelcl.opencl.device import Device

_PLANES = (COUNTS.name, SMOOTH.name)


class Smoothed(KernelOutput):
    """A job's counts and smooth fractions: 2 × rows × columns words, those of the fractions their bits."""

    dtype: np.dtype[Any] = np.dtype(np.uint32)
    pixel_bytes = 8
    kernel_name = "smooth"
    row_axis = 1

    def __init__(self, device: Device, job: Job) -> None:
        super().__init__(device)
        self._job = job

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return 2 × rows × columns."""
        return 2, rows, columns

    def arguments_for(self, block: Block, made: Buffer) -> dict[str, Any]:
        """Return the kernel's arguments but for the results."""
        values = {"max_iterations": self._job.iterations, "logarithms": self._logarithms}
        return {"total": block.pixels, **values, "values": made}

    def values(self, delivered: Words) -> dict[str, Values]:
        """Return the values of each plane, by name, as `values_of` would: they view what was delivered."""
        return {COUNTS.name: delivered[0], SMOOTH.name: delivered[1].view(np.float32)}

    def text(self) -> str:
        """Return the source text of the kernel."""
        first = self._job.first_words
        defines = {"LANES": self._lanes, "USE_FP64": 0}
        defines |= {"PLANE_COUNTS": first[COUNTS.name], "PLANE_SMOOTH": first[SMOOTH.name]}
        return texts.assemble(("chords.cl", "fraction.cl", "smooth.cl"), defines)

    @cached_property
    def _logarithms(self) -> Buffer:
        return self._device.upload(logarithms(self._job.formula.degree).words())


def smooths(job: Job) -> bool:
    """Return whether the form is for a job: counts and smooth fractions are all that is kept, in two words."""
    return job.planes == _PLANES and job.counts.words == 1 and len(set(job.formula.degrees)) == 1


def gains(device: Device) -> bool:
    """Return whether a device makes values sooner than the host; a CPU without vectors of its own does not."""
    return not device.shares_memory or device.vector_width(False) > 1


def ready(device: Device, job: Job) -> Smoothed | None:
    """Return the result of `smoothed`, or None if it has not been called in this process."""
    form = Smoothed(device, job) if smooths(job) and gains(device) else None
    return form if form is not None and verdicts.known_to_pass(form.key(_own_text())) else None


def smoothed(device: Device, job: Job) -> Smoothed | None:
    """Return the form of a job's counts and smooth fractions; None where the device does not give the host's bits.

    That is tested with the kernel that the job takes, and remembered by device, driver and source text; the kernel is
    built. None, too, where nothing is gained.
    """
    if not smooths(job) or not gains(device):
        return None
    form = Smoothed(device, job)
    try:
        build(device, form.text())  # before `ready` knows of it
    except DeviceError:
        return None
    passes = form.passes(_own_text(), "test of smooth fractions", lambda: _gives_answers(device, job))
    return form if passes else None


def _gives_answers(device: Device, job: Job) -> bool:
    """Return whether a device's values are the host's."""
    from mandelcl.engine.shading_answers import cases  # with numpy.random

    for like, results in cases(job):
        form = Smoothed(device, like)
        found, expected = form.values(form.made_of_rows(results)), values_of(like.planes, results, like.facts)
        if not all(found[name].tobytes() == expected[name].tobytes() for name in _PLANES):
            return False
    return True


@cache
def _own_text() -> str:
    own = Path(__file__)
    return verdicts.text_of((own, own.with_name("shading_answers.py"), smooth.__file__))
