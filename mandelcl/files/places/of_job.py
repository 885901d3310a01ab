"""The location that a job shows, for files that describe a view by its centre, zoom and angles."""

import math
from fractions import Fraction

from mandelcl.base.exact import floor_log2, root_below
from mandelcl.base.lattice import Matrix
from mandelcl.core.job import Job
from mandelcl.files.places.place import ForeignPlace, Orientation

_NEAR = Fraction(1, 1 << 60)  # relative error: roots are known to 64 bits
_DIGITS = 12  # of an angle that is searched for, so that a typed angle is found again


def place_of(job: Job) -> ForeignPlace:
    """Return the location of a job.

    If the anchor is the pixel right of and below the middle, the centre is that pixel (`on_pixel`); otherwise it is the
    middle. Angles with few digits are found exactly. Others, and stretches, are rounded to floats, which `notes` say.
    """
    view, lattice = job.view, job.view.lattice
    on_pixel = (lattice.column, lattice.row) == (view.width // 2, view.height // 2)
    a, b, c, d = lattice.matrix
    if on_pixel:
        re, im = lattice.re, lattice.im
    else:
        x, y = Fraction(view.width - 1, 2) - lattice.column, Fraction(view.height - 1, 2) - lattice.row
        re, im = lattice.re + a * x + b * y, lattice.im + c * x + d * y
    pitch = lattice.pitch if lattice.is_upright else root_below(abs(lattice.determinant))
    orientation, exact = _orientation((a / pitch, b / pitch, c / pitch, d / pitch))
    notes = () if exact else ("the directions of its rows and columns are rounded to 15 digits",)
    zoom = _plain(Fraction(4) / (pitch * view.height))
    radius = root_below(job.radius_squared)
    size, formula = (view.width, view.height), job.formula
    return ForeignPlace(re, im, zoom, job.iterations, size, radius, on_pixel, orientation, notes, formula)


def _orientation(matrix: Matrix) -> tuple[Orientation, bool]:
    """Return the orientation of a matrix, up to scale, and whether an angle of few digits gives it exactly."""
    mirrored = matrix[0] * matrix[3] - matrix[1] * matrix[2] > 0
    a, b, c, d = (float(entry) for entry in matrix)
    if not mirrored:
        c, d = -c, -d
    # matrix = stretching · rotation. The rotation is the similarity part of the 2 × 2 polar decomposition.
    angle = math.degrees(math.atan2(c - b, a + d))
    turned = Orientation(Fraction(round(angle, _DIGITS)).limit_denominator(10**_DIGITS), mirrored=mirrored)
    if _near(turned.matrix(), matrix):
        return turned, True
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    p, q, s = a * cosine - b * sine, a * sine + b * cosine, c * sine + d * cosine
    along = math.atan2(2 * q, p - s) / 2
    longest = (p + s) / 2 + math.hypot((p - s) / 2, q)
    stretch, direction = Fraction(math.log2(longest)), Fraction(math.degrees(along))
    return Orientation(Fraction(angle), stretch, direction, mirrored), False


def _plain(zoom: Fraction) -> Fraction:
    """Return the zoom of few digits that a computed root approximates, or the zoom itself."""
    digits = floor_log2(zoom) * 3 // 10 - _DIGITS
    plain = round(zoom / Fraction(10) ** digits) * Fraction(10) ** digits
    return plain if abs(plain - zoom) < _NEAR * zoom else zoom


def _near(found: Matrix, matrix: Matrix) -> bool:
    """Return whether two matrices agree as well as roundings of the same angle do, up to scale."""
    return all(abs(one - other) < _NEAR for one, other in zip(found, matrix, strict=True))
