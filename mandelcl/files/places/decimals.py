"""Numbers in other programs' files: decimals, with an exponent if that is shorter."""

import math
from fractions import Fraction
from typing import Any

from mandelcl.base.errors import FileError
from mandelcl.base.exact import floor_log2, parse_number, to_digits
from mandelcl.base.text import quoted

_ROUNDED_DIGITS = 25  # for a number without a finite decimal expansion, such as 1/3
_MOST_DIGITS = 4000


def places_of(value: Fraction) -> int | None:
    """Return the number of decimals after the point; None if there are infinitely many, or thousands."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 and max(twos, fives) <= _MOST_DIGITS else None


def decimal(value: Fraction, finest: Fraction | None = None) -> str:
    """Return a number as a plain decimal: exact if possible, otherwise rounded to well below `finest`."""
    places = places_of(value)
    if places is None:
        step = abs(value) if finest is None else finest
        places = max(0, _ROUNDED_DIGITS - math.floor(floor_log2(step) * math.log10(2))) if step else 0
    digits = to_digits(abs(round(value * 10**places))).rjust(places + 1, "0")
    sign = "-" * (value < 0 and set(digits) != {"0"})
    return f"{sign}{digits[:-places]}.{digits[-places:]}" if places else sign + digits


def scientific(value: Fraction) -> str:
    """Return a positive number like 1.5E12: exact if possible, otherwise rounded to about 25 digits."""
    places = places_of(value)
    if places is None:
        places = _ROUNDED_DIGITS - math.floor(floor_log2(value) * math.log10(2))
    scaled = value * Fraction(10) ** places
    digits = to_digits(round(scaled))
    exponent = len(digits) - 1 - places
    digits = digits.rstrip("0") or "0"
    return f"{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}E{exponent}"


def number_of(value: Any, key: str) -> Fraction:
    """Return a number from a TOML table, given as number or text. Raises FileError or InvalidInputError."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise FileError(f"its {key} is not a number: {quoted(value)}")
    return parse_number(value if isinstance(value, str) else repr(value), key)
