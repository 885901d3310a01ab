"""Palettes that a plane turns in place of the count."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.names import MEASURED_PLANES
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, colourise, find_palette
from mandelcl.colour.measures import MEASURED, measures
from mandelcl.colour.painting import places_of
from mandelcl.core.field import Field
from mandelcl.core.job import Job

GREY = find_palette("grey")


def a_field(**planes: Sequence[complex]) -> Field:
    """Return a field of a row, whose last pixel is inside."""
    width = len(next(iter(planes.values())))
    job = Job(View.centred(0, 0, 1, width, 1), 100, planes=("counts", *planes))
    counts = np.array([[7] * (width - 1) + [100]], np.uint32)
    types = {name: np.complex64 if name == "distance" else np.float32 for name in planes}
    values = {name: np.array([row]).astype(types[name]) for name, row in planes.items()}
    return Field(job, {"counts": counts} | {name: values[name] for name in job.planes if name != "counts"})


def test_steepness_is_that_of_kalles_fraktaler() -> None:
    """√8 counts a pixel of a picture 640 pixels wide, which is √8·width/(640·ln 2·distance), 1024 at most."""
    field = a_field(distance=[2, 4j, -0.5, 0, 0])
    found = measures(field.job, field.planes, "distance")[0]
    unit = math.sqrt(8) * 5 / (640 * math.log(2))
    assert found[:3].tolist() == pytest.approx([unit / 2, unit / 4, unit / 0.5])
    assert found[3] == 1024


@pytest.mark.parametrize(
    ("transfer", "cycle", "bent"),
    [("linear", 0.25, lambda v: v), ("root2", 2, math.sqrt), ("log", 1, math.log1p), (None, None, math.log1p)],
)
def test_places_are_turns_of_what_is_bent(transfer: str | None, cycle: float | None, bent: Any) -> None:
    field = a_field(distance=[1, 3, 40j, 0])
    colouring = Colouring(GREY, cycle, 0.25, transfer=transfer, by="distance")
    values = measures(field.job, field.planes, "distance")[0]
    places = places_of(field.job, field.planes, colouring)[0]
    for place, value in zip(places[:3], values[:3], strict=True):
        assert abs(place - (bent(value) / colouring.cycle_length + 0.25) % 1 * colouring.places) <= 1
    assert places[3] == colouring.places


@pytest.mark.parametrize("name", ["stripe-3", "triangle", "trap-cross"])
def test_planes_of_last_iterates_turn_by_their_value(name: str) -> None:
    field = a_field(**{name: [0, 0.25, 0.375, 0]})
    pixels = colourise(field, GREY, by=name)
    table = GREY.table()
    assert pixels[0].tolist() == [table[place].tolist() for place in (0, 2048, 3072, 4096)]


@pytest.mark.parametrize(("plane", "strength"), [("stripe-3", 1.0), ("distance", 0.5)])
def test_a_cycle_is_spread_over_the_values_of_the_picture(plane: str, strength: float) -> None:
    """Values crowd together; of a strength of 1, each eighth of a cycle colours as many pixels."""
    chance = np.random.default_rng(3)
    values = chance.random((64, 64)) ** 6 * 0.01 + 0.3
    job = Job(View.centred(0, 0, 1, 64, 64), 100, planes=("counts", plane))
    field = Field(job, {"counts": np.full((64, 64), 7, np.uint32), plane: values.astype(job_type(plane))})
    colouring = Colouring(GREY, by=plane, equalise=strength).fitted_to(field)
    assert Colouring.from_json(colouring.to_json()) == colouring
    places = places_of(job, field.planes, colouring)
    shares = np.histogram(places, 8, (0, colouring.places))[0] / places.size
    plain = places_of(job, field.planes, Colouring(GREY, by=plane))
    before = np.histogram(plain, 8, (0, colouring.places))[0] / places.size
    assert shares.max() < 0.75 * before.max()
    if strength == 1:
        assert shares.min() > 0.05
        assert shares.max() < 0.25
    with pytest.raises(InvalidInputError, match="must be fitted to the picture"):
        places_of(job, field.planes, Colouring(GREY, by=plane, equalise=strength))


def job_type(plane: str) -> str:
    return "<c8" if plane == "distance" else "<f4"


def test_it_is_kept_and_asks_for_its_plane_alone() -> None:
    colouring = Colouring(find_palette("ice"), by="triangle", transfer="root2")
    assert Colouring.from_json(colouring.to_json()) == colouring
    assert colouring.planes == ("triangle",)
    assert not colouring.by_device
    assert not colouring.indexed
    assert "by" not in Colouring(GREY).to_json()


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"by": "last"}, "'last' cannot advance a palette; use one of distance, stripe-1"),
        ({"by": "distance", "palette": find_palette("coursework")}, "need a smooth palette"),
    ],
)
def test_what_makes_no_sense_is_refused(settings: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidInputError, match=what):
        replace(Colouring(GREY), **settings)


def test_a_field_without_the_plane_is_refused_with_what_to_do() -> None:
    with pytest.raises(InvalidInputError, match=r"needs the plane triangle.*--planes triangle"):
        colourise(a_field(distance=[1, 0]), GREY, by="triangle")


def test_names_are_listed_where_nothing_is_loaded() -> None:
    assert MEASURED == MEASURED_PLANES
