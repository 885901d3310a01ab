"""What the studies are made of, without a device: timing, the reference, validation, tables, comparison."""

import csv
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.computation import Settings
from mandelcl.errors import FileError, InvalidInputError
from mandelcl.job import Job
from mandelcl.studies import STUDIES, compare, document, find_study, jobs, plots, reference, validation
from mandelcl.studies.document import Document
from mandelcl.studies.model import Column, Row, Study, Times
from mandelcl.studies.scaling import unit_counts
from mandelcl.studies.timing import Sample, coarse_step, plain, repeated, steady
from mandelcl.studies.validation import Validator
from mandelcl.view import View
from tests import oracle
from tests.golden import studies as golden
from tests.oracle import compiled, exact_fma, published

ROOT = Path(__file__).parents[2]
needs_compiler = pytest.mark.skipif(not compiled.available(), reason="needs a C compiler")


# Timing, with a clock that stands still unless it is told to go


class Runs:
    """Runs that take the given kernel times, over and over, and advance a clock by `seconds` each."""

    def __init__(self, times: list[float], seconds: float = 0.0) -> None:
        self.times, self.seconds, self.now, self.made = times, seconds, 0.0, 0

    def run(self) -> Sample:
        kernel = self.times[self.made % len(self.times)] + 1e-9 * self.made  # no two alike: not a coarse clock
        self.made += 1
        self.now += self.seconds
        return Sample(kernel, 0.0, kernel, 1, kernel)

    def clock(self) -> float:
        return self.now


@pytest.mark.parametrize("repeat", [1, 2, 3, 10])
def test_steady_times_are_repeated_as_often_as_asked(repeat: int) -> None:
    runs = Runs([1.0, 1.001, 0.999, 1.0005])
    assert len(repeated(runs.run, repeat, 60, runs.clock)) == repeat == runs.made


def test_repeats_grow_with_the_spread_up_to_a_limit() -> None:
    wide = Runs([1.0, 2.0, 1.4, 3.0, 1.1])
    assert len(repeated(wide.run, 10, 60, wide.clock)) == 50
    mild = Runs([1.0, 1.06, 1.03, 1.1, 0.97])
    assert 10 <= len(repeated(mild.run, 10, 60, mild.clock)) < 50
    slow = Runs([1.0, 2.0, 1.4, 3.0, 1.1], seconds=0.5)
    assert len(repeated(slow.run, 10, 60, slow.clock)) == 13  # 1 s more, and the run under way


def test_patience_ends_the_repeats_and_one_run_is_always_made() -> None:
    runs = Runs([1.0], seconds=4.0)
    assert len(repeated(runs.run, 10, 9, runs.clock)) == 3
    assert len(repeated(Runs([1.0], seconds=4.0).run, 10, 1, iter(range(100)).__next__)) == 2
    late = Runs([1.0], seconds=100.0)
    assert len(repeated(late.run, 10, 1, late.clock)) == 1


def test_a_coarse_clock_is_seen() -> None:
    assert coarse_step([0.001, 0.002, 0.001, 0.001, 0.002, 0.001]) == pytest.approx(0.001)
    assert coarse_step([1.0, 1.0001, 1.0, 1.0001, 1.0]) is None  # steps, but fine ones
    assert coarse_step([1.0, 1.1, 1.2, 1.3]) is None
    assert not steady([0.001, 0.002, 0.001, 0.001, 0.002, 0.001])


def test_times() -> None:
    times = Times.of([3.0, 1.0, 8.0, 2.0])
    assert (times.min, times.median, times.max, times.mean) == (1.0, 2.5, 8.0, 3.5)


def test_shortcuts_are_off_and_nothing_else_is_changed() -> None:
    assert plain(None) == Settings(shortcuts=False)
    assert plain(Settings(budget=0.5, blocks=(2, 2))) == Settings(budget=0.5, blocks=(2, 2), shortcuts=False)


@pytest.mark.parametrize("most", [1, 2, 5, 8, 16, 128, 1000])
def test_compute_units_from_one_to_all(most: int) -> None:
    units = unit_counts(most)
    assert units[0] == 1
    assert units[-1] == most
    assert units == sorted(set(units))


# The reference, against the oracle of the tests


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
    job = jobs.hpc_job(24, number, cap=400)
    found = reference.counts(job, _all(job), "published").reshape(job.view.height, -1)
    np.testing.assert_array_equal(found, compiled.counts(job, order="avx"))
    assert (found != oracle.counts(job)).any()


def test_reference_of_the_other_pictures() -> None:
    for job in (jobs.hybridizer_job(40), jobs.report_job(40, 300)):
        found = reference.counts(job, _all(job)).reshape(job.view.height, -1)
        np.testing.assert_array_equal(found, oracle.counts(job))


def test_wide_reference_is_the_truth() -> None:
    for place in jobs.ARTICLE_PLACES:
        job = jobs.article_job(place, 6, "fp128", 1500)
        found = reference.counts(job, _all(job)).reshape(6, 6)
        np.testing.assert_array_equal(found, oracle.truth_counts(job, 300))


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


# Validation


class _Device:
    spec = "9:9"


def _check(validator: Validator, job: Job, counts: npt.NDArray[np.uint32]) -> validation.Verdict:
    return validator.check(job, counts, _Device())  # type: ignore[arg-type]


def test_one_wrong_pixel_of_a_small_picture_is_found() -> None:
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    validator = Validator()
    assert _check(validator, job, counts).ok
    for place in ((0, 0), (11, 7), (23, 23)):
        wrong = counts.copy()
        wrong[place] += 1
        verdict = _check(Validator(), job, wrong)
        assert (verdict.ok, verdict.differing, verdict.word) == (False, 1, "WRONG")


def test_one_wrong_pixel_outside_the_sample_is_found_beside_the_first_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference, "sample", lambda _job: np.array([3, 5], np.int64))
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    wrong = counts.copy()
    wrong[20, 20] += 1
    validator = Validator()
    assert _check(validator, job, counts).checked == "2 pixels recomputed"
    verdict = _check(validator, job, wrong)
    assert (verdict.ok, verdict.differing) == (False, 1)
    assert "all against 9:9" in verdict.checked


def test_a_wrong_first_device_is_no_measure() -> None:
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    wrong = counts.copy()
    wrong[1, 1] -= 1
    validator = Validator()
    assert not _check(validator, job, wrong).ok
    assert _check(validator, job, counts).ok


def test_a_known_sha256_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    job = jobs.hybridizer_job(24)
    counts = oracle.counts(job)
    monkeypatch.setattr(reference, "sample", lambda _job: np.array([3, 5], np.int64))
    monkeypatch.setattr(validation, "known", lambda: {validation.key_of(job): validation.digest(counts)})
    assert _check(Validator(), job, counts).checked == "every pixel (known SHA-256)"
    wrong = counts.copy()
    wrong[20, 20] += 1
    verdict = _check(Validator(), job, wrong)
    assert (verdict.ok, verdict.differing) == (False, None)


def test_keys_tell_pictures_apart_and_not_how_they_are_found() -> None:
    job = jobs.hybridizer_job(24)
    assert validation.key_of(job) == validation.key_of(replace(job, smooth=True))
    others = (jobs.hybridizer_job(25), jobs.hybridizer_job(24, 255), replace(job, rounding="fused"))
    keys = {validation.key_of(other) for other in (job, *others)} | {validation.key_of(job, "published")}
    assert len(keys) == 5


def test_every_published_picture_is_known() -> None:
    every = list(golden.every())
    assert {validation.key_of(*each) for each in every} == set(validation.known())
    assert len(every) == len(validation.known()) > 60


@needs_compiler
def test_known_pictures_are_the_oracles() -> None:
    small = [(job, order) for job, order in golden.every() if job.view.pixels * job.iterations < 2e9]
    assert len(small) >= 8
    for job, order in small:
        assert golden.digest(job, order) == validation.known()[validation.key_of(job, order)]


# Tables


def _row(case: str = "a", kernel: float = 1.0, **changes: Any) -> Row:
    times = Times(kernel * 0.99, kernel, kernel * 1.02, kernel)
    row = Row(
        case, "0:0", "Thing", "Platform", "1.0", "OpenCL 3.0", "gpu", 10, times, times, 0.5, 0.1, 3, 2.0, 5.0, 6.0
    )
    usual: dict[str, Any] = {"validation": "ok", "differing_pixels": 0, "checked": "all"}
    return replace(row, **usual | changes)


def _draw(_figure: Any, _rows: Any) -> None:
    pass


def _nothing(_bench: Any) -> Iterator[Row]:
    yield from ()


STUDY = Study(
    "test", "A test", _nothing, _draw, (Column("n", "N", "d"), Column("good", "Good")), ("old: 1",), ("note",)
)
FAILED = _row("b", kernel_s=None, wall_s=None, validation="", samples=0, error="no double", checked="", mpix_s=None)


def _document(*rows: Row) -> Document:
    return Document(STUDY, rows, "mandelcl bench test", "2026-01-02T03:04:05Z", "0.0")


def test_json_has_the_keys_of_the_documented_schema(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "studies" / "README.md").read_text(encoding="utf-8")
    tables = [
        re.findall(r"^\| (`[^|]*) \|", part, re.MULTILINE)
        for part in page.split("## The JSON schema")[1].split("A row:")
    ]
    top, row = ({name for line in table for name in re.findall(r"`(\w+)`", line)} for table in tables)
    found = _document(_row(extra={"n": 3}), FAILED).as_dict()
    assert set(found) == top
    assert all(set(entry) == row for entry in found["rows"])
    assert found["schema"] == document.SCHEMA == 1
    assert set(found["rows"][0]["kernel_s"]) == {"min", "median", "max", "mean"}
    path = tmp_path / "table.json"
    path.write_text(_document(_row(extra={"n": 3}), FAILED).to_json(), encoding="utf-8")
    assert document.read(path) == json.loads(json.dumps(found))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("[1]", "not a table"),
        ("{}", "not a table"),
        ('{"schema": 99}', "schema 99"),
        ('{"schema": 1}', "its rows"),
        ('{"schema": 1, "rows": [{"case": "a"}]}', "its rows"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=why) as refused:
        document.read(path)
    assert "\n" not in str(refused.value)


def test_csv_has_a_line_a_row_and_a_column_a_value() -> None:
    rows = list(csv.DictReader(io.StringIO(_document(_row(extra={"n": 3, "_map": "01/10"}), FAILED).to_csv())))
    assert [row["case"] for row in rows] == ["a", "b"]
    assert (rows[0]["kernel_median_s"], rows[0]["n"], rows[0]["validation"]) == ("1.0", "3", "ok")
    assert (rows[1]["kernel_median_s"], rows[1]["error"]) == ("", "no double")
    assert "_map" not in rows[0]
    assert {"device", "platform", "driver", "command", "date", "wall_max_s", "build_s", "copy_s", "launches"} <= set(
        rows[0]
    )


def test_markdown_shows_failures_and_marks_what_is_wrong() -> None:
    wrong = _row("c", validation="WRONG", differing_pixels=7, checked="by eye", extra={"good": False, "n": 5})
    page = _document(_row(extra={"good": True}), FAILED, wrong).to_markdown("plot.png")
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(lines) == 5
    assert len({line.count("|") for line in lines}) == 1
    assert "no double" in lines[3]
    assert "WRONG: 7 pixels (by eye)" in lines[4]
    assert "| NO |" in lines[4]
    assert "![A test](plot.png)" in page
    assert "- old: 1" in page
    assert "`mandelcl bench test`, 2026-01-02" in page


# Comparison


def _changes(old: Document, new: Document) -> list[compare.Change]:
    return compare.changes(old.as_dict(), new.as_dict())


def test_a_planted_slowdown_is_found() -> None:
    old = _document(_row("a"), _row("b", 2.0), _row("c", 3.0))
    new = _document(_row("a"), _row("b", 2.6), _row("c", 1.5))
    found = _changes(old, new)
    assert [bool(change.worse) for change in found] == [False, True, False]
    assert found[1].worse == "kernel 1.30 times as long, wall 1.30 times as long"
    assert [change.kernel for change in found] == [1.0, 1.3, 0.5]


def test_noise_is_not_a_slowdown() -> None:
    wide = Times(0.95, 1.3, 2.0, 1.4)
    assert not _changes(_document(_row()), _document(_row(kernel_s=wide, wall_s=wide)))[0].worse
    assert not _changes(_document(_row()), _document(_row(kernel=1.09)))[0].worse


def test_failures_wrong_counts_and_missing_rows_are_worse() -> None:
    old = _document(_row("a"), _row("b"), _row("c"), replace(FAILED, case="d"))
    new = _document(
        _row("a", kernel_s=None, wall_s=None, error="out of memory"), _row("b", validation="WRONG"), _row("e")
    )
    assert [change.worse for change in _changes(old, new)] == ["fails: out of memory", "wrong counts", "missing", ""]


def test_tables_of_two_studies_are_not_compared() -> None:
    other = replace(_document(_row()), study=replace(STUDY, name="other"))
    with pytest.raises(InvalidInputError, match="'other'"):
        _changes(_document(_row()), other)


# Studies and plots


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_there(name: str) -> None:
    study = find_study(name)
    assert study.name == name
    assert study.notes
    assert study.published or name == "devices"


def test_unknown_studies_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="there is devices, hybridizer"):
        find_study("nothing")


def test_a_missing_matplotlib_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InvalidInputError, match=r"pip install 'mandelcl\[plot\]'"):
        plots.require("plot.png")


def test_plots_need_a_known_suffix() -> None:
    with pytest.raises(InvalidInputError, match=r"\.png, \.svg, \.pdf"):
        plots.require("plot.gif")


def test_the_view_of_a_reference_may_have_an_anchor_anywhere() -> None:
    view = View(Fraction(-1, 3), Fraction(1, 7), Fraction(1, 19), 9, 8, 4, 6)
    job = Job(view, 90, number="float", rounding="fused")
    np.testing.assert_array_equal(reference.counts(job, _all(job)).reshape(8, 9), oracle.counts(job))
