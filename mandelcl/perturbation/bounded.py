"""An orbit of z² + c in fixed point, with a bound on its error that holds at every step.

With W the computed and w the exact orbit, δ = W − w follows δ' = (2W − δ)·δ + ε without remainder, where ε is what the
step rounds. So E ← (2|W| + E)·E + |ε| bounds |δ| at every step, and needs no derivative. A count n is proved where
|W| + E ≤ R at each step before n and |W| − E > R at n.

As E grows along an orbit, the last bits of W come to mean nothing, and are left out, until a small |W| makes E small
again. Where the return map of a period is known to be of use, the orbit takes it near 0.
"""

import math
from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from mandelcl.perturbation.exact_maps import MapPlace, PointMap, followed, native_of, point_map
from mandelcl.perturbation.integers import Integers, WordIntegers
from mandelcl.perturbation.native import Native, native_after

# Called with the iterations so far, again and again; what is not decided when it returns False stays so.
KeepOn: TypeAlias = Callable[[int], bool]
Point: TypeAlias = tuple[Fraction, Fraction]

CHUNK = 4096  # steps between two calls of `keep_on`, single ones or of a return map
_NATIVE_FROM, _NATIVE_CHUNK = 1 << 12, 1 << 15  # steps, after which a map's are made by a kernel, and how many then
_NATIVE_NEAR = 16.0  # |z|² up to which a kernel's numbers have room for a step
_COMPARED = 256  # steps by a kernel and by Python, before the first one is trusted
_KEPT = 640  # bits after the point of z that become a double
_LEAST_NORM = 2.0**-1000  # below this |z|² is computed in integers: a double of `_KEPT` bits has too few left
_LEAST_ERROR, _MOST_ERROR_BITS = 2.0**-400, 400  # the error and its bits in a unit, which else is changed
_BELOW = 96  # bits of z kept below the error
_LOSS = 2.0**20  # a step's rounding is as far below the error, or the step has all bits
_LONG, _GROWN_BITS = 320, 192  # from so many bits on, one looks whether the error has grown by as many
_PLAIN_BITS = 48
_HOPELESS = 10  # an error of 2^−10 will not become small again
_ROUNDED = 3  # units: c is off by less than 1 in each part, a step's products too, so ε is below 2·√2
_LEAST_MAP_ERROR = 2.0**-1000
_SLACK = 1 + 2.0**-40  # for the roundings of the bound itself, a few 2^−53 a step


class End(Enum):
    """How an orbit ended: `LOST` where its error is too large to tell, `STOPPED` where `keep_on` wanted no more."""

    ESCAPED = 1
    INSIDE = 2
    LOST = 3
    STOPPED = 4


def _whole(value: float, exponent: int) -> int:
    """Return value·2^exponent, rounded down."""
    mantissa, own = math.frexp(value)
    shift, scaled = own - 53 + exponent, int(math.ldexp(mantissa, 53))
    return scaled << shift if shift >= 0 else scaled >> -shift


class BoundedOrbit:
    """z_n in integers of 2^−bits, from n = 1 on, and a bound on its error: `_e` in units of 2^−`_s`, a double.

    |c| ≤ R must hold. The last `_spared` bits are not kept. `lowest_at` is the last n at which |z_n| fell below half of
    what it was before; `done` counts steps, those of earlier orbits included. With a `period`, the orbit takes its
    return map where that has any.
    """

    _a: int
    _b: int
    _e: float
    _s: int
    _spared: int
    _unit: float
    _rounded: float
    _least: float
    _most: float
    _map: PointMap | None
    _native: Native | None

    def __init__(
        self,
        point: Point,
        bits: int,
        radius_squared: Fraction,
        keep_on: KeepOn,
        done: int,
        integers: Integers,
        period: int = 0,
    ) -> None:
        self.n, self.done, self.lowest_at = 1, done, 1
        self._point, self._bits, self._keep_on = point, bits, keep_on
        self._untried, self._map, self._entry = period, None, 0.0
        self._native = None
        re, im = (integers.whole((part.numerator << bits) // part.denominator) for part in point)
        self._c = re, im
        self._radius_squared = math.floor(radius_squared * (1 << 2 * bits))
        # Below this, with an error below 2^−10, |z| is below R for certain.
        self._near = float(radius_squared) * (1 - 2.0**-7)
        self._lowest = re**2 + im**2
        self._set_threshold()
        self._take(re, im, 2)
        self._step(math.isqrt(int(self._lowest)), 2)  # that |z_1| ≤ R is known already

    @property
    def place(self) -> tuple[int, int]:
        """Both parts of z_n in units of 2^−bits."""
        return self._a << self._spared, self._b << self._spared

    @property
    def plain(self) -> tuple[float, float]:
        """Both parts of z_n, rounded down to doubles of some 50 bits."""
        shift = max(0, self._bits - _PLAIN_BITS)
        scale = 2.0 ** (shift - self._bits)
        a, b = self.place
        return float(int(a >> shift)) * scale, float(int(b >> shift)) * scale

    @property
    def error(self) -> int:
        """The bound on the error of z_n in units of 2^−bits, rounded up."""
        return _whole(self._e, self._bits - self._s) + 1

    def widened(self, error: int) -> "BoundedOrbit":
        """Return the same orbit with another bound on its error."""
        other = self._copied()
        other._take(*self.place, error)
        return other

    def _copied(self) -> "BoundedOrbit":
        other = object.__new__(BoundedOrbit)
        other.__dict__.update(self.__dict__)
        return other

    def hopeless(self, error: int) -> bool:
        """Return whether an error is so large that nothing can be told any more."""
        return error >> (self._bits - _HOPELESS) != 0

    def follow(self, stop: int) -> End | None:
        """Advance to n = stop; return how the orbit ended before, or None. z_stop is not tested yet."""
        self._try_map()
        while self.n < stop:
            if not self._keep_on(self.done):
                return End.STOPPED
            first = self.n
            end = None
            last = min(stop, first + (CHUNK if self._native is None else _NATIVE_CHUNK))
            while end is None and self.n < last:
                end = self._by_map(stop) if self._is_near(stop) else self._advance(last, stop)
            if end is not None:
                return end
        return None

    def _advance(self, stop: int, last: int) -> End | None:
        """Advance to n = stop by single steps, or to where the map may be taken as far as n = last."""
        first, end = self.n, None
        if self._native is None and self._near <= _NATIVE_NEAR:
            self._try_native(stop - self.n)
        while self.n < stop and end is None:
            if self._e < self._most:
                (self._run if self._native is None else self._run_natively)(stop)
            if self.n < stop:
                if self._is_near(last):
                    break
                end = self._look()
        self.done += self.n - first
        return end

    def _try_map(self) -> None:
        """Look for the map, once it would have been of use."""
        if not 0 < self._untried <= self.n:
            return
        period, self._untried = self._untried, 0
        self._map = point_map(self._point, self._bits, period)
        if self._map is not None:
            self._entry = self._map.entry
            self._set_threshold()

    def _is_near(self, stop: int) -> bool:
        """Return whether the map may be taken from here, and no farther than to n = stop."""
        if self._map is None or self.n + self._map.period > stop:
            return False
        bits = self._bits - self._spared
        shift = max(0, bits - _KEPT)
        scale = 2.0 ** (shift - bits)
        x, y = float(self._a >> shift) * scale, float(self._b >> shift) * scale
        return x * x + y * y < self._entry

    def _by_map(self, stop: int) -> End | None:
        """Take the map as far as it goes, but not beyond n = stop."""
        assert self._map is not None
        map_, (a, b) = self._map, self.place
        self._compare(a**2 + b**2, self.n)
        up = map_.steps.bits + map_.w_bits - self._bits
        error = math.ldexp(self._e * _SLACK, map_.w_bits - self._s)
        place = MapPlace(a << up, b << up, max(error, _LEAST_MAP_ERROR))
        most = (stop - self.n) // map_.period
        native = native_of(map_, place) if self.done >= _NATIVE_FROM else None
        if native is None:
            found = map_.follow(place, min(CHUNK, most))
        else:
            found = followed(map_, native, place, min(_NATIVE_CHUNK, most))
        if found is None:
            return End.LOST
        steps, least_at, least = found
        if steps:
            self._compare(_whole(least, 2 * (self._bits - map_.w_bits)), self.n + least_at * map_.period)
        self._take(place.x >> up, place.y >> up, _whole(place.error, self._bits - map_.w_bits) + 3)
        self.n += steps * map_.period
        self.done += steps
        return None

    def _run(self, stop: int) -> None:
        """Advance to n = stop, or to where z_n needs a look."""
        bits, spared, near, root = self._bits - self._spared, self._spared, self._near, math.sqrt
        c, d, doubled = self._c[0] >> spared, self._c[1] >> spared, bits - 1
        shift = max(0, bits - _KEPT)
        scale = 2.0 ** (shift - bits)
        a, b, n, e = self._a, self._b, self.n, self._e
        least, most, unit, rounded, threshold = self._least, self._most, self._unit, self._rounded, self._threshold
        while n < stop:
            x, y = float(a >> shift) * scale, float(b >> shift) * scale
            norm = x * x + y * y
            after = (root(norm) * 2 + e * unit) * e * _SLACK + rounded
            if not (threshold <= norm <= near and least < after < most):
                break
            e = after
            a, b = ((a + b) * (a - b) >> bits) + c, (a * b >> doubled) + d
            n += 1
        self._a, self._b, self.n, self._e = a, b, n, e

    def _try_native(self, steps: int) -> None:
        """Look for a kernel that makes so many steps."""
        native = native_after(self._bits, steps)
        if native is None:
            return
        if native.steps_are_right is None:
            one, other = self._copied(), self._copied()
            one._run(self.n + _COMPARED)
            if one.n < self.n + _COMPARED:
                return  # too few steps lie before one that needs a look
            other._native = native
            other._run_natively(self.n + _COMPARED)
            same = (one.n, one._a, one._b) == (other.n, other._a, other._b)
            native.steps_are_right = same and math.isclose(one._e, other._e, rel_tol=2.0**-30)
        self._native = native if native.steps_are_right else None

    def _run_natively(self, stop: int) -> None:
        """Do what `_run` does, by a kernel."""
        assert self._native is not None
        native, spared = self._native, self._spared
        numbers = native.packed([self._a, self._b, *(part >> spared for part in self._c)])
        bits = self._bits - spared
        between = self._threshold, self._near, self._least, self._most
        reals = np.array([2.0**-bits, self._unit, self._rounded, _SLACK, *between, self._e])
        self.n += native.bounded_steps(numbers, reals, bits, stop - self.n)
        whole = type(self._c[0])
        self._a, self._b = map(whole, WordIntegers(numbers[: 2 * native.words].reshape(2, native.words)))
        self._e = float(reals[-1])

    def _look(self) -> End | None:
        """Test z_n in integers, note whether it is the lowest, and advance by one step."""
        error = self.error
        a, b = self.place
        square = a**2 + b**2
        norm = math.isqrt(int(square))
        if norm > error and (norm - error) ** 2 > self._radius_squared:
            return End.ESCAPED
        if self.hopeless(error) or (norm + 1 + error) ** 2 > self._radius_squared:
            return End.LOST
        self._compare(square, self.n)
        self._step(norm, error)
        return None

    def _compare(self, square: int, n: int) -> None:
        """Note that |z_n|² is a square, in units of 2^(−2·bits)."""
        if 4 * square < self._lowest:
            self._lowest, self.lowest_at = square, n
            self._set_threshold()

    def _step(self, norm: int, error: int) -> None:
        """Advance by one step with all bits, and with the bound in integers; `norm` is |z_n| rounded down."""
        (a, b), (c, d), bits = self.place, self._c, self._bits
        after = ((2 * (norm + 1) + error) * error >> bits) + 1 + _ROUNDED
        self._take(((a + b) * (a - b) >> bits) + c, (a * b >> (bits - 1)) + d, after)
        self.n += 1

    def _set_threshold(self) -> None:
        """Note below which |z|² a step needs a look."""
        kept = max(0, int(self._lowest).bit_length() - 53)
        lowest = math.ldexp(float(int(self._lowest) >> kept), kept - 2 * self._bits)
        self._threshold = max(_LEAST_NORM, lowest / 4, self._entry)

    def _take(self, a: int, b: int, error: int) -> None:
        """Go on from a place, of which the bits far below its error are left out.

        The error gets a unit in which it is far from the ends of a double. It needs a look before it leaves these, or
        when it is so small that the bits left out would be missed, or so large that more can be spared.
        """
        spared = error.bit_length() - _BELOW
        self._spared = spared = spared if spared >= _BELOW and self._bits > _LONG else 0
        self._a, self._b = a >> spared, b >> spared
        error += 2 << spared if spared else 0
        kept = max(0, error.bit_length() - 54)
        self._e, self._s = float((error >> kept) + 1), self._bits - kept
        self._unit, self._rounded = math.ldexp(1.0, -self._s), math.ldexp(_ROUNDED, spared - kept)
        grown = 54 + _GROWN_BITS if self._bits - spared > _LONG else _MOST_ERROR_BITS
        self._most = math.ldexp(1.0, min(grown, self._s - _HOPELESS))
        self._least = self._rounded * _LOSS if spared else _LEAST_ERROR if kept else 0.0
