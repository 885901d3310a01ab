"""Misiurewicz points that are known, and of each kind of formula; the zooms of embedded Julia sets."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.formulas import Formula
from mandelcl.perturbation.embedded import embedded_julia_sets
from mandelcl.perturbation.locate import Box, locate, zoom_text
from mandelcl.perturbation.misiurewicz import find_misiurewicz

MOST = 10_000


def box(re: str, im: str, half: str) -> Box:
    x, y, r = (Fraction(text) for text in (re, im, half))
    return Box(x - r, x + r, y - r, y + r)


@pytest.mark.parametrize(
    ("formula", "re", "im", "half", "preperiod", "period", "x", "y", "multiplier"),
    [
        ("mandelbrot", "-2.01", "0.001", "0.05", 2, 1, -2, 0, 4),
        ("mandelbrot", "0.01", "1.01", "0.05", 2, 2, 0, 1, 32**0.5),
        ("mandelbrot", "0", "1", "1e-30", 2, 2, 0, 1, 32**0.5),
        # Where three branches meet above the upper disc, and the band-merging point of the real axis.
        ("mandelbrot", "-0.1", "0.96", "0.02", 4, 1, -0.10109636384562216, 0.9562865108091415, 1.3283301),
        ("mandelbrot", "-1.5437", "0", "0.001", 3, 1, -1.5436890126920764, 0, 1.6785736),
        ("tricorn", "-1.99", "0.01", "0.05", 2, 1, -2, 0, 4),
        ("sqr add / absx sqr add", "-1.99", "0", "0.05", 2, 2, -2, 0, 16),
        ("burning-ship", "-1.76", "-0.03", "0.005", 3, 8, -1.7612306930522006, -0.029061058197852464, 54.91388),
    ],
)
def test_known_points(
    formula: str,
    re: str,
    im: str,
    half: str,
    preperiod: int,
    period: int,
    x: float,
    y: float,
    multiplier: float,
) -> None:
    found = find_misiurewicz(box(re, im, half), MOST, formula=Formula.parse(formula))
    assert (found.preperiod, found.period) == (preperiod, period)
    assert (float(found.re), float(found.im)) == pytest.approx((x, y), abs=1e-14)
    assert found.multiplier == pytest.approx(multiplier, rel=1e-6)


def test_what_is_found_is_exact() -> None:
    found = find_misiurewicz(box("-0.7756838", "0.1364674", "1e-5"), MOST)
    bits = 400
    c, d = (round(part * (1 << bits)) for part in (found.re, found.im))
    x = y = 0
    points = [(0, 0)]
    for _ in range(found.preperiod + found.period):
        x, y = ((x * x - y * y) >> bits) + c, (2 * x * y >> bits) + d
        points.append((x, y))
    first, last = points[found.preperiod], points[-1]
    assert max(abs(first[0] - last[0]), abs(first[1] - last[1])) < 1 << (bits - found.bits + 32)
    before = points[found.preperiod - 1], points[-2]
    assert max(abs(before[0][k] - before[1][k]) for k in (0, 1)) > 1 << (bits - 20)


def test_where_there_is_none() -> None:
    with pytest.raises(InvalidInputError, match="no Misiurewicz point is in the box: the orbit"):
        find_misiurewicz(box("1.5", "1.5", "0.01"), MOST)
    with pytest.raises(InvalidInputError, match="a Julia set has no Misiurewicz points"):
        find_misiurewicz(box("0", "0", "1"), MOST, formula=Formula.parse("tricorn").julia(0, 1))


def test_zooms_of_embedded_julia_sets() -> None:
    # In the island of period 3 this place has been drawn at 1e14 for years, with a Julia set in its middle.
    place = json.loads((Path(__file__).parent / "deep_places.json").read_text())["1e14"]
    found = locate(Box.around(View.centred(place["re"], place["im"], place["zoom"], 16, 9)), MOST)
    sets = embedded_julia_sets(found.nucleus, found.formula)
    assert [(julia.parent, zoom_text(julia.size)) for julia in sets] == [
        (1, "3.07e14"),
        (3, "8.32e14"),
        (50, "4.54e16"),
    ]
    own = float(found.nucleus.size)
    assert float(sets[0].size) == pytest.approx(own**0.75, rel=1e-6)
    cubic = locate(box("0.3", "1.1", "0.1"), MOST, formula=Formula.parse("multibrot-3"))
    (julia,) = embedded_julia_sets(cubic.nucleus, cubic.formula)[:1]
    assert float(julia.size) == pytest.approx(float(cubic.nucleus.size) ** (8 / 9), rel=1e-6)
