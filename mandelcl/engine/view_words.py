"""What kernels load of a view: R², the map's words and the formula's parameters, as cl/advance.cl has them."""

from fractions import Fraction

import numpy as np

from mandelcl.base.lattice import Lattice
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.numbers import by_name


def encoded(job: Job, lattice: Lattice) -> Words:
    """Return the words of a resolved job, its points on a lattice as cl/map_lattice.cl loads it."""
    number = by_name(job.number)
    anchor = ((lattice.re, "the left of the picture"), (lattice.im, "the top of the picture"))
    values = ((job.radius_squared, "the escape radius squared"), *anchor)
    words = [number.encode(value, what) for value, what in values]
    a, b, c, d = lattice.matrix
    words += [number.encode_pitch(step) for step in ((a,) if lattice.is_upright else (a, -b, c, -d))]
    words += [number.encode(part, "the constant") for pair in job.formula.parameters for part in pair]
    return np.concatenate(words)


def of_zero(job: Job) -> Words:
    """Return words of the same length in which every pixel is 0, with R² = 4."""
    words = np.zeros(encoded(job, job.view.lattice).size, np.uint32)
    radius_squared = by_name(job.number).encode(Fraction(4))
    words[: radius_squared.size] = radius_squared
    return words
