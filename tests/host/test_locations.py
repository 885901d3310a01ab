"""Named places: exact, resolvable, and with something to see."""

import re
from fractions import Fraction

import numpy as np
import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.colour.palettes import PALETTES
from mandelcl.core.locations import LOCATIONS, Location, find_location
from mandelcl.core.reference import Reference
from mandelcl.formulas import MANDELBROT
from mandelcl.perturbation.exact import exact_count, fraction_bits
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.newton import find_nucleus
from mandelcl.perturbation.orbit import PERIOD, reference_orbit

SHALLOW = {name: place for name, place in LOCATIONS.items() if not place.deep}
DEEP = {name: place for name, place in LOCATIONS.items() if place.deep and place.iterated == MANDELBROT}
OTHERS = {name: place for name, place in LOCATIONS.items() if place.iterated != MANDELBROT}
every_place = pytest.mark.parametrize("place", LOCATIONS.values(), ids=LOCATIONS.keys())
every_shallow_place = pytest.mark.parametrize("place", SHALLOW.values(), ids=SHALLOW.keys())
every_deep_place = pytest.mark.parametrize("place", DEEP.values(), ids=DEEP.keys())


def test_named_places_include_the_published_ones() -> None:
    assert len(LOCATIONS) >= 14
    assert {"whole-set", "seahorse-valley", "elephant-valley", "near-real-axis", "mini-set-1", "julia-island"} <= set(
        LOCATIONS
    )


@every_place
def test_each_place_is_described(place: Location) -> None:
    assert LOCATIONS[place.name] is place
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", place.name)
    assert "\n" not in place.description
    assert 10 <= len(place.description) <= 70
    assert place.palette in PALETTES
    assert 0 <= place.offset < 1
    assert 1 <= place.iterations <= 400_000


def test_places_go_deeper_and_deeper() -> None:
    assert len(DEEP) >= 6
    zooms = [Fraction(place.zoom) for place in DEEP.values()]
    assert zooms == sorted(zooms)
    assert zooms[0] > 10**20
    assert zooms[-1] > 10**1000


@every_shallow_place
def test_double_resolves_shallow_places(place: Location) -> None:
    view = place.view()
    assert (view.width, view.height) == (1920, 1080)
    spacing = Fraction(float(np.spacing(float(view.largest_coordinate()))))
    assert view.pitch > 16 * spacing


@every_shallow_place
def test_each_place_shows_detail(place: Location) -> None:
    view = place.view(16, 9)
    re_, im = np.array([[float(part) for part in view.point(i, j)] for j in range(9) for i in range(16)]).T
    c = re_ + 1j * im
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    alive = np.arange(len(c))
    for _ in range(place.iterations):
        alive = alive[np.abs(z[alive]) <= 2]
        # A fifth gone, at different counts, is enough to know; the rest would only take time.
        if len(alive) < 0.8 * len(c) and len(np.unique(counts)) > 2:
            break
        counts[alive] += 1
        z[alive] = z[alive] ** 2 + c[alive]
    assert len(alive) < 0.8 * len(c)
    assert len(np.unique(counts)) > 2


@pytest.mark.full
@every_deep_place
def test_a_deep_place_has_a_nucleus_in_its_middle_and_is_not_of_one_count(place: Location) -> None:
    view = place.view(1920, 1080)
    middle, radius = (Fraction(place.re), Fraction(place.im)), view.pitch
    period = lowest_period(middle, radius, place.iterations)
    nucleus = find_nucleus(*middle, radius, period)
    assert nucleus is not None
    assert max(abs(nucleus.re - middle[0]), abs(nucleus.im - middle[1])) < 4 * radius
    bits = fraction_bits(view.pitch)
    counts = {
        exact_count(view.point(*pixel), place.iterations, Fraction(4), bits)
        for pixel in ((5, 7), (480, 270), (960, 300), (1900, 1000))
    }
    assert len(counts) > 2


@pytest.mark.parametrize("place", OTHERS.values(), ids=OTHERS.keys())
def test_a_place_of_another_formula_has_a_nucleus_in_its_middle(place: Location) -> None:
    assert Fraction(place.zoom) > 10**20
    view, formula = place.view(320, 180), place.iterated
    reference = Reference(Fraction(place.re), Fraction(place.im), view.pitch)
    orbit = exact_orbit(reference, formula, 0, place.iterations, Fraction(4))
    assert orbit.ended == PERIOD
    assert orbit.length % len(formula.lines) == 0


def test_places_of_other_formulas_are_of_six() -> None:
    assert len({place.formula for place in OTHERS.values()}) == len(OTHERS) >= 6


def lowest_period(middle: tuple[Fraction, Fraction], radius: Fraction, most: int) -> int:
    orbit = reference_orbit(Reference(*middle, radius), most, Fraction(4))
    assert orbit.ended == PERIOD
    return orbit.length


@pytest.mark.parametrize(
    ("name", "step", "max_iterations", "re_", "im"),
    [
        ("mini-set-1", "3.75e-5", 400, "-0.15710375803", "1.03258348530"),
        ("julia-island", "2e-14", 20000, "-0.7436438870371587100514222", "0.1318259042053126002256675"),
    ],
)
def test_the_articles_pictures_are_exact(name: str, step: str, max_iterations: int, re_: str, im: str) -> None:
    place = LOCATIONS[name]
    view = place.view(2048, 2048)
    assert view.pitch == Fraction(step)
    assert place.iterations == max_iterations
    assert view.lattice.re + view.pitch * Fraction(2047, 2) == Fraction(re_)
    assert view.lattice.im - view.pitch * Fraction(2047, 2) == Fraction(im)


def test_the_whole_set_is_the_default_picture() -> None:
    view = LOCATIONS["whole-set"].view()
    assert view.pitch * 1080 == Fraction(5, 2)
    assert view.lattice.re + view.pitch * Fraction(1919, 2) == Fraction(-3, 4)
    assert LOCATIONS["whole-set"].iterations == 1000


def test_unknown_place_gets_a_suggestion() -> None:
    assert find_location("galaxy") is LOCATIONS["galaxy"]
    with pytest.raises(InvalidInputError, match=r"unknown location 'galaxie'; there is galaxy, .* lists them all$"):
        find_location("galaxie")


def test_a_size_without_pixels_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no pixels"):
        LOCATIONS["frost"].view(0, 10)
