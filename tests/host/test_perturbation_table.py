"""Records of the table of long steps are exact quadratic jets, to rounding, over segments that begin at dips."""

import hashlib
import math
from collections.abc import Sequence
from fractions import Fraction
from threading import Event

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.perturbation import segments, table
from mandelcl.perturbation.jets import ZERO_EXPONENT
from mandelcl.perturbation.orbit import AT_LIMIT, Orbit
from mandelcl.perturbation.table import NO_STEP, Table, TableLevel, build
from tests.host.orbits_exact import (
    NEAR_PERIOD_2,
    ONE,
    PERIOD_998,
    ZERO,
    Number,
    coefficients,
    number,
    orbit_values,
    stored,
    value,
)

unhurried = settings(deadline=None, max_examples=40)
RADIUS = Fraction(1, 10**20)
STEP_BITS = 14

parts = st.floats(-2, 2, allow_subnormal=False)
exponents = st.one_of(st.just(0), st.integers(-40, 2), st.integers(-4000, 0))


@st.composite
def sequences(draw: st.DrawFn) -> Orbit:
    """Any values in turn: of the size of an orbit's, small, and smaller than float64 holds; the first is 0."""
    count = draw(st.integers(2, 40))
    wide = draw(st.booleans())
    values = [ZERO]
    for _ in range(count):
        values.append(number(draw(parts), draw(parts), draw(exponents) if wide else 0))
    return stored(values)


def hashed(built: Table) -> str:
    """Return the SHA-256 of everything in a table."""
    digest = hashlib.sha256()
    for level in built.levels:
        for array, kind in (
            (level.start, "<i4"),
            (level.length, "<i4"),
            (level.mantissas + 0.0, "<f8"),  # no sign of a zero
            (level.exponents, "<i4"),
            (level.key, "<i4"),
            (level.quadratic_c, "?"),
        ):
            digest.update(np.ascontiguousarray(array, kind).tobytes())
    return digest.hexdigest()


def exact_jet(values: Sequence[Number]) -> tuple[list[Number], list[Number]]:
    """Return the jet of single iterations in turn, the first one exact, and of the same with nothing cancelled.

    z is a polynomial in t and c without what is above second order, squared and added as polynomials are.
    """
    z, most = {(1, 0): ONE, (0, 1): ONE}, {(1, 0): ONE, (0, 1): ONE}
    for z_there in values:
        z, most = one_more(z, z_there), one_more(most, z_there.modulus)
    order = [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    return [z.get(power, ZERO) for power in order], [most.get(power, ZERO) for power in order]


def one_more(z: dict[tuple[int, int], Number], reference: Number) -> dict[tuple[int, int], Number]:
    """Return 2·reference·z + z² + c for a polynomial z in t and c."""
    result = {power: reference.scaled(1) * factor for power, factor in z.items()}
    for (i, j), a in z.items():
        for (k, m), b in z.items():
            if i + j + k + m <= 2:
                result[i + k, j + m] = result.get((i + k, j + m), ZERO) + a * b
    result[0, 1] += ONE
    return result


@unhurried
@given(sequences())
def test_records_are_the_exact_jets_to_rounding(orbit: Orbit) -> None:
    for level in build(orbit, RADIUS, STEP_BITS).levels:
        for record in range(len(level.start)):
            start, length = int(level.start[record]), int(level.length[record])
            exact, most = exact_jet([value(orbit, index) for index in range(start + 1, start + length)])
            for found, right, largest in zip(coefficients(level, record), exact, most, strict=True):
                assert (found - right).size <= largest.size + math.log2(32 * length) - 53


@unhurried
@given(sequences())
def test_mantissas_are_normalised(orbit: Orbit) -> None:
    for level in build(orbit, RADIUS, STEP_BITS).levels:
        larger = np.maximum(np.abs(level.mantissas[::2]), np.abs(level.mantissas[1::2]))
        nothing = level.exponents == ZERO_EXPONENT
        assert (larger[nothing] == 0).all()
        assert ((larger[~nothing] >= 0.5) & (larger[~nothing] < 1)).all()


@unhurried
@given(sequences())
def test_each_level_covers_each_index_once(orbit: Orbit) -> None:
    for level in build(orbit, RADIUS, STEP_BITS).levels:
        assert level.start[0] == 0
        assert (level.length > 0).all()
        ends = [int(start) + int(length) for start, length in zip(level.start, level.length, strict=True)]
        assert ends == [*map(int, level.start[1:]), orbit.length]
        assert len(level.start) == -(-orbit.length // level.block)


@unhurried
@given(sequences())
def test_a_record_begins_at_the_least_value_of_its_block(orbit: Orbit) -> None:
    levels = build(orbit, RADIUS, STEP_BITS).levels
    candidates = list(range(orbit.length))
    for level in levels:
        for record, start in enumerate(level.start):
            inside = [index for index in candidates if index // level.block == record]
            assert start in inside
            least = min(value(orbit, index).size for index in inside)
            # What is compared is a rounded square.
            assert value(orbit, int(start)).size <= least + 1e-12
        candidates = [int(start) for start in level.start]


@unhurried
@given(sequences(), st.integers(4, 24), st.integers(-30, 4000))
def test_thresholds_are_those_of_the_formulas(orbit: Orbit, step_bits: int, depth: int) -> None:
    """T and C in logarithms, joined from the coefficients of the level below."""
    radius = Fraction(2) ** -depth
    levels = build(orbit, radius, step_bits).levels
    # T and C of the segments that begin at each index
    below = dict.fromkeys(range(orbit.length), (math.inf, math.inf))
    for level in levels:
        made = {}
        for record in range(len(level.start)):
            start, end = int(level.start[record]), int(level.start[record] + level.length[record])
            t, c = below[start]
            jets = {start + 1: {(1, 0): ONE, (0, 1): ONE}}
            for index in range(start + 1, end):
                jets[index + 1] = one_more(jets[index], value(orbit, index))
            for seam in [index for index in below if start < index < end]:
                jet = jets[seam][1, 0], jets[seam][0, 1]
                z = value(orbit, seam).size
                limit = min(z - step_bits, below[seam][0] - z - 1) if z > -math.inf else z
                t = min(t, limit - jet[0].size if limit > -math.inf else limit)
                c = min(c, below[seam][1], limit - jet[1].size if limit > -math.inf else limit)
            made[start] = (t, c)
            assert_threshold(level, record, t, c, -depth, step_bits)
        below = made


def assert_threshold(level: TableLevel, record: int, t: float, c: float, radius: float, step_bits: int) -> None:
    """Check a record's key and flag against the logarithms of its limits, but where rounding decides."""
    slack = 1e-6
    if abs(c - radius) > slack and abs(c) < 1e9:
        assert (level.key[record] == NO_STEP) == (c < radius or t == -math.inf)
    if level.key[record] != NO_STEP and t < math.inf:
        key = int(level.key[record])
        least = (key >> 8) + math.log2((256 + (key & 255)) / 512)
        assert least - slack <= t <= least + math.log2(257 / 256) + slack
    if t == math.inf:
        assert level.key[record] in (NO_STEP, (1 << 31) - 1)
    if abs(c - step_bits - radius) > slack:
        assert bool(level.quadratic_c[record]) == (c - step_bits <= radius)


@pytest.mark.parametrize(
    ("length", "blocks"), [(1, []), (2, [8]), (7, [8]), (8, [8]), (9, [8, 32]), (65, [8, 32, 128])]
)
def test_levels_end_with_one_record(length: int, blocks: list[int]) -> None:
    levels = build(stored(orbit_values(PERIOD_998, length, 300)), RADIUS, STEP_BITS).levels
    assert [level.block for level in levels] == blocks
    assert all(len(level.start) == 1 for level in levels[-1:])


def test_tiny_values_are_read_with_their_exponents() -> None:
    orbit = stored(orbit_values(NEAR_PERIOD_2, 12, bits=4000))
    assert {2, 4, 6} <= set(orbit.tiny)
    first = build(orbit, Fraction(1, 10**900), STEP_BITS).levels[0]
    exact, _most = exact_jet([value(orbit, index) for index in range(1, int(first.length[0]))])
    assert exact[0].size < -1000
    assert (coefficients(first, 0)[0] - exact[0]).size < exact[0].size - 45


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("at_once", [1, 7, 64, 4096])
def test_table_bits_do_not_depend_on_threads_or_portions(
    monkeypatch: pytest.MonkeyPatch, threads: int, at_once: int
) -> None:
    orbit = stored(orbit_values(PERIOD_998, 3000, bits=300))
    expected = hashed(build(orbit, RADIUS, STEP_BITS, threads=1))
    monkeypatch.setattr(table, "_AT_ONCE", at_once)
    monkeypatch.setattr(segments, "_SCANNED", 40)
    assert hashed(build(orbit, RADIUS, STEP_BITS, threads=threads)) == expected


def test_plain_and_scaled_numbers_give_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    orbit = stored(orbit_values(PERIOD_998, 2000, bits=300))
    expected = hashed(build(orbit, RADIUS, STEP_BITS))
    monkeypatch.setattr(segments, "_PLAIN_EXPONENTS", -1)
    monkeypatch.setattr(segments, "_TINY_SQUARE", math.inf)
    assert hashed(build(orbit, RADIUS, STEP_BITS)) == expected


def test_the_table_is_the_same_on_every_machine() -> None:
    long = build(stored(orbit_values(PERIOD_998, 5000, bits=300)), RADIUS, STEP_BITS)
    assert hashed(long) == "0b442dc19be2ed996f45b538e68d5a2661d5274dc42181175e300b5ab0d4d4f6"
    near = build(stored(orbit_values(NEAR_PERIOD_2, 300, bits=4000)), Fraction(1, 10**900), STEP_BITS)
    assert hashed(near) == "30db183f6c5a9287b7177f1d7241327bc173f77927149a9f94ed1296eb7bc607"


def test_error_bounds_leave_the_table_unchanged() -> None:
    orbit = stored(orbit_values(PERIOD_998, 2000, bits=300))
    assert hashed(build(orbit, RADIUS, STEP_BITS, unit_bits=53)) == hashed(build(orbit, RADIUS, STEP_BITS))


@pytest.mark.parametrize(("lean_from", "most"), [(10**9, 35), (1, 21)])
def test_table_memory_per_iteration(monkeypatch: pytest.MonkeyPatch, lean_from: int, most: int) -> None:
    monkeypatch.setattr(table, "_LEAN_FROM", lean_from)
    orbit = stored(orbit_values(PERIOD_998, 30_000, bits=300))
    levels = build(orbit, RADIUS, STEP_BITS).levels
    assert levels[0].block == (8 if lean_from > orbit.length else 32)
    arrays = [
        getattr(level, name)
        for level in levels
        for name in TableLevel.__slots__
        if name not in ("block", "to", "bounds", "turned")
    ]
    assert orbit.re.nbytes + orbit.im.nbytes + sum(array.nbytes for array in arrays) <= most * orbit.length


def test_table_stops_on_cancel() -> None:
    stop = Event()
    stop.set()
    with pytest.raises(CancelledError):
        build(stored(orbit_values(PERIOD_998, 100, 300)), RADIUS, STEP_BITS, cancel=stop)


def test_a_reference_that_is_too_long_is_refused() -> None:
    values = np.broadcast_to(np.zeros(1), 1 + (1 << 30))
    with pytest.raises(InvalidInputError, match="fewer than 2\\^30"):
        build(Orbit(values, values, {}, AT_LIMIT), RADIUS, STEP_BITS)
