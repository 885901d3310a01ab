"""Verdicts on speeds: slow-downs are found, and what only varies is not called one."""

import math
import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.lab.soak import speed
from mandelcl.lab.soak.speed import LEAST_ROUNDS, chance_of_ranks, largest_rise, spread, steadiness

ROUNDS = 200
SPEEDS = st.floats(0.01, 1e6)


def times(rounds: int) -> list[float]:
    return [2.5 * (k + 1) for k in range(rounds)]


def steady(chance: random.Random, noise: float = 0.02, rounds: int = ROUNDS) -> list[float]:
    return [chance.gauss(100, 100 * noise) for _ in range(rounds)]


def disturbed(chance: random.Random, rounds: int = ROUNDS) -> list[float]:
    """A third of the rounds share the device with other programs."""
    return [level * (1 - 0.6 * chance.random() * (chance.random() < 0.33)) for level in steady(chance, rounds=rounds)]


def heavy(chance: random.Random, rounds: int = ROUNDS) -> list[float]:
    return [chance.lognormvariate(4.6, 0.2) for _ in range(rounds)]


def wandering(chance: random.Random, rounds: int = ROUNDS, share: float = 0.05, memory: float = 0.8) -> list[float]:
    """Busier and less busy times follow each other."""
    place, levels = chance.gauss(0, 1), []
    for _ in range(rounds):
        place = memory * place + math.sqrt(1 - memory**2) * chance.gauss(0, 1)
        levels.append(100 * math.exp(share * place))
    return levels


def coarse(chance: random.Random, rounds: int = ROUNDS) -> list[float]:
    """A clock of few steps."""
    return [100 / chance.choice((3, 4, 4, 4, 5)) for _ in range(rounds)]


def test_stationary_noise_is_no_slowdown_in_a_thousand_runs() -> None:
    kinds = (steady, disturbed, heavy, coarse)
    found = 0
    for seed in range(1000):
        chance = random.Random(seed)
        rounds = chance.choice((45, 60, 119, 120, 240, 500))
        held = steadiness(times(rounds), kinds[seed % len(kinds)](chance, rounds=rounds))
        assert held is not None
        found += held.slowdown is not None
    assert found <= 1000 * speed.FALSE_ALARM


def test_drifting_speed_is_rarely_called_slowed() -> None:
    found = 0
    for seed in range(500):
        held = steadiness(times(240), wandering(random.Random(seed), 240))
        found += held is not None and held.slowdown is not None
    assert found <= 5


def test_temporary_disturbance_is_not_a_slowdown() -> None:
    for seed in range(100):
        chance = random.Random(seed)
        first, last = sorted(chance.sample(range(40, 150), 2))
        speeds = [level * (0.6 if first <= k < last else 1) for k, level in enumerate(steady(chance))]
        held = steadiness(times(ROUNDS), speeds)
        assert held is not None
        assert held.slowdown is None


@pytest.mark.parametrize(
    ("kind", "drop", "most_missed"),
    [(steady, 0.15, 2), (steady, 0.25, 0), (steady, 0.5, 0), (disturbed, 0.25, 15), (disturbed, 0.5, 0)],
)
def test_slowdown_is_detected(kind: object, drop: float, most_missed: int) -> None:
    assert callable(kind)
    missed = 0
    for seed in range(60):
        chance = random.Random(seed)
        change = chance.randrange(50, 160)
        speeds = [level * (1 - drop if k >= change else 1) for k, level in enumerate(kind(chance))]
        held = steadiness(times(ROUNDS), speeds)
        assert held is not None
        if held.slowdown is None:
            missed += 1
            continue
        assert held.slowdown.drop == pytest.approx(drop, abs=0.08)
        if kind is steady:
            assert held.slowdown.since == pytest.approx(times(ROUNDS)[change], abs=2.5 * 10)
        assert held.spread < (0.7 if kind is disturbed else 0.06)  # the step itself is no spread
    assert missed <= most_missed


def test_gradual_slowdown_is_detected() -> None:
    for seed in range(60):
        speeds = [level * (1 - 0.3 * k / ROUNDS) for k, level in enumerate(steady(random.Random(seed)))]
        held = steadiness(times(ROUNDS), speeds)
        assert held is not None
        assert held.slowdown is not None


def test_small_change_or_speedup_is_not_a_slowdown() -> None:
    for seed in range(60):
        chance = random.Random(seed)
        for factor in (0.95, 1.5):
            speeds = [level * (factor if k >= 100 else 1) for k, level in enumerate(steady(chance))]
            held = steadiness(times(ROUNDS), speeds)
            assert held is not None
            assert held.slowdown is None


def test_warm_up_is_ignored() -> None:
    speeds = [200.0] * 9 + [100.0] * 191
    held = steadiness(times(ROUNDS), speeds)
    assert held is not None
    assert (held.rounds, held.slowdown, held.median) == (191, None, 100)
    assert steadiness([1.0], [5.0]) is None  # the first round never counts
    assert steadiness([], []) is None


def test_too_few_rounds_give_no_verdict() -> None:
    speeds = [100.0] * 15 + [10.0] * 15
    held = steadiness(times(30), speeds)
    assert held is not None
    assert not held.conclusive
    assert held.slowdown is None
    assert LEAST_ROUNDS > 30


@given(st.lists(SPEEDS, max_size=150), st.floats(1e-3, 1e3))
def test_only_ratios_matter(speeds: list[float], factor: float) -> None:
    held = steadiness(times(len(speeds)), speeds)
    scaled = steadiness(times(len(speeds)), [factor * level for level in speeds])
    assert (held is None) == (scaled is None)
    if held is not None and scaled is not None:
        assert scaled.median == pytest.approx(factor * held.median)
        assert scaled.spread == pytest.approx(held.spread)


@given(st.lists(SPEEDS, min_size=1, max_size=150))
def test_reported_speeds_are_measured_ones(speeds: list[float]) -> None:
    held = steadiness(times(len(speeds)), speeds)
    if held is not None:
        assert min(speeds) <= held.median <= max(speeds)
        assert held.spread >= 0
        change = held.slowdown
        if change is not None:
            assert change.since in times(len(speeds))
            assert min(speeds) <= change.after < change.before <= max(speeds)
            assert change.drop >= speed.LEAST_DROP
    assert spread([speeds[0]]) == 0
    assert largest_rise(speeds) >= 0


@given(st.lists(st.floats(0.9, 1.0), min_size=LEAST_ROUNDS, max_size=150))
def test_speeds_within_a_tenth_are_never_slowed(speeds: list[float]) -> None:
    held = steadiness(times(len(speeds)), speeds)
    assert held is None or held.slowdown is None or held.slowdown.drop <= 0.1 + 1e-9


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 3), (3, 2), (4, 3)])
def test_rank_probabilities_equal_enumeration(first: int, second: int) -> None:
    orders = list(permutations(range(first + second)))
    before, after = range(10, 10 + first), range(second)  # as low as it can be
    counts = [sum(b > a for b in order[:first] for a in order[first:]) for order in orders]
    for ranks in (before, after), (range(first), range(first, first + second)):
        higher = sum(b > a for b in ranks[0] for a in ranks[1])
        expected = sum(count >= higher for count in counts) / len(orders)
        assert chance_of_ranks(list(ranks[0]), list(ranks[1])) == pytest.approx(expected)
    assert chance_of_ranks([1.0, 1.0], [1.0, 1.0]) == 1


@given(st.integers(1, 20), st.integers(1, 20))
def test_rank_orders_are_complete(first: int, second: int) -> None:
    ways = speed._ways(first, second)
    assert sum(ways) == math.comb(first + second, first)
    assert ways == ways[::-1]
