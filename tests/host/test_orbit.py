"""The reference orbit: the same bits from any integers, rounded toward zero, ended where it should be."""

import json
import math
import subprocess
import sys
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.exact import floor_log2
from mandelcl.base.view import View
from mandelcl.core.reference import Reference
from mandelcl.perturbation import orbit as orbit_module
from mandelcl.perturbation.integers import (
    FASTEST,
    PLAIN,
    Integers,
    WordIntegers,
    double,
    doubles,
    integers_for,
    normalised,
    reference_bits,
)
from mandelcl.perturbation.orbit import AT_LIMIT, ESCAPED, PERIOD, Orbit, reference_orbit
from tests.oracle import reference as oracle

PLACES = json.loads((Path(__file__).parent / "deep_places.json").read_text())
KINDS = [pytest.param(kind, id=kind.name) for kind in dict.fromkeys((PLAIN, FASTEST))]
FOUR = Fraction(4)
unhurried = settings(deadline=None)


def nucleus(steps: int) -> Fraction:
    """Return the centre of the island on the antenna, of period 3: (c² + c)² + c = 0, to so many steps of Newton's."""
    c = Fraction(-7, 4)
    for _ in range(steps):
        bits = 2 * c.denominator.bit_length()
        square = c * c + c
        c -= (square * square + c) / (2 * square * (2 * c + 1) + 1)
        c = Fraction(round(c * (1 << bits)), 1 << bits)
    return c


NUCLEUS = nucleus(10)


def reference(re: Fraction | str, im: Fraction | str, radius: Fraction | str) -> Reference:
    return Reference(Fraction(re), Fraction(im), Fraction(radius), 14, 14)


def place(name: str) -> tuple[Reference, int, int]:
    """Return the reference of a published place at 512², its limit, and the period that others found there."""
    facts = PLACES[name]
    view = View.centred(facts["re"], facts["im"], facts["zoom"], 512, 512)
    return Reference.of(view, 14, 14), facts["iterations"], facts["period"]


def same(one: Orbit, other: Orbit) -> bool:
    """Return whether two orbits are equal to the last bit."""
    parts = ((one.re, other.re), (one.im, other.im))
    return (one.tiny, one.ended) == (other.tiny, other.ended) and all(a.tobytes() == b.tobytes() for a, b in parts)


def require_near(orbit: Orbit, values: list[tuple[int, int]], bits: int) -> None:
    """Require each value to be that of other bits after the point, but for its rounding to a double."""
    for *parts, exact in zip(orbit.re.tolist(), orbit.im.tolist(), values, strict=True):
        slack = (max(map(abs, exact)) >> 70) + (1 << max(0, bits - 900)) + 1
        for part, whole in zip(parts, exact, strict=True):
            numerator, denominator = part.as_integer_ratio()
            size = abs(numerator << bits) // denominator
            assert abs(whole) - (abs(whole) >> 52) - slack <= size <= abs(whole) + slack
            assert (part < 0) == (whole < 0) or size == 0


@st.composite
def numbers(draw: st.DrawFn) -> tuple[int, int]:
    """Return (value, bits) below 4, of every size, many of them just at, above or below a double."""
    bits = draw(st.integers(86, 2000))
    length = draw(st.integers(0, bits + 2))
    value = draw(st.integers(0, (1 << length) - 1))
    keep = draw(st.integers(1, 70))
    if draw(st.booleans()) and value.bit_length() > keep:
        drop = value.bit_length() - keep
        value = (value >> drop << drop) + draw(st.integers(-2, 2))
    return draw(st.sampled_from((-1, 1))) * min(value, (4 << bits) - 1), bits


@unhurried
@given(numbers())
@example((-(4 << 100) + 1, 100))
@example((1 << 100, 1000))
@example(((1 << 100) - 1, 1000))
@example((-1 << 99, 1000))
@pytest.mark.parametrize("kind", KINDS)
def test_rounding_is_toward_zero(kind: Integers, number: tuple[int, int]) -> None:
    value, bits = number
    expected = oracle.toward_zero(Fraction(value, 1 << bits))
    assert double(kind.whole(value), bits) == expected
    assert math.copysign(1, double(kind.whole(value), bits)) == (-1 if expected < 0 else 1), "no negative zero"


@unhurried
@given(st.lists(numbers(), min_size=1, max_size=40))
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_are_rounded_like_scalars(kind: Integers, many: list[tuple[int, int]]) -> None:
    bits = many[0][1]
    values = [value >> max(0, value.bit_length() - bits - 2) for value, _ in many]
    rounded = doubles([kind.whole(value) for value in values], bits)
    assert rounded.tobytes() == np.array([double(value, bits) for value in values]).tobytes()


def test_empty_arrays_are_rounded() -> None:
    assert doubles([], 100).shape == (0,)


@pytest.mark.parametrize(("value", "expected"), [(5 << 600, 2.0**400), (-5 << 600, -(2.0**400)), (1 << 600, 2.0**400)])
def test_values_beyond_the_range_are_clamped(value: int, expected: float) -> None:
    assert double(value, 200) == expected


@given(st.lists(st.integers(-(1 << 190), (1 << 190) - 1), min_size=1), st.integers(0, 190), st.integers(1, 62))
def test_integers_of_words_are_those_of_a_list(values: list[int], shift: int, digits: int) -> None:
    words = np.frombuffer(b"".join(value.to_bytes(24, "little", signed=True) for value in values), "<u8").reshape(-1, 3)
    found = WordIntegers(words)
    assert list(found) == values
    assert list(found[1:]) == values[1:]
    assert found[-1] == values[-1]
    floors = [(value >> shift) % (1 << 64) for value in values]
    assert [int(floor) % (1 << 64) for floor in found.floors(shift)] == floors
    places = np.flatnonzero(np.array([value != 0 for value in values]))
    lengths, leading = found.leading(places, digits)
    for place, length, bits in zip(places.tolist(), lengths.tolist(), leading.tolist(), strict=True):
        size = abs(values[place])
        assert length == size.bit_length()
        assert bits == (size << digits) >> length


@given(numbers(), numbers())
@pytest.mark.parametrize("kind", KINDS)
def test_normalised_numbers(kind: Integers, one: tuple[int, int], other: tuple[int, int]) -> None:
    (re, bits), (im, _) = one, other
    assume(re or im)
    x, y, exponent = normalised(kind.whole(re), kind.whole(im), bits)
    assert 0.5 <= max(abs(x), abs(y)) < 1
    for part, value in ((x, re), (y, im)):
        scaled = Fraction(value, 1 << bits) / Fraction(2) ** exponent
        assert part == oracle.toward_zero(scaled)


@given(st.fractions(Fraction(1, 10**60), 10**6).filter(bool))
def test_floor_log2(value: Fraction) -> None:
    assert Fraction(2) ** floor_log2(value) <= value < Fraction(2) ** (floor_log2(value) + 1)


def test_bits_follow_from_the_radius() -> None:
    """64 below the pixels of a picture of 8192², and 9 for the roundings of a long orbit."""
    assert reference_bits(Fraction(2)) == 64 + 13 + 9
    assert reference_bits(Fraction(1)) == 64 + 13 + 9
    assert reference_bits(Fraction(1, 1 << 100)) == 100 + 64 + 13 + 9
    assert reference_bits(Fraction(3, 1 << 101)) == 100 + 64 + 13 + 9
    view = View.centred("-0.75", "0.1", "1e100", 8192, 8192)
    assert reference_bits(Reference.of(view, 14, 14).radius) >= -floor_log2(view.pitch) - 1 + 64 + 9


@unhurried
@given(
    st.fractions(-2, 1, max_denominator=10**6),
    st.fractions(-1, 1, max_denominator=10**6),
    st.integers(0, 40),
    st.integers(1, 300),
    st.sampled_from([FOUR, Fraction(10**4), Fraction(10**60), Fraction(10**400)]),
)
@example(Fraction(0), Fraction(0), 3, 10, FOUR)
@example(Fraction(-1), Fraction(0), 30, 10, FOUR)
@example(Fraction(-7549, 10000), Fraction(1, 10), 14, 300, FOUR)
def test_orbits_are_those_of_whole_numbers(
    re: Fraction, im: Fraction, digits: int, iterations: int, radius_squared: Fraction
) -> None:
    """Every value, and the end: the oracle has neither doubles nor exponents, and always all bits."""
    centre = reference(re, im, Fraction(1, 10**digits))
    limit = min(radius_squared, Fraction(2) ** 400)
    bits = reference_bits(centre.radius)
    values, ended = oracle.orbit((re, im), bits, centre.radius, iterations, limit)
    for kind in (PLAIN, FASTEST):
        orbit = reference_orbit(centre, iterations, radius_squared, integers=kind)
        assert (orbit.length, orbit.ended) == (len(values) - 1, ended)
        require_near(orbit, values, bits)
        assert orbit.tiny == {}, "no point is so near to 0 unless the period is found there"


@pytest.mark.parametrize(
    ("re", "im", "radius", "length", "ended"),
    [
        ("0", "0", "1e-30", 1, PERIOD),
        ("-1", "0", "1e-300", 2, PERIOD),
        ("-0.75", "0", "2.5", 1, PERIOD),
        ("-0.75", "0", "1e-3000", 1000, AT_LIMIT),
        ("3", "0", "1e-10", 1, ESCAPED),
        ("1e300", "-1e300", "1e-10", 1, ESCAPED),
        ("1e-2000", "1", "1e-1000", 1000, AT_LIMIT),
        ("0.5", "0.5", "1e-50", 5, ESCAPED),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_orbit_ends(kind: Integers, re: str, im: str, radius: str, length: int, ended: str) -> None:
    orbit = reference_orbit(reference(re, im, radius), 1000, FOUR, integers=kind)
    assert (orbit.length, orbit.ended, orbit.tiny) == (length, ended, {})
    squares = orbit.re**2 + orbit.im**2
    assert (squares[:-1] <= 4).all()
    assert (squares[-1] > 4) == (ended == ESCAPED)


def test_the_tip_of_the_antenna() -> None:
    """At c = −2, where Z stays 2 and the derivative is a third of 4^m, more than 10^6000 after some 10 000 steps."""
    orbit = reference_orbit(reference("-2", "0", "1e-6000"), 20000, FOUR)
    assert orbit.ended == PERIOD
    assert abs(orbit.length - 6000 * math.log(10, 4)) < 3
    assert orbit.re.tolist() == [0.0, -2.0] + [2.0] * (orbit.length - 1)


def test_values_too_small_for_doubles() -> None:
    """Beside the centre of the period-2 disc: Z_2 is the distance there, which a derivative passes through, too."""
    orbit = reference_orbit(reference("-1", "1e-400", "1e-700"), 9, FOUR)
    assert (orbit.length, orbit.ended) == (9, AT_LIMIT)
    assert sorted(orbit.tiny) == [2, 4, 6, 8]
    assert orbit.re[2] == orbit.im[2] == 0.0
    for x, y, exponent in orbit.tiny.values():
        assert 0.5 <= max(abs(x), abs(y)) < 1
        assert abs(Fraction(y) * Fraction(2) ** exponent) == pytest.approx(Fraction(1, 10**400), rel=0.1)
    nearer = reference_orbit(reference("-1", "1e-400", "1.1e-400"), 9, FOUR)
    assert (nearer.length, nearer.ended) == (2, PERIOD)
    assert sorted(nearer.tiny) == [2]


@unhurried
@given(
    st.sampled_from([Fraction(-1), NUCLEUS]),
    st.integers(5, 900),
    st.integers(1, 3),
    st.integers(0, 1200),
    st.integers(1, 60),
)
def test_derivatives_pass_through_small_values(
    centre: Fraction, away: int, times: int, digits: int, iterations: int
) -> None:
    """Beside a nucleus each period ends at a value of any size; the oracle's derivative is a whole number all along."""
    c = centre + Fraction(times, 10**away), Fraction(0)
    near = reference(*c, Fraction(7, 10**digits))
    bits = reference_bits(near.radius)
    values, ended = oracle.orbit(c, bits, near.radius, iterations, FOUR)
    orbit = reference_orbit(near, iterations, FOUR)
    assert (orbit.length, orbit.ended) == (len(values) - 1, ended)
    require_near(orbit, values, bits)
    small = Fraction(1 << bits, 1 << 900)
    assert sorted(orbit.tiny) == [m for m, parts in enumerate(values) if 0 < max(map(abs, parts)) < small]
    for index, (x, y, exponent) in orbit.tiny.items():
        for part, exact in zip((x, y), values[index], strict=True):
            assert abs(part - exact / Fraction(2) ** (exponent + bits)) <= Fraction(1, 1 << 52)


@pytest.mark.parametrize("name", ["1e14", "5e113", "4e533", "1e50", pytest.param("1e1086", marks=pytest.mark.long)])
def test_periods_of_published_places(name: str) -> None:
    centre, iterations, period = place(name)
    orbit = reference_orbit(centre, iterations, FOUR)
    assert (orbit.length, orbit.ended) == (period, PERIOD)


@pytest.mark.parametrize("name", ["1e14", "5e113", "4e533", pytest.param("1e1086", marks=pytest.mark.long)])
def test_integer_backends_give_the_same_bits(name: str) -> None:
    centre, iterations, _ = place(name)
    plain, fastest = (reference_orbit(centre, iterations, FOUR, integers=kind) for kind in (PLAIN, FASTEST))
    assert same(plain, fastest)


@pytest.mark.parametrize(
    "name", ["1e14", "5e113", *(pytest.param(name, marks=pytest.mark.long) for name in ("4e533", "1e1086"))]
)
def test_fewer_bits_where_the_derivative_is_large_are_enough(name: str) -> None:
    """Against twice as many bits throughout."""
    centre, iterations, _ = place(name)
    bits = 2 * reference_bits(centre.radius)
    values, ended = oracle.orbit((centre.re, centre.im), bits, centre.radius, iterations, FOUR)
    orbit = reference_orbit(centre, iterations, FOUR)
    assert orbit.ended == ended
    require_near(orbit, values, bits)


def test_short_numbers_use_python_integers() -> None:
    assert integers_for(100) == PLAIN
    assert integers_for(1000) == FASTEST


def test_python_integers_work_without_gmpy2() -> None:
    hidden = "import sys; sys.modules['gmpy2'] = None; from mandelcl.perturbation import integers; "
    done = subprocess.run(
        [sys.executable, "-c", hidden + "print(integers.FASTEST.name)"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "int\n"


def test_smaller_limit_gives_a_prefix() -> None:
    centre, iterations, period = place("1e14")
    whole = reference_orbit(centre, iterations, FOUR)
    for max_iterations in (1, 7, 8, 9, 100, period - 1, period, period + 1):
        assert same(whole.until(max_iterations), reference_orbit(centre, max_iterations, FOUR)), max_iterations
    centre, iterations, _ = place("4e533")
    whole = reference_orbit(centre, iterations, FOUR)
    for max_iterations in (63, 1000, 1025, 20_001, 40_000):
        assert same(whole.until(max_iterations), reference_orbit(centre, max_iterations, FOUR)), (
            "whatever bits the values had"
        )
    tiny = reference_orbit(reference("-1", "1e-400", "1e-700"), 9, FOUR)
    assert same(tiny.until(5), reference_orbit(reference("-1", "1e-400", "1e-700"), 5, FOUR))


def test_values_cannot_be_changed() -> None:
    orbit = reference_orbit(reference("-0.75", "0", "1e-30"), 100, FOUR)
    with pytest.raises(ValueError, match="read-only"):
        orbit.re[1] = 3


def test_a_constant_is_refined_by_the_radius_alone() -> None:
    """Neither step_bits nor tail_bits change the orbit."""
    centre, iterations, _ = place("1e14")
    finer = replace(centre, step_bits=22, tail_bits=8)
    assert same(reference_orbit(centre, iterations, FOUR), reference_orbit(finer, iterations, FOUR))


def test_orbit_larger_than_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orbit_module, "_LITTLE_MEMORY", 0)
    monkeypatch.setattr(orbit_module, "available_bytes", lambda: 16 * 5000)
    endless = reference("-0.75", "0", "1e-3000")
    with pytest.raises(InvalidInputError, match="no end within") as caught:
        reference_orbit(endless, 10**9, FOUR)
    assert len(str(caught.value)) < 300
    assert reference_orbit(endless, 4000, FOUR).length == 4000


def test_orbit_reports_progress_and_can_be_cancelled() -> None:
    stop = threading.Event()
    seen: list[int] = []

    def watch(done: int) -> None:
        seen.append(done)
        if done > 3000:
            stop.set()

    with pytest.raises(CancelledError):
        reference_orbit(reference("-0.75", "0", "1e-3000"), 10**6, FOUR, stop, watch)
    assert seen == sorted(set(seen))
    assert 3000 < seen[-1] < 6000
