"""Published programs as jobs: their sampling and their escape test, in our terms and through our kernels."""

from collections.abc import Callable
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.numbers import DOUBLE, by_name
from mandelcl.engine.variant import default_variant
from mandelcl.lab.studies.study_kernel import Launch, StudyKernel
from mandelcl.opencl.device import Device


def coursework_job(width: int, height: int) -> Job:
    """Return the job whose counts, in the `coursework` palette, are the CUDA coursework's sequential picture.

    That program's scale is 1/(width/4) with integer division, its middle −0.6 + 0i lies on column width/2 and, counted
    from the bottom, row height/2. Its 8-bit counter makes 255 the limit. Raises InvalidInputError for a width under 4,
    for which its scale is not finite.
    """
    if width < 4:
        raise InvalidInputError(f"the published program has no finite scale for a width of {width}; give at least 4")
    view = View.upright(
        re=Fraction(-6, 10),
        im=Fraction(0),
        pitch=Fraction(1, width // 4),
        width=width,
        height=height,
        column=width // 2,
        row=height - 1 - height // 2,
    )
    return Job(view, 255, DOUBLE.least_radius_squared(), number=DOUBLE.name, rounding="separate")


ORDER = "published"
ORDERS = ("fused", "separate", ORDER)


def published_order(job: Job, device: Device, check: Callable[[], None]) -> StudyKernel:
    """Return a job's kernel in that order, escape at |z|² > 4; raises as `StudyKernel` does."""
    number = by_name(job.number)
    lanes = default_variant(device, number).lanes
    defines = {"LANES": lanes, "USE_FP64": int(number.needs_fp64), "ROUNDING_FUSED": 1}
    columns = -(-job.view.width // lanes)
    return StudyKernel("study_published_order", job, device, check, lambda rows: Launch((columns, rows)), defines)
