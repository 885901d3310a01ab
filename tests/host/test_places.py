"""The places at which truth is measured: their rule, and where they lie."""

import pytest

from mandelcl.exact import parse_number
from tests import places


@pytest.mark.parametrize(
    "decades",
    [13, 19, *(pytest.param(decades, marks=pytest.mark.long) for decades in (14, 15, 16, 17, 18, 20, 21, 22))],
)
def test_drawn_places_are_those_of_the_rule(decades: int) -> None:
    assert places.load(places.DRAWN_PLACES)[f"1e{decades}"] == places.draw(decades)


def test_twenty_places_go_from_1e13_to_1e1200() -> None:
    zooms = sorted(parse_number(place.zoom) for place in places.twenty().values())
    assert len(zooms) == 20
    assert zooms[0] == 10**13
    assert zooms[-1] > 10**1200
    assert sum(zoom > 10**300 for zoom in zooms) == 3
