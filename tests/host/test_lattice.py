"""Lattices are exact: parts, levels, tiles and shifted samples share their points, and bounds of distances hold."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import root_above, root_below
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View

unhurried = settings(deadline=None)
parts = st.fractions(-1000, 1000, max_denominator=10**12)
pixels = st.integers(-(10**6), 10**6)
near = st.integers(-50, 50)
factors = st.integers(1, 20)


@st.composite
def lattices(draw: st.DrawFn) -> Lattice:
    """Any lattice: upright, turned, or sheared and mirrored."""
    upright = Lattice.upright(
        draw(parts), draw(parts), draw(st.fractions(Fraction(1, 10**9), 10)), draw(pixels), draw(pixels)
    )
    kind = draw(st.sampled_from(["upright", "turned", "sheared"]))
    if kind == "turned":
        return upright.rotated(draw(parts))
    if kind == "upright":
        return upright
    matrix = draw(st.tuples(parts, parts, parts, parts))
    assume(matrix[0] * matrix[3] != matrix[1] * matrix[2])
    return replace(upright, matrix=matrix)


def squared(lattice: Lattice, x: Fraction | int, y: Fraction | int) -> Fraction:
    """Return the square of how far a step of (x, y) pixels leads."""
    a, b, c, d = lattice.matrix
    return (a * x + b * y) ** 2 + (c * x + d * y) ** 2


@unhurried
@given(lattices(), pixels, pixels)
def test_anchor_pixel_lies_on_the_anchor(lattice: Lattice, column: int, row: int) -> None:
    assert lattice.point(lattice.column, lattice.row) == (lattice.re, lattice.im)
    a, b, c, d = lattice.matrix
    re, im = lattice.point(column, row)
    assert lattice.point(column + 1, row) == (re + a, im + c)
    assert lattice.point(column, row + 1) == (re + b, im + d)


@unhurried
@given(lattices(), pixels, pixels)
def test_pixel_at_is_the_inverse(lattice: Lattice, column: int, row: int) -> None:
    re, im = lattice.point(column, row)
    assert lattice.pixel_at(re, im) == (Fraction(column), Fraction(row))
    first = lattice.point(0, 0)
    assert lattice.pixel_at((re + first[0]) / 2, (im + first[1]) / 2) == (Fraction(column, 2), Fraction(row, 2))


@unhurried
@given(lattices(), pixels, pixels, near, near)
def test_moved_is_counted_from_another_pixel(lattice: Lattice, x: int, y: int, column: int, row: int) -> None:
    assert lattice.moved(x, y).point(column, row) == lattice.point(x + column, y + row)
    assert lattice.moved(x, y).moved(-x, -y) == lattice


@unhurried
@given(lattices(), factors, near, near)
def test_finer_has_every_point_of_the_coarser(lattice: Lattice, factor: int, column: int, row: int) -> None:
    finer = lattice.finer(factor)
    assert finer.point(factor * column, factor * row) == lattice.point(column, row)
    assert finer.coarser(factor) == lattice
    assert finer.pitch * factor == pytest.approx(lattice.pitch, rel=1e-15)


@unhurried
@given(lattices(), factors, near, near)
def test_coarser_lattice_takes_every_nth_point(lattice: Lattice, factor: int, column: int, row: int) -> None:
    assert lattice.coarser(factor).point(column, row) == lattice.point(factor * column, factor * row)


@pytest.mark.parametrize("factor", [0, -1])
def test_no_factor_below_one(factor: int) -> None:
    lattice = Lattice.upright(0, 0, 1)
    for change in (lattice.finer, lattice.coarser):
        with pytest.raises(InvalidInputError, match=f"at least 1, not {factor}"):
            change(factor)


@unhurried
@given(lattices(), st.fractions(-1, 1, max_denominator=64), st.fractions(-1, 1, max_denominator=64), near, near)
def test_shifted_moves_each_sample(lattice: Lattice, x: Fraction, y: Fraction, column: int, row: int) -> None:
    a, b, c, d = lattice.matrix
    re, im = lattice.point(column, row)
    assert lattice.shifted(x, y).point(column, row) == (re + a * x + b * y, im + c * x + d * y)
    assert lattice.shifted(x, y).shifted(-x, -y) == lattice


@unhurried
@given(lattices(), near, near, st.integers(1, 300), st.integers(0, 299), st.integers(0, 299))
def test_tiles_number_the_lattice(lattice: Lattice, column: int, row: int, side: int, x: int, y: int) -> None:
    view = View(replace(lattice, column=0, row=0), 7, 5)
    tile = view.tile(column, row, side)
    assert (tile.width, tile.height) == (side, side)
    assert tile.point(x % side, y % side) == view.point(column * side + x % side, row * side + y % side)


@unhurried
@given(lattices(), st.integers(1, 40), st.integers(1, 40), factors)
def test_views_share_the_lattices_points(lattice: Lattice, width: int, height: int, factor: int) -> None:
    view = View(lattice, width, height)
    finer, coarser = view.finer(factor), view.coarser(factor)
    assert (finer.width, finer.height) == (factor * width, factor * height)
    assert finer.coarser(factor) == view
    last = coarser.width - 1, coarser.height - 1
    assert coarser.point(*last) == view.point(last[0] * factor, last[1] * factor)
    assert last[0] * factor < width <= (last[0] + 1) * factor
    assert last[1] * factor < height <= (last[1] + 1) * factor
    assert view.part(3, -2, 5, 4).point(1, 2) == view.point(4, 0)


@unhurried
@given(lattices())
def test_the_pitch_bounds_distances_from_below(lattice: Lattice) -> None:
    pitch = lattice.pitch
    assert pitch > 0
    for x in range(-4, 5):
        for y in range(-4, 5):
            if (x, y) != (0, 0):
                assert pitch**2 <= squared(lattice, x, y)


@unhurried
@given(parts, parts, st.fractions(Fraction(1, 10**9), 10), parts)
def test_the_pitch_of_turned_lattices_is_exact(re: Fraction, im: Fraction, pitch: Fraction, degrees: Fraction) -> None:
    """As far as the root of cos² + sin² is a ratio; upright it is."""
    upright = Lattice.upright(re, im, pitch)
    assert upright.pitch == upright.stretch == pitch
    assert upright.is_upright
    turned = upright.rotated(degrees)
    assert turned.pitch == pytest.approx(pitch, rel=1e-15)
    assert turned.stretch == pytest.approx(pitch, rel=1e-15)
    assert turned.is_upright == (degrees % 360 == 0)


def test_the_pitch_of_a_long_parallelogram() -> None:
    """The nearest neighbour of a pixel is not one of its four; then the bound is below the distance."""
    lattice = Lattice(Fraction(0), Fraction(0), (Fraction(1), Fraction(9), Fraction(0), Fraction(1, 10)))
    assert squared(lattice, -9, 1) == Fraction(1, 100)
    assert 0 < lattice.pitch <= Fraction(1, 10)
    square = Lattice(Fraction(0), Fraction(0), (Fraction(3), Fraction(0), Fraction(0), Fraction(4)))
    assert square.pitch == 3
    assert not square.is_upright


@unhurried
@given(lattices(), st.fractions(-1, 1), st.fractions(-1, 1))
def test_the_stretch_bounds_distances_from_above(lattice: Lattice, x: Fraction, y: Fraction) -> None:
    assert squared(lattice, x, y) <= lattice.stretch**2 * (x * x + y * y)


@unhurried
@given(lattices())
def test_the_stretch_is_the_norm_or_a_little_more(lattice: Lattice) -> None:
    """The operator norm is the root of the larger eigenvalue of MᵀM; the bound is at most √2 times that."""
    a, b, c, d = (float(entry / lattice.stretch) for entry in lattice.matrix)
    trace, determinant = a * a + b * b + c * c + d * d, a * d - b * c
    norm = math.sqrt((trace + math.sqrt(max(0.0, trace * trace - 4 * determinant**2))) / 2)
    assert math.sqrt(0.5) - 1e-7 < norm < 1 + 1e-7


def test_turned_by_90_the_right_side_of_the_set_is_at_the_top() -> None:
    """The plane turns counter-clockwise: what lies in the direction of +1 comes up, what lies up goes to the left."""
    view = View.centred(Fraction(0), Fraction(0), Fraction(1), 4, 4, rotation=90)
    upright = View.centred(Fraction(0), Fraction(0), Fraction(1), 4, 4)
    for column in range(4):
        for row in range(4):
            # A square picture turned by 90 degrees: the pixel that was (column, row) is at (row, 3 − column).
            assert view.point(row, 3 - column) == upright.point(column, row)
    assert view.point(1, 0)[0] > 1 > -1 > view.point(1, 3)[0]
    assert view.point(0, 1)[1] > 1 > -1 > view.point(3, 1)[1]


@unhurried
@given(parts, parts, st.fractions(-720, 720))
def test_turning_keeps_the_middle_and_directions(re: Fraction, im: Fraction, degrees: Fraction) -> None:
    """A step to the right in the picture leads by −degrees in the plane."""
    view = View.centred(re, im, Fraction(1, 3), 7, 5, rotation=degrees)
    middle = view.point(3, 2)
    assert middle == (re, im)
    right = view.point(4, 2)
    angle = math.radians(float(-degrees % 360))
    pitch = float(Fraction(12) / 5)
    assert float(right[0] - re) == pytest.approx(pitch * math.cos(angle), abs=1e-12)
    assert float(right[1] - im) == pytest.approx(pitch * math.sin(angle), abs=1e-12)
    assert view.lattice.determinant < 0  # the imaginary axis is still up from the real one


@unhurried
@given(lattices(), parts)
def test_turning_is_about_the_anchor(lattice: Lattice, degrees: Fraction) -> None:
    turned = lattice.rotated(degrees)
    assert turned.point(lattice.column, lattice.row) == (lattice.re, lattice.im)
    assert lattice.rotated(Fraction(0)) == lattice
    quarters = lattice.rotated(Fraction(90)).rotated(Fraction(180)).rotated(Fraction(90))
    assert quarters == lattice


def test_singular_matrix_is_refused() -> None:
    one, two = Fraction(1), Fraction(2)
    for matrix in ((one, two, one, two), (one * 0, one * 0, one * 0, one * 0), (one, one, two, two)):
        with pytest.raises(InvalidInputError, match="distance between pixels must be positive"):
            Lattice(one, one, matrix)
    for pitch in (0, -1, "-1e-9"):
        with pytest.raises(InvalidInputError, match="distance between pixels must be positive"):
            Lattice.upright(0, 0, pitch)


@unhurried
@given(st.fractions(0, 10**30, max_denominator=10**30))
def test_square_roots_are_bounds(square: Fraction) -> None:
    below, above = root_below(square), root_above(square)
    assert below**2 <= square <= above**2
    assert above - below <= above * Fraction(1, 1 << 61)
    assert root_below(square**2) == root_above(square**2) == square
