"""The device output of 16-bit counts, which halves the bytes that are copied."""

from typing import Any

import numpy as np

from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS
from mandelcl.engine.device_output import KernelOutput
from mandelcl.opencl import texts
from mandelcl.opencl.api import Buffer
from mandelcl.opencl.device import Device

MOST = (1 << 16) - 2  # the largest iteration limit: one more is a count that was not written
_LEAST_PIXELS = 1 << 22  # of a picture: building the kernel takes longer than a small one's counts take to arrive
_VECTORS = 4, 128  # of the kernel, on all devices


class Counts16(KernelOutput):
    """A job's counts in 16 bits, made on a device that has them: 1 × rows × columns."""

    dtype: np.dtype[Any] = np.dtype(np.uint16)
    pixel_bytes = 2
    kernel_name = "narrow"
    row_axis = 1

    def __init__(self, device: Device) -> None:
        super().__init__(device, _VECTORS)

    def shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """Return 1 × rows × columns."""
        return 1, rows, columns

    def text(self) -> str:
        """Return the source text of the kernel."""
        return source_text()

    def arguments_for(self, block: Block, made: Buffer) -> dict[str, Any]:
        """Return the kernel's arguments but for the results."""
        return {"pixels": block.pixels, "counts": made}


def source_text() -> str:
    """Return the source text of the kernel."""
    return texts.assemble(("narrow.cl",), {"LANES": 1, "USE_FP64": 0})


def narrows(job: Job) -> bool:
    """Return whether a job has no plane but counts, and 16 bits hold them."""
    return job.planes == (COUNTS.name,) and job.iterations <= MOST


def counts_16(device: Device, job: Job) -> Counts16 | None:
    """Return the output of a job's counts in 16 bits; None if it gains nothing or they do not fit.

    It gains where results are copied. A device that shares the host's memory makes them there, and would have to write
    them a second time.
    """
    return Counts16(device) if narrows(job) and worthwhile(device, job.view.pixels) else None


def worthwhile(device: Device, pixels: int) -> bool:
    """Return whether narrowing on the device makes the copy of this many counts faster."""
    return not device.shares_memory and pixels >= _LEAST_PIXELS
