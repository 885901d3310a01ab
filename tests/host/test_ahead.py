"""References are computed in the background, once, and what goes wrong there is told to whoever waits."""

import threading
from collections import OrderedDict
from fractions import Fraction
from typing import Any

import pytest

from mandelcl.perturbation import ahead
from mandelcl.perturbation.orbit import Orbit, reference_orbit
from mandelcl.reference import Reference

FOUR = Fraction(4)
CENTRE = Reference(Fraction(-3, 4), Fraction(1, 10), Fraction(1, 10**20), 14, 14)


@pytest.fixture(autouse=True)
def nothing_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_begun", OrderedDict())


class Counting:
    """Computes orbits, and counts how often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self.may = threading.Event()
        self.may.set()
        self.error: Exception | None = None
        monkeypatch.setattr(ahead, "kept_orbit", self.orbit)

    def orbit(self, *arguments: Any) -> Orbit:
        assert self.may.wait(10)
        self.times += 1
        if self.error is not None:
            raise self.error
        return reference_orbit(*arguments)


def test_what_is_begun_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    counting.may.clear()
    ahead.begin(CENTRE, 1000, FOUR)
    ahead.begin(CENTRE, 1000, FOUR)
    counting.may.set()
    orbit, table = ahead.beside(CENTRE, 1000, FOUR)
    assert ahead.beside(CENTRE, 1000, FOUR) == (orbit, table)
    assert counting.times == 1
    alone = reference_orbit(CENTRE, 1000, FOUR)
    assert (orbit.length, orbit.ended) == (alone.length, alone.ended)


def test_other_steps_share_the_orbit(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    orbit, _ = ahead.beside(CENTRE, 1000, FOUR)
    finer = Reference(CENTRE.re, CENTRE.im, CENTRE.radius, 22, 8)
    assert ahead.beside(finer, 1000, FOUR)[0] is orbit
    assert counting.times == 1
    ahead.beside(finer, 999, FOUR)
    assert counting.times == 2, "another cap is another orbit"


def test_few_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    for cap in (100, 200, 300, 100):
        ahead.beside(CENTRE, cap, FOUR)
    assert counting.times == 4


def test_errors_reach_who_waits_and_are_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    counting.error = MemoryError("no room")
    for _ in range(2):
        with pytest.raises(MemoryError, match="no room"):
            ahead.beside(CENTRE, 1000, FOUR)
    counting.error = None
    ahead.beside(CENTRE, 1000, FOUR)
    assert counting.times == 3
