"""Return maps of single points, for exact counts: F = f^p of one c, in integers, with a bound on what a step is off by.

Near 0 an orbit takes p iterations at a time. Where w is off by up to E, F(w) is off by up to
    |F_w|·E + 1.1·a·E² + what is rounded and left out
in units of w times 2^w_bits, where a bounds the coefficient of w², and E is at most 2^−10.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.perturbation.first_places import first_places
from mandelcl.perturbation.integers import WordIntegers, doubles
from mandelcl.perturbation.map_growth import LEAST_PERIOD, LEAST_RATIO, GrowthWatch, growth_along
from mandelcl.perturbation.map_jets import ORDER, Whole, doubles_of, in_map_units, whole_jets
from mandelcl.perturbation.map_steps import MapSteps
from mandelcl.perturbation.native import MapCounts, Native, native_for
from mandelcl.perturbation.return_map import threshold_of

_MORE_BITS = 32  # of the first p values, beyond those of the orbit
_SPARE_BITS = 8  # of values in the map, beyond those of the orbit
_MOST_ORDER, _MOST_WORK = 64, 1 << 23  # of F, and order times iterations
_LEAVES = 16.0  # |a·w|², at which an orbit goes on by single iterations
_HOPELESS = 2.0**-10
_COMPARED = 256  # steps by a kernel and by Python, before the first one is trusted
_PLACE_UNITS = 12  # of the last place: what the p-th value is off by for each of those before it, with that of c
_MOST_BITS = 900  # in the map: then no bound is too small for a double
_UP = 1 + 2.0**-20  # covers what slopes in doubles are off by, and terms that they leave out


@dataclass(slots=True)
class MapPlace:
    """Where an orbit is in a map: its parts in units of 2^−bits, and the bound on their error, a plain number."""

    x: int
    y: int
    error: float


@dataclass(frozen=True, slots=True)
class PointMap:
    """F for one c, of w times 2^w_bits, while |w|² is below `leaves`; `off` is what a step is off by at most."""

    period: int
    w_bits: int
    leaves: float
    steps: MapSteps
    slopes: tuple[complex, ...]  # j·f_j of the slope by t: the first, and the others from the last on
    a: float
    off: float

    @property
    def entry(self) -> float:
        """|z|² below which an orbit takes the map, in the plane's own units."""
        return math.ldexp(self.leaves / 4, -2 * self.w_bits)

    def follow(self, place: MapPlace, most: int) -> tuple[int, int, float] | None:
        """Take up to so many steps from a place, until it is out of the map, and write there where they lead.

        Return how many they are, and behind how many of them |w|² was least, and what it was. None where hardly
        anything would be known of w.
        """
        x, y, error, unit = place.x, place.y, place.error, 2.0**-self.steps.bits
        f1, *others = self.slopes
        least, least_at, done = math.inf, 0, 0
        while True:
            w = complex(float(x) * unit, float(y) * unit)
            square = w.real * w.real + w.imag * w.imag
            if square < least and done:
                least, least_at = square, done
            if done == most or square >= self.leaves:
                break
            t, slope = w * w, 0j
            for factor in others:
                slope = (slope + factor) * t
            gain = 2 * abs(w * (slope + f1)) * _UP
            error = ((gain + 1.1 * self.a * error) * error + self.off) * _UP
            if not error < _HOPELESS:
                return None
            x, y = self.steps.next(x, y)
            done += 1
        place.x, place.y, place.error = x, y, error
        return done, least_at, least


def native_of(map_: PointMap, place: MapPlace) -> Native | None:
    """Return what takes steps of a map by a kernel, once it has been seen to give what Python's integers give."""
    native = native_for(map_.steps.bits)
    if native is not None and native.map_is_right is None:
        one, other = (MapPlace(place.x, place.y, place.error) for _ in range(2))
        expected, found = map_.follow(one, _COMPARED), followed(map_, native, other, _COMPARED)
        same = (expected is None) == (found is None) and (one.x, one.y) == (other.x, other.y)
        native.map_is_right = same and math.isclose(one.error, other.error, rel_tol=2.0**-20)
    return native if native is not None and native.map_is_right else None


def followed(map_: PointMap, native: Native, place: MapPlace, most: int) -> tuple[int, int, float] | None:
    """Do what `PointMap.follow` does, by a kernel."""
    steps, (first, *others) = map_.steps, map_.slopes
    numbers = native.packed([place.x, place.y, *steps.first, *(part for term in steps.terms[::-1] for part in term)])
    slopes = [part for slope in (first, *others[::-1]) for part in (slope.real, slope.imag)]
    own = 2.0**-steps.bits, map_.leaves, map_.a, map_.off, _UP, _HOPELESS, place.error, 0.0
    reals = np.array([*own, *slopes])
    counts = MapCounts(steps.bits, steps.t_bits, len(steps.terms), most, len(map_.slopes))
    found = native.map_steps(numbers, reals, counts)
    if found is None:
        return None
    place.x, place.y = WordIntegers(numbers[: 2 * native.words].reshape(2, native.words))
    place.error = float(reals[6])
    return *found, float(reals[7])


def point_map(point: tuple[Fraction, Fraction], bits: int, period: int) -> PointMap | None:
    """Return the map of a point for an orbit with so many bits after the point; None where there is none."""
    if period < LEAST_PERIOD:
        return None
    c_bits = bits + _MORE_BITS
    c_re, c_im = ((part.numerator << c_bits) // part.denominator for part in point)
    found = first_places(c_re, c_im, c_bits, period)
    if found is None:
        return None
    whole_re, whole_im = found
    re, im = (doubles(part, c_bits) for part in found)
    sizes = np.sqrt(re * re + im * im)[:-1]
    if not sizes.all():
        return None
    growth, watch = growth_along(re, im), GrowthWatch(0.0)
    watch.add(re, im)
    if not _LEAVES * growth.s < LEAST_RATIO * growth.a**2 or threshold_of(growth, watch, period, 0.0) is None:
        return None
    w_bits = math.frexp(growth.a)[1]
    own, leaves = growth.in_units(w_bits, 0), math.ldexp(_LEAVES / growth.a**2, 2 * w_bits)
    map_bits = bits - w_bits + _SPARE_BITS
    order = own.order_for(leaves, 2.0**-map_bits, _MOST_ORDER)
    if order is None or order * period > _MOST_WORK or map_bits > _MOST_BITS:
        return None
    digits = map_bits + (8 * order * period).bit_length()
    jets = in_map_units(whole_jets(whole_re[:-1], whole_im[:-1], c_bits, sizes, order, digits), w_bits)
    first = Whole(int(whole_re[-1]), int(whole_im[-1]), w_bits - c_bits).at(-map_bits)
    steps = MapSteps.of(first, jets, map_bits, leaves)
    slopes = [j * value for j, value in enumerate(doubles_of(jets[:ORDER], map_bits), 1)]
    shares = sum(j * share for j, share in enumerate(own.terms(order, leaves), 1))
    off = 8 * period * 2.0**-digits * shares + _PLACE_UNITS * own.s_b * own.a * 2.0**-c_bits
    off += own.rest(order, leaves, 0.0) + steps.rounded
    return PointMap(period, w_bits, leaves, steps, (slopes[0], *slopes[:0:-1]), own.a, off)
