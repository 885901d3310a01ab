"""Films whose pictures are all stretched by one matrix about their end."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from mandelcl.base.errors import FileError
from mandelcl.film.path import Stop
from mandelcl.film.plan import FilmPlan
from tests.film.conftest import film

MATRIX = (Fraction(3, 2), Fraction(1, 4), Fraction(-1, 8), Fraction(31, 48))
END = Stop.of("-1.754877666246693", "0.01", 65)


def test_keyframes_are_stretched_about_the_end() -> None:
    plain = film(Stop(END.re, END.im, Fraction(1)), END)
    plan = replace(plain, skew=MATRIX)
    assert plan.keyframes == plain.keyframes
    for number in range(plan.keyframes):
        straight, lattice = plain.keyframe_job(0, number).view.lattice, plan.keyframe_job(0, number).view.lattice
        assert (lattice.re, lattice.im, lattice.column, lattice.row) == (END.re, END.im, straight.column, straight.row)
        wanted = straight.stretched(MATRIX).matrix
        assert all(abs(a - b) < straight.pitch / 2**22 for a, b in zip(lattice.matrix, wanted, strict=True))
        # Each keyframe is nested in the next one, exactly.
        assert lattice.matrix == tuple(2 * entry for entry in _next(plan, number))


def _next(plan: FilmPlan, number: int) -> tuple[Fraction, ...]:
    if number + 1 == plan.keyframes:
        return tuple(entry / 2 for entry in plan.keyframe_job(0, number).view.lattice.matrix)
    return plan.keyframe_job(0, number + 1).view.lattice.matrix


def test_other_stops_stay_in_the_middle_of_their_frames() -> None:
    outer = Stop.of("-1.75", "0.02", 2)
    plan = replace(film(outer, END), skew=MATRIX)
    (leg,) = plan.legs
    matrix, offset = leg.placement(leg.level(0.0), 0)
    middle = [(side - 1) / 2 for side in (plan.width, plan.height)]
    column, row = (matrix[2 * k] * middle[0] + matrix[2 * k + 1] * middle[1] + offset[k] for k in (0, 1))
    lattice = plan.keyframe_job(0, 0).view.lattice.shifted(Fraction(column), Fraction(row))
    re, im = lattice.point(0, 0)
    assert (float(re), float(im)) == pytest.approx((-1.75, 0.02), abs=1e-5)


def test_the_plan_is_read_again() -> None:
    plan = replace(film(Stop(END.re, END.im, Fraction(1)), END), skew=MATRIX)
    assert FilmPlan.from_json(plan.to_json()) == plan
    assert "skew" not in film().to_json()
    values = json.loads(plan.to_json()) | {"skew": ["1/1"] * 4}
    with pytest.raises(FileError, match="the skew leads nowhere"):
        FilmPlan.from_json(json.dumps(values))
