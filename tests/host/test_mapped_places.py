"""References of version 4: the exact orbit's places, of which a step of a return map follows some."""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.reference import EXACT_VERSION, MAP_VERSION, MAPPED_VERSION, Reference
from mandelcl.formulas import MANDELBROT
from mandelcl.perturbation import map_orbit
from mandelcl.perturbation.error_rows import A_ERROR, B_ERROR, G0, MD, Domain
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.jets import Positives
from mandelcl.perturbation.kept import ReferenceKey, kept_orbit
from mandelcl.perturbation.long_returns import LongReturns
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.mapped_square import mapped_orbit
from mandelcl.perturbation.mapped_steps import MappedSteps
from mandelcl.perturbation.orbit import AT_LIMIT, ESCAPED, PERIOD, Orbit
from mandelcl.perturbation.packing import HeaderLayout
from mandelcl.perturbation.segments import JoinRule
from mandelcl.perturbation.table import build
from tests import return_maps
from tests.host.orbits_exact import ZERO, number, orbit_values
from tests.host.test_perturbation_bounds import iterated, log_sum
from tests.return_maps import MINIBROT, NESTED, NESTED_NODES, REAL_PERIOD

FOUR = Fraction(4)
BESIDE, REAL = Fraction(1, 1000), Fraction(0)  # how far above the axis a reference is


@pytest.fixture
def _early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for maps from 64 iterations on."""
    monkeypatch.setattr(map_orbit, "TRIED_FROM", 64)


early = pytest.mark.usefixtures("_early")


def leaving(above: Fraction, iterations: int = 20_000) -> Orbit:
    """Return the orbit of a reference that comes near a real minibrot of period 40, and leaves."""
    reference = return_maps.leaving_reference(MAPPED_VERSION, above)
    return exact_orbit(reference, MANDELBROT, 0, iterations, FOUR)


def assert_exact(orbit: Orbit, reference: Reference, iterations: int) -> Mapped:
    """Assert that every place is that of the exact orbit."""
    plain = exact_orbit(replace(reference, version=EXACT_VERSION), MANDELBROT, 0, iterations, FOUR)
    assert orbit.mapped is not None
    there = orbit.mapped.iterations(np.arange(orbit.length + 1))
    np.testing.assert_array_equal(orbit.re, plain.re[there])
    np.testing.assert_array_equal(orbit.im, plain.im[there])
    assert orbit.ended == plain.ended
    assert plain.iterations - orbit.mapped.map.period < orbit.iterations <= plain.iterations
    return orbit.mapped


@early
@pytest.mark.parametrize(("above", "ended"), [(BESIDE, ESCAPED), (REAL, PERIOD)])
def test_places_are_those_of_the_exact_orbit(above: Fraction, ended: str) -> None:
    orbit = leaving(above)
    mapped = assert_exact(orbit, return_maps.leaving_reference(MAPPED_VERSION, above), 20_000)
    assert mapped.map.period == REAL_PERIOD
    assert mapped.places.tolist() == list(range(REAL_PERIOD, REAL_PERIOD + 22))
    assert orbit.ended == ended
    assert orbit.im.any() == (above > 0)


@pytest.mark.full
def test_places_of_a_long_orbit_are_those_of_the_exact_one() -> None:
    place = replace(NESTED, zoom="1e60", iterations=1_500_000)
    reference = place.reference(MAPPED_VERSION)
    orbit = exact_orbit(reference, MANDELBROT, 0, place.iterations, FOUR)
    mapped = assert_exact(orbit, reference, place.iterations)
    assert mapped.map.period == 5249
    assert np.diff(mapped.places).max() > 1  # it leaves the map, and comes back


@early
@pytest.mark.parametrize("more", [1, 64, 400])
def test_places_do_not_depend_on_how_many_bits_they_take(more: int) -> None:
    reference = return_maps.leaving_reference(MAPPED_VERSION)
    orbit, expected = mapped_orbit(reference, 20_000, FOUR, 300 + more), leaving(BESIDE)
    np.testing.assert_array_equal(orbit.re, expected.re)
    np.testing.assert_array_equal(orbit.im, expected.im)


@early
def test_a_smaller_limit_has_fewer_of_the_same_places() -> None:
    whole = leaving(BESIDE)
    assert whole.serves(10**15)
    assert whole.since == 64
    for limit in (39, 40, 63, 64, 65, 79, 80, 81, 500, 919, 920, 921, 970, 996):
        part = leaving(BESIDE, limit)
        assert part.iterations <= limit
        assert part.ended == AT_LIMIT
        assert part.serves(limit)
        assert not part.serves(limit + 1)
        assert whole.serves(limit) == (limit > 64) == (part.mapped is not None)
        if part.mapped is not None:
            cut = whole.until(limit)
            assert cut.mapped is not None
            assert (cut.since, cut.ended, cut.mapped.limit) == (part.since, AT_LIMIT, part.mapped.limit)
            np.testing.assert_array_equal(part.re, cut.re)
            np.testing.assert_array_equal(part.mapped.places, cut.mapped.places)
            assert not part.serves(64)


@early
@pytest.mark.usefixtures("fresh_cache")
def test_an_orbit_is_kept_to_the_last_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.perturbation.kept._LEAST_WORK", 0)
    key = ReferenceKey(return_maps.leaving_reference(MAPPED_VERSION), 20_000, FOUR)
    first = kept_orbit(key)
    monkeypatch.setattr("mandelcl.perturbation.kept.exact_orbit", None)
    again = kept_orbit(key)
    assert first.mapped is not None
    assert again.mapped is not None
    assert again.mapped.map.packed()[0] == first.mapped.map.packed()[0]
    assert (again.since, again.mapped.limit) == (first.since, first.mapped.limit)
    for found, expected in (
        (again.re, first.re),
        (again.im, first.im),
        (again.mapped.places, first.mapped.places),
    ):
        np.testing.assert_array_equal(found, expected)
    assert again.ended == first.ended


def test_an_orbit_that_a_map_carries_has_the_nodes_of_version_3() -> None:
    orbit, before = (
        exact_orbit(MINIBROT.reference(version), MANDELBROT, 0, MINIBROT.iterations, FOUR)
        for version in (MAPPED_VERSION, MAP_VERSION)
    )
    assert orbit.mapped is None
    assert orbit.returns is not None
    assert before.returns is not None
    np.testing.assert_array_equal(orbit.returns.re, before.returns.re)
    np.testing.assert_array_equal(orbit.re, before.re)


@pytest.mark.full
def test_a_longer_base_is_found_from_a_shorter_one() -> None:
    orbit, before = (
        exact_orbit(NESTED_NODES.reference(version), MANDELBROT, 0, NESTED_NODES.iterations, FOUR)
        for version in (MAPPED_VERSION, MAP_VERSION)
    )
    assert orbit.returns is not None
    assert before.returns is not None
    assert (orbit.returns.period, orbit.returns.last) == (1_189_036, 800)
    np.testing.assert_array_equal(orbit.returns.re, before.returns.re)
    np.testing.assert_array_equal(orbit.re, before.re)


@pytest.mark.parametrize("at_once", [100, 16_045, 30_000])
def test_long_returns_are_those_that_carry_an_orbit(at_once: int) -> None:
    orbit = exact_orbit(MINIBROT.reference(EXACT_VERSION), MANDELBROT, 0, 40_000, FOUR)
    assert _returns(orbit, at_once)[-1] == 16_045
    leaves = exact_orbit(return_maps.leaving_reference(EXACT_VERSION), MANDELBROT, 0, 40_000, FOUR)
    assert REAL_PERIOD not in _returns(leaves, at_once)


def _returns(orbit: Orbit, at_once: int) -> list[int]:
    returns, found = LongReturns(), list[int]()
    for first in range(2, orbit.length + 1, at_once):
        some = slice(first, first + at_once)
        z = orbit.re[some], orbit.im[some]
        before = slice(first - 1, first - 1 + len(z[0]))
        growths = 2 * orbit.re[before], 2 * orbit.im[before]
        found += [first + k for k in returns.among(z, growths)]
    return found


@early
def test_steps_of_the_table_are_those_of_the_iterations_they_stand_for() -> None:
    orbit = leaving(BESIDE)
    mapped = orbit.mapped
    assert mapped is not None
    steps = MappedSteps(orbit, mapped, JoinRule(20, None, MANDELBROT.lines, 0)).at(mapped.places)
    plain = exact_orbit(return_maps.leaving_reference(EXACT_VERSION), MANDELBROT, 0, 20_000, FOUR)
    z = plain.re + 1j * plain.im
    for index, first in enumerate(mapped.iterations(mapped.places).tolist()):
        a = b = 1.0 + 0.0j  # the derivatives of what follows by t and by c
        for n in range(first + 1, first + mapped.map.period):
            a, b = 2 * z[n] * a, 2 * z[n] * b + 1
        for row, expected in enumerate((a, b)):
            pair = complex(steps.jets.re[row, index], steps.jets.im[row, index])
            found = pair * 2.0 ** int(steps.jets.exponent[row, index])
            assert abs(found - expected) < 1e-9 * abs(expected)


@early
@pytest.mark.parametrize("above", [BESIDE, REAL])
def test_errors_of_steps_of_the_map_stay_within_their_bounds(above: Fraction) -> None:
    """Where t or c is large, what is left out decides, and else what is rounded: both come near their bounds."""
    orbit, random = leaving(above), Random(1)
    reference, mapped = return_maps.leaving_reference(EXACT_VERSION, above), orbit.mapped
    assert mapped is not None
    period = mapped.map.period
    domain = Domain.of(Positives.of(np.array([0.5]), np.array([-99], np.int32)), 1)
    steps = MappedSteps(orbit, mapped, JoinRule(20, domain, MANDELBROT.lines, 0)).at(mapped.places)
    assert steps.rows is not None
    values = orbit_values((reference.re, reference.im), orbit.iterations, 700)
    most_t, most_c = (math.log2(float(limit.mantissa[0])) + int(limit.exponent[0]) for limit in (steps.t, steps.c))
    gaps: dict[tuple[float, float], float] = {}
    for index, first in enumerate(mapped.iterations(mapped.places).tolist()):
        a, b, d, e, f = (
            number(float(re), float(im), int(exponent))
            for re, im, exponent in zip(
                *(part[:, index] for part in (steps.jets.re, steps.jets.im)), steps.jets.exponent[:, index], strict=True
            )
        )
        rows = steps.rows[:, index]
        for sizes in ((4, -math.inf), (-math.inf, 0), (4, 0), (-30, -math.inf), (-math.inf, -30)):
            t, c = (
                number(random.uniform(-0.7, 0.7), random.uniform(-0.7, 0.7), math.floor(most + size))
                if size > -99
                else ZERO
                for most, size in zip((most_t, most_c), sizes, strict=True)
            )
            off = (
                a * t + b * c + (d * t + e * c) * t + f * c * c - iterated(values[first + 1 : first + period], t, c)
            ).size
            by_t, by_c = max(t.size, -1e9), max(c.size, -1e9)
            allowed = log_sum(
                a.size + by_t + math.log2(rows[A_ERROR]) - 53,
                rows[B_ERROR] + by_c,
                *(rows[G0 + k] + (3 - k) * by_t + k * by_c for k in range(4)),
                *(math.log2(32 * period) - 53 + rows[MD + k] + (2 - k) * by_t + k * by_c for k in range(3)),
            )
            gaps[sizes] = max(gaps.get(sizes, -math.inf), off - allowed)
    assert len(gaps) == 5
    assert all(-8 < gap <= 0 for gap in gaps.values()), gaps


@early
@pytest.mark.parametrize("iterations", [79, 20_000])
def test_records_lead_from_place_to_place(iterations: int) -> None:
    orbit = leaving(BESIDE, iterations)
    assert orbit.mapped is not None
    for level in build(orbit, Fraction(1, 1 << 100), 20).levels:
        assert level.to is not None
        assert level.to.tolist() == [*level.start[1:].tolist(), orbit.length]
        first, last = (orbit.mapped.iterations(places.astype(np.int64)) for places in (level.start, level.to))
        np.testing.assert_array_equal(level.length, last - first)


@pytest.mark.full
def test_progress_counts_iterations_and_the_work_can_be_stopped() -> None:
    seen: list[int] = []

    class Stopped:
        def is_set(self) -> bool:
            return bool(seen) and seen[-1] > 300_000

    reference = NESTED.reference(MAPPED_VERSION)
    with pytest.raises(CancelledError):
        exact_orbit(reference, MANDELBROT, 0, NESTED.iterations, FOUR, Stopped(), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] < NESTED.iterations


def _job(**changes: object) -> Job:
    view = View.centred(NESTED.re, NESTED.im, NESTED.zoom, 8, 6)
    fields = {"method": "perturbation", "number": "double", "reference": NESTED.reference(MAPPED_VERSION)} | changes
    return Job(view, iterations=NESTED.iterations, **fields)  # type: ignore[arg-type]


def test_a_job_keeps_the_version() -> None:
    job = _job(planes=("counts", "smooth", "last"))
    assert Job.from_json(job.to_json()) == job
    assert json.loads(job.to_json())["reference"]["version"] == MAPPED_VERSION


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: _job(number="float"), "version 4 have return maps, which take double"),
        (lambda: _job(planes=("counts", "distance")), "version 4 give counts"),
        (lambda: _job(reference=NESTED.reference(5)), "knows 1 to 4"),
    ],
)
def test_a_job_that_mapped_places_cannot_serve_is_refused_in_a_line(change: Callable[[], Job], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        change()


def test_the_words_are_where_the_kernel_looks_for_them() -> None:
    folder = Path(__file__).parents[2] / "cl"
    text = (folder / "method_perturbation.cl").read_text(encoding="utf-8")
    assert re.search(rf"METHOD_MAPPED = {HeaderLayout.MAPPED},.*\n +METHOD_TARGETS,", text)
    assert HeaderLayout.TARGETS == HeaderLayout.MAPPED + 1
