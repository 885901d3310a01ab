"""The article's first version of fp128 in integers, from what its products leave out; it knows nothing of other code.

A real is an int in units of 2^−96, and its magnitude has four words, numbered from the top: 0 is the integral one.
"""

from functools import cache
from itertools import product as pairs

import numpy as np

from mandelcl.base.words import Words
from mandelcl.core.job import Job

WORDS, FRACTION_BITS = 4, 96
_WORD = 1 << 32


def left_out(x: int, y: int) -> int:
    """Return what the product of two magnitudes lacks, in units of 2^−192.

    Products of words i + j > 4, and of i + j = 4 the lower halves.
    """
    low = 0
    for i, j in pairs(range(WORDS), repeat=2):
        product = _word(x, i) * _word(y, j)
        if i + j > WORDS:
            low += product << 32 * (6 - i - j)
        elif i + j == WORDS:
            low += (product % _WORD) << 64
    return low


def multiply(x: int, y: int) -> int:
    """Return the product of two reals as the first version cuts it off."""
    kept = abs(x) * abs(y) - left_out(abs(x), abs(y))
    units, rest = divmod(kept, 1 << FRACTION_BITS)
    assert rest == 0
    return units if x * y >= 0 else -units


@cache
def counts(job: Job) -> Words:
    """Return the counts of an upright job of the Mandelbrot set, every pixel."""
    view = job.view
    values = (view.lattice.re, view.lattice.im, view.pitch, job.radius_squared)
    re, im, pitch, limit = (round(value * 2**FRACTION_BITS) for value in values)
    found = np.empty((view.height, view.width), np.uint32)
    for row, column in pairs(range(view.height), range(view.width)):
        cx, cy = re + (column - view.lattice.column) * pitch, im + (view.lattice.row - row) * pitch
        found[row, column] = _count(cx, cy, limit, job.iterations)
    return found


def _count(cx: int, cy: int, limit: int, max_iterations: int) -> int:
    n, x, y = 0, 0, 0
    while n < max_iterations and multiply(x, x) + multiply(y, y) <= limit:
        x, y = multiply(x, x) - multiply(y, y) + cx, 2 * multiply(x, y) + cy
        n += 1
    return n


def _word(magnitude: int, place: int) -> int:
    return magnitude >> 32 * (WORDS - 1 - place) & (_WORD - 1)
