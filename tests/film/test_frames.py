"""Frames: what views of the same places show, with no jump where a keyframe takes over from another."""

import math
import threading
import weakref
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.errors import NEVER, InvalidInputError
from mandelcl.colour.colour import Colouring, colourise
from mandelcl.colour.linear_light import Light, bytes_of
from mandelcl.colour.palettes import find_palette
from mandelcl.core.field import Field
from mandelcl.core.report import Stopwatch
from mandelcl.film.assembly import Composition, Rgb, assembled, composition, recipes, scaled
from mandelcl.film.folder import Folder
from mandelcl.film.frames import Maker
from mandelcl.film.making import require_colouring, require_smaller
from mandelcl.film.painted import fitted, painted
from mandelcl.film.path import Leg, Stop
from mandelcl.film.timing import Timing

SIZE = 96, 54
PIVOT = Fraction(-3, 4), Fraction(1, 5)


def light_at(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Return the light of a picture of waves, the shortest of them some pixels of the widest frame long."""
    waves = sum((np.sin(2.0**k * (x * math.cos(k) + y * math.sin(k)) + k) for k in range(6)), np.zeros(1))
    return (0.5 + 0.08 * waves).astype(np.float32)


def waves(leg: Leg, number: int) -> Light:
    """Return a keyframe that shows waves."""
    view = leg.keyframe(number)
    a, b, c, d = (float(entry) for entry in view.lattice.matrix)
    column = np.arange(view.width)[np.newaxis] - view.lattice.column
    row = np.arange(view.height)[:, np.newaxis] - view.lattice.row
    x, y = a * column + b * row, c * column + d * row
    return np.stack([light_at(x + k, y) for k in range(3)])


def shown(leg: Leg, stop: Stop) -> Rgb:
    """Return what a stop shows of the waves, each pixel the mean of 4 x 4 points."""
    fine = stop.view(SIZE[0] * 4, SIZE[1] * 4).lattice
    a, b, c, d = (float(entry) for entry in fine.matrix)
    x0, y0 = (float(here - there) for here, there in zip(fine.point(0, 0), leg.pivot, strict=True))
    column, row = np.arange(SIZE[0] * 4)[np.newaxis], np.arange(SIZE[1] * 4)[:, np.newaxis]
    x, y = x0 + a * column + b * row, y0 + c * column + d * row
    light = np.dstack([light_at(x + k, y) for k in range(3)])
    return bytes_of(light.reshape(SIZE[1], 4, SIZE[0], 4, 3).mean((1, 3)))


def frame(leg: Leg, travelled: float, scale: int = 1) -> Rgb:
    made_of = composition(leg, travelled)
    base = waves(leg, made_of.number)
    deeper = waves(leg, made_of.number + 1) if made_of.deeper else None
    return made(scaled(made_of, scale), base, deeper, (SIZE[0] // scale, SIZE[1] // scale))


def made(made_of: Composition, base: Light, deeper: Light | None, size: tuple[int, int] = SIZE) -> Rgb:
    sizes = [None if light is None else (light.shape[2], light.shape[1]) for light in (base, deeper)]
    assert sizes[0] is not None
    (how,) = recipes([made_of], sizes[0], sizes[1], size)
    return assembled(how, base, deeper)


@pytest.mark.parametrize("rotation", [(0, 0), (30, 30), (0, 50), (-20, 340)])
@pytest.mark.parametrize("share", [0.0, 0.13, 0.5, 0.77, 1.0])
def test_a_frame_shows_what_a_view_shows(rotation: tuple[int, int], share: float) -> None:
    middle = (PIVOT[0] + Fraction(1, 100), PIVOT[1]) if rotation == (0, 0) else PIVOT
    outer = Stop(*PIVOT, Fraction(2), Fraction(rotation[0]))
    inner = Stop(*middle, Fraction(23), Fraction(rotation[1]))
    leg = Leg(outer, inner, *SIZE, 2 * SIZE[1])
    got = frame(leg, share * leg.doublings)
    zoom = Fraction(2 * 2 ** (share * leg.doublings))
    turned = outer.rotation + (inner.rotation - outer.rotation) * Fraction(share)
    # About the pivot, which stays where it is in the picture.
    re, im = (p + (c - p) * outer.zoom / zoom for p, c in zip(leg.pivot, PIVOT, strict=True))
    expected = shown(leg, Stop(re, im, zoom, turned)).astype(int)
    error = np.abs(got.astype(int) - expected)
    assert math.sqrt((error.astype(float) ** 2).mean()) < 1  # of 255: 48 dB


def test_smaller_frames_show_the_same() -> None:
    leg = Leg(Stop(*PIVOT, Fraction(2)), Stop(*PIVOT, Fraction(23)), *SIZE, 2 * SIZE[1])
    large, small = frame(leg, 1.7), frame(leg, 1.7, scale=2)
    mean = large.reshape(SIZE[1] // 2, 2, SIZE[0] // 2, 2, 3).mean((1, 3))
    assert np.abs(mean - small).mean() < 3


@pytest.mark.parametrize("turn", [0, 40])
def test_batched_frames_equal_single_frames(turn: int) -> None:
    leg = Leg(Stop(*PIVOT, Fraction(2)), Stop(*PIVOT, Fraction(23), Fraction(turn)), *SIZE, 2 * SIZE[1])
    frames = [scaled(composition(leg, 1 + k / 16), 1.3) for k in range(1, 16)]
    size = leg.keyframe_size
    together = recipes(frames, size, size, SIZE)
    assert turn or len({len(how.base.columns.weights) for how in together}) > 1
    base, deeper = (waves(leg, frames[0].number + k) for k in range(2))
    for made_of, how in zip(frames, together, strict=True):
        assert assembled(how, base, deeper).tobytes() == made(made_of, base, deeper).tobytes()


def test_uniform_picture_stays_uniform() -> None:
    """Filters and blending add no light, and take none, at edges either."""
    leg = Leg(Stop(*PIVOT, Fraction(2)), Stop(*PIVOT, Fraction(23), Fraction(40)), *SIZE, 2 * SIZE[1])
    for number, turned in ((1.3, leg), (1.3, Leg(leg.outer, replace(leg.inner, rotation=Fraction(0)), *SIZE, 108))):
        made_of = composition(turned, number)
        view = turned.keyframe(0)
        plain = np.full((3, view.height, view.width), 0.6, np.float32)
        assert np.unique(made(made_of, plain, plain)).tolist() == [203]


@pytest.mark.full
def test_frames_are_continuous_at_keyframe_changes(computed: Folder) -> None:
    """The change from frame to frame grows nowhere beyond its neighbours', with real edges and one sample a pixel."""
    timing = Timing(Fraction(60), speed=1.0, ease=0.0, hold=0.0)
    maker = Maker(computed, computed.plan.colouring, computed.plan.width, computed.plan.height, Stopwatch())
    frames = timing.frames(computed.plan.doublings)
    try:
        pictures = [picture.astype(int) for picture in maker.frames(frames, NEVER)]
    finally:
        maker.close()
    assert len(pictures) == len(frames)
    changes = [float(np.abs(b - a).mean()) for a, b in pairwise(pictures)]
    leg = computed.plan.legs[0]
    levels = [math.floor(leg.level(shot.travelled)) for shot in frames]
    switches = [k for k in range(10, len(changes) - 10) if levels[k] != levels[k + 1]]
    assert switches
    for k in switches:
        assert changes[k] <= 1.15 * float(np.median(changes[k - 10 : k] + changes[k + 1 : k + 11]))


def test_equalisation_is_shared_by_the_whole_film(computed: Folder) -> None:
    colouring = fitted(computed, Colouring(find_palette("classic"), equalise=1.0))
    assert colouring.fits
    assert colouring.knots[0] < 3  # of the widest keyframe
    deepest = computed.field(computed.plan.keyframes - 1)
    assert colouring.knots[-1] > colouring.fitted_to(deepest).knots[128]


def test_painting_is_in_linear_light(computed: Folder) -> None:
    field = computed.field(1)
    colouring = computed.plan.colouring
    light = np.moveaxis(painted(field, colouring), 0, -1)
    assert np.array_equal(bytes_of(light), colourise(field, colouring))


@pytest.mark.parametrize("room", [0, 3, 5, math.inf])
def test_memory_holds_few_keyframes(computed: Folder, monkeypatch: pytest.MonkeyPatch, room: float) -> None:
    """However many keyframes and frames there are: as many as there is room for, but two in use, and the next."""
    there = most = 0
    counting, keyframe = threading.Lock(), computed.plan.legs[0].keyframe(0)

    def gone() -> None:
        nonlocal there
        with counting:
            there -= 1

    def counted(field: Field, colouring: Colouring) -> Light:
        nonlocal there, most
        light = painted(field, colouring)
        weakref.finalize(light, gone)
        with counting:
            there += 1
            most = max(most, there)
        return light

    monkeypatch.setattr("mandelcl.film.painted.painted", counted)
    monkeypatch.setattr("mandelcl.film.painted.available_bytes", lambda: 4 * 32 * room * keyframe.pixels)
    maker = Maker(computed, computed.plan.colouring, 16, 9, Stopwatch())
    frames = Timing(Fraction(30), speed=1.0, hold=0.0).frames(computed.plan.doublings)
    try:
        for _ in maker.frames([*frames, *frames[::-1]], NEVER):
            pass
    finally:
        maker.close()
    assert computed.plan.keyframes > 4
    assert 2 <= most <= max(room, 3)


def test_invalid_frame_options_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="at most 640x360"):
        require_smaller(640, 360, 1280, 720)
    with pytest.raises(InvalidInputError, match="the aspect ratio of"):
        require_smaller(640, 360, 320, 240)
    require_smaller(640, 360, 426, 240)
    for wrong in ({"transparent": True}, {"depth": 16}, {"height": "smooth"}, {"samples": 4}):
        with pytest.raises(InvalidInputError, match="a film needs colours"):
            require_colouring(Colouring(find_palette("classic"), **wrong))
