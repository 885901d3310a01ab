"""Fixed point with an anchor far from the picture: every pixel is where exact arithmetic has it, on every device."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name, fixed
from mandelcl.engine.job_text import SMOOTH_LIMIT
from mandelcl.engine.variant import Variant, default_variant
from mandelcl.opencl.device import Device
from mandelcl.rendering.certify import bounding, work
from mandelcl.rendering.render import render
from tests.device.comparing import exact_counts
from tests.device.targets import planes
from tests.oracle import fixed as oracle
from tests.oracle.cases import MAPS

# The widest take a minute to build.
WIDTHS = (2, 4, 7, *(pytest.param(words, marks=pytest.mark.long) for words in (3, 5, 8, 16, 32)))
TIP = (Fraction(-2), Fraction(0))  # where an error of 2^−k shows after k/2 iterations
AWAY = {"2^15 columns": (1 << 15, -1000), "2^30 columns": (1 << 30, 7 - (1 << 29)), "2^25 rows": (-3, (1 << 25) - 60)}
COARSE = Fraction(1, 3)  # at which 2^15 columns lead to 10923, and a million beyond 2^15


def around_the_tip(pitch: Fraction) -> View:
    """Return a view with its anchor in it: -2 is a pixel, and so are points near it and far outside."""
    return View.upright(*TIP, pitch, 7, 3, 2, 1)


def anchored(view: View, column: int, row: int) -> View:
    """Return the same points, counted from another pixel."""
    return replace(view, lattice=view.lattice.anchored(column, row))


def job_of(words: int, view: View, max_iterations: int = 60) -> Job:
    return Job(view, max_iterations, number=fixed(words).name, rounding="fixed", planes=("counts", "smooth"))


def variants(device: Device, number: str) -> Iterator[Variant]:
    """Yield shapes that are quickly built, with doubles for digits where the device has them, and with integers."""
    for double_digits in (True, False) if device.fp64 else (False,):
        own = default_variant(device, by_name(number), double_digits)
        shape = (own.lanes, 1, 2, 1, own.lane_columns, own.local_columns, own.local_rows)
        yield Variant(*shape, double_digits, digits_unrolled=False)


def words_of(job: Job, device: Device, variant: Variant) -> Words:
    """Return the counts, and of escaped pixels the words of the smooth plane."""
    words = planes(job, device, variant)[0]
    words[1:, words[0] == job.iterations] = 0  # what is left of pixels inside is of no use to anybody
    return words


def compare(job: Job, device: Device) -> None:
    """Compare every word with the oracle's, with both kinds of digits."""
    truth = oracle.smooth_steps(job, SMOOTH_LIMIT)
    out = truth.counts < job.iterations
    for variant in variants(device, job.number):
        counts, steps, norms = planes(job, device, variant)[0]
        np.testing.assert_array_equal(counts, truth.counts)
        np.testing.assert_array_equal(steps[out], truth.steps[out])
        np.testing.assert_array_equal(norms.view(np.float32)[out], truth.norms[out])


@pytest.mark.full
@pytest.mark.parametrize("words", WIDTHS)
def test_anchor_does_not_change_points(device: Device, words: int) -> None:
    """Where the pitch is a multiple of the last place, another anchor leaves every bit."""
    near = around_the_tip(Fraction(5, 1 << 14))  # of 2^30 columns, 327680, which only wraps
    for variant in variants(device, fixed(words).name):
        expected = words_of(job_of(words, near), device, variant)
        assert expected[0, 1, 2] == 60 > expected[0].min()
        for column, row in AWAY.values():
            view = anchored(near, column, row)
            if fixed(words).cannot_hold(view) is None:
                np.testing.assert_array_equal(words_of(job_of(words, view), device, variant), expected)
            else:
                assert words == 7  # which has 38 spare bits


@pytest.mark.full
@pytest.mark.parametrize("words", WIDTHS)
def test_pixels_far_from_the_anchor(device: Device, words: int) -> None:
    """The pitch and the anchor are no multiples of the last place; pitches reach 100/3, and lattices are turned."""
    coarse = around_the_tip(COARSE)
    for view in (anchored(coarse, 1 << 15, -1000), anchored(around_the_tip(Fraction(100, 3)), 10**6, -(10**6))):
        compare(job_of(words, view, 100), device)
    if words in (3, 4, 5):
        for chart in ("30", "sheared"):
            compare(job_of(words, anchored(MAPS[chart](coarse), 1 << 20, 3 - (1 << 20)), 100), device)


@pytest.mark.parametrize("words", [2, 4, 5])
def test_points_far_outside_are_rounded_once(device: Device, words: int) -> None:
    """Between two floats, and by a last bit, which double lacks, nearer to the larger."""
    last = Fraction(1, 1 << fixed(words).bits)
    for re in ((1 << 14) + Fraction(1, 1 << 10) + last, Fraction(-77_777, 3), 100 + Fraction(3, 1 << 18) - last):
        for sign in (1, -1):
            compare(job_of(words, View.upright(sign * re, sign * re / 2, Fraction(1, 1 << 20), 5, 2), 9), device)


def test_digits_with_many_spare_bits_hold_fewer_columns(device: Device) -> None:
    with pytest.raises(InvalidInputError, match="fixed:7 holds fewer than 33554432 pixels a side"):
        render(job_of(7, anchored(around_the_tip(COARSE), 10**9, 0)), device)


@pytest.mark.parametrize("pitch", [Fraction(1 << 31), Fraction(2000)])
def test_an_anchor_that_cannot_be_encoded_is_refused(device: Device, pitch: Fraction) -> None:
    view = anchored(around_the_tip(pitch), 2 if pitch > 2000 else 10**6, 0)
    view = view.part(2, 1, 1, 1)
    with pytest.raises(
        InvalidInputError, match="fp128 holds an anchor, and a distance between pixels, below 1073741824"
    ):
        render(Job(view, 50, number="fp128"), device)


@pytest.mark.full
@pytest.mark.parametrize("words", [5, *(pytest.param(words, marks=pytest.mark.long) for words in (6, 8)), 32])
def test_proofs_far_from_the_anchor_are_exact(device: Device, words: int) -> None:
    view = around_the_tip(Fraction(1, 1 << 12) / 3)
    job = Job(view, 60, Fraction(25), number=f"fixed:{words}", rounding="fixed", method="bounded",
              planes=("counts", "certified"))  # fmt: skip
    truth = exact_counts(job)
    assert truth[1, 2] == 60
    for column, row in ((0, 0), (1 << 15, -1000), (10**9, -(10**9)), (-(1 << 20), 5)):
        far = job.at(anchored(view, column, row))
        for variant in variants(device, job.number):
            counts, certified = planes(far, device, variant)[0]
            assert certified.all()
            np.testing.assert_array_equal(counts, truth)


@pytest.mark.full
def test_certified_renders_far_from_the_anchor(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that perturbation leaves in doubt is counted in fixed point on the device."""
    monkeypatch.setattr(work, "finer", lambda job, _double: job)
    monkeypatch.setattr(bounding, "_WORTH", 1)
    lattice = Lattice.upright(*TIP, Fraction(1, 10**4), 4, 3)
    job = Job(View(lattice.anchored(10**7, -(10**7)), 9, 7), 90, Fraction(25), number="float", method="perturbation",
              planes=("counts", "certified"))  # fmt: skip
    field, report = render(job, device)
    assert report.certified is not None
    assert report.certified.share == 1
    np.testing.assert_array_equal(field.counts, exact_counts(job))
