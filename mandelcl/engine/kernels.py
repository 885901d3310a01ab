"""The kernels of a job: their shape, and each kernel built for a device when it is first used."""

import time
from functools import cached_property

from mandelcl.core.job import Job
from mandelcl.core.planes import DISTANCE, trails
from mandelcl.engine.job_text import loop_text
from mandelcl.engine.methods import method_of
from mandelcl.engine.variant import Variant
from mandelcl.opencl.api import Kernel
from mandelcl.opencl.building import kernel
from mandelcl.opencl.device import Device


def shaped(variant: Variant, job: Job) -> Variant:
    """Return the shape of a resolved job's kernels, given the shape that suits its device."""
    if method_of(job).by_turns:
        return variant.by_turns()
    if DISTANCE.name in job.planes:
        variant = variant.with_derivatives()
    if trails(job.planes):
        variant = variant.with_trail()
    return variant.in_cycles(len(job.formula.lines))


class Kernels:
    """The kernels of a resolved job in a shape, for each source of orbits; `build_seconds` is how long builds took."""

    def __init__(self, device: Device, job: Job, variant: Variant) -> None:
        self._device, self._job, self._variant = device, job, variant
        self._of_rectangles: dict[str, Kernel] = {}
        self.build_seconds = 0.0

    def prepare(self) -> None:
        """Build the kernels now instead of on first use."""
        _ = self.block, self.survivors

    @cached_property
    def block(self) -> Kernel:
        """The kernel that starts the orbits of a block."""
        return self.built(self.text("block"), "advance_block")

    @cached_property
    def listed(self) -> Kernel:
        """The kernel that starts the orbits of a list of pixels."""
        return self.built(self.text("list"), "advance_list")

    @cached_property
    def survivors(self) -> Kernel:
        """The kernel that continues the orbits that an earlier launch has left."""
        return self.built(self.text("survivors"), "advance_survivors")

    def of_rectangles(self, name: str) -> Kernel:
        """Return one of the kernels that work on rectangles."""
        if name not in self._of_rectangles:
            self._of_rectangles[name] = self.built(self._rectangles_text, name)
        return self._of_rectangles[name]

    @cached_property
    def _rectangles_text(self) -> str:
        return self.text("rectangles")

    def built(self, text: str, name: str) -> Kernel:
        """Return a kernel of a text, built for the device; `build_seconds` counts the time."""
        started = time.perf_counter()
        made = kernel(self._device, text, name)
        self.build_seconds += time.perf_counter() - started
        return made

    def text(self, orbits: str) -> str:
        """Return the source text of one of the kernels (`source.ORBITS`)."""
        return loop_text(self._job, self._variant, orbits)
