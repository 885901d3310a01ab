"""Exact counts: orbits of z² + c in fixed point, in more and more bits until a bound on their error proves the count.

With W the computed and w the exact orbit, δ = W − w follows δ' = (2W − δ)·δ + ε without remainder, where ε is what the
step rounds. So E ← (2|W| + E)·E + |ε| bounds |δ| at every step, and needs no derivative. A count n is proved where
|W| + E ≤ R at each step before n and |W| − E > R at n.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from mandelcl.errors import InvalidInputError

try:
    from gmpy2 import mpz as whole
except ImportError:  # the same integers, several times slower where they are long
    whole: Any = int  # type: ignore[no-redef]

# Called with the iterations so far, again and again; what is not decided when it returns False stays so.
KeepOn: TypeAlias = Callable[[int], bool]
Point: TypeAlias = tuple[Fraction, Fraction]

GUARD_BITS = 64
_MOST_GUARD_BITS = 1 << 16
_LARGEST_RADIUS_SQUARED = Fraction(1 << 256)
_LARGEST_PART = Fraction(1 << 60)  # its square is a float
_CHUNK = 4096  # steps between two calls of `keep_on`
_KEPT = 640  # bits after the point of z that become a double
_LEAST_NORM = 2.0**-1000  # below this |z|² is computed in integers: a double of `_KEPT` bits has too few left
_LEAST_ERROR, _MOST_ERROR_BITS = 2.0**-400, 400  # the error and its bits in a unit, which else is changed
_PLAIN_BITS = 48
_HOPELESS = 10  # an error of 2^−10 will not become small again
_ROUNDED = 3  # units: c is off by less than 1 in each part, a step's products too, so ε is below 2·√2
_SLACK = 1 + 2.0**-40  # for the roundings of the bound itself, a few 2^−53 a step


def _always(_done: int) -> bool:
    return True


def _plain(part: Fraction) -> float:
    """Return a part of z, which may be larger than a double, or the nearest number that serves as well."""
    return float(max(-_LARGEST_PART, min(part, _LARGEST_PART)))


@dataclass(frozen=True, slots=True)
class Outcome:
    """A proved count, and z where the orbit escaped, to within 2^−10 or beyond 2^60; None where it did not."""

    count: int
    z: tuple[float, float] | None


def fraction_bits(pitch: Fraction) -> int:
    """Return with how many bits after the point counts are first tried where pixels are `pitch` apart."""
    return max(0, pitch.denominator.bit_length() - pitch.numerator.bit_length() + 1) + GUARD_BITS


def exact_count(
    point: Point, iterations: int, radius_squared: Fraction, bits: int, keep_on: KeepOn = _always
) -> int | None:
    """Return the count of a point in exact arithmetic, as `exact_outcome` does."""
    outcome = exact_outcome(point, iterations, radius_squared, bits, keep_on)
    return None if outcome is None else outcome.count


def exact_outcome(
    point: Point, iterations: int, radius_squared: Fraction, bits: int, keep_on: KeepOn = _always
) -> Outcome | None:
    """Return the count of a point in exact arithmetic: the first n with |z_n|² > R², or the cap `iterations`.

    It is proved. `bits` after the point are tried first, then more. None where `keep_on` says that it takes too long,
    or where z_n comes too near to |z| = R to be told apart from it. Raises InvalidInputError for R² beyond 2^256.
    """
    if radius_squared > _LARGEST_RADIUS_SQUARED:
        raise InvalidInputError("exact counts need an escape radius of at most 2^128")
    re, im = point
    if re * re + im * im > radius_squared:
        return Outcome(1, (_plain(re), _plain(im)))
    if re.denominator == im.denominator == 1:
        return _outcome_of_whole(int(re), int(im), iterations, radius_squared)
    done, guard = 0, GUARD_BITS
    while guard <= _MOST_GUARD_BITS:
        orbit = _Orbit(point, bits - GUARD_BITS + guard, radius_squared, keep_on, done)
        end = _end(orbit, iterations)
        if end is not _End.LOST:
            if end is _End.STOPPED:
                return None
            return Outcome(orbit.n, orbit.plain) if end is _End.ESCAPED else Outcome(iterations, None)
        done, guard = orbit.done, 2 * guard
    return None


class _End(Enum):
    """How an orbit ended: `LOST` where its error is too large to tell, `STOPPED` where `keep_on` wanted no more."""

    ESCAPED = 1
    INSIDE = 2
    LOST = 3
    STOPPED = 4


def _outcome_of_whole(re: int, im: int, iterations: int, radius_squared: Fraction) -> Outcome:
    """Return the outcome where c is a Gaussian integer, which needs no fractions: c = −2 stays at |z| = 2 for ever."""
    x, y, seen = re, im, set()
    for n in range(1, iterations):
        if x * x + y * y > radius_squared:
            return Outcome(n, (float(x), float(y)))
        if (x, y) in seen:
            break
        seen.add((x, y))
        x, y = x * x - y * y + re, 2 * x * y + im
    return Outcome(iterations, None)


def _end(orbit: "_Orbit", iterations: int) -> _End:
    """Follow an orbit to its end or to the cap.

    Whenever its length has doubled, and as long as it seems to approach a cycle, `_stays` is asked. The period is taken
    to be the last n at which |z_n| fell below half of all before: the atom domain of c.
    """
    trial = 2
    while orbit.n < iterations:
        period = orbit.lowest_at
        trial = max(trial, 2 * period)
        if orbit.n < trial or orbit.n + 3 * period >= iterations:
            end = orbit.advance(min(iterations, orbit.n + _CHUNK, max(trial, orbit.n + 1)))
        else:
            trial = 2 * orbit.n
            end = _stays(orbit, period)
        if end is not None:
            return end
    return _End.INSIDE


def _stays(orbit: "_Orbit", period: int) -> _End | None:
    """Advance by two periods; return INSIDE where that proves that the orbit never escapes.

    It does where f^period, for all that rounding may do, maps a disc about W into itself, with R never exceeded on the
    way: E, begun with the disc's radius, bounds where each of its points goes.
    """
    places = [orbit.place]
    for _ in range(2):
        end = orbit.follow(orbit.n + period)
        if end is not None:
            return end
        places.append(orbit.place)
    before, after, noise = _distance(places[0], places[1]), _distance(places[1], places[2]), 16 * orbit.error
    if after > noise and after >= before:
        return None
    # Distances shrink by q = after/before a period: from here all to come is after·q/(1 − q), of which this is twice.
    radius = 64 * noise + (2 * after * after // (before - after) if after < before else 0)
    if orbit.hopeless(radius):
        return None
    disc = orbit.widened(radius)
    end = disc.follow(disc.n + period)
    orbit.done = disc.done
    if end is _End.STOPPED:
        return end
    return _End.INSIDE if end is None and _distance(orbit.place, disc.place) + disc.error <= radius else None


def _distance(a: tuple[Any, Any], b: tuple[Any, Any]) -> int:
    """Return an upper bound of the distance of two places, in their unit."""
    return math.isqrt(int((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)) + 1


class _Orbit:
    """z_n in integers of 2^−bits, from n = 1 on, and a bound on its error: `_e` in units of 2^−`_s`, a double.

    |c| ≤ R must hold. `lowest_at` is the last n at which |z_n| fell below half of what it was before; `done` counts
    steps, those of earlier orbits included.
    """

    _e: float
    _s: int
    _unit: float
    _rounded: float
    _least: float
    _most: float

    def __init__(self, point: Point, bits: int, radius_squared: Fraction, keep_on: KeepOn, done: int) -> None:
        self.n, self.done, self.lowest_at = 1, done, 1
        self._bits, self._keep_on = bits, keep_on
        self._c = tuple(whole((part.numerator << bits) // part.denominator) for part in point)
        self._a, self._b = self._c
        self._radius_squared = math.floor(radius_squared * (1 << 2 * bits))
        # Below this, with an error below 2^−10, |z| is below R for certain.
        self._near = float(radius_squared) * (1 - 2.0**-7)
        self._lowest = self._a**2 + self._b**2
        self._set_threshold()
        self._set_error(2)
        self._step(math.isqrt(int(self._lowest)), 2)  # that |z_1| ≤ R is known already

    @property
    def place(self) -> tuple[Any, Any]:
        """Both parts of z_n in units of 2^−bits."""
        return self._a, self._b

    @property
    def plain(self) -> tuple[float, float]:
        """Both parts of z_n, rounded down to doubles of some 50 bits."""
        shift = max(0, self._bits - _PLAIN_BITS)
        scale = 2.0 ** (shift - self._bits)
        return float(int(self._a >> shift)) * scale, float(int(self._b >> shift)) * scale

    @property
    def error(self) -> int:
        """The bound on the error of z_n in units of 2^−bits, rounded up."""
        mantissa, exponent = math.frexp(self._e)
        shift = exponent - 53 + self._bits - self._s
        scaled = int(math.ldexp(mantissa, 53))
        return (scaled << shift if shift >= 0 else scaled >> -shift) + 1

    def widened(self, error: int) -> "_Orbit":
        """Return the same orbit with another bound on its error."""
        other = object.__new__(_Orbit)
        other.__dict__.update(self.__dict__)
        other._set_error(error)
        return other

    def hopeless(self, error: int) -> bool:
        """Return whether an error is so large that nothing can be told any more."""
        return error >> (self._bits - _HOPELESS) != 0

    def follow(self, stop: int) -> _End | None:
        """Advance to n = stop; return how the orbit ended before, or None."""
        while self.n < stop:
            end = self.advance(min(stop, self.n + _CHUNK))
            if end is not None:
                return end
        return None

    def advance(self, stop: int) -> _End | None:
        """Advance to n = stop, in one go; return how the orbit ended before, or None. z_stop is not tested yet."""
        if not self._keep_on(self.done):
            return _End.STOPPED
        first = self.n
        end = self._advance(stop)
        self.done += self.n - first
        return end

    def _advance(self, stop: int) -> _End | None:
        bits, doubled, (c, d), near, root = self._bits, self._bits - 1, self._c, self._near, math.sqrt
        shift = max(0, bits - _KEPT)
        scale = 2.0 ** (shift - bits)
        while self.n < stop:
            a, b, n, e = self._a, self._b, self.n, self._e
            least, most, unit, rounded, threshold = self._least, self._most, self._unit, self._rounded, self._threshold
            while n < stop:
                x, y = float(a >> shift) * scale, float(b >> shift) * scale
                norm = x * x + y * y
                if not (threshold <= norm <= near and least < e < most):
                    break
                e = (root(norm) * 2 + e * unit) * e * _SLACK + rounded
                a, b = ((a + b) * (a - b) >> bits) + c, (a * b >> doubled) + d
                n += 1
            self._a, self._b, self.n, self._e = a, b, n, e
            if n < stop:
                end = self._look()
                if end is not None:
                    return end
        return None

    def _look(self) -> _End | None:
        """Test z_n in integers, note whether it is the lowest, and advance by one step."""
        error = self.error
        square = self._a**2 + self._b**2
        norm = math.isqrt(int(square))
        if norm > error and (norm - error) ** 2 > self._radius_squared:
            return _End.ESCAPED
        if self.hopeless(error) or (norm + 1 + error) ** 2 > self._radius_squared:
            return _End.LOST
        if 4 * square < self._lowest:
            self._lowest, self.lowest_at = square, self.n
            self._set_threshold()
        self._step(norm, error)
        return None

    def _step(self, norm: int, error: int) -> None:
        """Advance by one step, with the bound in integers; `norm` is |z_n| rounded down."""
        a, b, bits = self._a, self._b, self._bits
        self._set_error(((2 * (norm + 1) + error) * error >> bits) + 1 + _ROUNDED)
        self._a, self._b = ((a + b) * (a - b) >> bits) + self._c[0], (a * b >> (bits - 1)) + self._c[1]
        self.n += 1

    def _set_threshold(self) -> None:
        """Note below which |z|² a step needs a look."""
        kept = max(0, int(self._lowest).bit_length() - 53)
        lowest = math.ldexp(float(int(self._lowest) >> kept), kept - 2 * self._bits)
        self._threshold = max(_LEAST_NORM, lowest / 4)

    def _set_error(self, error: int) -> None:
        """Take over a bound in units of 2^−bits, and choose a unit in which it is far from the ends of a double."""
        kept = max(0, error.bit_length() - 54)
        self._e, self._s = float((error >> kept) + 1), self._bits - kept
        self._unit, self._rounded = math.ldexp(1.0, -self._s), math.ldexp(_ROUNDED, -kept)
        self._most = math.ldexp(1.0, min(_MOST_ERROR_BITS, self._s - _HOPELESS))
        self._least = _LEAST_ERROR if kept else 0.0
