"""Exact counts: orbits in more and more bits, until a bound on their error proves the count."""

import math
from dataclasses import dataclass
from fractions import Fraction

from mandelcl.base.errors import InvalidInputError
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.perturbation.bounded import BoundedOrbit, End, KeepOn, Point
from mandelcl.perturbation.exact_formula import LostError, formula_count
from mandelcl.perturbation.integers import Integers, integers_for

GUARD_BITS = 64
_MOST_GUARD_BITS = 1 << 16
_LARGEST_RADIUS_SQUARED = Fraction(1 << 256)
_LARGEST_PART = Fraction(1 << 60)  # its square is a float


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
    point: Point,
    iterations: int,
    radius_squared: Fraction,
    bits: int,
    keep_on: KeepOn = _always,
    integers: Integers | None = None,
    formula: Formula = MANDELBROT,
) -> int | None:
    """Return the count of a point in exact arithmetic, as `exact_outcome` does."""
    outcome = exact_outcome(point, iterations, radius_squared, bits, keep_on, integers, formula)
    return None if outcome is None else outcome.count


def exact_outcome(
    point: Point,
    iterations: int,
    radius_squared: Fraction,
    bits: int,
    keep_on: KeepOn = _always,
    integers: Integers | None = None,
    formula: Formula = MANDELBROT,
    period: int = 0,
) -> Outcome | None:
    """Return the count of a point in exact arithmetic: the first n with |z_n|² > R², or `iterations`, the limit.

    It is proved. `bits` after the point are tried first, then more. Orbits of z² + c take the return map of a `period`
    near 0, where there is one. None where `keep_on` says that it takes too long,
    or where z_n comes too near to |z| = R to be told apart from it. Raises InvalidInputError for R² beyond 2^256.
    """
    if radius_squared > _LARGEST_RADIUS_SQUARED:
        raise InvalidInputError("exact counts need an escape radius of at most 2^128")
    if not formula.knows_inside:
        return _outcome_of_formula(formula, point, iterations, radius_squared, bits, keep_on)
    re, im = point
    if re * re + im * im > radius_squared:
        return Outcome(1, (_plain(re), _plain(im)) if iterations > 1 else None)
    if re.denominator == im.denominator == 1:
        return _outcome_of_whole(int(re), int(im), iterations, radius_squared)
    done, guard = 0, GUARD_BITS
    while guard <= _MOST_GUARD_BITS:
        kept = bits - GUARD_BITS + guard
        kind = integers or integers_for(kept)
        orbit = BoundedOrbit(point, kept, radius_squared, keep_on, done, kind, period)
        end = _end(orbit, iterations)
        if end is not End.LOST:
            if end is End.STOPPED:
                return None
            return Outcome(orbit.n, orbit.plain) if end is End.ESCAPED else Outcome(iterations, None)
        done, guard = orbit.done, 2 * guard
    return None


def _outcome_of_formula(
    formula: Formula, point: Point, iterations: int, radius_squared: Fraction, bits: int, keep_on: KeepOn
) -> Outcome | None:
    """Return the outcome under another formula than z² + c, of which nothing is known but its operations."""
    guard = GUARD_BITS
    while guard <= _MOST_GUARD_BITS:
        try:
            found = formula_count(formula, point, iterations, radius_squared, bits - GUARD_BITS + guard, keep_on)
        except LostError:
            guard *= 2
            continue
        return None if found is None else Outcome(*found)
    return None


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


def _end(orbit: BoundedOrbit, iterations: int) -> End:
    """Follow an orbit to its end or to the iteration limit.

    Whenever its length has doubled, and as long as it seems to approach a cycle, `_stays` is asked. The period is taken
    to be the last n at which |z_n| fell below half of all before: the atom domain of c.
    """
    trial = 2
    while orbit.n < iterations:
        period = orbit.lowest_at
        trial = max(trial, 2 * period)
        if orbit.n < trial:
            end = orbit.follow(min(iterations, trial))
        elif orbit.n + 3 * period >= iterations:
            end = orbit.follow(iterations)
        else:
            trial = 2 * orbit.n
            end = _stays(orbit, period)
        if end is not None:
            return end
    return End.INSIDE


def _stays(orbit: BoundedOrbit, period: int) -> End | None:
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
    if end is End.STOPPED:
        return end
    return End.INSIDE if end is None and _distance(orbit.place, disc.place) + disc.error <= radius else None


def _distance(a: tuple[int, int], b: tuple[int, int]) -> int:
    """Return an upper bound of the distance of two places, in their unit."""
    return math.isqrt(int((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2)) + 1
