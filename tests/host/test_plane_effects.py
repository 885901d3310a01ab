"""Effects that look at planes: light, boundary, decomposition, stripes."""

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.colour.boundary import Boundary
from mandelcl.colour.colour import Colouring, colourise, find_palette
from mandelcl.colour.decomposition import Decomposition
from mandelcl.colour.effects import EFFECTS, Effect, effect_named
from mandelcl.colour.light import Light
from mandelcl.colour.stripes import Stripes
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.formulas import formula_named

JOB = Job(View.centred(0, 0, 1, 8, 2), 100, planes=("counts", "distance", "last"))


def factors(effect: Effect, values: npt.ArrayLike, job: Job = JOB) -> list[float]:
    plane = np.array([values], np.complex64)
    found = effect.factor({"counts": np.ones(plane.shape, np.uint32), **dict.fromkeys(effect.planes, plane)}, job)
    assert found.dtype == np.float32
    assert found.shape == plane.shape
    return [round(float(value), 5) for value in found[0]]


def test_light_brightens_the_side_it_comes_from() -> None:
    assert factors(Light(0), [1, 1j, -1, 1e30, -1e-30, 0]) == [1, 0.6, 0.2, 1, 0.2, 0.6]
    assert factors(Light(90), [1j, -5j]) == [1, 0.2]
    assert factors(Light(-30, 0), [1, 1j, -1]) == [pytest.approx(0.86603), 0, 0]
    assert factors(Light(0, 1.5, 0.5), [1, -1]) == [1, 0.6]
    assert factors(Light(0, 0, 0.5), [-1]) == [0.5]


def test_a_boundary_fades_out_over_its_width() -> None:
    assert factors(Boundary(2), [0, 1, 1j, -0.6 + 0.8j, 2, 1e30]) == [0, 0.5, 0.5, 0.5, 1, 1]
    assert Boundary.parse("2,white").towards == "#ffffff"


def test_decomposition_darkens_what_leaves_below() -> None:
    assert factors(Decomposition(0.25), [200 + 1j, -200 - 1j, 200]) == [1, 0.25, 1]


@pytest.mark.parametrize("name", ["mandelbrot", "multibrot-3"])
def test_stripes_go_on_from_band_to_band(name: str) -> None:
    """An orbit that is just outside the radius, and one just inside, which goes on for a step more."""
    formula = formula_named(name)
    job = Job(JOB.view, 100, formula=formula, planes=JOB.planes)
    outer = 128.0001 * np.exp(1j * np.linspace(-3, 3, 50))
    inner = (127.9999 * np.exp(1j * np.linspace(-3, 3, 50))) ** formula.degree
    found = factors(Stripes(3), outer, job)
    assert found == pytest.approx(factors(Stripes(3), inner, job), abs=1e-4)
    assert min(found) >= 0.5
    assert max(found) > 0.99
    assert factors(Stripes(3), [0], job) == [0.75]


def test_stripes_turn_as_often_as_they_say() -> None:
    last = 128.0**2 * np.exp(1j * (np.arange(360) + 0.5) * np.pi / 180)
    bright = np.array(factors(Stripes(7, 1), last)) > 0.5
    assert np.count_nonzero(bright != np.roll(bright, 1)) == 14


GIVEN = {
    "light": ("135", "135,2", "-45,0.5,0.25"),
    "boundary": ("1", "0.5,#ff0000"),
    "decomposition": ("0.5", "0,white"),
    "stripes": ("4", "4,0.3", "64,1,navy"),
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in GIVEN.items() for text in texts])
def test_texts_and_json(name: str, text: str) -> None:
    effect = effect_named(name).parse(text)
    assert type(effect).from_json(json.loads(json.dumps(effect.to_json()))) == effect
    colouring = Colouring(find_palette("ice"), effects=(effect,))
    assert Colouring.from_json(colouring.to_json()) == colouring
    assert set(effect.planes) <= set(colouring.planes)


def test_all_hosts_are_tried() -> None:
    assert set(GIVEN) == set(EFFECTS)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("light", "up", "--light must be a number, not 'up'"),
        ("light", "1,2,3,4", "--light needs 1 to 3 values separated by commas, not '1,2,3,4'"),
        ("light", "1,,1", "--light needs 1 to 3 values"),
        ("light", "nan", "--light must be a number"),
        ("light", "45,-1", "the light's height must be a number from 0 to 1000, not -1"),
        ("light", "45,1,2", "the light's strength must be a number from 0 to 1, not 2"),
        ("boundary", "0", "the boundary's width must be a number from 1e-06 to 1e[+]06, not 0"),
        ("boundary", "1,plaid", "'plaid' is not a colour"),
        ("decomposition", "2", "the decomposition's share must be a number from 0 to 1"),
        ("stripes", "2.5", "the number of stripes must be a whole number, not 2.5"),
        ("stripes", "65", "the number of stripes must be a number from 1 to 64"),
        ("stripes", "5,high", "--stripes must be a number"),
    ],
)
def test_invalid_effect_texts(name: str, text: str, what: str) -> None:
    with pytest.raises(InvalidInputError, match=what):
        effect_named(name).parse(text)


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("value", [None, 1, [], ["a", "b", "c"], [1, 2, 3, 4], {"angle": 1}, [True], [[1], 2, 3]])
def test_invalid_effect_json(name: str, value: Any) -> None:
    text = json.dumps({"palette": "ice", "cycle": None, "offset": 0, "effects": {name: value}})
    with pytest.raises(InvalidInputError):
        Colouring.from_json(text)


def test_a_line_where_no_pixel_is_inside() -> None:
    """A filament between pixels is drawn; with the light before the line, the line has its own colour."""
    counts = np.full((2, 8), 50, np.uint32)
    distance = np.array([[4, 2, 0.1, -0.1, -2, -4, -6, -8]] * 2, np.complex64)
    field = Field(JOB, {"counts": counts, "distance": distance, "last": np.ones((2, 8), np.complex64)})
    effects = (Boundary(1, "#00ff00"), Light(0))
    pixels = colourise(field, "classic", effects=effects)
    assert pixels[0, 2, 1] > 240
    assert pixels[0, 2, 0] < 90
    assert pixels[0, 0].sum() > pixels[0, 5].sum()
