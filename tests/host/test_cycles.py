"""Places in a palette's table against exact rational and real arithmetic."""

from collections.abc import Callable
from decimal import Decimal, getcontext
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.colour.cycles import CycleMapping, bent, linear
from mandelcl.colour.palettes import PALETTES
from mandelcl.core.counts import MOST_NARROW

SIZES = st.sampled_from([1, 2, 3, 7, 16, 255, 4096, 100_000])
COUNTS = st.lists(st.integers(0, MOST_NARROW), min_size=1, max_size=50)
TURNS = sorted({palette.cycle for palette in PALETTES.values() if palette.smooth})


def places(mapping: CycleMapping, counts: list[int], smooth: list[float] | None = None) -> list[int]:
    fractions = None if smooth is None else np.array(smooth, np.float32)
    return [int(place) for place in mapping.places(np.array(counts, np.uint32), fractions)]


@given(SIZES, st.fractions(Fraction(1, 12), 5000, max_denominator=12), COUNTS, st.fractions(-2, 2, max_denominator=9))
@settings(deadline=None)
def test_positions_of_whole_counts_are_exact(size: int, cycle: Fraction, counts: list[int], offset: Fraction) -> None:
    """Also where neither the cycle, nor the colours of a count, nor the offset is a binary fraction."""
    got = places(linear(size, float(cycle), float(offset), continuous=False), counts)
    assert got == [floor((Fraction(count) / cycle + offset) * size) % size for count in counts]


@given(COUNTS)
def test_the_published_table_is_n_mod_16(counts: list[int]) -> None:
    assert places(linear(16, 16, 0.0, continuous=False), counts) == [count % 16 for count in counts]


@pytest.mark.parametrize(
    ("size", "cycle", "offset", "expected"),
    [
        (16, 1.6, 0.0, [0, 10, 4, 14, 8]),
        (16, 16 / 11, 0.0, [0, 11, 6, 1, 12]),
        (16, 48, 0.0, [0, 0, 0, 1, 1]),
        (3, 3, 0.0, [0, 1, 2, 0, 1]),
        (3, 3, 1 / 3, [1, 2, 0, 1, 2]),
        (3, 3, -1 / 3, [2, 0, 1, 2, 0]),
        (3, 3, 1e300, [0, 1, 2, 0, 1]),
        (10, 10, 0.7, [7, 8, 9, 0, 1]),
        (255, 255, -0.8, [51, 52, 53, 54, 55]),
        (255, 255, 1.2, [51, 52, 53, 54, 55]),
    ],
)
def test_cycle_positions_by_hand(size: int, cycle: float, offset: float, expected: list[int]) -> None:
    assert places(linear(size, cycle, offset, continuous=False), [0, 1, 2, 3, 4]) == expected


@given(
    st.floats(1e-3, 1e9),
    st.floats(-1e3, 1e3),
    st.integers(0, MOST_NARROW),
    st.floats(-4, 1001, width=32),
)
@settings(deadline=None)
def test_positions_of_continuous_counts_are_accurate(cycle: float, offset: float, count: int, smooth: float) -> None:
    """Within what 2⁻²⁶ of a count, and 2⁻³⁰ of a turn, make of it."""
    size = 4096
    got = places(linear(size, cycle, offset, continuous=True), [count], [smooth])[0]
    exact = ((Fraction(count) + Fraction(smooth) - 1) / Fraction(cycle) + Fraction(offset)) * size
    error = size * (Fraction(1, 1 << 26) / Fraction(cycle) + Fraction(1, 1 << 30))
    error += abs(exact) * Fraction(1, 1 << 51)  # a float stands for the simplest fraction near it
    assert min((got - floor(exact + side * error)) % size for side in (-1, 0, 1)) == 0 or 2 * error > 1


@pytest.mark.parametrize("turn", TURNS)
def test_roots_are_near_the_exact_ones(turn: float) -> None:
    """Within a fiftieth of a place, and the same whether a chord begins or ends there."""
    getcontext().prec = 40
    size, offset = 4096, 0.375
    mapping = bent(size, "root4", turn, offset)
    counts = sorted({0, 1, 2, 5, *(int(1.37**k) for k in range(70)), *(2**k - 8 for k in range(4, 33)), MOST_NARROW})
    eighth = Decimal(8).sqrt().sqrt()
    wrong = 0
    for count, got in zip(counts, places(mapping, counts), strict=True):
        exact = ((Decimal(8 + count).sqrt().sqrt() - eighth) / Decimal(turn) + Decimal(offset)) * size
        near = [floor(exact + Decimal(side) / 50) % size for side in (-1, 0, 1)]
        assert got in near
        wrong += got != near[1]
    assert wrong < len(counts) / 10


@given(
    st.sampled_from(TURNS),
    st.integers(0, MOST_NARROW - 1),
    st.lists(st.floats(-3, 3, width=32), min_size=2, max_size=50),
)
@settings(deadline=None)
def test_roots_are_monotonic(turn: float, count: int, smooth: list[float]) -> None:
    """Places rise with the fraction: as a whole by less than a turn, so modulo the size no step is a large one."""
    mapping = bent(1 << 20, "root4", turn, 0.0)
    got = np.array(places(mapping, [count] * len(smooth), sorted(smooth)))
    assert (np.diff(got) % (1 << 20) < 1 << 19).all()


@pytest.mark.parametrize(("transfer", "turn"), [("root4", 1.6), ("root4", 2.0**-20), ("root2", 12.8), ("log", 1.6)])
def test_bends_advance_up_to_the_largest_counts(transfer: str, turn: float) -> None:
    """To the last bit of a float, of which counts of 64 bits have 24."""
    size = 4096
    bends: dict[str, Callable[[Decimal], Decimal]] = {
        "root4": lambda value: value.sqrt().sqrt(),
        "root2": lambda value: value.sqrt(),
        "log": lambda value: value.ln(),
    }
    counts: Any = np.array([2**k + 2 ** max(0, k - 12) for k in range(33, 50)] + [10**15], np.uint64)
    got = bent(size, transfer, turn, 0.0).places(counts, None)
    assert len(set(got.tolist())) > 10
    of = bends[transfer]
    for count, place in zip(counts.tolist(), got.tolist(), strict=True):
        ends = (Decimal(count * (1 + side)) for side in (-3e-7, 3e-7))
        low, high = ((of(end) - of(Decimal(8))) / Decimal(turn) * size for end in ends)
        reach = int(high) - int(low) + 1
        assert reach >= size or (place - floor(low)) % size <= reach


def test_roots_are_monotonic_at_chord_ends() -> None:
    ends = np.unique(np.concatenate([2.0 ** np.arange(10, 24), np.arange(1 << 14, 1 << 15, 32.0)])).astype(np.uint32)
    around = (ends[:, None] + np.array([-9, -8, -7])).astype(np.uint32)
    got = bent(1 << 20, "root4", 1.6, 0.0).places(around.reshape(-1), None).reshape(around.shape)
    assert (np.diff(got, axis=1) % (1 << 20) < 1 << 19).all()


@given(
    st.lists(st.floats(width=32, allow_nan=False) | st.floats(-8, 8, width=32), min_size=1),
    st.integers(0, MOST_NARROW),
)
def test_every_fraction_maps_to_a_palette_position(smooth: list[float], count: int) -> None:
    """Also those of no orbit: warnings are errors here."""
    counts = [count] * len(smooth)
    for mapping in bent(4096, "root4", 1.6, 0.3), linear(4096, 3.7, 0.3, continuous=True):
        assert all(0 <= place < 4096 for place in places(mapping, counts, smooth))
