"""Jobs survive JSON exactly, and bad ones get one clear line."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.errors import InvalidInputError
from mandelcl.field import Field
from mandelcl.job import LEAST_RADIUS_SQUARED, MAX_ITERATIONS, Job
from mandelcl.view import View, parse_number

unhurried = settings(deadline=None)
VIEW = View(Fraction(-2), Fraction(1), Fraction(1, 100), 30, 20)
JSON = json.loads(Job(VIEW).to_json())
NESTED = "[" * 100_000

offsets = st.integers(-(2**30), 2**30)
sides = st.integers(1, 2**30)
pitches = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40)
views = st.builds(View, st.fractions(), st.fractions(), pitches, sides, sides, offsets, offsets)
jobs = st.builds(
    Job,
    view=views,
    iterations=st.integers(1, MAX_ITERATIONS),
    radius_squared=st.fractions(LEAST_RADIUS_SQUARED, 16384),
    number=st.sampled_from(["auto", "float", "double"]),
    rounding=st.sampled_from(["auto", "fused", "separate"]),
    smooth=st.booleans(),
)


def _one_line(error: pytest.ExceptionInfo[InvalidInputError]) -> str:
    message = str(error.value)
    assert message
    assert len(message.splitlines()) == 1
    assert len(message) < 400
    return message


@unhurried
@given(jobs)
def test_json_round_trip(job: Job) -> None:
    text = job.to_json()
    assert len(text.splitlines()) == 1
    assert json.loads(text)["version"] == 1
    again = Job.from_json(text)
    assert again == job
    assert hash(again) == hash(job)
    assert again.to_json() == text


def test_json_keeps_more_digits_than_python_prints() -> None:
    """The anchor has 8 000 decimal places; Python converts 4 300 and no more."""
    re = parse_number("1." + "3" * 3_900 + "e-4000")
    job = Job(View.centred(re, parse_number("1/3"), parse_number("1e4000"), 1920, 1080), radius_squared=1 / re)
    assert Job.from_json(job.to_json()) == job


def test_resolved() -> None:
    job = Job(VIEW, 77, smooth=True)
    assert job.resolved("float", "fused") == Job(VIEW, 77, number="float", rounding="fused", smooth=True)
    assert (job.number, job.rounding) == ("auto", "auto")


@pytest.mark.parametrize(
    "bad",
    [
        {"iterations": 0},
        {"iterations": -5},
        {"iterations": MAX_ITERATIONS + 1},
        {"radius_squared": Fraction(399, 100)},
        {"radius_squared": Fraction(-4)},
        {"radius_squared": Fraction(16385), "smooth": True},
        {"formula": "julia-ish"},
        {"rounding": "up"},
        {"algorithm": "magic"},
        {"algorithm": ""},
    ],
)
def test_bad_jobs(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError) as error:
        replace(Job(VIEW), **bad)
    _one_line(error)


def test_least_radius_and_greatest_cap() -> None:
    assert Job(VIEW, MAX_ITERATIONS, LEAST_RADIUS_SQUARED).iterations == 2**32 - 2
    assert Fraction(float(np.nextafter(np.float32(4), np.float32(0)))) == LEAST_RADIUS_SQUARED


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": "1\n2"},
        {"version": None},
        {"extra": 1},
        {"iterations": True},
        {"iterations": 10.0},
        {"iterations": "10"},
        {"iterations": 0},
        {"radius_squared": 4.1},
        {"radius_squared": "1/0"},
        {"radius_squared": "nan"},
        {"radius_squared": "1e999999999"},  # a Fraction of it would fill the memory
        {"radius_squared": "3"},
        {"radius_squared": "4\n"},
        {"radius_squared": "٤"},
        {"formula": ["mandelbrot"]},
        {"formula": None},
        {"number": 5},
        {"number": ["float"]},
        {"smooth": "yes"},
        {"smooth": 1},
        {"view": []},
        {"view": {}},
        {"view": JSON["view"] | {"width": "30"}},
        {"view": JSON["view"] | {"width": 0}},
        {"view": JSON["view"] | {"height": 2.5}},
        {"view": JSON["view"] | {"anchor_re": 0.1}},
        {"view": JSON["view"] | {"pitch": "0"}},
        {"view": JSON["view"] | {"pitch": "-1/3"}},
        {"view": JSON["view"] | {"pitch": "x" * 10_000}},
        {"view": JSON["view"] | {"a\nb": 1}},
    ],
    ids=lambda changes: str(changes)[:40],
)
def test_junk_in_json(changes: dict[str, Any]) -> None:
    assert Job.from_json(json.dumps(JSON)) == Job(VIEW)
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(json.dumps(JSON | changes))
    _one_line(error)


@pytest.mark.parametrize("name", [*JSON, *(f"view.{name}" for name in JSON["view"])])
def test_missing_in_json(name: str) -> None:
    values = json.loads(json.dumps(JSON))
    del (values["view"] if "." in name else values)[name.removeprefix("view.")]
    if name in ("strict", "view.anchor_column", "view.anchor_row"):
        assert Job.from_json(json.dumps(values)) == Job(VIEW)
        return
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(json.dumps(values))
    _one_line(error)


@pytest.mark.parametrize(
    "text",
    ["", "null", "1", "[]", "{}", '"job"', "NaN", "\x00", '{"version": 1', '{"version": 1}', NESTED],
    ids=lambda text: repr(text[:20]),
)
def test_junk_that_is_no_job(text: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        Job.from_json(text)
    assert "job" in _one_line(error)


@unhurried
@given(st.text(max_size=50))
def test_any_text_is_no_job(text: str) -> None:
    with pytest.raises(InvalidInputError):
        Job.from_json(text)


def test_field_says_what_is_inside_and_hashes_rows_in_order() -> None:
    counts = np.array([[1, 5, 1000], [2, 1000, 3]], np.uint32)
    field = Field(Job(VIEW), counts)
    assert field.inside.tolist() == [[False, False, True], [False, True, False]]
    assert field.counts_sha256() == Field(Job(VIEW), np.asfortranarray(counts)).counts_sha256()
    assert field.counts_sha256() == Field(Job(VIEW), counts.astype(">u4")).counts_sha256()
    assert field.counts_sha256() != Field(Job(VIEW), counts[::-1]).counts_sha256()
    one = Field(Job(VIEW), np.array([[1]], np.uint32)).counts_sha256()
    assert one == "67abdd721024f0ff4e0b3f4c2fc13bc5bad42d0b7851d456d88d203d15aaa450"
