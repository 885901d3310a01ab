"""Places where counts are hard: points on the edge of a set, and lattices whose anchor is near or far."""

from dataclasses import replace
from fractions import Fraction
from random import Random

from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import Formula
from tests.oracle import truth_counts

_EDGE_ITERATIONS = 150
_TRIES = 12

FARTHEST = Fraction(1 << 15)  # from 0, of anchors

Point = tuple[Fraction, Fraction]


def edge(random: Random, formula: Formula, digits: int) -> Point:
    """Return a point next to the edge of a formula's set, to so many digits; any point where none is found."""
    found: dict[bool, Point] = {}
    for _ in range(_TRIES):
        point = Fraction(random.uniform(-2, 1.2)), Fraction(random.uniform(-1.4, 1.4))
        found[_stays(formula, point, 80)] = point
        if len(found) == 2:
            break
    else:
        return point
    inside, outside = found[True], found[False]
    bits = 4 + digits * 10 // 3
    for _ in range(bits):
        middle = (inside[0] + outside[0]) / 2, (inside[1] + outside[1]) / 2
        if _stays(formula, middle, bits + 64):
            inside = middle
        else:
            outside = middle
    return outside


def _stays(formula: Formula, point: Point, bits: int) -> bool:
    view = View(Lattice.upright(*point, 1), 1, 1)
    radius_squared = max(Fraction(4), formula.least_radius_squared())
    job = Job(view, _EDGE_ITERATIONS, radius_squared, formula)
    return int(truth_counts(job, bits)[0, 0]) == _EDGE_ITERATIONS


def view_at(random: Random, point: Point, zoom: Fraction, width: int, height: int) -> View:
    """Return a view with the point somewhere in it: upright, turned or skew."""
    view = View.centred(*point, zoom, width, height, Fraction(random.choice(("0", "0", "30", "-90", "1/7", "161.5"))))
    if random.random() < 0.15:
        a, b, c, d = view.lattice.matrix
        skew = (a + d / 3, b + a / 7, c + a / 5, -3 * d / 4) if random.random() < 0.5 else (a, b + a / 2, c, d)
        view = replace(view, lattice=replace(view.lattice, matrix=skew))
    x, y = random.choice(((0, 0), (random.randrange(width), random.randrange(height))))
    return view.part(x - width // 2, y - height // 2, width, height) if x or y else view


def anchored(random: Random, view: View, farthest: Fraction) -> View:
    """Return the view with another pixel as its anchor, in the picture, beside it or far away.

    No coordinate of the anchor is beyond `farthest`.
    """
    columns = 10 ** random.randrange(1, 10) if random.random() < 0.5 else 10**9
    most = min(columns, int(farthest / view.lattice.stretch))
    if most < 1:
        return view
    return replace(view, lattice=view.lattice.anchored(random.randint(-most, most), random.randint(-most, most)))
