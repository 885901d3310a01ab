"""The published programs, from their descriptions: their own figures come out, and our jobs reproduce them."""

from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from tests import oracle
from tests.oracle import published, vectors
from tests.oracle.marks import needs_compiler


def _differing(a: Words, b: Words) -> int:
    return int(np.count_nonzero(a != b))


# 003, the coursework


@pytest.mark.parametrize(
    ("width", "height"), [(4, 4), (5, 7), (7, 5), (9, 1), (64, 48), (256, 256), (1000, 600), (512, 512)]
)
def test_coursework_is_a_job(width: int, height: int) -> None:
    counts = oracle.counts(published.coursework_job(width, height))
    assert published.coursework_file(counts) == published.coursework(width, height)


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("size", [2048, 4096])
def test_large_coursework_is_a_job(size: int) -> None:
    counts = oracle.counts(published.coursework_job(size, size))
    assert published.coursework_file(counts) == published.coursework(size, size)


def test_coursework_in_numpy_is_a_job() -> None:
    counts = vectors.counts(published.coursework_job(64, 48))
    assert published.coursework_file(counts) == published.coursework(64, 48)


def test_coursework_by_hand() -> None:
    """A picture of 4 × 4 has scale 1: x is −2.6, −1.6, −0.6, 0.4; y, from the top, 1, 0, −1, −2."""
    colour = {1: (25, 7, 26), 2: (9, 1, 47), 3: (4, 4, 73), 4: (0, 7, 100), 5: (12, 44, 138)}
    pixels = np.frombuffer(published.coursework(4, 4)[len(b"P6\n4 4\n255\n") :], np.uint8).reshape(4, 4, 3)
    assert [tuple(pixel) for pixel in pixels[3]] == [colour[1], colour[1], colour[1], colour[1]]
    assert tuple(pixels[0, 0]) == colour[1]
    assert tuple(pixels[0, 1]) == colour[2]  # |−1.6 + i|² = 3.56; then 0 − 2.2i: 1.56 − 1.6, about 4.84
    assert tuple(pixels[1, 1]) == (0, 0, 0)  # −1.6 stays on the real axis within the set
    assert tuple(pixels[1, 2]) == (0, 0, 0)


def test_coursework_depends_on_each_choice() -> None:
    """The same points anchored at the top left, fused, or with escape at > 4, give other bytes: no choice is idle."""
    job = published.coursework_job(1000, 600)
    view = job.view
    corner = View.upright(*view.point(0, 0), view.pitch, view.width, view.height)
    expected = oracle.counts(job)
    other = oracle.counts(Job(corner, 255, job.radius_squared, number="double", rounding="separate"))
    fused = oracle.counts(Job(view, 255, job.radius_squared, number="double", rounding="fused"))
    beyond = oracle.counts(Job(view, 255, Fraction(4), number="double", rounding="separate"))
    assert _differing(other, expected) > 0
    assert _differing(fused, expected) > 0
    assert _differing(beyond, expected) == 5


def test_coursework_refuses_a_width_without_a_scale() -> None:
    with pytest.raises(ValueError, match="width/4"):
        published.coursework(3, 100)


# 000, the Hybridizer post


@pytest.mark.parametrize(
    ("size", "max_iterations"), [(4, 1), (4, 2), (7, 9), (100, 50), (128, 256), (257, 32), (512, 256)]
)
def test_hybridizer_is_a_job(size: int, max_iterations: int) -> None:
    counts = oracle.counts(published.hybridizer_job(size, max_iterations)).astype(np.int32)
    np.testing.assert_array_equal(
        np.minimum(counts[::-1].T + 1, max_iterations), published.hybridizer_counts(size, max_iterations)
    )


# 001, the dynamic-parallelism report


@pytest.mark.parametrize(("size", "max_iterations"), [(4, 1), (16, 2), (64, 3), (128, 256), (512, 100)])
def test_dynamic_parallelism_is_a_job(size: int, max_iterations: int) -> None:
    counts = oracle.counts(published.dynamic_parallelism_job(size, max_iterations)).astype(np.int32)
    np.testing.assert_array_equal(counts[::-1] - 1, published.dynamic_parallelism_counts(size, size, max_iterations))


def test_dynamic_parallelism_off_powers_of_two() -> None:
    """It divides before it multiplies: at 1000² some points are a rounding away, and 0.4 % of the counts differ."""
    counts = oracle.counts(published.dynamic_parallelism_job(1000, 256)).astype(np.int32)
    differing = np.count_nonzero(counts[::-1] - 1 != published.dynamic_parallelism_counts(1000, 1000, 256))
    assert differing == 3932


# 004, the HPC report


@pytest.mark.full
@needs_compiler
@pytest.mark.parametrize(
    ("resolution", "differing"),
    [(500, 7559), (1000, 29687), (1500, 53872), pytest.param(2000, 118307, marks=pytest.mark.long)],
)
def test_hpc_float_against_double(resolution: int, differing: int) -> None:
    in_float = published.hpc_avx_counts(resolution, np.float32)
    in_double = published.hpc_avx_counts(resolution, np.float64)
    assert in_float.shape == (2 * resolution, 3 * resolution)
    assert _differing(in_float, in_double) == differing


@needs_compiler
@pytest.mark.parametrize(("resolution", "differing"), [(500, 7580), (1000, 29766)])
def test_hpc_grid_in_the_order_of_the_design(resolution: int, differing: int) -> None:
    in_float = oracle.counts(published.hpc_job(resolution, "float"))
    in_double = oracle.counts(published.hpc_job(resolution, "double"))
    assert _differing(in_float, in_double) == differing


@needs_compiler
def test_hpc_has_its_own_order() -> None:
    ours = oracle.counts(published.hpc_job(100, "float"))[::-1]
    theirs = published.hpc_avx_counts(100, np.float32)
    inside = ours == 1001
    assert not theirs[inside & (theirs == 0)].any()
    assert 0 < _differing(np.where(inside, np.uint32(0), ours), theirs) < ours.size // 100


# The truth without rounding, which none of the published programs computes


def test_truth_of_known_points() -> None:
    def count(re: Fraction, im: Fraction, max_iterations: int, bits: int = 256) -> int:
        view = View.upright(re, im, Fraction(1), 1, 1)
        return int(oracle.truth_counts(Job(view, max_iterations), bits)[0, 0])

    assert count(Fraction(-2), Fraction(0), 500) == 500
    assert count(Fraction(0), Fraction(1), 500) == 500
    assert count(Fraction(2), Fraction(0), 500) == 2
    assert count(Fraction(1), Fraction(0), 500) == 3
    assert count(Fraction(3), Fraction(0), 500) == 1
    # n·√ε tends to π beside the cusp, and n·ε to π beside the neck at −3/4.
    assert abs(count(Fraction(1, 4) + Fraction(1, 10**6), Fraction(0), 10_000) - 3141.6) < 5
    assert abs(count(Fraction(-3, 4), Fraction(1, 1000), 10_000) - 3141.6) < 5


def test_truth_beyond_double() -> None:
    view = View.centred(Fraction(-2), Fraction(0), Fraction(10**30), 8, 8)
    counts = oracle.truth_counts(Job(view, 200), 192)
    np.testing.assert_array_equal(counts, oracle.truth_counts(Job(view, 200), 256))
    assert len(np.unique(counts)) > 1


def test_double_is_nearly_the_truth() -> None:
    view = View.region(Fraction(-2), Fraction(1), Fraction(-1), Fraction(1), 60, 40)
    truth = oracle.truth_counts(Job(view, 300), 128)
    for rounding in ("fused", "separate"):
        assert _differing(oracle.counts(Job(view, 300, number="double", rounding=rounding)), truth) <= 2
