"""IEEE 754 binary32 and binary64 in pure integers: what every other oracle is checked against.

A value is a dyadic number (m, e), meaning m·2^e, or one of the floats inf, −inf and nan. The sign of a zero is
not kept: no operation of an orbit can turn it into anything visible.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

Dyadic = tuple[int, int]
Value = Dyadic | float


@dataclass(frozen=True, slots=True)
class Format:
    """A binary format: bits of precision, exponent of the least denormal, and 2^overflow as the first not finite."""

    precision: int
    least: int
    overflow: int


FORMATS = {"float": Format(24, -149, 128), "double": Format(53, -1074, 1024)}


def round_quotient(numerator: int, denominator: int, fmt: Format) -> Value:
    """Return numerator/denominator (denominator > 0) rounded to nearest, ties to even; inf past the largest."""
    size = abs(numerator)
    if size == 0:
        return (0, 0)
    exponent = size.bit_length() - denominator.bit_length()
    if size << max(0, -exponent) < denominator << max(0, exponent):
        exponent -= 1  # now 2^exponent <= size/denominator < 2^(exponent + 1)
    last = max(exponent - fmt.precision + 1, fmt.least)  # exponent of the last bit kept
    divisor = denominator << max(0, last)
    mantissa, rest = divmod(size << max(0, -last), divisor)
    if 2 * rest > divisor or (2 * rest == divisor and mantissa % 2 == 1):
        mantissa += 1
    if mantissa.bit_length() + last > fmt.overflow:
        return -math.inf if numerator < 0 else math.inf
    return (-mantissa if numerator < 0 else mantissa, last)


def encode(value: Fraction, number: str) -> float:
    """Return the float (or double) nearest to a fraction, ties to even, as a Python float; inf past the largest."""
    rounded = round_quotient(value.numerator, value.denominator, FORMATS[number])
    return rounded if isinstance(rounded, float) else math.ldexp(rounded[0], rounded[1])


def from_float(value: float) -> Value:
    """Return a Python float as a Value, exactly."""
    if not math.isfinite(value):
        return value
    numerator, denominator = value.as_integer_ratio()
    return (numerator, 1 - denominator.bit_length())


def to_float(value: Value) -> float:
    """Return a Value as a Python float; exact for values of either format."""
    return value if isinstance(value, float) else math.ldexp(value[0], value[1])


def add(a: Value, b: Value, fmt: Format) -> Value:
    """Return a + b, rounded once."""
    if isinstance(a, float) or isinstance(b, float):
        return _stand_in(a) + _stand_in(b)
    return _round(_sum(a, b), fmt)


def multiply(a: Value, b: Value, fmt: Format) -> Value:
    """Return a·b, rounded once."""
    if isinstance(a, float) or isinstance(b, float):
        return _stand_in(a) * _stand_in(b)
    return _round((a[0] * b[0], a[1] + b[1]), fmt)


def fma(a: Value, b: Value, c: Value, fmt: Format) -> Value:
    """Return a·b + c, rounded once."""
    if isinstance(a, float) or isinstance(b, float) or isinstance(c, float):
        return _stand_in(a) * _stand_in(b) + _stand_in(c)
    return _round(_sum((a[0] * b[0], a[1] + b[1]), c), fmt)


def negate(a: Value) -> Value:
    """Return −a."""
    return -a if isinstance(a, float) else (-a[0], a[1])


def absolute(a: Value) -> Value:
    """Return |a|."""
    return abs(a) if isinstance(a, float) else (abs(a[0]), a[1])


def at_most(a: Value, b: Value) -> bool:
    """Return a <= b; false where either is NaN."""
    if isinstance(a, float) or isinstance(b, float):
        return _stand_in(a) <= _stand_in(b)
    return _sum(a, (-b[0], b[1]))[0] <= 0


def _sum(a: Dyadic, b: Dyadic) -> Dyadic:
    last = min(a[1], b[1])
    return ((a[0] << (a[1] - last)) + (b[0] << (b[1] - last)), last)


def _round(value: Dyadic, fmt: Format) -> Value:
    mantissa, exponent = value
    return round_quotient(mantissa << max(0, exponent), 1 << max(0, -exponent), fmt)


def _stand_in(value: Value) -> float:
    """Return a float that behaves like `value` beside an infinity or a NaN: its sign is all that matters."""
    return value if isinstance(value, float) else float((value[0] > 0) - (value[0] < 0))
