"""References with return maps: found by the rule, with the nodes of the exact orbit, whatever computes them."""

import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import LEAST_RADIUS_SQUARED, Job
from mandelcl.core.reference import EXACT_VERSION, MAP_VERSION, Reference
from mandelcl.formulas import MANDELBROT
from mandelcl.perturbation import exact_square, map_doubles, map_orbit, packing
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.kept import ReferenceKey, kept_orbit
from mandelcl.perturbation.locate import Box, locate
from mandelcl.perturbation.map_growth import GrowthSums, GrowthWatch
from mandelcl.perturbation.map_jets import TERMS, Whole, scanned, whole_jets, whole_slope
from mandelcl.perturbation.map_nucleus import find_map_nucleus
from mandelcl.perturbation.newton import find_nucleus
from mandelcl.perturbation.orbit import AT_LIMIT, LEFT, PERIOD, Orbit
from mandelcl.perturbation.paired_jets import paired_jets
from tests import return_maps
from tests.return_maps import MINIBROT, NEAR_NEUTRAL

FOUR = Fraction(4)


def orbit_of(reference: Reference, iterations: int) -> Orbit:
    """Return the orbit of a reference of version 3."""
    return exact_orbit(reference, MANDELBROT, 0, iterations, FOUR)


@pytest.mark.parametrize(("place", "base", "nodes"), [(NEAR_NEUTRAL, 59, 76389), (MINIBROT, 16045, 56)])
def test_the_rule_finds_the_base_and_the_period(place: return_maps.Place, base: int, nodes: int) -> None:
    orbit = orbit_of(place.reference(), place.iterations)
    assert orbit.returns is not None
    assert (orbit.length, orbit.returns.last, orbit.ended) == (base, nodes, PERIOD)
    assert orbit.iterations == base * nodes


def test_nodes_are_the_exact_orbit_rounded() -> None:
    reference, bits = MINIBROT.reference(), 600
    orbit = orbit_of(reference, MINIBROT.iterations)
    returns = orbit.returns
    assert returns is not None
    x = y = 0
    c_re, c_im = (round(part * (1 << bits)) for part in (reference.re, reference.im))
    for node in range(1, 13):
        for _ in range(returns.period):
            x, y = ((x + y) * (x - y) >> bits) + c_re, (x * y >> bits - 1) + c_im
        expected = (float(Fraction(part, 1 << bits) * Fraction(2) ** returns.w_bits) for part in (x, y))
        assert (float(returns.re[node]), float(returns.im[node])) == tuple(expected)


@pytest.mark.full
@pytest.mark.parametrize("more", [64, 400])
def test_nodes_do_not_depend_on_how_many_bits_they_take(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    expected = orbit_of(MINIBROT.reference(), MINIBROT.iterations).returns
    monkeypatch.setattr(map_orbit, "_GUARD_BITS", map_orbit._GUARD_BITS + more)
    found = orbit_of(MINIBROT.reference(), MINIBROT.iterations).returns
    assert expected is not None
    assert found is not None
    np.testing.assert_array_equal(found.re, expected.re)
    np.testing.assert_array_equal(found.im, expected.im)


def test_an_open_rounding_takes_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = orbit_of(MINIBROT.reference(), MINIBROT.iterations).returns
    monkeypatch.setattr(map_orbit, "_GUARD_BITS", -map_orbit._ROUNDING_BITS)
    found = orbit_of(MINIBROT.reference(), MINIBROT.iterations).returns
    assert expected is not None
    assert found is not None
    np.testing.assert_array_equal(found.re, expected.re)


@pytest.mark.full
def test_a_rounding_that_stays_open_is_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def doubtful(*_numbers: int) -> float:
        raise map_orbit._OpenError

    monkeypatch.setattr(map_orbit, "_rounded", doubtful)
    with pytest.raises(InvalidInputError, match="too near to an axis to be rounded"):
        orbit_of(MINIBROT.reference(), MINIBROT.iterations)


@pytest.mark.parametrize("centre", [("0", "1"), ("-1", "0"), ("-2", "0"), ("-0.75", "0.0009765625"), ("-1.75", "0")])
def test_other_centres_have_the_places_of_version_2(monkeypatch: pytest.MonkeyPatch, centre: tuple[str, str]) -> None:
    monkeypatch.setattr(map_orbit, "TRIED_FROM", 64)
    re, im = map(Fraction, centre)
    radius = Fraction(1, 1 << 100)
    plain = exact_orbit(Reference(re, im, radius, version=EXACT_VERSION), MANDELBROT, 0, 5000, FOUR)
    found = exact_orbit(Reference(re, im, radius, version=MAP_VERSION), MANDELBROT, 0, 5000, FOUR)
    assert found.returns is None
    np.testing.assert_array_equal(found.re, plain.re)
    np.testing.assert_array_equal(found.im, plain.im)
    assert found.ended == plain.ended


def test_a_real_centre_stays_on_the_axis(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_orbit, "TRIED_FROM", 64)
    monkeypatch.setattr(map_orbit, "_STAYS", 8)
    orbit = orbit_of(return_maps.real_reference(), 5000)
    assert orbit.returns is not None
    assert orbit.returns.last > 8
    assert not orbit.returns.im.any()
    assert not orbit.im.any()


def test_a_smaller_limit_has_fewer_of_the_same_nodes() -> None:
    reference = MINIBROT.reference()
    whole, part = orbit_of(reference, MINIBROT.iterations), orbit_of(reference, 500_000)
    cut = whole.until(500_000)
    assert whole.returns is not None
    for orbit in (part, cut):
        assert orbit.returns is not None
        assert orbit.ended == AT_LIMIT
        assert orbit.returns.last == 500_000 // whole.returns.period
        np.testing.assert_array_equal(orbit.returns.re, whole.returns.re[: orbit.returns.last + 1])
    assert part.serves(500_000)
    assert not part.serves(500_000 + whole.returns.period)
    assert whole.serves(10**15)
    assert not whole.serves(map_orbit.TRIED_FROM)
    assert whole.serves(map_orbit.TRIED_FROM + 1)


@pytest.mark.parametrize("at_once", [100, 4096])
@pytest.mark.parametrize(("limit", "nodes"), [(20_000, None), (20_001, 1)])
def test_a_map_is_found_however_many_values_are_computed_at_once(
    monkeypatch: pytest.MonkeyPatch, at_once: int, limit: int, nodes: int | None
) -> None:
    monkeypatch.setattr(map_orbit, "TRIED_FROM", 20_000)
    monkeypatch.setattr(exact_square, "_MOST_STEPS", at_once)
    orbit = orbit_of(MINIBROT.reference(), limit)
    assert (None if orbit.returns is None else orbit.returns.last) == nodes
    assert orbit.serves(limit)


@pytest.mark.usefixtures("fresh_cache")
def test_an_orbit_with_a_map_is_kept_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    key = ReferenceKey(MINIBROT.reference(), MINIBROT.iterations, FOUR)
    first = kept_orbit(key)
    monkeypatch.setattr("mandelcl.perturbation.kept.exact_orbit", None)
    again = kept_orbit(key)
    assert first.returns is not None
    assert again.returns is not None
    assert again.returns.packed()[0] == first.returns.packed()[0]
    np.testing.assert_array_equal(again.returns.re, first.returns.re)
    np.testing.assert_array_equal(again.returns.im, first.returns.im)
    assert again.ended == first.ended


def test_an_orbit_that_leaves_the_map_ends_there_or_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    leaves = return_maps.leaving_reference()
    monkeypatch.setattr(map_orbit, "TRIED_FROM", 64)
    assert orbit_of(leaves, 100_000).returns is None
    monkeypatch.setattr(map_orbit, "_STAYS", 4)
    orbit = orbit_of(leaves, 100_000)
    assert orbit.returns is not None
    assert orbit.ended == LEFT


def test_what_leaves_soon_in_doubles_does_so_in_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_orbit, "TRIED_FROM", 64)
    (nucleus, size), random, verdicts = return_maps.real_minibrot(), Random(5), []

    def leaves_soon(*arguments: Any) -> bool:
        verdicts.append(map_doubles.leaves_soon(*arguments))
        return verdicts[-1]

    for _ in range(60):
        re, im = (Fraction(random.uniform(-2.0, 2.0)) * 10 ** -random.randrange(4) for _ in range(2))
        radius = abs(size) * Fraction(10) ** -random.randrange(1, 12)
        reference = Reference(nucleus + re * size, im * size, radius, 20, 12, MAP_VERSION)
        monkeypatch.setattr(map_orbit, "leaves_soon", leaves_soon)
        found = orbit_of(reference, 60_000)
        monkeypatch.setattr(map_orbit, "leaves_soon", lambda *_: False)
        expected = orbit_of(reference, 60_000)
        assert (found.ended, found.since) == (expected.ended, expected.since)
        np.testing.assert_array_equal(found.re, expected.re)
        assert (found.returns is None) == (expected.returns is None)
        if found.returns is not None and expected.returns is not None:
            np.testing.assert_array_equal(found.returns.re, expected.returns.re)
    assert verdicts.count(True) > 10
    assert verdicts.count(False) > 2


def test_sums_and_integers_agree() -> None:
    reference, period, bits = NEAR_NEUTRAL.reference(), 59, 300
    c_re, c_im = (round(part * (1 << bits)) for part in (reference.re, reference.im))
    x = y = 0
    re, im = [], []
    for _ in range(period - 1):
        x, y = ((x + y) * (x - y) >> bits) + c_re, (x * y >> bits - 1) + c_im
        re.append(x)
        im.append(y)
    z_re, z_im = (np.array([math.ldexp(float(part), -bits) for part in values]) for values in (re, im))
    sizes = np.sqrt(z_re * z_re + z_im * z_im)
    jets = whole_jets(re, im, bits, sizes, 4, 150)
    a = complex(*(math.ldexp(float(part), jets[0].exponent - 14) for part in (jets[0].re, jets[0].im)))
    terms = dict(zip(TERMS, scanned(z_re, z_im, 14, 60).terms((a.real, a.imag)), strict=True))
    for j, jet in enumerate(jets, 1):
        value = complex(*(math.ldexp(float(part), jet.exponent + 14 - 28 * j) for part in (jet.re, jet.im)))
        assert abs(terms[j, 0] - value) < 1e-13 * abs(value)
    slope = whole_slope(re, im, bits, sizes, 100)
    value = complex(*(math.ldexp(float(part), slope.exponent + 14 - 60) for part in (slope.re, slope.im)))
    assert abs(terms[0, 1] - value) < 1e-13 * abs(value)
    watch = GrowthWatch(1e-18)
    watch.add(z_re, z_im)
    growth = GrowthSums(watch._a, watch._s, watch._s_b)
    for j, jet in enumerate(jets, 1):
        size = math.hypot(*(math.ldexp(float(part), jet.exponent) for part in (jet.re, jet.im)))
        assert size <= growth.a * growth.s ** (j - 1) * (1 + 1e-9)


@pytest.mark.parametrize("count", [1, 15, 4095, 4096, 4097, 9000, 40_961])
def test_terms_in_pairs_are_near_those_in_integers(count: int) -> None:
    """Of places of any sizes, one of them very near 0; stretches have one step, or the last one fewer than others."""
    bits, random = 300, Random(count)
    sizes = np.array([random.choice((0.3, 0.5, 0.7, 1.1)) for _ in range(count)])
    sizes[count // 2] = 2.0**-40
    turns = [random.random() for _ in range(count)]
    parts = [
        [round(Fraction(s * f(6.28 * t)) * (1 << bits)) for s, t in zip(sizes, turns, strict=True)]
        for f in (math.cos, math.sin)
    ]
    re, im = parts
    first, second = whole_jets(re, im, bits, sizes, 2, 200)
    found = paired_jets(re, im, bits, sizes)
    growth = np.cumsum(np.log2(2 * sizes))  # of A
    before = np.concatenate([[0.0], growth[:-1]])
    of_second = growth[-1] + np.logaddexp2.reduce(before - np.log2(2 * sizes))
    of_slope = growth[-1] + np.logaddexp2.reduce(np.concatenate([[0.0], -growth]))
    slope = whole_slope(re, im, bits, sizes, 200)
    for value, exact, size in zip(found[:3], (first, second, slope), (growth[-1], of_second, of_slope), strict=True):
        most = Fraction(found.error) * Fraction(2) ** math.floor(size)
        assert max(abs(a - b) for a, b in zip(fractions_of(value), fractions_of(exact), strict=True)) < most
    assert found.error < 2.0**-80


def fractions_of(value: Whole) -> tuple[Fraction, Fraction]:
    scale = Fraction(2) ** value.exponent
    return value.re * scale, value.im * scale


def test_newtons_method_by_nodes_finds_the_nucleus_that_iterations_find() -> None:
    re, im, radius = return_maps.near_period_three()
    expected = find_nucleus(re, im, radius, 120)
    found = find_map_nucleus(re, im, radius, 40, 3)
    assert expected is not None
    assert found is not None
    assert (found.period, found.bits) == (120, expected.bits)
    least = Fraction(1, 1 << found.bits - 8)
    assert max(abs(found.re - expected.re), abs(found.im - expected.im)) < least
    assert abs(found.size / expected.size - 1) < Fraction(1, 1 << 20)
    assert math.isclose(found.turn, expected.turn, abs_tol=1e-6)


@pytest.mark.full
def test_newtons_method_takes_terms_of_high_order_where_a_map_is_strongly_bent() -> None:
    unit = 1 << 114
    re, im = Fraction(-3333996853034936964844877271223393, unit), Fraction(-21550457120391456786144338086139977, unit)
    found = find_map_nucleus(re + Fraction(1, 1 << 90), im, Fraction(1, 1 << 85), 59, 76389)
    assert found is not None
    # 4506951 iterations in integers of 256 bits end at 7e-18 of the minibrot's size from the nucleus at this place.
    assert max(abs(found.re - re), abs(found.im - im)) <= Fraction(4, unit)


def test_newtons_method_by_nodes_gives_up_far_away() -> None:
    re, im, radius = return_maps.near_period_three()
    assert find_map_nucleus(re, im, radius / 10**6, 40, 3) is None
    assert find_map_nucleus(Fraction(1, 3), im, radius, 40, 3) is None


@pytest.mark.full
def test_locate_finds_the_nucleus_of_a_long_period(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.perturbation.locate._LONG", 100_000)
    found = locate(Box.around(MINIBROT.view()), MINIBROT.iterations).nucleus
    assert found.period == 16045 * 56
    assert math.isclose(float(found.size), 1.562003334e-51, rel_tol=1e-8)


@pytest.mark.full
def test_progress_counts_iterations_and_the_work_can_be_stopped() -> None:
    seen: list[int] = []
    exact_orbit(NEAR_NEUTRAL.reference(), MANDELBROT, 0, NEAR_NEUTRAL.iterations, FOUR, progress=seen.append)
    assert seen[-1] > 4_000_000

    class Stopped:
        def is_set(self) -> bool:
            return bool(seen) and seen[-1] > 1_000_000

    seen.clear()
    with pytest.raises(CancelledError):
        exact_orbit(NEAR_NEUTRAL.reference(), MANDELBROT, 0, 10**9, FOUR, Stopped(), seen.append)


def _job(**changes: object) -> Job:
    view = View.centred(MINIBROT.re, MINIBROT.im, MINIBROT.zoom, 8, 6)
    fields = {"method": "perturbation", "number": "double", "reference": MINIBROT.reference()} | changes
    return Job(view, iterations=MINIBROT.iterations, **fields)  # type: ignore[arg-type]


def test_a_job_keeps_the_version() -> None:
    job = _job()
    assert Job.from_json(job.to_json()) == job
    assert json.loads(job.to_json())["reference"]["version"] == MAP_VERSION


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: _job(number="float"), "take double"),
        (lambda: _job(planes=("counts", "distance")), "version 3 give counts"),
        (lambda: _job(radius_squared=LEAST_RADIUS_SQUARED), "escape radius of 2 and more"),
    ],
)
def test_a_job_that_nodes_cannot_serve_is_refused_in_a_line(change: Callable[[], Job], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        change()


def test_the_words_are_where_the_kernel_looks_for_them() -> None:
    text = (Path(__file__).parents[2] / "cl" / "return_map.cl").read_text(encoding="utf-8")
    assert f"MAP_TERMS + {packing._MAP_HEAD} * NUMBER_WORDS" in text
    assert f"MAP_TERMS + {2 * len(TERMS)} * NUMBER_WORDS" in text
