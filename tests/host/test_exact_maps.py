"""Exact counts by return maps: the bound on an orbit's error holds, and counts are those of single iterations."""

import math
from fractions import Fraction
from random import Random

import pytest

from mandelcl.perturbation.bounded import BoundedOrbit
from mandelcl.perturbation.exact import Outcome, exact_outcome, fraction_bits
from mandelcl.perturbation.exact_maps import MapPlace, point_map
from mandelcl.perturbation.integers import FASTEST
from tests import return_maps
from tests.return_maps import MINIBROT, NEAR_NEUTRAL, REAL_PERIOD

FOUR = Fraction(4)


def place_after(point: tuple[Fraction, Fraction], bits: int, iterations: int) -> tuple[int, int]:
    """Return both parts of z_n in units of 2^−bits."""
    x = y = 0
    c, d = (math.floor(part * (1 << bits)) for part in point)
    for _ in range(iterations):
        x, y = ((x + y) * (x - y) >> bits) + c, (x * y >> bits - 1) + d
    return x, y


def counted(point: tuple[Fraction, Fraction], period: int) -> tuple[Outcome, int]:
    """Return what becomes of a point, and how many steps that took."""
    steps = 0

    def keep_on(done: int) -> bool:
        nonlocal steps
        steps = done
        return True

    outcome = exact_outcome(point, 200_000, FOUR, 160, keep_on, period=period)
    assert outcome is not None
    return outcome, steps


@pytest.mark.parametrize(("place", "period", "steps"), [(NEAR_NEUTRAL, 59, 300), (MINIBROT, 16045, 3)])
def test_the_bound_holds_at_every_step(place: return_maps.Place, period: int, steps: int) -> None:
    view = place.view(64, 36)
    point, bits, more = view.point(45, 7), fraction_bits(view.pitch), 600
    found = point_map(point, bits, period)
    assert found is not None
    own = found.steps.bits
    at = MapPlace(0, 0, 0.0)
    c, d = (math.floor(part * (1 << bits + more)) for part in point)
    x = y = 0
    largest = 0.0
    for _ in range(steps):
        assert found.follow(at, 1) is not None
        for _ in range(period):
            x, y = ((x + y) * (x - y) >> bits + more) + c, (x * y >> bits + more - 1) + d
        up = bits + more - own - found.w_bits
        off = math.isqrt((x - (int(at.x) << up)) ** 2 + (y - (int(at.y) << up)) ** 2)
        share = off / 2.0 ** (up + own) / at.error
        assert share < 1
        largest = max(largest, share)
    assert largest > 2.0**-12  # and it is not far above the error


def test_counts_are_those_of_single_iterations() -> None:
    """Of random points about the real minibrot, some of which never escape; the map saves nearly all steps."""
    nucleus, size = return_maps.real_minibrot()
    random, inside, saved = Random(5), 0, 0
    for _ in range(40):
        re, im = (Fraction(random.randrange(-(1 << 40), 1 << 40), 1 << 40) for _ in range(2))
        point = nucleus + (re * Fraction(5, 4) - Fraction(1, 2)) * size, im * Fraction(9, 8) * abs(size)
        (plain, plain_steps), (by_map, map_steps) = (counted(point, period) for period in (0, REAL_PERIOD))
        assert plain.count == by_map.count
        inside += plain.z is None
        saved += map_steps < plain_steps
    assert 0 < inside < 40
    assert saved > 5


def test_an_orbit_on_its_way_is_where_single_iterations_lead() -> None:
    """It leaves the map and comes back, and stops between two steps of it."""
    nucleus, size = return_maps.real_minibrot()
    point = nucleus - Fraction(13, 10) * size, abs(size) / 500
    bits = 200
    orbit = BoundedOrbit(point, bits, FOUR, lambda _done: True, 0, FASTEST, REAL_PERIOD)
    for n in (3, 39, 41, 1_000, 1_017, 4_321):
        assert orbit.follow(n) is None
        x, y = place_after(point, bits + 400, n)
        a, b = orbit.place
        off = math.isqrt((x - (int(a) << 400)) ** 2 + (y - (int(b) << 400)) ** 2)
        assert off < orbit.error << 400
    assert orbit.done < 1_000


@pytest.mark.parametrize("period", [1, 7, 41, 5000])
def test_a_period_that_has_no_map_changes_nothing(period: int) -> None:
    point = Fraction("-1.25066"), Fraction("0.02012")
    plain = exact_outcome(point, 20_000, FOUR, 120)
    assert exact_outcome(point, 20_000, FOUR, 120, period=period) == plain
