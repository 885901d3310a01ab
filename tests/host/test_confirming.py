"""Some counts of a field against exact arithmetic: which are drawn, what is reported."""

from fractions import Fraction

import numpy as np

from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.formulas import MANDELBROT
from mandelcl.perturbation.confirming import Confirmation, Difference, Sample, confirm, drawn
from tests.oracle.truth import truth_counts

JOB = Job(View.centred("-1.25066", "0.02012", "11764", 48, 27), 300)


def test_sampled_pixels_are_even_and_reproducible() -> None:
    view = View.centred(0, 0, 1, 1000, 600)
    pixels = drawn(view, 600)
    assert pixels == drawn(view, 600)
    assert pixels[:100] == drawn(view, 100)
    assert len(set(pixels)) == 600
    in_cells = np.zeros((6, 10), int)
    for column, row in pixels:
        in_cells[row // 100, column // 100] += 1
    assert (in_cells >= 8).all()
    assert (in_cells <= 12).all()


def test_sample_of_a_small_view_is_every_pixel() -> None:
    view = View.centred(0, 0, 1, 5, 3)
    assert sorted(drawn(view, 15)) == sorted(drawn(view, 99)) == [(x, y) for x in range(5) for y in range(3)]
    assert len(set(drawn(view, 14))) == 14


def _confirmed(counts: Words) -> Confirmation:
    """Return what comes of 100 of the counts of JOB beside exact ones."""
    sample = Sample(JOB.view, 100)
    sample.note(0, counts)
    return confirm(JOB, sample.counts)


def test_correct_field_is_confirmed_and_wrong_pixel_is_named() -> None:
    counts = truth_counts(JOB)
    assert _confirmed(counts) == Confirmation(100, (), ())
    column, row = drawn(JOB.view, 100)[37]
    true = int(counts[row, column])
    counts[row, column] += 1
    found = _confirmed(counts)
    assert found == Confirmation(99, (Difference(column, row, true + 1, true),), ())
    assert found.share == 0.99


def test_pixels_beyond_the_time_limit_are_undecided() -> None:
    slow = Job(View.upright(Fraction(1, 4), 0, "1e-300", 1, 2), 4_000_000_000)
    found = confirm(slow, {(0, 0): 7, (0, 1): 8}, seconds=0.5)
    assert found == Confirmation(0, (), ((0, 0), (0, 1)))
    assert found.share == 1.0


def test_counts_of_julia_sets_are_those_of_their_orbits() -> None:
    # With c = −2 and R = 2, the orbit of 2 stays, and those of 9/4 and 5/2 begin outside.
    view = View.upright(2, 0, "1/4", 3, 1)
    found = confirm(Job(view, 50, formula=MANDELBROT.julia(-2, 0)), {(0, 0): 50, (1, 0): 0, (2, 0): 1}, processes=1)
    assert found.agreeing == 2
    assert found.differing == (Difference(2, 0, 1, 0),)
