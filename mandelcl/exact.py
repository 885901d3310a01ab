"""Numbers that people write, exactly: decimals, ratios and floats as fractions."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from mandelcl.errors import InvalidInputError

# What an exact number can be made of: a str is read as `parse_number` does, a float is the binary fraction that it is.
Exact: TypeAlias = Fraction | int | str | float | Decimal

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE]([+-]?\d{1,9}))?", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_MAX_EXPONENT = 4_000
_MAX_DIGITS = 4_000
_ROOT_BITS = 64  # of a root that is no ratio


def exact(value: Exact, what: str = "number") -> Fraction:
    """Return a number as a fraction, none of it rounded.

    Raises InvalidInputError, naming `what`, where no number can be made of it: a text that is none, NaN, infinity.
    """
    if isinstance(value, Fraction):
        return value
    if isinstance(value, str):
        return parse_number(value, what)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise InvalidInputError(f"{what} must be a number or a text that is one, not {type(value).__name__}")
    if not math.isfinite(value):
        raise InvalidInputError(f"{what} must be finite, not {value}")
    return Fraction(value)


def parse_number(text: str, what: str = "number") -> Fraction:
    """Return the exact value of a decimal (`-0.75`, `1.5e-30`) or a ratio (`1/3`); never through a float.

    Raises InvalidInputError, naming `what`, for anything else (NaN and infinities included).
    """
    text = text.strip()
    shown = _shown(text)
    if len(text) > 2 * _MAX_DIGITS:
        raise InvalidInputError(f"{what} {shown} has more than {2 * _MAX_DIGITS} characters")
    decimal = _DECIMAL.fullmatch(text)
    if decimal:
        if abs(int(decimal.group(4) or 0)) > _MAX_EXPONENT or len(decimal.group(1)) > _MAX_DIGITS:
            raise InvalidInputError(f"{what} {shown} has more than {_MAX_DIGITS} digits or an exponent beyond it")
        return Fraction(text)
    if _RATIO.fullmatch(text):
        numerator, denominator = text.split("/")
        if max(len(numerator), len(denominator)) > _MAX_DIGITS:
            raise InvalidInputError(f"{what} {shown} has more than {_MAX_DIGITS} digits")
        if int(denominator) == 0:
            raise InvalidInputError(f"{what} {shown} divides by zero")
        return Fraction(int(numerator), int(denominator))
    raise InvalidInputError(f"{what} {shown} is not a number; write it like -0.75, 1.5e-30 or 1/3")


def parse_size(text: str, what: str = "size", form: str = "WIDTHxHEIGHT; write it like 1920x1080") -> tuple[int, int]:
    """Return (width, height) from `1920x1080`; an error names `what` and the `form` expected."""
    match = re.fullmatch(r"(\d{1,10})[xX×](\d{1,10})", text.strip(), re.ASCII)
    if not match:
        raise InvalidInputError(f"{what} {_shown(text)} is not {form}")
    return int(match.group(1)), int(match.group(2))


def just_below_4(fraction_bits: int) -> Fraction:
    """Return the largest number below 4 that has so many bits after the point: |z|² ≥ 4 there is |z|² > this."""
    return 4 - Fraction(1, 1 << fraction_bits)


def root_below(square: Fraction) -> Fraction:
    """Return the root of a positive number: exact where that is a ratio, else less by at most 2^−64 of it."""
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root * root == square:
        return root
    missing = 2 * _ROOT_BITS + 2 - (square.numerator.bit_length() - square.denominator.bit_length())
    scale = max(0, missing + missing % 2)
    return Fraction(math.isqrt((square.numerator << scale) // square.denominator), 1 << (scale // 2))


def root_above(square: Fraction) -> Fraction:
    """Return the root of a number: exact where that is a ratio, else more by at most 2^−62 of it."""
    below = root_below(square)
    return below if below * below == square else below * (1 + Fraction(1, 1 << (_ROOT_BITS - 2)))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
