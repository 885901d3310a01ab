"""The studies' jobs and the reference that counts are checked by, against the oracle of the tests."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.lab.studies import jobs, reference
from tests import oracle
from tests.oracle import compiled, exact_fma, fixed, published
from tests.oracle.marks import needs_compiler


def _all(job: Job) -> npt.NDArray[np.int64]:
    return np.arange(job.view.pixels, dtype=np.int64)


@pytest.mark.parametrize("number", ["float", "double"])
@pytest.mark.parametrize("rounding", ["fused", "separate"])
def test_reference_is_the_oracle(number: str, rounding: str) -> None:
    job = replace(jobs.hpc_job(20, number, rounding, 300), radius_squared=Fraction(4))
    found = reference.counts(job, _all(job)).reshape(job.view.height, -1)
    np.testing.assert_array_equal(found, oracle.counts(job))


@needs_compiler
@pytest.mark.parametrize("number", ["float", "double"])
def test_reference_in_the_published_order(number: str) -> None:
    job = jobs.hpc_job(24, number, max_iterations=400)
    found = reference.counts(job, _all(job), "published").reshape(job.view.height, -1)
    np.testing.assert_array_equal(found, compiled.counts(job, order="avx"))
    assert (found != oracle.counts(job)).any()


def test_reference_of_the_other_pictures() -> None:
    for job in (jobs.hybridizer_job(40), jobs.report_job(40, 300)):
        found = reference.counts(job, _all(job)).reshape(job.view.height, -1)
        np.testing.assert_array_equal(found, oracle.counts(job))


@pytest.mark.full
def test_reference_of_fixed_point_is_the_truth() -> None:
    for place in jobs.ARTICLE_PLACES:
        job = jobs.article_job(place, 6, "fp128", 1500)
        found = reference.counts(job, _all(job)).reshape(6, 6)
        np.testing.assert_array_equal(found, oracle.truth_counts(job, 300))


def test_reference_of_fixed_point_rounds_as_the_number_does() -> None:
    """A pixel of Julia Island with 3151 iterations in fp128, and 3403 in a number twice as wide."""
    whole = jobs.article_job("Julia Island", 1024, "fp128").view
    column, row = 660, 337
    view = whole.part(column, row, 1, 1)
    job = Job(view, 20_000, number="fp128", rounding="fixed")
    assert reference.counts(job, _all(job)) == fixed.counts(job) == 3151
    assert oracle.truth_counts(job, 256) == 3403


@pytest.mark.parametrize(
    ("dtype", "own", "exact"),
    [
        (np.float32, reference.fused_float, exact_fma.fma_float),
        (np.float64, reference.fused_double, exact_fma.fma_double),
    ],
)
def test_fused_multiply_add(dtype: Any, own: Callable[..., Any], exact: Callable[..., Any]) -> None:
    generator = np.random.default_rng(5)
    a, b = (generator.normal(size=20_000).astype(dtype) for _ in range(2))
    near = -(a * b) * (1 + generator.integers(-4, 5, 20_000) * np.finfo(dtype).eps).astype(dtype)
    for c in (generator.normal(size=20_000).astype(dtype), near, np.zeros_like(a)):
        np.testing.assert_array_equal(own(a, b, c), exact(a, b, c))


def test_samples_are_all_of_a_small_picture_and_bounded() -> None:
    assert len(reference.sample(jobs.hybridizer_job(32))) == 32 * 32
    large = reference.sample(jobs.report_job(23150))
    assert 1000 < len(large) <= 1 << 16
    assert large.max() < 23150**2
    assert len(reference.sample(jobs.article_job("Julia Island", 2048, "fp128"))) >= 50


def test_jobs_are_the_published_ones() -> None:
    assert jobs.hybridizer_job(128, 32) == published.hybridizer_job(128, 32)
    assert jobs.report_job(100, 64) == published.dynamic_parallelism_job(100, 64)
    assert jobs.hpc_job(50, "double", "separate") == published.hpc_job(50, "double", "separate")
    julia = jobs.article_job("Julia Island", 2048, "float")
    assert (julia.view.pitch, julia.iterations, julia.rounding) == (Fraction("2e-14"), 20000, "separate")
    assert jobs.article_job("Mini Set 1", 1024, "fp128").view.pitch == 2 * Fraction("3.75e-5")


def test_the_view_of_a_reference_may_have_an_anchor_anywhere() -> None:
    view = View.upright(Fraction(-1, 3), Fraction(1, 7), Fraction(1, 19), 9, 8, 4, 6)
    job = Job(view, 90, number="float", rounding="fused")
    np.testing.assert_array_equal(reference.counts(job, _all(job)).reshape(8, 9), oracle.counts(job))
