"""Orbits in whole numbers by a kernel: on every device the values that Python's integers give."""

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from mandelcl.base.errors import NEVER
from mandelcl.opencl.device import Device
from mandelcl.perturbation import bounded, exact_maps, exact_square, native
from mandelcl.perturbation.bounded import BoundedOrbit
from mandelcl.perturbation.exact_maps import MapPlace, followed, native_of, point_map
from mandelcl.perturbation.exact_square import square_orbit
from mandelcl.perturbation.first_places import first_places
from mandelcl.perturbation.integers import PLAIN, Doubles, WordIntegers, Words64, advanced, doubles
from mandelcl.perturbation.map_jets import Whole, whole_jets, whole_slope
from mandelcl.perturbation.native import Cut, MapCounts, Native, native_for, words_for
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.period import PeriodSearch
from tests.return_maps import MINIBROT, NEAR_NEUTRAL

FOUR = Fraction(4)


@pytest.fixture(autouse=True)
def double(device: Device) -> None:
    """Skip devices without double."""
    if not device.fp64:
        pytest.skip("this device has no double")


@pytest.fixture
def in_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let orbits with a bound take no kernel, however many steps this process has made before."""
    monkeypatch.setattr(bounded, "native_after", lambda _bits, _steps: None)


def words_of(numbers: Sequence[int], words: int) -> WordIntegers:
    """Return numbers as words of 64 bits."""
    data = b"".join(int(one).to_bytes(8 * words, "little", signed=True) for one in numbers)
    return WordIntegers(np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, words))


@pytest.mark.parametrize("words", [2, 3, 6, 10])
def test_values_are_those_of_integers(device: Device, words: int) -> None:
    random, steps = Random(words), 200
    for bits in (64 * words - 10, 64 * words - 41):
        kernel = Native(device, words)
        for re, im in ((-0.12, 0.74), (-1.7, 0.0003), (0.3, 0.5)):
            c = [round(part * (1 << bits)) + random.getrandbits(40) for part in (re, im)]
            x, y = (random.randrange(-(1 << bits - 3), 1 << bits - 3) for _ in range(2))
            found = kernel.advanced(x, y, c[0], c[1], bits, steps)
            expected = advanced(x, y, c[0], c[1], bits, steps)
            count = len(found[0])
            assert [list(part) for part in found] == [part[:count] for part in expected]
            ended = max(abs(part[-1]) for part in found) >= 4 << bits
            assert count == steps or ended


def test_a_value_that_leaves_is_the_last(device: Device) -> None:
    re, im = Native(device, 2).advanced(0, 0, 3 << 100, 1 << 100, 100, 50)
    assert (len(re), len(im)) == (2, 2)
    assert re[-1] == (3 * 3 - 1 + 3) << 100


def base_of(place_bits: int) -> tuple[Sequence[int], Sequence[int]]:
    """Return the first values of the minibrot's orbit, up to its return map's period."""
    centre = MINIBROT.reference()
    re, im = (round(part * (1 << place_bits)) for part in (centre.re, centre.im))
    found = first_places(re, im, place_bits, 16045)
    assert found is not None
    return found


def test_jets_and_derivatives_are_those_of_integers(device: Device) -> None:
    bits, digits = 300, 130
    re, im = (part[:-1] for part in base_of(bits))
    sizes = np.hypot(*(doubles(part, bits) for part in (re, im)))
    words = words_for(bits)
    parts = words_of(re, words), words_of(im, words)
    kept = min(bits, digits + 40 + max(0, 8 - math.frexp(float(sizes.min()))[1]))
    cut = Cut(bits - kept, kept - 1, digits + 40)
    kernel = Native(device, words)
    for order in (1, 2, 5):
        found = kernel.jets(parts, sizes, cut, order, NEVER)
        assert found is not None
        assert [Whole(*jet) for jet in found] == whole_jets(re, im, bits, sizes, order, digits)
    found = kernel.jets(parts, sizes, cut, 1, NEVER, by_c=True)
    assert found is not None
    assert Whole(*found[0]) == whole_slope(re, im, bits, sizes, digits)


def test_too_few_words_are_noticed(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a block whose products grow beyond them nothing is returned."""
    monkeypatch.setattr(native, "_GROWN_BITS", 12)
    bits = 190
    part = words_of([3 << bits - 1] * 60, words_for(bits))
    none = words_of([0] * 60, words_for(bits))
    for order in (1, 3):
        assert Native(device, 4).jets((part, none), np.full(60, 1.5), Cut(0, bits - 1, 170), order, NEVER) is None


def test_growth_is_that_of_the_search(device: Device) -> None:
    bits, grown = 300, []
    re, im = (doubles(part, bits) for part in base_of(bits))
    for radius in (Fraction(1, 1 << 200), Fraction(1, 1 << 20)):
        found = []
        for passes in (None, Native(device, 4).passes):
            search = PeriodSearch(radius)
            search.passes = passes
            ends = []
            while search.index <= len(re):
                some = slice(search.index - 1, search.index + 5000)
                ends.append((search.find(re[some], im[some], {}), search.index, search.growth, search.derivative))
                if ends[-1][0]:
                    break
            found.append(ends)
        assert found[0] == found[1]
        grown.append(max(end[2] for end in found[0]))
    assert grown[0] > 60 > grown[1]


def test_growth_is_the_same_for_values_of_any_size(device: Device) -> None:
    random = np.random.default_rng(7)
    met = set()
    for case in range(60):
        size = np.exp2(random.normal(-0.4, 0.4, 3000))
        special = random.random(3000) < random.choice([0.0, 0.003, 0.2])
        size[special] = np.exp2(random.uniform(-400 if case % 2 else -12, 6, int(special.sum())))
        size[random.random(3000) < 0.0005] = 0.0
        turn = random.uniform(0.0, 2 * np.pi, 3000)
        re, im = size * np.cos(turn), size * np.sin(turn)
        im[random.random(3000) < 0.01] = 0.0
        tiny = dict.fromkeys((np.flatnonzero((re == 0.0) & (im == 0.0)) + 1).tolist(), (0.5, -0.75, -1200))
        least = int(random.choice([0, 0, 100]))  # which a 0 takes the growth below
        radius = Fraction(3, 1 << int(random.integers(3, 700) if not least else 9000))
        ends = []
        for passes in (None, Native(device, 4).passes):
            search = PeriodSearch(radius)
            search.passes = passes
            if least:
                search.find(np.full(200, 1.5), np.zeros(200), {})
                tiny = {n + 200: value for n, value in tiny.items()} if passes is None else tiny
            found = search.find(re, im, tiny, least)
            ends.append((found, search.index, search.derivative))
        assert ends[0] == ends[1]
        met.add((ends[0][0], ends[0][1] > 1100, bool(least)))
    assert met >= {(True, False, False), (True, True, False), (False, True, True), (False, False, True)}


def test_steps_of_a_map_are_those_of_integers(device: Device) -> None:
    point = NEAR_NEUTRAL.view(64, 36).point(45, 7)
    map_ = point_map(point, 130, 59)
    assert map_ is not None
    one, other = MapPlace(0, 0, 0.0), MapPlace(0, 0, 0.0)
    kernel = Native(device, words_for(map_.steps.bits))
    for most in (1, 7, 400):
        expected, found = map_.follow(one, most), followed(map_, kernel, other, most)
        assert expected is not None
        assert found is not None
        assert found[:2] == expected[:2]
        assert (other.x, other.y) == (one.x, one.y)
        assert math.isclose(other.error, one.error, rel_tol=1e-9)
        assert math.isclose(found[2], expected[2], rel_tol=1e-9)


def test_a_map_is_left_and_lost_as_in_integers(device: Device) -> None:
    map_ = point_map(NEAR_NEUTRAL.view(64, 36).point(45, 7), 130, 59)
    assert map_ is not None
    kernel = Native(device, words_for(map_.steps.bits))
    far = 3 << map_.steps.bits
    for start, error in ((far, 0.0), (0, 0.5)):
        one, other = MapPlace(start, 0, error), MapPlace(start, 0, error)
        found, expected = followed(map_, kernel, other, 50), map_.follow(one, 50)
        assert (found is None) == (expected is None) == (error > 0)
        assert (other.x, other.y) == (one.x, one.y)
        assert found is None or (expected is not None and found[0] == expected[0] < 50)


def bounded_orbit(bits: int = 130) -> BoundedOrbit:
    """Return an orbit after some thousand steps."""
    orbit = BoundedOrbit(NEAR_NEUTRAL.view(64, 36).point(45, 7), bits, FOUR, lambda _done: True, 0, PLAIN)
    assert orbit.follow(3000) is None
    return orbit


@pytest.mark.usefixtures("in_integers")
def test_steps_with_a_bound_are_those_of_integers(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    for bits in (130, 500):
        for stop in (3001, 3300, 40_000):
            plain, orbit = bounded_orbit(bits), bounded_orbit(bits)
            assert plain.follow(stop) is None
            with monkeypatch.context() as patch:
                patch.setattr(bounded, "native_after", lambda bits, _steps: Native(device, words_for(bits)))
                assert orbit.follow(stop) is None
            assert (orbit.n, orbit.place) == (plain.n, plain.place)
            assert math.isclose(orbit.error, plain.error, rel_tol=1e-6)
            assert orbit._native is not None


@pytest.mark.usefixtures("in_integers")
def test_steps_are_compared_before_they_are_trusted(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Native):
        def bounded_steps(self, numbers: Words64, reals: Doubles, bits: int, steps: int) -> int:
            found = super().bounded_steps(numbers, reals, bits, steps)
            numbers[0] ^= np.uint64(1)
            return found

    for kind in (Native, Wrong):
        plain, orbit = bounded_orbit(), bounded_orbit()
        assert plain.follow(5000) is None
        with monkeypatch.context() as patch:
            patch.setattr(bounded, "native_after", lambda bits, _steps, kind=kind: kind(device, words_for(bits)))
            assert orbit.follow(5000) is None
        assert (orbit._native is not None) == (kind is Native)
        assert orbit.place == plain.place


def test_a_reference_is_the_same_by_a_kernel(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = MINIBROT.reference()

    def computed() -> Orbit:
        return square_orbit(reference, 20_000, FOUR, 320)

    plain = computed()
    used = []

    def kernel(bits: int) -> Native:
        used.append(bits)
        return Native(device, words_for(bits))

    monkeypatch.setattr(exact_square, "NATIVE_FROM", 1000)
    monkeypatch.setattr(exact_square, "native_for", kernel)
    found = computed()
    assert used
    assert (found.ended, found.small, found.edges) == (plain.ended, plain.small, plain.edges)
    np.testing.assert_array_equal(found.re, plain.re)
    np.testing.assert_array_equal(found.im, plain.im)


def test_a_device_that_is_wrong_or_slow_is_not_taken(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Native):
        def advanced(
            self, re: int, im: int, c_re: int, c_im: int, bits: int, steps: int
        ) -> tuple[WordIntegers, WordIntegers]:
            found, other = super().advanced(re, im, c_re, c_im, bits, steps)
            found.words[-1, 0] ^= np.uint64(1)
            return found, other

    for kind, quick in ((Wrong, True), (Native, False), (Native, True)):
        ticks = iter((0.0, 0.1, 1.0) if quick else (0.0, 1.0, 1.1))
        monkeypatch.setattr(native, "perf_counter", lambda ticks=ticks: next(ticks))
        monkeypatch.setattr(native, "_processor", lambda words, kind=kind: kind(device, words))
        native_for.cache_clear()
        assert (native_for(150) is not None) == (kind is Native and quick)
    native_for.cache_clear()


def test_steps_of_a_map_are_compared_before_they_are_trusted(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Native):
        def map_steps(self, numbers: Words64, reals: Doubles, counts: MapCounts) -> tuple[int, int] | None:
            found = super().map_steps(numbers, reals, counts)
            numbers[0] ^= np.uint64(1)
            return found

    map_ = point_map(NEAR_NEUTRAL.view(64, 36).point(45, 7), 130, 59)
    assert map_ is not None
    words = words_for(map_.steps.bits)
    for kind in (Native, Wrong):
        monkeypatch.setattr(exact_maps, "native_for", lambda _bits, kind=kind: kind(device, words))
        place = MapPlace(0, 0, 0.0)
        assert (native_of(map_, place) is not None) == (kind is Native)
        assert (place.x, place.y) == (0, 0)
