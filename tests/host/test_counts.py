"""How wide counts are, and fields of both widths in files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.base.view import View
from mandelcl.core.counts import MAX_ITERATIONS, MOST_NARROW, NARROW, WIDE, count_format, total_of
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.core.planes import first_words, values_of, words_of
from mandelcl.core.totals import totals_of
from mandelcl.files.archive import write_archive
from mandelcl.files.comparison import compare
from mandelcl.files.loading import read_field

JOB = Job(View.centred("-0.5", "0", "1", 3, 1), 10**12, number="double", rounding="fused", method="direct")
COUNTS = st.lists(st.integers(0, MAX_ITERATIONS), min_size=1, max_size=20)


def field(job: Job, counts: list[int]) -> Field:
    return Field(job, {"counts": np.array([counts], job.counts.dtype)})


def written(path: Path, made: Field) -> Path:
    from mandelcl.core.report import Stopwatch

    with path.open("wb") as file:
        write_archive(file, made, Stopwatch())
    return path


@pytest.mark.parametrize(("limit", "words"), [(1, 1), (MOST_NARROW, 1), (MOST_NARROW + 1, 2), (MAX_ITERATIONS, 2)])
def test_the_limit_alone_decides(limit: int, words: int) -> None:
    job = replace(JOB, iterations=limit, planes=("counts", "smooth"))
    assert (count_format(limit).words, job.counts, job.words) == (words, (NARROW, WIDE)[words - 1], 2 + words)
    assert job.first_words == {"counts": 0, "smooth": words}
    assert limit < job.counts.none


@given(COUNTS)
def test_wide_counts_in_words(counts: list[int]) -> None:
    results = np.zeros((2, len(counts)), np.uint32)
    WIDE.put(counts, results)
    assert WIDE.of(results).tolist() == counts
    assert total_of(WIDE.of(results)) == sum(counts) == totals_of(("counts",), MAX_ITERATIONS, results).iterations


@given(COUNTS, st.integers(0, 2000))
def test_steps_follow_counts_by_their_low_words(counts: list[int], further: int) -> None:
    """The smooth step lies behind the count, also where its low word has begun anew."""
    wide = np.array(counts, np.uint64)
    low = ((wide + np.uint64(further)) & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    assert WIDE.widened(low, wide).tolist() == [count + further for count in counts]


def test_smooth_fractions_do_not_depend_on_the_width() -> None:
    norm = np.array([20000.0, 17000.5], np.float32).view(np.uint32)
    narrow, wide = replace(JOB, iterations=1000, planes=("counts", "smooth")), replace(JOB, planes=("counts", "smooth"))
    count, late = np.array([7, 90], np.uint32), np.array([7, (1 << 32) - 1], np.uint64)
    expected = values_of(narrow.planes, np.stack([count, count + 2, norm]), narrow.facts)["smooth"]
    high, step = (late >> np.uint64(32)).astype(np.uint32), (late + np.uint64(2)).astype(np.uint32)
    found = values_of(wide.planes, np.stack([late.astype(np.uint32), high, step, norm]), wide.facts)
    assert found["counts"].tolist() == late.tolist()
    assert found["smooth"].tolist() == expected.tolist()


def test_words_inside() -> None:
    words = words_of(("counts", "smooth"), WIDE)
    assert [word.name for word in words] == ["count", "count high", "smooth step", "smooth norm"]
    limit = (5 << 32) + 3
    assert [word.inside_at(limit) for word in words] == [3, 5, 3, 0]
    assert first_words(("counts", "smooth", "certified"), WIDE) == {"counts": 0, "smooth": 2, "certified": 4}


def test_files_of_both_widths(tmp_path: Path) -> None:
    wide = written(tmp_path / "wide.npz", field(JOB, [1, (1 << 32) + 5, 10**12]))
    narrow = written(tmp_path / "narrow.npz", field(replace(JOB, iterations=1000), [1, 5, 1000]))
    read = read_field(wide)
    assert read.counts.dtype == np.uint64
    assert np.load(wide)["counts"].dtype.str == "<u8"
    assert np.load(narrow)["counts"].dtype.str == "<u4"
    assert read.counts.tolist() == [[1, (1 << 32) + 5, 10**12]]
    assert read.inside.tolist() == [[False, False, True]]
    compared = compare(wide, narrow)
    assert (compared.differing, compared.largest) == (2, 10**12 - 1000)
    assert compared.jobs["iterations"] == ("1000000000000", "1000")


def test_the_digest_has_eight_bytes_a_count() -> None:
    import hashlib

    made = field(JOB, [1, 2, 3])
    assert made.counts_sha256() == hashlib.sha256(np.array([1, 2, 3], "<u8").tobytes()).hexdigest()
