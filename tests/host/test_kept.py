"""Kept orbits: found again, never trusted, bounded together."""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mandelcl.core.reference import EXACT_VERSION, FIRST_VERSION, Reference
from mandelcl.perturbation import kept
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.kept import ReferenceKey
from mandelcl.perturbation.orbit import AT_LIMIT, ESCAPED, PERIOD, Orbit, reference_orbit
from tests.orbits import computed_orbit

FOUR = Fraction(4)
LONG = Reference(Fraction(-3, 4), Fraction(1, 10**500), Fraction(1, 10**800), 14, 14)
NEAR = Reference(Fraction(-1), Fraction(1, 10**400), Fraction(1, 10**700), 14, 14)


class Calls:
    """Counts how often an orbit is computed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.number = 0
        for compute in (reference_orbit, exact_orbit):
            patch.setattr(kept, compute.__name__, partial(self._compute, compute))

    def _compute(self, compute: Callable[..., Orbit], *arguments: Any) -> Orbit:
        self.number += 1
        return compute(*arguments)


@pytest.fixture
def calls(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Calls:
    assert not fresh_cache.exists()
    monkeypatch.setattr(kept, "_LEAST_WORK", 0)
    return Calls(monkeypatch)


def require_same(one: Orbit, other: Orbit) -> None:
    assert (one.tiny, one.ended, one.length) == (other.tiny, other.ended, other.length)
    assert (one.small, one.edges) == (other.small, other.edges)
    assert one.re.tobytes() == other.re.tobytes()
    assert one.im.tobytes() == other.im.tobytes()
    for parts in (one.re, one.im):
        assert parts.dtype == "f8"
        assert parts.flags.aligned
        assert not parts.flags.writeable


def files(folder: Path) -> list[Path]:
    return sorted((folder / "orbits").glob("*"))


@pytest.mark.parametrize("version", [FIRST_VERSION, EXACT_VERSION])
@pytest.mark.parametrize(
    ("reference", "ended"),
    [
        (LONG, AT_LIMIT),
        (NEAR, AT_LIMIT),
        (Reference(Fraction(-1), Fraction(0), Fraction(1, 7), 14, 14), PERIOD),
        (Reference(Fraction(1, 2), Fraction(1, 2), Fraction(1, 10**9), 14, 14), ESCAPED),
    ],
)
def test_stored_orbit_is_found(calls: Calls, reference: Reference, ended: str, version: int) -> None:
    reference = replace(reference, version=version)
    first = kept.kept_orbit(ReferenceKey(reference, 1000, FOUR))
    again = kept.kept_orbit(ReferenceKey(reference, 1000, FOUR))
    assert calls.number == 1
    assert first.ended == ended
    require_same(again, first)
    require_same(again, computed_orbit(reference, 1000))


def test_orbit_of_a_larger_limit_serves_a_smaller_one(calls: Calls) -> None:
    for max_iterations, number in ((500, 1), (499, 1), (7, 1), (500, 1), (501, 2), (1000, 3), (501, 3), (500, 3)):
        require_same(kept.kept_orbit(ReferenceKey(LONG, max_iterations, FOUR)), computed_orbit(LONG, max_iterations))
        assert calls.number == number, max_iterations


def test_ended_orbit_serves_any_limit(calls: Calls) -> None:
    disc = Reference(Fraction(1, 2), Fraction(1, 2), Fraction(1, 10**9), 14, 14)
    length = kept.kept_orbit(ReferenceKey(disc, 1000, FOUR)).length
    for max_iterations in (length + 1, length, 10**9, length - 1, 1):
        require_same(kept.kept_orbit(ReferenceKey(disc, max_iterations, FOUR)), computed_orbit(disc, max_iterations))
    assert calls.number == 1


def test_orbit_name_covers_what_decides_it(calls: Calls, fresh_cache: Path) -> None:
    re, im, radius = LONG.re, LONG.im, LONG.radius
    one = Fraction(1, 10**900)
    others = ((re + one, im, radius), (re, im + one, radius), (re, im, radius + one), (im, re, radius))
    for numbers in ((re, im, radius), *others):
        kept.kept_orbit(ReferenceKey(Reference(*numbers, step_bits=14, tail_bits=14), 10, FOUR))
    kept.kept_orbit(ReferenceKey(LONG, 10, FOUR + one))
    assert calls.number == len(files(fresh_cache)) == 6
    kept.kept_orbit(ReferenceKey(Reference(re, im, radius, step_bits=22, tail_bits=8), 10, FOUR))
    assert calls.number == 6, "the constants of long steps are no part of it"


def test_damaged_orbits_are_recomputed_orbit(calls: Calls, fresh_cache: Path) -> None:
    expected = kept.kept_orbit(ReferenceKey(NEAR, 20, FOUR))
    (path,) = files(fresh_cache)
    whole = path.read_bytes()
    damaged = [whole[:size] for size in range(0, len(whole), len(whole) // 80)] + [
        whole[:place] + bytes([whole[place] ^ 64]) + whole[place + 1 :]
        for place in range(0, len(whole), len(whole) // 60)
    ]
    for number, bad in enumerate([*damaged, whole + b"x"], 2):
        path.write_bytes(bad)
        require_same(kept.kept_orbit(ReferenceKey(NEAR, 20, FOUR)), expected)
        assert calls.number == number
        assert path.read_bytes() == whole, "and is mended"


def test_short_orbits_are_not_stored(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Calls(monkeypatch)
    kept.kept_orbit(ReferenceKey(NEAR, 1000, FOUR))
    kept.kept_orbit(ReferenceKey(NEAR, 1000, FOUR))
    assert calls.number == 2
    assert not fresh_cache.exists()


def test_total_size_of_orbits_is_bounded(calls: Calls, fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those used longest ago go first, and one beyond the bound is not even written."""
    monkeypatch.setattr(kept, "_MOST_BYTES", 2 * 16 * 1100)
    first, second, third = (replace(LONG, im=LONG.im * (1 + n), version=FIRST_VERSION) for n in range(3))
    for reference in (first, second, first, third, first):
        kept.kept_orbit(ReferenceKey(reference, 1000, FOUR))
        time.sleep(0.03)  # file systems count time in ticks
    assert calls.number == 3
    before = files(fresh_cache)
    assert len(before) == 2
    kept.kept_orbit(ReferenceKey(second, 3000, FOUR))
    assert calls.number == 4
    assert files(fresh_cache) == before


def test_disabled_cache_stores_no_orbit(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANDELCL_CACHE", "off")
    for _ in range(2):
        kept.kept_orbit(ReferenceKey(LONG, 100, FOUR))
    assert calls.number == 2
