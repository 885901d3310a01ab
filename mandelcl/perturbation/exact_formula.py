"""Exact counts of any formula of operations: in whole numbers, with a bound on their error."""

from fractions import Fraction
from typing import TypeAlias

from mandelcl.formulas import Formula
from mandelcl.formulas.differential import Parts
from mandelcl.formulas.operations import IntegerErrors, Store
from mandelcl.perturbation.bounded import KeepOn, Point
from mandelcl.perturbation.integers import integers_for

# The count, and z where the orbit escaped: as `exact.Outcome`.
Counted: TypeAlias = tuple[int, tuple[float, float] | None]

_CHUNK = 256  # iterations between two questions whether to keep on
_PLAIN_BITS = 60  # after the point, of z as it is returned
_HOPELESS = 8  # bits after the point above which an error tells nothing any more
_ORIGIN = Fraction(0), Fraction(0)


class LostError(Exception):
    """The error is too large for so few bits."""


def formula_count(
    formula: Formula, point: Point, iterations: int, radius_squared: Fraction, bits: int, keep_on: KeepOn
) -> Counted | None:
    """Return the count of a point, proved with so many bits after the binary point; None where `keep_on` says so.

    Raises LostError where that takes more bits.
    """
    constant = formula.constant or point
    c, c_error = _whole(constant, bits)
    lines = [[(operation, isinstance(operation, Store)) for operation in line] for line in formula.lines]
    most = radius_squared * (1 << 2 * bits)
    above, below = -(-most.numerator // most.denominator), most.numerator // most.denominator
    z, error = _whole(_ORIGIN if formula.begins_inside else point, bits)
    if not formula.begins_inside and point[0] ** 2 + point[1] ** 2 > radius_squared:
        return 0, (_plain(z[0], bits), _plain(z[1], bits))
    for n in range(1, iterations):
        if n % _CHUNK == 0 and not keep_on(n):
            return None
        stored, stored_error = z, error
        for operation, stores in lines[(n - 1) % len(lines)]:
            if stores:
                stored, stored_error = z, error
                continue
            error = operation.integer_error(z, stored, bits, IntegerErrors(error, stored_error, c_error))
            z = operation.integers(z, stored, c, bits)
        square, spread = z[0] * z[0] + z[1] * z[1], (2 * (abs(z[0]) + abs(z[1])) + error) * error
        if square - spread > above:
            return n, (_plain(z[0], bits), _plain(z[1], bits))
        if square + spread > below or error >> bits - _HOPELESS:
            if not error and square * most.denominator <= most.numerator:
                continue
            raise LostError
    return iterations, None


def _whole(point: Point, bits: int) -> tuple[Parts, int]:
    """Return a point in units of 2^−bits, and a bound of how far that is off."""
    whole = integers_for(bits).whole
    re, im = (part * (1 << bits) for part in point)
    return (whole(round(re)), whole(round(im))), int(re.denominator * im.denominator > 1)


def _plain(part: int, bits: int) -> float:
    """Return a part of z, rounded down to a double."""
    shift = max(0, bits - _PLAIN_BITS)
    return float(max(-(1 << 120), min(int(part >> shift), 1 << 120))) * 2.0 ** (shift - bits)
