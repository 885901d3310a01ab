"""Which pixels get more samples: by their neighbours on the lattice, and by the error of their own mean."""

import numpy as np

from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.colour.deciding import FirstSamples, Undecided, contrasting
from mandelcl.colour.linear_light import light_of
from mandelcl.core.block import Block
from mandelcl.core.field import Rows
from mandelcl.core.job import Job

JOB = Job(View.centred(0, 0, 1, 6, 5), 1000)
COLOURING = Colouring(find_palette("coursework"), samples="auto")
BAND = Block(0, 0, 6, 5)


def rows_of(counts: list[int]) -> Rows:
    return {"counts": np.array([counts], np.uint32)}


def test_contrast_includes_neighbours_outside_the_picture() -> None:
    values = np.zeros((7, 9, 4), np.uint8)
    values[3, 4] = (0, 15, 0, 0)  # too little
    values[1, 2, 2] = 16
    values[0, 7, 0] = 200  # beyond the edge
    marks = contrasting(values)
    # Pixel (i, j) of the picture is (i + 1, j + 1) here.
    expected = np.zeros((5, 7), bool)
    expected[0:2, 0:3] = True
    expected[0, 5:7] = True
    np.testing.assert_array_equal(marks, expected)


def test_pixels_leave_refinement_once_certain() -> None:
    first = FirstSamples(COLOURING, BAND)
    counts = np.full((7, 8), 3, np.uint32)
    counts[2, 0] = counts[6, 7] = 50  # pixels beyond the edge: those of the band beside them are marked
    first.put(JOB, {"counts": counts}, 0, 0)
    undecided = first.undecided()
    assert undecided.indices.tolist() == [0, 6, 12, 29]
    undecided = Undecided(COLOURING, np.array([8, 29], np.uint32), light_of(COLOURING.palette.table()[[3, 3]]), None)
    assert undecided.indices.tolist() == [8, 29]
    for other in (3, 3, 3):
        undecided.add(JOB, rows_of([3, other + 5]))
    undecided.refine()
    assert undecided.indices.tolist() == [29]
    for _ in range(12):
        undecided.add(JOB, rows_of([8]))
    undecided.refine()
    pixels = first.pixels(JOB, undecided)
    table = COLOURING.palette.table()
    expected = (light_of(table[3]) + 15 * light_of(table[8])) / 16
    assert np.abs(light_of(pixels[4, 5]) - expected).max() < 0.01
    np.testing.assert_array_equal(pixels[1, 2], table[3])
    assert (pixels.reshape(-1, 3)[:29] == table[3]).all()
