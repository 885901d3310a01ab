"""The HPC report's own order of operations on a device: the one that its counts of differing pixels come from."""

from collections.abc import Callable

from mandelcl.core.job import Job
from mandelcl.engine.variant import default_variant
from mandelcl.numbers import by_name
from mandelcl.opencl.device import Device
from mandelcl.studies.study_kernel import Launch, StudyKernel

ORDER = "published"
ORDERS = ("fused", "separate", ORDER)


def published_order(job: Job, device: Device, check: Callable[[], None]) -> StudyKernel:
    """Return a job's kernel in that order, escape at |z|² > 4; raises as `StudyKernel` does."""
    number = by_name(job.number)
    lanes = default_variant(device, number).lanes
    defines = {"LANES": lanes, "USE_FP64": int(number.needs_fp64), "ROUNDING_FUSED": 1}
    columns = -(-job.view.width // lanes)
    return StudyKernel("study_published_order", job, device, check, lambda rows: Launch((columns, rows)), defines)
