"""The multiprecision article's first version of fp128, on a device and in C. `sign_magnitude` defines it."""

import ctypes

import numpy as np

from mandelcl.base.errors import Token
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers.fixed import FP128
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.block_loop import BlockLoop
from mandelcl.engine.computing.computation import execution_of
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.kernels import Kernels
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.program import Execution, Program
from mandelcl.engine.variant import Variant
from mandelcl.lab.studies import native
from mandelcl.lab.studies.timing import Timed
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device

VARIANT = Variant(1, 1, stride=16, unrolled=1, lane_columns=1, local_columns=8, local_rows=8)
_LOOPS_PER_STEP = 256  # iterations of its loops over words, at most


class _FirstVersionKernels(Kernels):
    """The first version's kernels behind the loop's entry points; a saved z has as many words as one of fp128."""

    def text(self, orbits: str) -> str:  # noqa: ARG002 - one text has both sources of orbits
        """Return the source text of the kernels."""
        defines = {"LANES": 1, "USE_FP64": 0, "NUMBER_WORDS": FP128.words, "STRIDE": self._variant.stride}
        return texts.assemble(("words.cl", "study_sign_magnitude.cl"), defines)


class FirstVersionProgram(Program):
    """A job in the first version."""

    def __init__(self, device: Device, job: Job, variant: Variant, execution: Execution) -> None:
        super().__init__(device, job, variant, execution)
        self.kernels = _FirstVersionKernels(device, job, self.variant)

    @property
    def most_strides(self) -> int:
        """Strides that a launch may run: fewer than to the iteration limit if the driver stops long loops."""
        limit = self.execution.loop_limit
        return max(1, limit // (self.variant.stride * _LOOPS_PER_STEP) - 1) if limit else self.strides


def on_device(job: Job, device: Device, blocks: tuple[int, int], cancel: Token) -> Timed:
    """Return a job in the first version on one device, cut into `blocks` (columns, rows).

    A launch ends after about 100 ms, or 20 ms where the driver stops long ones, and the orbits that are left go on in
    the next. Raises DeviceError if the device fails the self-test of fp128.
    """

    def loop(choice: Choice, settings: Settings) -> BlockLoop:
        program = FirstVersionProgram(device, choice.job, VARIANT, execution_of(choice, settings))
        return BlockLoop(program, settings, DevicePool(), choice.warnings)

    return Timed(job, device, Settings(blocks=blocks), cancel, kind=loop)


def in_c(job: Job, threads: int) -> tuple[native.Library, native.Compute]:
    """Return the first version in C and what computes rows of the job, as `native_row` takes them."""
    built, view = native.library("sign_magnitude"), job.view
    values = (job.radius_squared, view.lattice.re, view.lattice.im, view.pitch)
    encoded = np.concatenate([FP128.encode(value) for value in values])
    place = (-view.lattice.column, view.lattice.row, view.width, ctypes.c_uint32(job.iterations))

    def compute(first: int, rows: int, counts: Words, stop: native.Stop) -> None:
        words, found = (ctypes.c_void_p(array.ctypes.data) for array in (encoded, counts))
        built.functions.sign_magnitude_rows(words, *place, first, rows, threads, found, ctypes.byref(stop))

    return built, compute
