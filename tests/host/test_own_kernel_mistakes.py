"""Mistakes are named where they explain every pixel, in part where they explain most, and otherwise not."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import DeviceError
from mandelcl.base.view import View
from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.job import Job
from mandelcl.lab.own_kernel import evidence as evidence_module
from mandelcl.lab.own_kernel import oracle as oracle_module
from mandelcl.lab.own_kernel.diagnosis import diagnosis
from mandelcl.lab.own_kernel.difference import first_difference
from mandelcl.lab.own_kernel.evidence import Evidence
from mandelcl.lab.own_kernel.oracle import Oracle
from mandelcl.lab.own_kernel.replay import Variation, least, path
from mandelcl.lab.studies import reference

WIDTH, HEIGHT, ITERATIONS = 30, 22, 60
VIEW = View.centred(Fraction("-0.7"), Fraction("0.2"), Fraction(4, 3), WIDTH, HEIGHT)
JOB = Job(VIEW, ITERATIONS, number="float", rounding="separate")
LAUNCHED = (32, 24)


def counts_of(job: Job) -> Words:
    return reference.counts(job, np.arange(job.view.pixels)).reshape(job.view.height, job.view.width)


RIGHT = counts_of(JOB)


def reported(yours: Words, job: Job = JOB, loop_limit: int = 0) -> list[str]:
    return diagnosis(Evidence(job, yours.astype(np.uint32), counts_of(job), LAUNCHED), loop_limit)


def test_noise_is_not_explained() -> None:
    noise = np.random.default_rng(1).integers(0, ITERATIONS, RIGHT.shape).astype(np.uint32)
    assert reported(noise) == [
        "None of the mistakes that mandelcl knows explains it: follow the first difference step by step."
    ]


def test_one_unexplained_pixel_makes_the_explanation_partial() -> None:
    yours = RIGHT[::-1].copy()
    yours[4, 7] += 1
    sentences = reported(yours)
    differing = int((yours != RIGHT).sum())
    assert sentences[0].startswith("In part: The picture is upside down")
    assert f"This explains {differing - 1} of the {differing} wrong pixels" in sentences[1]
    assert "something else is wrong, too" in sentences[1]


def test_mistake_in_half_of_picture_is_reported_with_contradictions() -> None:
    yours = RIGHT + 1
    yours[: HEIGHT // 4] = RIGHT[: HEIGHT // 4]
    sentences = reported(yours)
    assert sentences[0].startswith("In part: Every count is one too high")
    assert f"would have {HEIGHT // 4 * WIDTH} other pixels wrong that are right" in sentences[1]


def test_explanation_of_less_than_half_is_not_reported() -> None:
    yours = np.random.default_rng(2).integers(0, ITERATIONS, RIGHT.shape).astype(np.uint32)
    yours[: HEIGHT // 3] = RIGHT[: HEIGHT // 3] + 1
    assert "None of the mistakes" in reported(yours)[0]


def test_unwritten_pixels_are_reported_with_another_mistake() -> None:
    yours = np.where(RIGHT == ITERATIONS, 0, RIGHT)
    yours[-2:] = NO_COUNT
    sentences = reported(yours)
    assert sentences[0].startswith("60 of 660 pixels were never written (rows 20 to 21)")
    assert sentences[1].startswith("Of the pixels that were written: Pixels whose orbit has not escaped have 0")


def test_inconclusive_picture_is_reported() -> None:
    inside = replace(JOB, view=View.centred(0, 0, 64, WIDTH, HEIGHT))  # every count is the iteration limit
    sentences = reported(np.full(RIGHT.shape, ITERATIONS + 1), inside)
    assert "others would give the same: " in sentences[-1]


@pytest.mark.parametrize("stride", [HEIGHT, 32, 24, WIDTH - 1, WIDTH + 1])
def test_strides(stride: int) -> None:
    flat = np.full(RIGHT.size, NO_COUNT, np.uint32)
    for row in range(HEIGHT):
        part = flat[row * stride : row * stride + WIDTH]
        part[:] = RIGHT[row, : part.size]
    sentences = reported(flat.reshape(RIGHT.shape))
    assert sentences[0].startswith(f"A row begins {stride} words after the one before")


def test_the_driver_is_suspected_where_only_long_orbits_are_wrong() -> None:
    ended = np.where(RIGHT > 40, 40, RIGHT)
    assert reported(ended, loop_limit=40) == [
        "This driver ends every loop after 40 iterations, and all the wrong pixels need more: it is not your kernel's "
        "fault. Try a --cap below 40, or another device."
    ]
    yours = np.where(RIGHT >= 40, np.random.default_rng(3).integers(40, 59, RIGHT.shape), RIGHT)
    assert "it may not be your kernel's fault" in reported(yours, loop_limit=40)[0]
    assert "driver" not in reported(yours)[0]
    assert "driver" not in " ".join(reported(np.where(RIGHT >= 30, yours, RIGHT) + (RIGHT == 5), loop_limit=40))


def test_sampled_comparison_is_labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_module, "_SAMPLE_WORK", 500)
    monkeypatch.setattr(evidence_module, "_WORK", 1000)
    sentences = reported(_moved())
    assert "1 column to the right and 1 row down" in sentences[0]
    assert sentences[1].startswith("This gives all of the ")
    assert "pixels tested just as your kernel has it" in sentences[1]


def test_a_sample_that_fits_is_tested_on_every_pixel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_module, "_SAMPLE_WORK", 500)
    sentences = reported(_moved())
    assert sentences[1] == "This gives every pixel just as your kernel has it."
    yours = _moved()
    yours[HEIGHT // 2, WIDTH // 2] = 3  # inside, and perhaps in no sample
    assert not any("every pixel" in sentence for sentence in reported(yours))


def _moved() -> Words:
    """Return the counts of a kernel that counts columns and rows from 1."""
    return least(JOB, np.arange(RIGHT.size), ITERATIONS, Variation(columns=1, rows=1)).reshape(RIGHT.shape)


def test_the_first_difference() -> None:
    yours = RIGHT.copy()
    yours[3, 8] += 2
    yours[9, 1] = 0
    lines = first_difference(JOB, yours, RIGHT)
    count = int(RIGHT[3, 8])
    assert lines[0].startswith("2 of 660 pixels are wrong; the first is column 8 of row 3, c = ")
    assert lines[1] == f"Its count is {count}; your kernel has {count + 2}."
    steps = path(JOB, 3 * WIDTH + 8, 0, count)
    assert steps[0][1:] == (0, 0, 0)
    assert steps[count - 1][3] <= 4 < steps[count][3]
    assert f"  z_{count} = " in lines[3]
    assert lines[3].endswith("> 4: the count")
    assert f"|z_{count}|² = {steps[count][3]!s} " in lines[3]


def test_the_first_difference_of_other_kinds() -> None:
    column, row = (int(place[0]) for place in np.nonzero(RIGHT.T == ITERATIONS))
    for value, reported in ((NO_COUNT, "wrote none"), (ITERATIONS + 5, "more than the iteration limit"), (3, "has 3")):
        yours = RIGHT.copy()
        yours[row, column] = value
        lines = first_difference(JOB, yours, RIGHT)
        assert "the iteration limit: the orbit does not escape before" in lines[1]
        assert reported in lines[1]
    with pytest.raises(ValueError, match="no pixel differs"):
        first_difference(JOB, RIGHT, RIGHT)


def test_an_orbit_that_is_too_long_is_not_followed() -> None:
    job = replace(JOB, iterations=100_000)
    right = np.where(RIGHT == ITERATIONS, 100_000, RIGHT)
    yours = np.where(RIGHT == ITERATIONS, 99_999, RIGHT)
    assert "too many to follow here" in first_difference(job, yours, right)[-1]


@pytest.mark.parametrize("rounding", ["separate", "fused"])
@pytest.mark.parametrize("number", ["float", "double"])
def test_replay_without_a_mistake_is_exact(number: str, rounding: str) -> None:
    job = replace(JOB, number=number, rounding=rounding)
    assert np.array_equal(least(job, np.arange(RIGHT.size), ITERATIONS).reshape(RIGHT.shape), counts_of(job))


def test_the_oracle_has_every_pixel() -> None:
    oracle = Oracle(lambda: None)
    counts, checked = oracle.counts(JOB)
    assert np.array_equal(counts, RIGHT)
    assert checked == "every pixel recomputed"
    assert oracle.check(JOB, RIGHT, "0:0").ok
    wrong = RIGHT.copy()
    wrong[3, 3] += 1
    assert (oracle.check(JOB, wrong, "0:0").ok, oracle.check(JOB, wrong, "0:0").differing) == (False, 1)


def test_the_oracle_takes_our_counts_where_recomputing_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle_module, "_MOST_S", 0)
    oracle = Oracle(lambda: None)
    with pytest.raises(DeviceError, match="nothing to compare it with"):
        oracle.counts(JOB)
    wrong = RIGHT.copy()
    wrong[3, 3] += 1
    assert not oracle.check(JOB, wrong, "0:0").ok
    with pytest.raises(DeviceError, match="nothing to compare it with"):
        oracle.counts(JOB)
    assert oracle.check(JOB, RIGHT, "1:0").ok
    counts, checked = oracle.counts(JOB)
    assert np.array_equal(counts, RIGHT)
    assert checked.startswith("every pixel, with ours on 1:0 (")


def test_oracle_stops_on_cancel() -> None:
    class Stop(Exception):  # noqa: N818 - it stands for being cancelled
        pass

    def stop() -> None:
        raise Stop

    with pytest.raises(Stop):
        Oracle(stop).counts(JOB)
