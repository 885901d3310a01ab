"""Places of exact orbits: their parts rounded toward zero, and how far they are from the escape radius.

A rounding is proved by a bound on the error of what is rounded; where the bound leaves it open, the caller computes
with more bits (A. Ziv, ACM TOMS 17, 1991).
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mandelcl.formulas.differential import Parts
from mandelcl.formulas.operations import Flags
from mandelcl.perturbation.integers import LEAST_EXPONENT, Doubles
from mandelcl.perturbation.jets import ZERO_EXPONENT
from mandelcl.perturbation.orbit import Exponents, Orbit

# (m, e) stands for m·2^e with |m| < 2^53, and m odd or 0: one number has one such pair.
Rounded = tuple[int, int]
InnerParts = tuple[Rounded, ...]  # what the inner folds of a line take of a place

_DOUBLE_BITS = 53
MORE_BITS = 64  # at the least, where a rounding is open
_EDGE_EXPONENT = -12  # ||Z|² − R²| is kept below 2^this


class ExactPlace(NamedTuple):
    """A place of an exact orbit: its parts, rounded, and |Z|² − R², rounded, where that is small; else None."""

    re: Rounded
    im: Rounded
    edge: Rounded | None
    outside: bool


ORIGIN = ExactPlace((0, 0), (0, 0), None, outside=False)
FAR = 2.0 ** (_EDGE_EXPONENT + 1)  # as a share of R²: there doubles tell the sign of |Z|² − R²


class OpenRoundingError(Exception):
    """A bound on an error leaves a rounding open; with so many `bits` more it may not."""

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self.bits = bits


def rounded_place(z: Parts, error: int, zeros: Flags, bits: int, radius_squared: Fraction) -> ExactPlace:
    """Return the place of an orbit at z, in units of 2^−bits, whose modulus is off by up to `error` units.

    `zeros` says which parts are exactly 0. Raises OpenRoundingError where the error leaves a rounding open.
    """
    x, y = z
    re = (0, 0) if zeros[0] else rounded(x, error, -bits)
    im = (0, 0) if zeros[1] else rounded(y, error, -bits)
    square = radius_squared.numerator / radius_squared.denominator
    nearly = _double(re) ** 2 + _double(im) ** 2 - square
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
            raise OpenRoundingError(max(MORE_BITS, error.bit_length() - size.bit_length() + 2 * _DOUBLE_BITS))


def _truncated(size: int, exponent: int) -> Rounded:
    """Return size·2^exponent, which is not negative, rounded toward zero."""
    drop = size.bit_length() - _DOUBLE_BITS
    m = int(size >> drop if drop > 0 else size)
    if m <= 0:
        return 0, 0
    odd = (m & -m).bit_length() - 1
    return m >> odd, exponent + max(drop, 0) + odd


def is_small(place: ExactPlace) -> bool:
    """Return whether a part of a place is not 0 and too small for the doubles of an orbit."""
    (x, x_exponent), (y, y_exponent) = place.re, place.im
    small = x and x.bit_length() + x_exponent <= LEAST_EXPONENT
    return bool(small or (y and y.bit_length() + y_exponent <= LEAST_EXPONENT))


def doubles_of(places: Sequence[ExactPlace]) -> tuple[Doubles, Doubles]:
    """Return the parts of places as doubles: 0 where they are too small."""
    return np.array([_double(place.re) for place in places]), np.array([_double(place.im) for place in places])


def of_places(places: Sequence[ExactPlace], ended: str, inner: Sequence[InnerParts] = ()) -> Orbit:
    """Return an orbit of its places, and of what the inner folds take of all but the last."""
    re, im = doubles_of(places)
    small: dict[int, tuple[Rounded, Rounded]] = {}
    edges: dict[int, Rounded] = {}
    for n, place in enumerate(places):
        if is_small(place):
            small[n] = place.re, place.im
        if place.edge is not None:
            edges[n] = place.edge
    for parts in (re, im):
        parts.flags.writeable = False
    return Orbit(re, im, _tiny(small), ended, small, edges, _inner(inner))


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
            x, y = (_double((m, e - top)) for m, e in parts)
            found[n] = x, y, top
    return found


def _double(value: Rounded) -> float:
    """Return a rounded number as a double: 0 below 2^LEAST_EXPONENT."""
    m, e = value
    return 0.0 if m.bit_length() + e <= LEAST_EXPONENT else math.ldexp(m, e)
