"""The published programs' pictures as jobs, in their own sampling and with their own escape tests."""

from fractions import Fraction

from mandelcl.base.view import View
from mandelcl.core.job import LEAST_RADIUS_SQUARED, Job

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
