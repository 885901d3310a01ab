"""Places of exact orbits: their parts rounded toward zero, and how far they are from the escape radius.

A rounding is proved by a bound on the error of what is rounded; where the bound leaves it open, the caller computes
with more bits (A. Ziv, ACM TOMS 17, 1991).
"""

import math
from array import array
from collections.abc import Container, Mapping, Sequence
from fractions import Fraction
from operator import rshift
from typing import NamedTuple

import numpy as np

from mandelcl.formulas.differential import Parts
from mandelcl.formulas.operations import Flags
from mandelcl.perturbation.integers import BULK_BITS, LEAST_EXPONENT, Doubles, Floors, WordIntegers
from mandelcl.perturbation.jets import ZERO_EXPONENT, Indices, Mask
from mandelcl.perturbation.orbit import Exponents, Orbit

# (m, e) stands for m·2^e with |m| < 2^53, and m odd or 0: one number has one such pair.
Rounded = tuple[int, int]
InnerParts = tuple[Rounded, ...]  # what the inner folds of a line take of a place

_DOUBLE_BITS = 53
MORE_BITS = 64  # at the least, where a rounding is open
_EDGE_EXPONENT = -12  # ||Z|² − R²| is kept below 2^this
_LEADING_BITS = 62
_UNIT_BITS = 30  # with which an error is given in whole numbers
_LOOSE = 2.0**-10  # by which logarithms of bounds are too large
STEADY = -40.0  # the logarithm of what an error may be beside |Z|, so that its square is nothing beside 2|Z| times it
_SURE = -BULK_BITS - 1.0  # the logarithm of an error below half of what `floors_of` leaves


class ExactPlace(NamedTuple):
    """A place of an exact orbit: its parts, rounded, and |Z|² − R², rounded, where that is small; else None."""

    re: Rounded
    im: Rounded
    edge: Rounded | None
    outside: bool


ORIGIN = ExactPlace((0, 0), (0, 0), None, outside=False)
FAR = 2.0 ** (_EDGE_EXPONENT + 1)  # as a share of R²: there doubles tell the sign of |Z|² − R²


class OpenRoundingError(Exception):
    """A bound on an error leaves a rounding open; with so many `bits` more it may not.

    `lost` says that hardly anything is known of the number.
    """

    def __init__(self, bits: int, *, lost: bool = False) -> None:
        super().__init__(bits)
        self.bits, self.lost = bits, lost


def rounded_place(z: Parts, error: int, zeros: Flags, bits: int, radius_squared: Fraction) -> ExactPlace:
    """Return the place of an orbit at z, in units of 2^−bits, whose modulus is off by up to `error` units.

    `zeros` says which parts are exactly 0. Raises OpenRoundingError where the error leaves a rounding open.
    """
    x, y = z
    re = (0, 0) if zeros[0] else rounded(x, error, -bits)
    im = (0, 0) if zeros[1] else rounded(y, error, -bits)
    square = radius_squared.numerator / radius_squared.denominator
    x_rounded, y_rounded = double_of(re), double_of(im)
    nearly = x_rounded * x_rounded + y_rounded * y_rounded - square  # may be infinite, which a power may not
    if abs(nearly) > FAR * max(1.0, square):
        return ExactPlace(re, im, None, nearly > 0)
    most = radius_squared
    square_error = (2 * (abs(x) + abs(y)) + error) * error
    rest = (x * x + y * y) * most.denominator - (most.numerator << 2 * bits)
    rest_error = square_error * most.denominator
    if rest_error and abs(rest) <= rest_error:
        raise OpenRoundingError(max(MORE_BITS, rest_error.bit_length() - abs(rest).bit_length() + MORE_BITS))
    edge = None
    if abs(rest).bit_length() - most.denominator.bit_length() - 2 * bits <= _EDGE_EXPONENT + 1:
        edge = _edge(rest, rest_error, most.denominator, bits)
    return ExactPlace(re, im, edge, rest > 0)


def _edge(rest: int, error: int, denominator: int, bits: int) -> Rounded | None:
    """Return rest/denominator·2^(−2·bits), rounded, if it is below 2^_EDGE_EXPONENT."""
    shift = denominator.bit_length() + 2 * _DOUBLE_BITS
    low, high = (((abs(rest) + sign * error) << shift) // denominator for sign in (-1, 1))
    exponent = -shift - 2 * bits
    m, e = rounded(low + high >> 1, (high - low >> 1) + 2, exponent) if error else _truncated(low, exponent)
    if m and m.bit_length() + e > _EDGE_EXPONENT:
        return None
    return (m if rest > 0 else -m), e


def exact_place(z: tuple[Fraction, Fraction], radius_squared: Fraction) -> ExactPlace:
    """Return the place of an orbit that is exactly at z."""
    rest = z[0] ** 2 + z[1] ** 2 - radius_squared
    edge = rounded_fraction(rest) if abs(rest) < Fraction(2) ** _EDGE_EXPONENT else None
    return ExactPlace(rounded_fraction(z[0]), rounded_fraction(z[1]), edge, rest > 0)


def rounded_fraction(value: Fraction) -> Rounded:
    """Return a number rounded toward zero."""
    top = value.numerator.bit_length() - value.denominator.bit_length()
    m, e = _truncated(int(abs(value) * Fraction(2) ** (_DOUBLE_BITS + 1 - top)), top - _DOUBLE_BITS - 1)
    return (m if value >= 0 else -m), e


def rounded(value: int, error: int, exponent: int) -> Rounded:
    """Return value·2^exponent rounded toward zero; raises OpenRoundingError where the error leaves that open."""
    size = abs(value)
    drop = size.bit_length() - _DOUBLE_BITS
    if drop <= 0:
        require_sure(value, error)
        m, e = _truncated(size, exponent)
        return (m if value >= 0 else -m), e
    m = int(size >> drop)
    if not error <= size - (m << drop) < (1 << drop) - error:
        require_sure(value, error)
    odd = (m & -m).bit_length() - 1
    return (m >> odd if value >= 0 else -(m >> odd)), exponent + drop + odd


def require_sure(value: int, error: int) -> None:
    """Raise OpenRoundingError where an error leaves open to what a number is rounded."""
    if error:
        size = abs(value)
        drop = size.bit_length() - _DOUBLE_BITS
        rest = size & ((1 << drop) - 1) if drop > 0 else 0
        if drop <= 0 or not error <= rest < (1 << drop) - error:
            bits = error.bit_length() - size.bit_length() + 2 * _DOUBLE_BITS
            raise OpenRoundingError(max(MORE_BITS, bits), lost=size <= error)


def units_of(error: float, bits: int) -> int:
    """Return at least 2^error in units of 2^−bits, and hardly more where that is large: what is added adds up."""
    log2 = max(0.0, error + bits)
    whole = max(_UNIT_BITS, math.ceil(log2)) - _UNIT_BITS
    return math.ceil(math.exp2(log2 - whole)) << whole


def grown_errors(begun: float, growth: Doubles, made: Doubles | float) -> Doubles:
    """Return the logarithms to base 2 of bounds on the errors of some places, from that of the place before them.

    Each place multiplies the error by 2^growth and adds 2^made.
    """
    total = np.cumsum(growth + 2.0**-30)
    errors: Doubles = total + np.logaddexp2.accumulate(np.concatenate([[begun], made - total]))[1:] + _LOOSE
    return errors


def prove_roundings(
    parts: Sequence[Sequence[int]],
    floors: Floors,
    errors: Doubles,
    bits: int,
    skipped: Container[int] = (),
) -> None:
    """Raise OpenRoundingError where a rounding of both parts of some places is not certain.

    Parts are in units of 2^−bits; one without values is exactly 0 everywhere. `floors` are the `floors_of` of the first
    places, 2 × places, and `errors` the logarithms to base 2 of bounds on the errors. The places `skipped` are known.
    """
    sizes = np.abs(floors)
    lengths = np.frexp(sizes.astype(np.float64))[1]
    sure = _is_far(sizes, lengths - _DOUBLE_BITS) & (errors[: sizes.shape[1]] < _SURE)
    for part, values in zip(sure, parts, strict=True):
        if values:
            for k in [*_unsure(np.flatnonzero(~part), values, errors, bits), *range(len(part), len(values))]:
                if k not in skipped:
                    require_sure(values[k], units_of(float(errors[k]), bits))


def _unsure(places: Indices, values: Sequence[int], errors: Doubles, bits: int) -> list[int]:
    """Return those of some places of which the first bits of a value do not show that its rounding is certain."""
    if not len(places):
        return []
    if isinstance(values, WordIntegers):
        lengths, leading = values.leading(places, _LEADING_BITS)
        drops = lengths - _LEADING_BITS
    else:
        chosen = [values[k] for k in places.tolist()]
        drops = np.fromiter(map(type(chosen[0]).bit_length, chosen), np.int64, len(chosen)) - _LEADING_BITS
        leading = np.abs(np.fromiter(map(rshift, chosen, np.maximum(drops, 0).tolist()), np.int64, len(chosen)))
    sure = _is_far(leading, np.full(len(places), _LEADING_BITS - _DOUBLE_BITS))
    sure &= (drops >= 0) & (errors[places] + bits < drops - 1)
    result: list[int] = places[~sure].tolist()
    return result


def _is_far(sizes: Floors, drops: Floors) -> Mask:
    """Return where the last `drops` bits of numbers are two or more from where the bits before them change."""
    masks = (np.int64(1) << np.maximum(drops, 0)) - 1
    rest = sizes & masks
    far: Mask = (rest >= 2) & (rest <= masks - 2)
    return far


def _truncated(size: int, exponent: int) -> Rounded:
    """Return size·2^exponent, which is not negative, rounded toward zero."""
    drop = size.bit_length() - _DOUBLE_BITS
    m = int(size >> drop if drop > 0 else size)
    if m <= 0:
        return 0, 0
    odd = (m & -m).bit_length() - 1
    return m >> odd, exponent + max(drop, 0) + odd


class OrbitRecord:
    """The places of an orbit so far."""

    def __init__(self) -> None:
        self._re, self._im = array("d"), array("d")
        self._small: dict[int, tuple[Rounded, Rounded]] = {}
        self._edges: dict[int, Rounded] = {}

    def add(self, place: ExactPlace) -> None:
        """Add the next place."""
        n = len(self._re)
        self._re.append(double_of(place.re))
        self._im.append(double_of(place.im))
        if is_small(place):
            self._small[n] = place.re, place.im
        if place.edge is not None:
            self._edges[n] = place.edge

    def extend(self, re: Sequence[float], im: Sequence[float]) -> None:
        """Add next places of which doubles tell all."""
        self._re.extend(re)
        self._im.extend(im)

    def doubles(self) -> tuple[Doubles, Doubles]:
        """Return the parts as doubles: 0 where they are too small."""
        return np.array(self._re), np.array(self._im)

    def orbit(self, ended: str, inner: Sequence[InnerParts] = ()) -> Orbit:
        """Return the orbit, with what the inner folds take of all but the last place."""
        re, im = self.doubles()
        for parts in (re, im):
            parts.flags.writeable = False
        return Orbit(re, im, _tiny(self._small), ended, self._small, self._edges, _inner(inner))


def is_small(place: ExactPlace) -> bool:
    """Return whether a part of a place is not 0 and too small for the doubles of an orbit."""
    (x, x_exponent), (y, y_exponent) = place.re, place.im
    small = x and x.bit_length() + x_exponent <= LEAST_EXPONENT
    return bool(small or (y and y.bit_length() + y_exponent <= LEAST_EXPONENT))


def of_places(places: Sequence[ExactPlace], ended: str) -> Orbit:
    """Return an orbit of its places."""
    record = OrbitRecord()
    for place in places:
        record.add(place)
    return record.orbit(ended)


def _inner(places: Sequence[InnerParts]) -> tuple[tuple[Doubles, Exponents], ...]:
    """Return arrays of what each inner fold takes of the places, and of 0 of the last one."""
    found = []
    for fold in range(max(map(len, places), default=0)):
        parts = [(*parts[fold : fold + 1], (0, 0))[0] for parts in places]
        lengths = [m.bit_length() for m, _ in parts]
        mantissas = np.array([*(math.ldexp(m, -length) for (m, _), length in zip(parts, lengths, strict=True)), 0.0])
        exponents = [e + length if length else ZERO_EXPONENT for (_, e), length in zip(parts, lengths, strict=True)]
        found.append((mantissas, np.array([*exponents, ZERO_EXPONENT], np.int32)))
    return tuple(found)


def _tiny(small: Mapping[int, tuple[Rounded, Rounded]]) -> dict[int, tuple[float, float, int]]:
    """Return those values that are small in both parts, at a common exponent."""
    found = {}
    for n, parts in small.items():
        tops = [m.bit_length() + e for m, e in parts if m]
        top = max(tops)
        if top <= LEAST_EXPONENT:
            x, y = (double_of((m, e - top)) for m, e in parts)
            found[n] = x, y, top
    return found


def double_of(value: Rounded) -> float:
    """Return a rounded number as a double: 0 below 2^LEAST_EXPONENT."""
    m, e = value
    return 0.0 if m.bit_length() + e <= LEAST_EXPONENT else math.ldexp(m, e)
