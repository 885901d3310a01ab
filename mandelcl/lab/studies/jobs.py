"""Published programs as jobs: their pictures, sampling and escape tests, in our terms and through our kernels."""

from collections.abc import Callable
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import LEAST_RADIUS_SQUARED, Job
from mandelcl.core.numbers import DOUBLE, by_name
from mandelcl.engine.variant import default_variant
from mandelcl.lab.studies.study_kernel import Launch, StudyKernel
from mandelcl.opencl.device import Device

ARTICLE_PLACES = {
    "Mini Set 1": ("-0.15710375803", "1.03258348530", "3.75e-5", 400),
    "Julia Island": ("-0.7436438870371587100514222", "0.1318259042053126002256675", "2e-14", 20000),
}


def hybridizer_job(size: int, max_iterations: int = 256) -> Job:
    """Return the Hybridizer post's picture, [−2, 2)², sampled at corners; its counts are min(n + 1, cap)."""
    view = View.upright(Fraction(-2), Fraction(-2), Fraction(4, size), size, size, 0, size - 1)
    return Job(view, max_iterations, number="float", rounding="separate")


def report_job(size: int, max_iterations: int = 256, algorithm: str = "escape") -> Job:
    """Return the dynamic-parallelism report's picture; z from c and |z|² < 4 there, so its counts are n − 1."""
    view = View.upright(Fraction(-3, 2), Fraction(-1), Fraction(2, size), size, size, 0, size - 1)
    return Job(view, max_iterations + 1, LEAST_RADIUS_SQUARED, number="float", rounding="separate", algorithm=algorithm)


def article_job(place: str, size: int, number: str, max_iterations: int | None = None) -> Job:
    """Return the multiprecision article's picture of a place, centred; a smaller one shows the same part."""
    re, im, step, most = ARTICLE_PLACES[place]
    rounding = "fixed" if number.startswith("f") and number != "float" else "separate"
    view = View.centred(Fraction(re), Fraction(im), 4 / (Fraction(step) * 2048), size, size)
    return Job(view, min(most, max_iterations or most), number=number, rounding=rounding)


def hpc_job(resolution: int, number: str, rounding: str = "fused", max_iterations: int = 1000) -> Job:
    """Return the HPC report's grid, 3R × 2R.

    Its counts include a step `max_iterations` that is outside, so the job's iteration limit is one higher.
    """
    height = 2 * resolution
    view = View.upright(Fraction(-2), Fraction(-1), Fraction(1, resolution), 3 * resolution, height, 0, height - 1)
    return Job(view, max_iterations + 1, number=number, rounding=rounding)


def whole_set(size: int, max_iterations: int, number: str, rounding: str) -> Job:
    """Return the whole set, centre −0.5, 3 high."""
    view = View.centred(Fraction(-1, 2), Fraction(0), Fraction(4, 3), size, size)
    return Job(view, max_iterations, number=number, rounding=rounding)


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
