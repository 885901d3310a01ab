"""Where films go: exact lattices, nested in one another, and frames that show what a view of the same place shows."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.view import View
from mandelcl.film.keyframes import ring, shared
from mandelcl.film.path import Leg, Stop, log2
from mandelcl.film.timing import Timing

WIDE = Stop.of("-0.75", 0, "1.6")
SIZES = st.tuples(st.integers(1, 90), st.integers(1, 60))


@st.composite
def legs(draw: st.DrawFn, turned: bool = True) -> Leg:
    """Return a leg from a view into a part of it."""
    width, height = draw(SIZES)
    doublings = draw(st.fractions(Fraction(1, 10), 200, max_denominator=16))
    ratio = Fraction(2) ** math.floor(doublings) * (1 + doublings % 1)
    if ratio == 1:
        ratio = Fraction(3, 2)
    zoom = draw(st.fractions(Fraction(1, 3), 10**6, max_denominator=1000))
    inner = 4 / (zoom * ratio)
    # The smaller picture lies in the larger one where its middle is off by at most half of what they differ by.
    room = (4 / zoom - inner) / 2
    part = st.fractions(-1, 1, max_denominator=1 << 20)
    # Turned pictures lie in one another where they are about the same middle.
    rotation, turn = draw(st.integers(-720, 720)), draw(st.integers(-500, 500)) if turned else 0
    x, y = (Fraction(0), Fraction(0)) if turned or rotation else (draw(part) * room, draw(part) * room)
    re, im = draw(part), draw(part)
    x = x * min(Fraction(1), Fraction(width, height))
    outer = Stop(re, im, zoom, Fraction(rotation))
    stop = Stop(re + x, im + y, zoom * ratio, Fraction(rotation + turn))
    return Leg(outer, stop, width, height, draw(st.integers(1, 4)) * height) if draw(st.booleans()) else Leg(
        stop, outer, width, height, 2 * height
    )  # fmt: skip


def error(leg: Leg, level: float, number: int, view: View) -> float:
    """Return how far a frame's corners on a keyframe are from where a view has them, in pixels of the keyframe."""
    (a, b, c, d), (x0, y0) = leg.placement(level, number)
    keyframe, farthest = leg.keyframe(number).lattice, 0.0
    for x, y in ((0, 0), (view.width - 1, 0), (0, view.height - 1), (view.width - 1, view.height - 1)):
        column, row = keyframe.pixel_at(*view.lattice.point(x, y))
        farthest = max(farthest, abs(float(column) - x0 - a * x - b * y), abs(float(row) - y0 - c * x - d * y))
    return farthest


@given(st.one_of(legs(), legs(turned=False)))
@settings(max_examples=30, deadline=None)
def test_a_film_begins_and_ends_with_its_stops(leg: Leg) -> None:
    for travelled, stop in ((0.0, leg.outer), (leg.doublings, leg.inner)):
        level = leg.level(travelled if leg.inward else leg.doublings - travelled)
        number = min(math.floor(level), leg.last)
        assert 0 <= level <= leg.last
        # Whole turns are lost in a view, and the pivot is rounded to 2^-40 of the picture.
        assert error(leg, level, number, stop.view(leg.width, leg.height)) < 1e-6 * leg.density


@given(legs())
@settings(max_examples=15, deadline=None)
def test_every_second_pixel_of_a_keyframe_is_one_of_the_wider(leg: Leg) -> None:
    for number in {0, leg.last // 2, leg.last - 1}:
        wider, deeper = leg.keyframe(number), leg.keyframe(number + 1)
        assert wider.lattice.finer().matrix == deeper.lattice.matrix
        common = shared(wider, deeper)
        assert common is not None
        block = common.block
        for x, y in ((0, 0), (block.width - 1, block.height - 1)):
            mine = wider.point(block.x + x, block.y + y)
            assert mine == deeper.point(common.column + 2 * x, common.row + 2 * y)
        assert common.column + 2 * (block.width - 1) < deeper.width
        assert common.row + 2 * (block.height - 1) < deeper.height
        assert block.pixels + sum(part.pixels for part in ring(wider, block)) == wider.pixels


@given(legs(), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_keyframes_cover_their_frames(leg: Leg, share: float) -> None:
    level = leg.level(share * leg.doublings)
    number = min(math.floor(level), leg.last)
    keyframe = leg.keyframe(number)
    (a, b, c, d), (x0, y0) = leg.placement(level, number)
    for x in (-0.5, leg.width - 0.5):
        for y in (-0.5, leg.height - 0.5):
            assert -0.5 <= x0 + a * x + b * y <= keyframe.width - 0.5
            assert -0.5 <= y0 + c * x + d * y <= keyframe.height - 0.5


@pytest.mark.parametrize("depth", [40, 330, 3300])
def test_the_last_frame_is_exact_however_deep(depth: int) -> None:
    end = Stop.of(0, 1, Fraction(10) ** depth)
    leg = Leg(Stop.of(0, "0.5", 1), end, 64, 36, 72)
    assert leg.last == math.ceil(depth * math.log2(10))
    assert error(leg, float(leg.last), leg.last, end.view(64, 36)) < 1e-6
    # No number holds the pitch and its multiples less exactly than that.
    pitch = leg.keyframe(leg.last).lattice.matrix[0]
    assert pitch.denominator & (pitch.denominator - 1) == 0
    assert math.isclose(log2(pitch), 2 - depth * math.log2(10) - math.log2(72), abs_tol=1e-6)
    assert (pitch.numerator >> ((pitch.numerator & -pitch.numerator).bit_length() - 1)).bit_length() <= 24


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (Stop.of(0, 0, 2), Stop.of(0, 0, 2)),
        (Stop.of(0, 0, 2), Stop.of(3, 0, 2)),
        (Stop.of(0, 0, 2), Stop.of(3, 0, 100)),
        (Stop.of(0, 0, 2), Stop.of(0, "1.01", 100)),
    ],
)
def test_views_that_are_not_nested_are_refused(start: Stop, end: Stop) -> None:
    with pytest.raises(InvalidInputError, match="add a wider view"):
        Leg(start, end, 64, 36, 72)
    with pytest.raises(InvalidInputError, match="add a wider view"):
        Leg(end, start, 64, 36, 72)


DOUBLINGS = st.lists(st.floats(0.01, 100), min_size=1, max_size=4)


@given(
    DOUBLINGS,
    st.fractions(Fraction(1, 2), 60, max_denominator=1001),
    st.floats(0.1, 10),
    st.floats(0, 5),
    st.floats(0, 3),
)
@settings(max_examples=40, deadline=None)
def test_a_film_has_the_frames_of_its_duration(
    doublings: list[float], fps: Fraction, speed: float, ease: float, hold: float
) -> None:
    timing = Timing(fps, speed, ease, hold)
    frames = timing.frames(doublings)
    moving = sum(length / speed + min(ease, length / speed) for length in doublings)
    duration = moving + hold * (len(doublings) + 1)
    assert len(frames) == timing.frame_count(doublings)
    assert abs(len(frames) - duration * fps) <= 2
    assert (frames[0].leg, frames[0].travelled) == (0, 0.0)
    assert frames[-1].leg == len(doublings) - 1
    assert math.isclose(frames[-1].travelled, doublings[-1])
    for leg, length in enumerate(doublings):
        way = [frame.travelled for frame in frames if frame.leg == leg]
        assert all(0 <= place <= length for place in way)
        # It never goes back, and is never faster than it may be.
        fastest = speed * duration / (len(frames) - 1)
        assert all(-1e-9 <= step <= fastest * (1 + 1e-6) + 1e-9 for step in np.diff(way))
    assert Timing(fps, speed, ease, hold, reverse=True).frames(doublings) == frames[::-1]


def test_the_speed_is_constant_between_gentle_ends() -> None:
    frames = Timing(Fraction(60), speed=2.0, ease=1.0, hold=0.5).frames([20.0])
    steps = np.diff([frame.travelled for frame in frames]) * 60
    assert len(frames) == 60 * 12
    np.testing.assert_allclose(steps[31:89][[0, -1]], [0, 2], atol=0.02)
    assert np.abs(np.diff(steps)).max() < 2 * math.pi / 2 / 60 * 1.1  # no jerk
    np.testing.assert_allclose(steps[100:600], 2, rtol=0.01)


def test_a_film_lasts_as_long_as_asked() -> None:
    timing = Timing(Fraction(25), seconds=20.0)
    assert timing.frame_count([30.0]) == 500
    assert math.isclose(timing.duration([30.0, 10.0]), 20)
    with pytest.raises(InvalidInputError, match="has no time to move"):
        Timing(seconds=2.5).frames([3.0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"fps": Fraction(0)},
        {"fps": Fraction("1e400")},
        {"fps": Fraction("1e-9")},
        {"speed": 0.0},
        {"ease": -1.0},
        {"hold": math.inf},
    ],
)
def test_invalid_film_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError, match="a film"):
        Timing(**wrong)  # type: ignore[arg-type]


def test_too_long_film_is_refused() -> None:
    for timing in (Timing(hold=1e308), Timing(hold=1e7), Timing(Fraction(1000), hold=600.0)):
        with pytest.raises(InvalidInputError, match="too long"):
            timing.frame_count([3.0])
