"""References of version 2: the exact orbit of 0 under any formula of operations, rounded place by place.

The orbit of phase q begins with line q. Each part of Z_n is that of the exact orbit of the exact centre, rounded toward
zero to 53 bits with an exponent of its own; 0 is +0. It is computed in whole numbers with a bound on their error, and
again with more bits wherever the bound leaves a rounding open (A. Ziv, ACM TOMS 17, 1991). So whatever computes it, in
however many bits, gives the same.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.core.reference import Reference
from mandelcl.formulas import Formula
from mandelcl.formulas.differential import Parts
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import Flags, IntegerErrors, Store
from mandelcl.perturbation.exact_period import ExactPeriodSearch
from mandelcl.perturbation.integers import LEAST_EXPONENT, integers_for, reference_bits
from mandelcl.perturbation.orbit import AT_LIMIT, ESCAPED, PERIOD, Orbit

# (m, e) stands for m·2^e with |m| < 2^53, and m odd or 0: one number has one such pair.
Rounded = tuple[int, int]

_DOUBLE_BITS = 53
_MORE_BITS = 64  # at the least, where a rounding is open
_MOST_MORE_BITS = 1 << 16
_LOOK = 256  # iterations between two looks at what cancels
_EDGE_EXPONENT = -12  # ||Z|² − R²| is kept below 2^this


@dataclass(frozen=True, slots=True)
class ExactPlace:
    """A place of an exact orbit: its parts, rounded, and |Z|² − R², rounded, where that is small; else None."""

    re: Rounded
    im: Rounded
    edge: Rounded | None
    outside: bool


_FAR = 2.0 ** (_EDGE_EXPONENT + 1)  # as a share of R²: there doubles tell the sign of |Z|² − R²


class OpenRoundingError(Exception):
    """A bound on an error leaves a rounding open; with so many `bits` more it may not."""

    def __init__(self, bits: int) -> None:
        super().__init__(bits)
        self.bits = bits


class _ExactSteps:
    """Z_n in units of 2^−bits, a bound of the error of its modulus, and which parts are exactly 0."""

    def __init__(self, lines: Sequence[Line], phase: int, centre: tuple[Fraction, Fraction], bits: int) -> None:
        kind = integers_for(bits)
        self._lines = [[(operation, isinstance(operation, Store)) for operation in line] for line in lines]
        self._phase, self._bits, self._n = phase, bits, 0
        re, im = (part * (1 << bits) for part in centre)
        self._c = kind.whole(round(re)), kind.whole(round(im))
        self._c_error = int(re.denominator * im.denominator > 1)
        self._c_zeros = centre[0] == 0, centre[1] == 0
        self._centre, first = centre, lines[phase]
        self._begins_with_c = first.grows and first.adds  # 0, and then c
        self._z: Parts = kind.whole(0), kind.whole(0)
        self._error, self._zeros = 0, (True, True)

    def step(self) -> None:
        """Go on to Z_{n+1}."""
        z, error, zeros, c, bits = self._z, self._error, self._zeros, self._c, self._bits
        stored, stored_error, stored_zeros = z, error, zeros
        for operation, stores in self._lines[(self._phase + self._n) % len(self._lines)]:
            if stores:
                stored, stored_error, stored_zeros = z, error, zeros
                continue
            error = operation.integer_error(z, stored, bits, IntegerErrors(error, stored_error, self._c_error))
            if zeros[0] or zeros[1] or stored_zeros[0] or stored_zeros[1]:
                zeros = operation.zeros(zeros, stored_zeros, self._c_zeros)
            z = operation.integers(z, stored, c, bits)
        self._z, self._error, self._zeros, self._n = z, error, zeros, self._n + 1

    def place(self, radius_squared: Fraction) -> ExactPlace:
        """Return where the orbit is; raises OpenRoundingError."""
        if self._n == 1 and self._begins_with_c:
            return _first_place(self._centre, radius_squared)  # of which a part alone may be exact
        (x, y), error, bits = self._z, self._error, self._bits
        zeros: Flags = self._zeros
        re = (0, 0) if zeros[0] else _rounded(x, error, -bits)
        im = (0, 0) if zeros[1] else _rounded(y, error, -bits)
        nearly = _double(re) ** 2 + _double(im) ** 2 - float(radius_squared)
        if abs(nearly) > _FAR * max(1.0, float(radius_squared)):
            return ExactPlace(re, im, None, nearly > 0)
        square, most = x * x + y * y, radius_squared
        square_error = (2 * (abs(x) + abs(y)) + error) * error
        rest = square * most.denominator - (most.numerator << 2 * bits)
        rest_error = square_error * most.denominator
        if rest_error and abs(rest) <= rest_error:
            raise OpenRoundingError(max(_MORE_BITS, rest_error.bit_length() - abs(rest).bit_length() + _MORE_BITS))
        edge = None
        if abs(rest).bit_length() - most.denominator.bit_length() - 2 * bits <= _EDGE_EXPONENT + 1:
            edge = self._edge(rest, rest_error, most.denominator)
        return ExactPlace(re, im, edge, rest > 0)

    def _edge(self, rest: int, error: int, denominator: int) -> Rounded | None:
        """Return rest/denominator·2^(−2·bits), rounded, if it is below 2^_EDGE_EXPONENT."""
        shift = denominator.bit_length() + 2 * _DOUBLE_BITS
        low, high = (((abs(rest) + sign * error) << shift) // denominator for sign in (-1, 1))
        exponent = -shift - 2 * self._bits
        m, e = _rounded(low + high >> 1, (high - low >> 1) + 2, exponent) if error else _truncated(low, exponent)
        if m and m.bit_length() + e > _EDGE_EXPONENT:
            return None
        return (m if rest > 0 else -m), e


def _first_place(centre: tuple[Fraction, Fraction], radius_squared: Fraction) -> ExactPlace:
    """Return Z_1, which is the centre."""
    rest = centre[0] ** 2 + centre[1] ** 2 - radius_squared
    edge = _of_fraction(rest) if abs(rest) < Fraction(2) ** _EDGE_EXPONENT else None
    return ExactPlace(_of_fraction(centre[0]), _of_fraction(centre[1]), edge, rest > 0)


def _of_fraction(value: Fraction) -> Rounded:
    """Return a number rounded toward zero."""
    top = value.numerator.bit_length() - value.denominator.bit_length()
    m, e = _truncated(int(abs(value) * Fraction(2) ** (_DOUBLE_BITS + 1 - top)), top - _DOUBLE_BITS - 1)
    return (m if value >= 0 else -m), e


def _rounded(value: int, error: int, exponent: int) -> Rounded:
    """Return value·2^exponent rounded toward zero; raises OpenRoundingError where the error leaves that open."""
    size = abs(value)
    if error:
        drop = size.bit_length() - _DOUBLE_BITS
        rest = size & ((1 << drop) - 1) if drop > 0 else 0
        if drop <= 0 or not error <= rest < (1 << drop) - error:
            raise OpenRoundingError(max(_MORE_BITS, error.bit_length() - size.bit_length() + 2 * _DOUBLE_BITS))
    m, e = _truncated(size, exponent)
    return (m if value >= 0 else -m), e


def _truncated(size: int, exponent: int) -> Rounded:
    """Return size·2^exponent, which is not negative, rounded toward zero."""
    drop = size.bit_length() - _DOUBLE_BITS
    m = int(size >> drop if drop > 0 else size)
    if m <= 0:
        return 0, 0
    odd = (m & -m).bit_length() - 1
    return m >> odd, exponent + max(drop, 0) + odd


def exact_orbit(
    reference: Reference,
    formula: Formula,
    phase: int,
    iterations: int,
    radius_squared: Fraction,
    cancel: Token = NEVER,
    progress: Callable[[int], None] | None = None,
) -> Orbit:
    """Return the orbit of a reference of version 2 under a formula, from a phase of it.

    It ends at the first of: |Z|² > R², a place at which some c within the radius has z = 0 to first order, the
    iteration limit. `progress` is told now and then how many iterations are done. Raises CancelledError, and
    InvalidInputError for an orbit of which a part is neither 0 nor told from 0.
    """
    bits = reference_bits(reference.radius) + _MORE_BITS
    spare = 0
    while True:
        try:
            return _orbit(reference, formula, phase, iterations, radius_squared, bits + spare, cancel, progress)
        except OpenRoundingError as error:
            spare += max(error.bits, spare)
            if spare > _MOST_MORE_BITS:
                raise InvalidInputError(
                    "the reference's orbit comes too near to an axis or to the escape radius to be rounded; "
                    "move the center a little"
                ) from error


def _orbit(
    reference: Reference,
    formula: Formula,
    phase: int,
    iterations: int,
    radius_squared: Fraction,
    bits: int,
    cancel: Token,
    progress: Callable[[int], None] | None,
) -> Orbit:
    centre = reference.re, reference.im
    steps = _ExactSteps(formula.lines, phase, centre, bits)
    search = ExactPeriodSearch(formula.lines, phase, centre, reference.radius)
    places = [ExactPlace((0, 0), (0, 0), None, outside=False)]
    ended = AT_LIMIT
    for n in range(1, iterations + 1):
        steps.step()
        place = steps.place(radius_squared)
        places.append(place)
        if place.outside:
            ended = ESCAPED
            break
        if search.meets(place.re, place.im):
            ended = PERIOD
            break
        if n % _LOOK == 0:
            stop_if(cancel)
            if progress is not None:
                progress(n)
    return _of_places(places, ended)


def _of_places(places: Sequence[ExactPlace], ended: str) -> Orbit:
    """Return an orbit of its places."""
    re, im = (np.array([_double(getattr(place, part)) for place in places]) for part in ("re", "im"))
    small: dict[int, tuple[Rounded, Rounded]] = {}
    edges: dict[int, Rounded] = {}
    for n, place in enumerate(places):
        if any(m and m.bit_length() + e <= LEAST_EXPONENT for m, e in (place.re, place.im)):
            small[n] = place.re, place.im
        if place.edge is not None:
            edges[n] = place.edge
    for parts in (re, im):
        parts.flags.writeable = False
    return Orbit(re, im, _tiny(small), ended, small, edges)


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
