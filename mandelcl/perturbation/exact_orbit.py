"""References of version 2: the exact orbit of 0 under any formula of operations, rounded place by place.

The orbit of phase q begins with line q. Each part of Z_n is that of the exact orbit of the exact centre, rounded toward
zero to 53 bits with an exponent of its own; 0 is +0. It is computed in whole numbers with a bound on their error, and
again with more bits wherever the bound leaves a rounding open (A. Ziv, ACM TOMS 17, 1991). So whatever computes it, in
however many bits, gives the same.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.core.reference import MAP_VERSION, Reference
from mandelcl.formulas import Formula
from mandelcl.formulas.differential import Parts
from mandelcl.formulas.line import Line
from mandelcl.formulas.operations import IntegerErrors, Store, Turning
from mandelcl.perturbation.attraction import all_stay
from mandelcl.perturbation.exact_period import ExactPeriodSearch
from mandelcl.perturbation.exact_places import (
    ORIGIN,
    ExactPlace,
    InnerParts,
    OpenRoundingError,
    doubles_of,
    exact_place,
    of_places,
    rounded,
    rounded_place,
)
from mandelcl.perturbation.exact_square import square_orbit
from mandelcl.perturbation.integers import integers_for, reference_bits
from mandelcl.perturbation.map_orbit import MapSearch
from mandelcl.perturbation.orbit import AT_LIMIT, ESCAPED, INSIDE, PERIOD, Orbit

_MORE_BITS, _MORE_BITS_OF_SQUARE = 64, 0  # than references of version 1 have, at first
_MOST_MORE_BITS = 1 << 16
_FARTHEST = 1 << 500  # doubles have the place behind it, too
_LOOK = 256  # iterations between two looks at what cancels


class _ExactSteps:
    """Z_n in units of 2^−bits, a bound of the error of its modulus, and which parts are exactly 0."""

    def __init__(self, lines: Sequence[Line], phase: int, centre: tuple[Fraction, Fraction], bits: int) -> None:
        kind = integers_for(bits)
        self._lines = [
            [
                (operation, isinstance(operation, Store), place in line.inner_folds)
                for place, operation in enumerate(line)
            ]
            for line in lines
        ]
        self._phase, self._bits, self._n = phase, bits, 0
        re, im = (part * (1 << bits) for part in centre)
        self._c = kind.whole(round(re)), kind.whole(round(im))
        self._c_error = int(re.denominator * im.denominator > 1)
        self._c_zeros = centre[0] == 0, centre[1] == 0
        self._centre, first = centre, lines[phase]
        self._begins_with_c = first.grows and first.adds  # 0, and then c
        self._z: Parts = kind.whole(0), kind.whole(0)
        self._error, self._zeros = 0, (True, True)

    def step(self) -> InnerParts:
        """Go on to Z_{n+1}, and return what the inner folds take of Z_n; raises OpenRoundingError."""
        inner: list[tuple[int, int]] = []
        z, error, zeros, c, bits = self._z, self._error, self._zeros, self._c, self._bits
        stored, stored_error, stored_zeros = z, error, zeros
        for operation, stores, takes_part in self._lines[(self._phase + self._n) % len(self._lines)]:
            if stores:
                stored, stored_error, stored_zeros = z, error, zeros
                continue
            if takes_part and isinstance(operation, Turning):
                part = operation.part
                inner.append((0, 0) if zeros[part] else rounded(z[part], error, -bits))
            error = operation.integer_error(z, stored, bits, IntegerErrors(error, stored_error, self._c_error))
            if zeros[0] or zeros[1] or stored_zeros[0] or stored_zeros[1]:
                zeros = operation.zeros(zeros, stored_zeros, self._c_zeros)
            z = operation.integers(z, stored, c, bits)
        self._z, self._error, self._zeros, self._n = z, error, zeros, self._n + 1
        return tuple(inner)

    def place(self, radius_squared: Fraction) -> ExactPlace:
        """Return where the orbit is; raises OpenRoundingError."""
        if self._n == 1 and self._begins_with_c:
            return exact_place(self._centre, radius_squared)  # of which a part alone may be exact
        return rounded_place(self._z, self._error, self._zeros, self._bits, radius_squared)


def exact_orbit(
    reference: Reference,
    formula: Formula,
    phase: int,
    iterations: int,
    radius_squared: Fraction,
    cancel: Token = NEVER,
    progress: Callable[[int], None] | None = None,
) -> Orbit:
    """Return the orbit of a reference of version 2 or 3 under a formula, from a phase of it.

    It ends at the first of: |Z|² > R², a place at which some c within the radius has z = 0 to first order, the
    iteration limit, a proof that no orbit of the region escapes. `progress` is told now and then how many iterations
    are done. Raises CancelledError, and InvalidInputError for a point beyond the range of double, or an orbit of which
    a part is neither 0 nor told from 0.
    """
    if max(abs(reference.re), abs(reference.im)) >= _FARTHEST:
        raise InvalidInputError("perturbation reaches 2^500 from 0, where no orbit stays; move the center")
    square = formula.knows_inside
    bits = reference_bits(reference.radius) + (_MORE_BITS_OF_SQUARE if square else _MORE_BITS)
    spare = 0
    while True:
        try:
            if square:
                look = None
                if reference.version >= MAP_VERSION and radius_squared >= 4:
                    look = MapSearch(reference, iterations, cancel, progress).look
                return square_orbit(reference, iterations, radius_squared, bits + spare, cancel, progress, look)
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
    places = [ORIGIN]
    inner: list[InnerParts] = []
    ended, asked = AT_LIMIT, _LOOK  # whether the region is inside is asked whenever the length has doubled
    for n in range(1, iterations + 1):
        inner.append(steps.step())
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
        if n == asked:
            asked *= 2
            if all_stay(*doubles_of(places), reference.radius, radius_squared, formula.lines, phase):
                ended = INSIDE
                break
    return of_places(places, ended, inner)
