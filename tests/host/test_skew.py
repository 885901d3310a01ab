"""The matrix that undoes a view's stretch: an inverse Jacobian, as exact fractions."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.formulas import Formula
from mandelcl.formulas.differential import Change
from mandelcl.perturbation.jacobian import stretch, view_matrix
from mandelcl.perturbation.skew import skew_of

MOST = 100_000


def change(direct: complex, mirrored: complex) -> Change:
    a, b, c, d = (round(part * 2**60) for number in (direct, mirrored) for part in (number.real, number.imag))
    return a, b, c, d, -60


@pytest.mark.parametrize(("direct", "mirrored"), [(2 + 1j, 0.5 - 1j), (0.3 - 1j, 0.1 + 0.2j), (1e-3, 2e-4j)])
def test_matrix_is_the_inverse_of_the_jacobian(direct: complex, mirrored: complex) -> None:
    a, b, c, d = map(float, view_matrix(change(direct, mirrored)) or ())
    assert a * d - b * c == pytest.approx(1, abs=1e-5)
    images = [direct * w + mirrored * w.conjugate() for w in (complex(a, c), complex(b, d))]
    size = (abs(direct) ** 2 - abs(mirrored) ** 2) ** 0.5
    assert images == pytest.approx([size, size * 1j], abs=1e-5 * size)


@pytest.mark.parametrize(("direct", "mirrored"), [(0.5 - 1j, 2 + 1j), (0.1 + 0.2j, 0.3 - 1j)])
def test_a_mirrored_view_is_stretched_alone(direct: complex, mirrored: complex) -> None:
    a, b, c, d = map(float, view_matrix(change(direct, mirrored)) or ())
    assert b == c
    assert a > 0
    assert a * d - b * c == pytest.approx(1, abs=1e-5)
    # What is left turns and mirrors, and stretches nothing.
    u, v = (direct * w + mirrored * w.conjugate() for w in (complex(a, c), complex(b, d)))
    assert abs(u) == pytest.approx(abs(v), rel=1e-4)
    assert (u * v.conjugate()).real == pytest.approx(0, abs=1e-4)


def test_conformal_jacobians_need_no_matrix() -> None:
    assert view_matrix(change(1 + 2j, 0)) is None
    assert view_matrix(change(0, 1 + 2j)) is None
    assert skew_of(View.centred(0, 1, "1e20", 16, 9), Formula.parse("multibrot-3"), MOST).matrix is None
    with pytest.raises(InvalidInputError, match="a Julia set is not skewed as a whole"):
        skew_of(View.centred(0, 1, 9, 16, 9), Formula.parse("tricorn").julia(0, 1), MOST)


def test_deep_burning_ship() -> None:
    place = json.loads((Path(__file__).parent / "folded_places.json").read_text())["burning-ship-1e101"]
    found = skew_of(View.centred(place["re"], place["im"], place["zoom"], 16, 9), Formula.parse("ship"), MOST)
    assert found.iterations == place["period"]
    assert found.stretch == pytest.approx(4.027, abs=1e-3)
    # fractalshades' matrix for it, whose imaginary axis points down, is the same but for a rotation.
    theirs = (1.3141410612942215, 0.8651590600810832, 0.6372176654581702, 1.1804627997751416)
    square = theirs[0] ** 2 + theirs[1] ** 2, theirs[2] ** 2 + theirs[3] ** 2
    a, b, c, d = map(float, found.matrix or ())
    assert (a * a + b * b, c * c + d * d) == pytest.approx(square, rel=0.02)


def test_stretched_view_keeps_its_middle_and_its_area() -> None:
    view = View.centred("0.3", "0.4", 10, 301, 201, rotation=30)
    matrix = (Fraction(2), Fraction(1, 2), Fraction(0), Fraction(1, 2))
    stretched = view.stretched(matrix)
    assert stretched.point(150, 100) == view.point(150, 100)
    assert stretched.lattice.determinant == view.lattice.determinant
    re, im = (stretched.point(151, 100)[k] - view.point(150, 100)[k] for k in (0, 1))
    x, y = (view.point(151, 100)[k] - view.point(150, 100)[k] for k in (0, 1))
    assert (re, im) == (2 * x + y / 2, y / 2)
    assert stretch(matrix) == pytest.approx(4.27, abs=0.01)
    assert Job.from_json(Job(stretched).to_json()).view == stretched
