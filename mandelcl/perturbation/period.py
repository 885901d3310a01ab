"""The first period of a region: where the reference's derivative by c, times the radius, outgrows its value."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from mandelcl.base.exact import floor_log2
from mandelcl.perturbation.integers import Doubles

Scaled: TypeAlias = tuple[float, float, int]  # (x, y, e) stands for (x + y·i)·2^e

_RADIUS_BITS = 53
_STEPS = 32  # between two looks at the exponent
_LONG = 1024  # values that are worth a launch
_SMALL, _LARGE = 2.0**-20, 2.0**4  # |Z|² within these bounds leaves the derivative in range for so many steps
# With |2Z| from 2^-9 to 2^3, 32 steps change the derivative by 2^-288 to 2^97. Where its product with the radius is
# below the first of these, they cannot meet the period, at |Z| of 2^-10 and more; above the second they do at once.
_NOWHERE_NEAR, _FAR = -120, 300  # exponents
_NEAR = 3  # of mantissas in [1/2, 1) with the radius's beside them, one of 2^±this does


_LEAST_MANTISSA, _MOST_MANTISSA = 2.0**-64, 2.0**64  # of derivatives beside places of a map


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Of each step of a return map the derivative by t, and what is left of that by c without it, as reals."""

    t_re: Doubles
    t_im: Doubles
    rest_re: Doubles
    rest_im: Doubles

    def sizes(self) -> Doubles:
        """Return the moduli of the derivatives by t."""
        sizes: Doubles = np.sqrt(self.t_re * self.t_re + self.t_im * self.t_im)
        return sizes


class ScaledDerivative(NamedTuple):
    """The derivative (x + y·i)·2^exponent."""

    x: float
    y: float
    exponent: int


# From values of Z, the index of the first, the growth before it, (m, e) for a radius of m·2^e, and the least growth:
# the growth behind some of them, how many these are, and whether the next is the period. Before a 0 it ends.
Passes: TypeAlias = Callable[
    [Doubles, Doubles, int, ScaledDerivative, tuple[float, int], int], tuple[ScaledDerivative, int, bool]
]


class PeriodSearch:
    """Looks for the first index m ≥ 1 with |Z_m| < radius·|dZ_m/dc|.

    Within the radius of the reference's c there is then, as a rule, a point of period m: an orbit that is as near to
    the reference's as that can start again at index 0 and loses no bits by it.

    The derivative is 1 at m = 1 and then 2·Z·dZ/dc + 1, in doubles with an exponent beside them and operations that
    IEEE 754 rounds, so the index found is the same on every machine.
    """

    def __init__(self, radius: Fraction) -> None:
        self._radius, self._radius_exponent = _float_above(radius)
        self._x, self._y, self._exponent = 1.0, 0.0, 0  # of the derivative
        self._index = 1  # of which that is the derivative
        self.passes: Passes | None = None  # what does so sooner

    @property
    def index(self) -> int:
        """The index of the period that was found, or of the value that is looked at next."""
        return self._index

    @property
    def derivative(self) -> ScaledDerivative:
        """The derivative there."""
        return ScaledDerivative(self._x, self._y, self._exponent)

    @property
    def growth(self) -> int:
        """The exponent of the derivative there: it lies between 2^(growth − 1) and 2^(growth + 1), or growth is 0."""
        return self._exponent

    def find(self, re: Doubles, im: Doubles, tiny: Mapping[int, Scaled], least_growth: int = 0) -> bool:
        """Look for the period among the next values of Z, from `index` on; return whether it is there.

        `tiny` has the values whose parts are too small for doubles, by index. The search stops before a value, not the
        first, for which the growth is seen to be less than `least_growth`: each 32nd is looked at, and all beside
        values far from 1.
        """
        first, count, start = self._index, len(re), 0
        while self.passes is not None and count - start >= _LONG:
            if start and self._exponent < least_growth:
                return False
            if self._pass_by(self.passes, re[start:], im[start:], least_growth):
                return True
            start = self._index - first
            following = slice(start, start + 1)  # a 0, if any
            if self._find(re[following], im[following], tiny, least_growth, stops=start > 0):
                return True
            start = self._index - first
        return self._find(re[start:], im[start:], tiny, least_growth, stops=start > 0)

    def _find(self, re: Doubles, im: Doubles, tiny: Mapping[int, Scaled], least_growth: int, *, stops: bool) -> bool:
        """Do what `find` does, which may stop before the first value, too, if that is said."""
        first, count = self._index, len(re)
        squares = re * re + im * im
        apart = [*np.flatnonzero((squares < _SMALL) | (squares > _LARGE)).tolist(), count]
        twice_re, twice_im = (2 * re).tolist(), (2 * im).tolist()
        start = following = 0
        while start < count:
            if (start or stops) and self._exponent < least_growth:
                return False
            while apart[following] < start:
                following += 1
            end = min(max(apart[following], start + 1), start + _STEPS - (first + start) % _STEPS)
            found = False
            if start == apart[following]:
                found = self._step(tiny.get(first + start, (float(re[start]), float(im[start]), 0)))
            elif self._radius_exponent + self._exponent >= _NOWHERE_NEAR:
                found = self._run(twice_re[start:end], twice_im[start:end], squares[start:end].tolist())
            else:
                self._pass(twice_re[start:end], twice_im[start:end])
            if found:
                return True
            self._normalise()
            start = end
        return False

    def find_mapped(self, w: tuple[Doubles, Doubles], steps: Slopes, w_bits: int, least_growth: int) -> bool:
        """Look for the period among the places that steps of a return map lead to; return whether it is there.

        `w` are the places in the map's units, w·2^w_bits, and `steps` the derivatives of the steps to them. As `find`
        does, the search stops before a place, not the first, for which the growth is less than `least_growth`.
        """
        x, y, exponent = self._x, self._y, self._exponent
        one, limit, least = self._beside_map(exponent, w_bits, least_growth)
        parts = *w, steps.t_re, steps.t_im, steps.rest_re, steps.rest_im
        for place, (u, v, fx, fy, gx, gy) in enumerate(zip(*(part.tolist() for part in parts), strict=True)):
            if not _LEAST_MANTISSA < abs(x) + abs(y) < _MOST_MANTISSA:
                self._x, self._y, self._exponent = x, y, exponent
                self._normalise()
                x, y, exponent = self._x, self._y, self._exponent
                one, limit, least = self._beside_map(exponent, w_bits, least_growth)
            if place and abs(x) + abs(y) < least:
                break
            dx, dy = fx * x - fy * y + gx * one, fx * y + fy * x + gy * one
            if u * u + v * v < limit * (dx * dx + dy * dy):
                self._x, self._y, self._exponent = x, y, exponent
                return True
            x, y = 2 * (u * dx - v * dy) + one, 2 * (u * dy + v * dx)
            self._index += 1
        self._x, self._y, self._exponent = x, y, exponent
        self._normalise()
        return False

    def _beside_map(self, exponent: int, w_bits: int, least_growth: int) -> tuple[float, float, float]:
        """Return 1, (radius·2^(2·w_bits))² and 2^least_growth in units of the derivative's exponent."""
        radius = math.ldexp(self._radius, min(_FAR, self._radius_exponent + exponent + 2 * w_bits))
        return math.ldexp(1.0, -exponent), radius * radius, math.ldexp(1.0, max(-_FAR, least_growth - exponent))

    def _pass_by(self, passes: "Passes", re: Doubles, im: Doubles, least: int) -> bool:
        """Look for the period among the next values as `passes` does; return whether it was met."""
        radius = self._radius, self._radius_exponent
        growth, done, found = passes(re, im, self._index, self.derivative, radius, least)
        self._x, self._y, self._exponent = growth
        self._index += done
        return found

    def _pass(self, twice_re: list[float], twice_im: list[float]) -> None:
        """Take a few steps of common size among which the period cannot be."""
        x, y = self._x, self._y
        one = math.ldexp(1.0, -self._exponent)
        for u, v in zip(twice_re, twice_im, strict=True):
            x, y = u * x - v * y + one, u * y + v * x
        self._x, self._y = x, y
        self._index += len(twice_re)

    def _run(self, twice_re: list[float], twice_im: list[float], squares: list[float]) -> bool:
        """Take a few steps of common size; return whether the period was met, at the index then reached."""
        x, y = self._x, self._y
        one = math.ldexp(1.0, -self._exponent)
        scale = min(self._radius_exponent + self._exponent, _FAR)
        limit = math.ldexp(self._radius * self._radius, 2 * scale)
        for step, (u, v, square) in enumerate(zip(twice_re, twice_im, squares, strict=True)):
            if square < limit * (x * x + y * y):
                self._x, self._y = x, y
                self._index += step
                return True
            x, y = u * x - v * y + one, u * y + v * x
        self._x, self._y = x, y
        self._index += len(squares)
        return False

    def _step(self, value: Scaled) -> bool:
        """Take one step of any size; return whether the period was met at it."""
        x, y, exponent = normalised_floats(*value)
        if self._reaches(x, y, exponent):
            return True
        u, v = 2 * (x * self._x - y * self._y), 2 * (x * self._y + y * self._x)
        u, v, exponent = normalised_floats(u, v, exponent + self._exponent)
        if exponent < 0:  # 1 is the larger, and what is too small beside it is 0
            u, v, exponent = math.ldexp(u, exponent), math.ldexp(v, exponent), 0
        self._x, self._y, self._exponent = u + math.ldexp(1.0, -exponent), v, exponent
        self._index += 1
        return False

    def _reaches(self, x: float, y: float, exponent: int) -> bool:
        """Return whether (x + y·i)·2^exponent, normalised, lies within radius·|derivative|."""
        limit = self._radius * self._radius * (self._x * self._x + self._y * self._y)
        gap = self._radius_exponent + self._exponent - exponent
        if limit == 0.0 or (x == y == 0.0):
            return limit > 0.0
        return gap > _NEAR or (gap >= -_NEAR and x * x + y * y < math.ldexp(limit, 2 * gap))

    def _normalise(self) -> None:
        """Bring the derivative's larger part to [1/2, 1), or its exponent to 0."""
        shift = max(math.frexp(max(abs(self._x), abs(self._y)))[1], -self._exponent)
        self._x, self._y = math.ldexp(self._x, -shift), math.ldexp(self._y, -shift)
        self._exponent += shift


def normalised_floats(x: float, y: float, exponent: int) -> Scaled:
    """Return the same number with max(|x|, |y|) in [1/2, 1); (0, 0, 0) for 0."""
    shift = math.frexp(max(abs(x), abs(y)))[1]
    if x == y == 0.0:
        return 0.0, 0.0, 0
    return math.ldexp(x, -shift), math.ldexp(y, -shift), exponent + shift


def _float_above(value: Fraction) -> tuple[float, int]:
    """Return (m, e) with m·2^e the least number of 53 bits that is at least a positive value; m in [1/2, 1]."""
    exponent = floor_log2(value) + 1
    units = value * Fraction(2) ** (_RADIUS_BITS - exponent)
    return math.ldexp(-(-units.numerator // units.denominator), -_RADIUS_BITS), exponent
