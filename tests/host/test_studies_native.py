"""The studies' programs in C: the jobs' counts, the coursework's file, and what they say where nothing compiles."""

import ctypes
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.lab.studies import find_study, hpc_native, hpc_published, jobs, native, reference, sizes_native
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.hpc_native import Threads
from mandelcl.lab.studies.jobs import coursework_job
from tests import oracle
from tests.oracle import compiled, published
from tests.oracle.marks import INSTALL_COMPILER, needs_compiler

_ITERATIONS = 300
_THREADS = (Threads(1), Threads(3), Threads(2, chunk=5), Threads(2, dynamic=False), Threads(3, dynamic=False, chunk=2))


def _counts(load: native.Load, job: Job) -> Words:
    """Return a program's counts, computed as two parts: it is told where rows begin."""
    _, compute = load()
    view = job.view
    counts: Words = np.zeros((view.height, view.width), np.uint32)
    for first, rows in ((0, 3), (3, view.height - 3)):
        compute(first, rows, counts[first : first + rows], native.Stop(0))
    return counts


def _at_least_4(number: str) -> Job:
    job = jobs.hpc_job(7, number, "separate", _ITERATIONS)
    return replace(job, radius_squared=by_name(number).least_radius_squared())


@pytest.fixture(params=["as the processor has them", "as compiled"])
def vectors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """Compile with the processor's own vectors where it has them, and without."""
    if request.param == "as compiled":
        monkeypatch.setattr(native, "_OPTIONS", (("-O1",),))
    native.library.cache_clear()
    yield request.param == "as compiled"
    native.library.cache_clear()


@needs_compiler
@pytest.mark.parametrize("number", ["float", "double"])
@pytest.mark.parametrize("rounding", ["fused", "separate"])
def test_vectors_have_the_counts_of_the_reports_order(number: str, rounding: str, vectors: bool) -> None:
    job = jobs.hpc_job(7, number, rounding, _ITERATIONS)  # 21 × 14 pixels: the last vector is not full
    expected = compiled.counts(job, order="avx" if rounding == "fused" else "")
    for threads in _THREADS:
        for as_listed in (False, True):
            np.testing.assert_array_equal(_counts(hpc_native.vectors(job, threads, as_listed), job), expected)
    assert not vectors or hpc_native.instructions() == "as compiled"


@needs_compiler
@pytest.mark.parametrize("test", hpc_native.TESTS)
def test_one_pixel_after_the_other(test: str) -> None:
    job = _at_least_4("double")
    every = np.arange(job.view.pixels, dtype=np.int64)
    expected = reference.counts(job, every, "hypot" if test == "hypot" else "").reshape(job.view.height, -1)
    if test != "hypot":
        np.testing.assert_array_equal(expected, oracle.counts(job))
    for threads in _THREADS:
        np.testing.assert_array_equal(_counts(hpc_native.plain(job, test, threads), job), expected)


@needs_compiler
@pytest.mark.parametrize("threads", [1, 3])
def test_program_of_the_hybridizer_post(threads: int) -> None:
    job = jobs.hybridizer_job(23, 60)
    load = native.upright("hybridizer", "rows_of_counts", job, (threads,))
    np.testing.assert_array_equal(_counts(load, job), oracle.counts(job))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_square_root_is_2_where_its_square_is_4(dtype: Any) -> None:
    """So |z| ≥ 2 by square root and |z|² ≥ 4 are the same test."""
    below = np.nextafter(dtype(4), dtype(0))
    assert np.sqrt(below) < 2 == np.sqrt(dtype(4))
    number = by_name("float" if dtype is np.float32 else "double")
    assert Fraction(float(below)) == number.least_radius_squared()


@needs_compiler
@pytest.mark.parametrize(("width", "height"), [(4, 1), (37, 37), (40, 22)])
def test_the_courseworks_program_writes_its_file(tmp_path: Path, width: int, height: int) -> None:
    job = coursework_job(width, height)
    row = sizes_native.row(Bench([], repeat=2), job, "C", {}, tmp_path)
    assert (row.error, row.validation, row.spec) == ("", "ok", native.SPEC)
    assert (tmp_path / "picture.ppm").read_bytes() == published.coursework(width, height)
    assert {"compute_s", "colour_s", "write_s", "output_sha256"} <= set(row.extra)
    assert row.kernel_s is not None
    assert row.wall_s is not None
    assert row.kernel_s.min <= row.wall_s.min


@needs_compiler
def test_unwritable_picture_is_a_row_with_its_error(tmp_path: Path) -> None:
    row = sizes_native.row(Bench([], repeat=1), coursework_job(16, 16), "C", {}, tmp_path / "none")
    assert row.error == f"the program in C cannot write its picture to {tmp_path / 'none'}"


@needs_compiler
def test_cancelled_native_program_stops() -> None:
    job = jobs.hpc_job(20, "double", max_iterations=_ITERATIONS)
    for load in (hpc_native.vectors(job, Threads(2)), hpc_native.plain(job, "norm", Threads(2))):
        counts: Words = np.zeros((job.view.height, job.view.width), np.uint32)
        load()[1](0, job.view.height, counts, ctypes.c_int(1))
        assert not counts.any()


@pytest.mark.parametrize("name", ["norm", "scaling", "precision", "hybridizer", "sizes"])
def test_missing_compiler_is_reported_in_each_row(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    native.library.cache_clear()
    rows = list(find_study(name).run(Bench([], repeat=1, scale=Fraction(1, 2048), max_iterations=30)))
    native.library.cache_clear()
    assert rows
    for row in rows:
        assert row.spec == native.SPEC
        assert row.error.endswith(INSTALL_COMPILER)


def test_published_times_are_those_of_the_tables() -> None:
    assert hpc_published.threads_ms(1000, 8, in_vectors=False, dynamic=True) == 411
    assert hpc_published.threads_ms(1000, 8, in_vectors=False, dynamic=False) == 800
    assert hpc_published.threads_ms(2000, 24, in_vectors=True, dynamic=True) == 270
    assert hpc_published.threads_ms(1000, 3, in_vectors=False, dynamic=True) is None
    assert hpc_published.threads_ms(999, 1, in_vectors=False, dynamic=True) is None
    assert hpc_published.threads_ms(1000, 1, in_vectors=True, dynamic=False) is None
    assert hpc_published.work_group_ms(1500, 2, 16) == 1581
    assert hpc_published.work_group_ms(1500, 3, 16) is None
    for resolution, (root, norm) in hpc_published.TESTS.items():
        saved = 100 * (1 - norm / root)
        assert saved == pytest.approx(hpc_published.SAVED[resolution], abs=0.06)
