"""Programs in C beside the devices: compiled, validated, timed, stopped; where that cannot be, a row says why."""

import ctypes
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mandelcl.base.errors import CancelledError, DeviceError
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.lab.studies import jobs, native
from mandelcl.lab.studies.bench import Bench
from tests.oracle.marks import INSTALL_COMPILER, needs_compiler

_ROWS = """
void rows(int width, int cap, float left, float top, float step, int first, int rows, int threads,
          unsigned *counts, const volatile int *stop)
{
    #pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int row = first; row < first + rows; ++row) {
        if (*stop) continue;
        for (int column = 0; column < width; ++column) {
            float cx = left + column * step, cy = top - row * step, x = 0, y = 0;
            int n = 0;
            for (; n < cap && x * x + y * y <= 4; ++n) {
                float next = x * x - y * y + cx;
                y = (x + x) * y + cy;
                x = next;
            }
            counts[(row - first) * width + column] = n;
        }
    }
}
void forever(const volatile int *stop) { while (!*stop) { } }
"""


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(native, "_SOURCES", tmp_path)
    native.library.cache_clear()
    yield tmp_path
    native.library.cache_clear()


def _load(job: Job, threads: int, wrong: int = 0) -> tuple[native.Library, native.Compute]:
    built = native.library("rows")
    view = job.view
    reals = [ctypes.c_float(float(value)) for value in (view.lattice.re, view.lattice.im, view.pitch)]
    top = ctypes.c_float(reals[1].value + view.lattice.row * reals[2].value)

    def compute(first: int, rows: int, counts: Words, stop: native.Stop) -> None:
        place = ctypes.c_void_p(counts.ctypes.data)
        built.functions.rows(
            view.width, job.iterations, reals[0], top, reals[2], first, rows, threads, place, ctypes.byref(stop)
        )
        counts[0, 0] += wrong

    return built, compute


@needs_compiler
@pytest.mark.parametrize("threads", [1, 3])
def test_correct_program_is_timed_and_wrong_one_marked(sources: Path, threads: int) -> None:
    (sources / "rows.c").write_text(_ROWS, encoding="utf-8")
    job = jobs.hybridizer_job(32, 64)  # its corners and its step are floats
    bench = Bench([], repeat=2)
    row = native.native_row(bench, "C", job, lambda: _load(job, threads), threads)
    assert not row.error
    assert (row.validation, row.spec, row.type, row.samples >= 2) == ("ok", "native", "cpu", True)
    assert row.kernel_s is not None
    assert row.kernel_s == row.wall_s
    assert row.extra["threads"] == threads
    assert row.driver
    wrong = native.native_row(bench, "C", job, lambda: _load(job, threads, wrong=1), threads)
    assert (wrong.validation, wrong.differing_pixels) == ("WRONG", 1)


@needs_compiler
def test_a_program_that_does_not_compile_is_a_row_that_says_so(sources: Path) -> None:
    (sources / "rows.c").write_text("int rows(void) { return nothing; }\n", encoding="utf-8")
    job = jobs.hybridizer_job(8)
    row = native.native_row(Bench([]), "C", job, lambda: _load(job, 1), 1)
    assert "cannot build" in row.error
    assert "nothing" in row.error
    assert row.kernel_s is None


@pytest.mark.parametrize(("setting", "found"), [("/nowhere/cc", None), ("", None)])
def test_no_compiler_is_one_line(monkeypatch: pytest.MonkeyPatch, setting: str, found: None) -> None:
    monkeypatch.setenv("CC", setting)
    monkeypatch.setattr("shutil.which", lambda _name: found)
    native.library.cache_clear()
    with pytest.raises(DeviceError, match=INSTALL_COMPILER):
        native.library("rows")


@needs_compiler
def test_native_call_ends_when_study_is_cancelled(sources: Path) -> None:
    (sources / "rows.c").write_text(_ROWS, encoding="utf-8")
    built = native.library("rows")
    bench = Bench([])

    def load() -> tuple[native.Library, native.Compute]:
        return built, lambda _first, _rows, _counts, stop: built.functions.forever(ctypes.byref(stop))

    timer = threading.Timer(0.2, bench.cancel.set)
    timer.start()
    with pytest.raises(CancelledError):
        native.native_row(bench, "C", jobs.hybridizer_job(8), load, 1)
    timer.join()
