"""The article's first version of fp128 without a device: the reference and the program in C, against the oracle."""

import ctypes
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mandelcl.base.errors import DeviceError
from mandelcl.base.machine import cores
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.engine.methods import METHODS
from mandelcl.engine.program import Execution
from mandelcl.lab.studies import first_version, native, reference, rewriting, sign_magnitude
from mandelcl.lab.studies.bench import Bench
from tests.oracle import fixed
from tests.oracle import sign_magnitude as oracle
from tests.oracle.cases import first_version_jobs
from tests.oracle.marks import needs_compiler

_UNIT = 1 << 96
reals = st.integers(-(_UNIT << 16) + 1, (_UNIT << 16) - 1)
JOBS = first_version_jobs()


def in_c(job: Job, threads: int) -> Words:
    _, compute = first_version.in_c(job, threads)
    counts = np.full((job.view.height, job.view.width), 0xDEADBEEF, np.uint32)
    compute(0, job.view.height, counts, native.Stop(0))
    return counts


@given(reals, reals)
@example(_UNIT - 1, 1 - _UNIT)
@example((1 << 112) - 1, (1 << 112) - 1)
@example(1, _UNIT - 1)
def test_products_lack_less_than_five_units(x: int, y: int) -> None:
    found = sign_magnitude.product(x, y)
    assert found == oracle.multiply(x, y)
    assert 0 <= abs(x * y) - abs(found) * _UNIT < 5 * _UNIT


@pytest.mark.parametrize("name", JOBS)
def test_the_reference_is_the_oracle(name: str) -> None:
    job = JOBS[name]
    pixels = np.arange(job.view.pixels, dtype=np.int64)
    found = reference.counts(job, pixels, sign_magnitude.ORDER).reshape(job.view.height, -1)
    np.testing.assert_array_equal(found, oracle.counts(job))


def test_the_reference_takes_pixels_in_any_order() -> None:
    job, pixels = JOBS["whole set"], np.array([77, 3, 40], np.int64)
    found = reference.counts(job, pixels, sign_magnitude.ORDER)
    np.testing.assert_array_equal(found, oracle.counts(job).flat[pixels])
    assert len(set(found.tolist())) == 3


@needs_compiler
@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("threads", [1, 3])
def test_the_program_in_c_is_the_oracle(name: str, threads: int) -> None:
    np.testing.assert_array_equal(in_c(JOBS[name], threads), oracle.counts(JOBS[name]))


@needs_compiler
def test_the_program_in_c_computes_the_rows_it_is_asked_for() -> None:
    job = JOBS["whole set"]
    _, compute = first_version.in_c(job, 2)
    counts = np.zeros((13, 11), np.uint32)
    compute(4, 3, counts[4:7], native.Stop(0))
    np.testing.assert_array_equal(counts[4:7], oracle.counts(job)[4:7])
    assert not counts[:4].any()
    assert not counts[7:].any()
    compute(0, 4, counts[:4], native.Stop(1))
    assert not counts[:4].any()


@needs_compiler
def test_it_cuts_off_where_fp128_rounds() -> None:
    job = JOBS["a pixel in which the last bits show"]
    assert in_c(job, 1) == oracle.counts(job) == 1848
    assert fixed.counts(job) == 1801


def test_a_launch_stays_below_the_limit_of_loops() -> None:
    class Limited(first_version.FirstVersionProgram):
        def __init__(self, limit: int) -> None:
            self.job, self.variant = JOBS["Mini Set 1"], first_version.VARIANT
            self.execution, self.method = Execution(loop_limit=limit), METHODS["direct"]

    assert Limited(0).most_strides == Limited(0).strides == 25
    steps = Limited(65535).most_strides * first_version.VARIANT.stride
    assert steps > 100
    # Loops over four words: a product has 32 iterations, a sum at most 12, negating and comparing 4 each.
    assert steps * (1 + 3 * 32 + 5 * 12 + 4 + 4) + 200 < 65535


def test_missing_compiler_is_reported_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> native.Library:
        raise DeviceError("there is no C compiler; install gcc or clang, or set CC")

    monkeypatch.setattr(native, "library", missing)
    bench = Bench([], repeat=1, scale=Fraction(1, 256), max_iterations=30)
    rows = list(rewriting.run(bench))
    assert len(rows) == 2 * len({1, cores()})
    assert all(row.error == "there is no C compiler; install gcc or clang, or set CC" for row in rows)


@needs_compiler
def test_native_rows() -> None:
    rows = list(rewriting.run(Bench([], repeat=1, scale=Fraction(1, 256), max_iterations=30)))
    assert [row.validation for row in rows] == ["ok"] * len(rows)
    assert {row.extra["threads"] for row in rows} == {1, cores()}
    assert "258 s" in str(rows[-1].extra["published"])


def test_the_range_is_that_of_fp128() -> None:
    """The kernel's bound on magnitudes rests on these."""
    number = by_name("fp128")
    assert number.largest_radius_squared == Fraction(529, 100)
    beyond = View.upright(32768, 0, 1, 2, 2)
    assert number.cannot_hold(beyond)
    assert ctypes.c_uint32((32768 + 7) ** 2 * 2).value == (32768 + 7) ** 2 * 2
