"""Exact numbers: decimals, ratios and floats that people write, as fractions."""

import math
import operator
import re
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted

# What an exact number can be made of: a str is read as `parse_number` does, a float is the binary fraction that it is.
Exact: TypeAlias = Fraction | int | str | float | Decimal

_DECIMAL = re.compile(r"([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,9}))?", re.ASCII)
_RATIO = re.compile(r"([+-]?)(\d+)/(\d+)", re.ASCII)
MAX_DIGITS = 12_000  # of a number, and its largest exponent: enough for a place at 1e10000 and beyond
LONGEST = 4 * MAX_DIGITS  # digits of a number in a job, each side of its slash: what such numbers add up to
_LONGEST_BITS = LONGEST * 10 // 3 + 64
_MOST_CHARACTERS = 2 * MAX_DIGITS + 2  # of a ratio, its sign and its slash
_DIGITS_AT_A_TIME = 600  # Python converts that many, whatever limit it was given for more
_MOST_SHOWN = 62  # characters of a text that is none, quotes and escapes among them
_ROOT_BITS = 64  # of a root that is no ratio


def exact(value: Exact, what: str = "number") -> Fraction:
    """Return a number as a fraction, none of it rounded.

    Whole numbers may be of any type that is one, such as numpy's. Raises InvalidInputError, naming `what`, where no
    number can be made of it: a text that is none, NaN, infinity, a Decimal of more digits than a text may have.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return parse_number(value, what)
    if isinstance(value, float | Decimal):
        finite = value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)
        if not finite:
            raise InvalidInputError(f"{what} must be finite, not {value}")
        if isinstance(value, Decimal):
            _require_short(value, what)
        return Fraction(value)
    number = _index(value)
    if number is None:
        raise InvalidInputError(f"{what} must be a number or a text that is one, not {type(value).__name__}")
    return Fraction(number)


def require_bounded(*values: Fraction) -> None:
    """Raise InvalidInputError for numbers of a job that are longer than those of a command line can make them."""
    if max(max(value.numerator.bit_length(), value.denominator.bit_length()) for value in values) > _LONGEST_BITS:
        raise InvalidInputError(f"a number of the job has more than {LONGEST} digits; give fewer")


def whole(value: object, what: str) -> int:
    """Return a whole number of any type that is one, such as numpy's, as an int.

    Raises InvalidInputError, naming `what`, for anything else.
    """
    number = _index(value)
    if number is None:
        raise InvalidInputError(f"{what} must be a whole number, not {quoted(value)}")
    return number


def _index(value: object) -> int | None:
    """Return a whole number as an int; None for anything else, and for what is true or false."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # it raises TypeError for others
    except TypeError:
        return None


def _require_short(value: Decimal, what: str) -> None:
    """Raise InvalidInputError for a decimal of more digits, or with an exponent farther out, than a text may have."""
    _, digits, exponent = value.as_tuple()
    if len(digits) > MAX_DIGITS or not -2 * MAX_DIGITS <= int(exponent) <= MAX_DIGITS:
        raise InvalidInputError(
            f"{what} {_shown(str(value))} has more than {MAX_DIGITS} digits or an exponent beyond it"
        )


def parse_number(text: str, what: str = "number") -> Fraction:
    """Return the exact value of a decimal (`-0.75`, `1.5e-30`) or a ratio (`1/3`); never through a float.

    Raises InvalidInputError, naming `what`, for anything else (NaN and infinities included).
    """
    text = text.strip()
    shown = _shown(text)
    if len(text) > _MOST_CHARACTERS:
        raise InvalidInputError(f"{what} {shown} has more than {_MOST_CHARACTERS} characters")
    decimal = _DECIMAL.fullmatch(text)
    if decimal:
        digits, _, places = decimal.group(2).partition(".")
        exponent = int(decimal.group(3) or 0)
        if abs(exponent) > MAX_DIGITS or len(digits + places) > MAX_DIGITS:
            raise InvalidInputError(f"{what} {shown} has more than {MAX_DIGITS} digits or an exponent beyond it")
        value = from_digits(digits + places) * Fraction(10) ** (exponent - len(places))
        return -value if decimal.group(1) == "-" else value
    ratio = _RATIO.fullmatch(text)
    if ratio:
        sign, *parts = ratio.groups()
        if max(map(len, parts)) > MAX_DIGITS:
            raise InvalidInputError(f"{what} {shown} has more than {MAX_DIGITS} digits")
        numerator, denominator = map(from_digits, parts)
        if denominator == 0:
            raise InvalidInputError(f"{what} {shown} divides by zero")
        return Fraction(-numerator if sign == "-" else numerator, denominator)
    raise InvalidInputError(f"{what} {shown} is not a number; write it like -0.75, 1.5e-30 or 1/3")


def from_digits(digits: str) -> int:
    """Return the whole number with these decimal digits, as many as there are."""
    value = 0
    for start in range(0, len(digits), _DIGITS_AT_A_TIME):
        piece = digits[start : start + _DIGITS_AT_A_TIME]
        value = value * 10 ** len(piece) + int(piece)
    return value


def to_digits(value: int) -> str:
    """Return the decimal digits of a whole number, as many as it has, after a minus where it is below 0."""
    pieces: list[str] = []
    rest = abs(value)
    while rest >= 10**_DIGITS_AT_A_TIME:
        rest, piece = divmod(rest, 10**_DIGITS_AT_A_TIME)
        pieces.append(f"{piece:0{_DIGITS_AT_A_TIME}}")
    return "-" * (value < 0) + "".join([str(rest), *reversed(pieces)])


def hexadecimal(value: Fraction) -> str:
    """Return a number as a ratio in hexadecimal. Python limits the digits of decimal numbers, but not of these."""
    return f"{value.numerator:x}/{value.denominator:x}"


def from_hexadecimal(text: str) -> Fraction:
    """Return the number that `hexadecimal` wrote."""
    return Fraction(*(int(part, 16) for part in text.split("/")))


def about(value: Fraction) -> str:
    """Return six digits of a number, which may be far outside the range of a float."""
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"


_SIZES = {"hd": "1280x720", "fullhd": "1920x1080", "2k": "2560x1440", "4k": "3840x2160", "8k": "7680x4320"}


def parse_size(text: str, what: str = "size", form: str = "WIDTHxHEIGHT; write it like 1920x1080") -> tuple[int, int]:
    """Return (width, height) from `1920x1080`; an error names `what` and the `form` expected."""
    text = _SIZES.get(text.strip().casefold(), text) if what == "size" else text
    match = re.fullmatch(r"(\d{1,10})[xX×](\d{1,10})", text.strip(), re.ASCII)
    if not match:
        raise InvalidInputError(f"{what} {_shown(text)} is not {form}")
    return int(match.group(1)), int(match.group(2))


def floor_log2(value: Fraction) -> int:
    """Return the largest e with 2^e ≤ value, for a positive value."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1


def just_below_4(fraction_bits: int) -> Fraction:
    """Return the largest number below 4 with this many bits after the point, so that |z|² ≥ 4 means |z|² > it."""
    return 4 - Fraction(1, 1 << fraction_bits)


def root_below(square: Fraction) -> Fraction:
    """Return the square root of a positive number: exact if it is a ratio, otherwise less by at most 2^−64 of it."""
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root * root == square:
        return root
    missing = 2 * _ROOT_BITS + 2 - (square.numerator.bit_length() - square.denominator.bit_length())
    scale = max(0, missing + missing % 2)
    return Fraction(math.isqrt((square.numerator << scale) // square.denominator), 1 << (scale // 2))


def root_above(square: Fraction) -> Fraction:
    """Return the square root of a number: exact if it is a ratio, otherwise more by at most 2^−62 of it."""
    below = root_below(square)
    return below if below * below == square else below * (1 + Fraction(1, 1 << (_ROOT_BITS - 2)))


def _shown(text: str) -> str:
    whole = repr(text)
    return whole if len(whole) <= _MOST_SHOWN else whole[: _MOST_SHOWN - 4] + "...'"
