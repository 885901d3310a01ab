"""References of version 2: the exact orbit of 0 under any formula of operations, rounded place by place.

The orbit of phase q begins with line q. In a Julia set, the phase behind the last one is the orbit of the centre
itself, from line 0 on. Each part of Z_n is that of the exact orbit of the exact centre, rounded toward zero to 53 bits
with an exponent of its own; 0 is +0. It is computed in whole numbers with a bound on their error, and again with more
bits wherever the bound leaves a rounding open (A. Ziv, ACM TOMS 17, 1991). So whatever computes it, in however many
bits, gives the same.
"""

from collections.abc import Callable
from fractions import Fraction

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.core.reference import Reference
from mandelcl.formulas import Formula
from mandelcl.formulas.differential import Parts
from mandelcl.formulas.operations import IntegerErrors, OrbitPoint, Store, Turning
from mandelcl.perturbation.attraction import all_stay
from mandelcl.perturbation.exact_batches import Batches, OrbitBatch
from mandelcl.perturbation.exact_period import ExactPeriodSearch
from mandelcl.perturbation.exact_places import (
    ExactPlace,
    InnerParts,
    OpenRoundingError,
    OrbitRecord,
    exact_place,
    rounded,
    rounded_fraction,
    rounded_place,
)
from mandelcl.perturbation.exact_square import square_orbit
from mandelcl.perturbation.integers import integers_for, reference_bits
from mandelcl.perturbation.julia_end import JuliaEnd
from mandelcl.perturbation.map_orbit import MapSearch
from mandelcl.perturbation.mapped_square import mapped_orbit
from mandelcl.perturbation.orbit import AT_LIMIT, ESCAPED, INSIDE, PERIOD, Orbit
from mandelcl.perturbation.rationals import Rationals

_MORE_BITS, _MORE_BITS_OF_SQUARE = 64, 0  # than references of version 1 have, at first
_MOST_DIGITS = 16  # times as many as the bits of a first attempt
_MOST_MORE_BITS = 1 << 16
_FARTHEST = 1 << 500  # doubles have the place behind it, too
_LOOK = 256  # iterations between two looks at what cancels
_EXACT_BITS, _EXACT_PLACES = 256, 64  # of a part's denominator: up to these, so many places are exact fractions
_RATIONALS = Rationals()


class _ExactSteps:
    """Z_n in units of 2^−bits, a bound of the error of its modulus, and which parts are exactly 0.

    The first places are exact fractions while these are short: a part may have so few bits that no error can be beside
    it.
    """

    def __init__(self, formula: Formula, phase: int, centre: tuple[Fraction, Fraction], bits: int) -> None:
        kind, lines, constant = integers_for(bits), formula.lines, formula.constant or centre
        self._lines = [
            [
                (operation, isinstance(operation, Store), place in line.inner_folds)
                for place, operation in enumerate(line)
            ]
            for line in lines
        ]
        self._phase, self._bits, self._n = phase, bits, 0
        re, im = (part * (1 << bits) for part in constant)
        self._c = kind.whole(round(re)), kind.whole(round(im))
        self._c_error = int(re.denominator * im.denominator > 1)
        self._c_zeros = constant[0] == 0, constant[1] == 0
        self._constant = constant
        self.start = (Fraction(0), Fraction(0)) if phase < len(lines) else centre
        re, im = (part * (1 << bits) for part in self.start)
        self._z: Parts = kind.whole(round(re)), kind.whole(round(im))
        self._error = int(re.denominator * im.denominator > 1)
        self._zeros = self.start[0] == 0, self.start[1] == 0
        self._exactly: tuple[Fraction, Fraction] | None = self.start

    def step(self) -> InnerParts:
        """Go on to Z_{n+1}, and return what the inner folds take of Z_n; raises OpenRoundingError."""
        if self._exactly is not None:
            return self._fraction_step(self._exactly)
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
            if not isinstance(operation, Turning):
                error = operation.integer_error(z, stored, bits, IntegerErrors(error, stored_error, self._c_error))
            if zeros[0] or zeros[1] or stored_zeros[0] or stored_zeros[1]:
                zeros = operation.zeros(zeros, stored_zeros, self._c_zeros)
            z = operation.integers(z, stored, c, bits)
        self._z, self._error, self._zeros, self._n = z, error, zeros, self._n + 1
        return tuple(inner)

    def _fraction_step(self, z: tuple[Fraction, Fraction]) -> InnerParts:
        """Do what `step` does, from a z that is exact."""
        if self._n == _EXACT_PLACES or max(part.denominator for part in z).bit_length() > _EXACT_BITS:
            self._exactly = None
            return self.step()
        inner, stored, bits = list[tuple[int, int]](), z, self._bits
        for operation, stores, takes_part in self._lines[(self._phase + self._n) % len(self._lines)]:
            if takes_part and isinstance(operation, Turning):
                inner.append(rounded_fraction(z[operation.part]))
            z = operation.value(_RATIONALS, OrbitPoint(z, stored, self._constant))
            stored = z if stores else stored
        re, im = (part * (1 << bits) for part in z)
        whole = type(self._z[0])
        self._exactly, self._n, self._zeros = z, self._n + 1, (re == 0, im == 0)
        self._z, self._error = (whole(round(re)), whole(round(im))), int(re.denominator * im.denominator > 1)
        return tuple(inner)

    def batch(self, batches: Batches, most: int) -> OrbitBatch | None:
        """Go on by up to `most` places at once; None where the next is not of a batch. Raises OpenRoundingError."""
        if self._exactly is not None or not self._error or self._zeros != (False, False):
            return None
        found = batches.next(self._z, self._error, self._phase + self._n, most)
        if found is not None:
            self._z, self._error, self._n = found.z, found.error, self._n + len(found.re)
        return found

    @property
    def c(self) -> Parts:
        """The constant in units of 2^−bits."""
        return self._c

    def place(self, radius_squared: Fraction) -> ExactPlace:
        """Return where the orbit is; raises OpenRoundingError."""
        if self._exactly is not None:
            return exact_place(self._exactly, radius_squared)
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
    """Return the orbit of a reference of version 2 or above under a formula, from a phase of it.

    It ends at the first of: |Z|² > R², a place at which some c within the radius has z = 0 to first order or, in a
    Julia set, one that `JuliaEnd` finds, the iteration limit, a proof that no orbit of the region escapes. `progress`
    is told now and then how many iterations are done. Raises CancelledError, and InvalidInputError for a point beyond
    the range of double, or an orbit of which a part is neither 0 nor told from 0.
    """
    parameters = (part for pair in formula.parameters for part in pair)
    if max(abs(part) for part in (reference.re, reference.im, *parameters)) >= _FARTHEST:
        raise InvalidInputError("perturbation reaches 2^500 from 0, where no orbit stays; move the center")
    square = formula.knows_inside
    bits = reference_bits(reference.radius) + (_MORE_BITS_OF_SQUARE if square else _MORE_BITS)
    spare = 0
    while True:
        try:
            if square:
                takes_map = reference.may_have_map and radius_squared >= 4
                if takes_map and reference.may_have_mapped_places:
                    return mapped_orbit(reference, iterations, radius_squared, bits + spare, cancel, progress)
                look = MapSearch(reference, iterations, cancel, progress).look if takes_map else None
                return square_orbit(reference, iterations, radius_squared, bits + spare, cancel, progress, look)
            return _orbit(reference, formula, phase, iterations, radius_squared, bits + spare, cancel, progress)
        except OpenRoundingError as error:
            more = max(error.bits, spare)
            if error.lost:
                more = max(more, _bits_near_a_nucleus(reference, bits) - spare)
            spare += more
            if spare > _MOST_MORE_BITS:
                raise InvalidInputError(
                    "the reference's orbit comes too near to an axis or to the escape radius to be rounded; "
                    "move the center a little"
                ) from error


def _bits_near_a_nucleus(reference: Reference, bits: int) -> int:
    """Return how many more bits show where the orbit of a centre is that is a nucleus but for its last digits.

    At the period its z is not told from 0 by fewer. A centre of very many digits is not taken for one.
    """
    digits = max(part.denominator.bit_length() for part in (reference.re, reference.im)) + 2 * _MORE_BITS
    return digits - bits if digits <= _MOST_DIGITS * bits else 0


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
    steps = _ExactSteps(formula, phase, centre, bits)
    record, begun = OrbitRecord(), exact_place(steps.start, radius_squared)
    record.add(begun)
    search: ExactPeriodSearch | JuliaEnd
    batches = None
    if formula.begins_inside:
        search = ExactPeriodSearch(formula.lines, phase, centre, reference.radius)
        batches = Batches.of(formula.lines, bits, radius_squared, steps.c)
    else:
        search = JuliaEnd(formula.lines, phase, reference.radius)
        search.begins(begun.re, begun.im)
    inner: list[InnerParts] = []
    n, ended, asked = 0, AT_LIMIT, _LOOK  # whether the region is inside is asked whenever the length has doubled
    while n < iterations:
        batch = None if batches is None else steps.batch(batches, min(asked, iterations) - n)
        if batch is not None and isinstance(search, ExactPeriodSearch):
            found = search.find(batch.re, batch.im)
            count = len(batch.re) if found is None else found + 1
            record.extend(batch.re[:count], batch.im[:count])
            n += count
            if found is not None:
                ended = PERIOD
                break
        else:
            inner.append(steps.step())
            place = steps.place(radius_squared)
            record.add(place)
            n += 1
            if place.outside:
                ended = ESCAPED
                break
            if search.meets(place.re, place.im):
                ended = PERIOD
                break
        if batch is not None or n % _LOOK == 0:
            stop_if(cancel)
            if progress is not None:
                progress(n)
        if n == asked and formula.begins_inside:
            asked *= 2
            if all_stay(*record.doubles(), reference.radius, radius_squared, formula.lines, phase):
                ended = INSIDE
                break
    return record.orbit(ended, inner)
