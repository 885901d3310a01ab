"""The list of all number formats, with one module for each kind.

To add one: a kernel part, a module with its `NumberFormat`, and its name in `NUMBERS`.
"""

import re

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted
from mandelcl.core.numbers.fixed import FP128, LEAST_WORDS, MOST_WORDS, FixedFormat
from mandelcl.core.numbers.format import NumberFormat
from mandelcl.core.numbers.ieee import DOUBLE, FLOAT, IeeeFormat

__all__ = [
    "DOUBLE",
    "FLOAT",
    "FP128",
    "LEAST_WORDS",
    "MOST_WORDS",
    "NUMBERS",
    "FixedFormat",
    "IeeeFormat",
    "NumberFormat",
    "by_name",
    "candidates",
    "fixed",
]

NUMBERS: dict[str, NumberFormat] = {number.name: number for number in (FLOAT, DOUBLE, FP128)}


def fixed(words: int) -> FixedFormat:
    """Return the fixed-point format with this many words."""
    return FP128 if words == FP128.words else FixedFormat(f"fixed:{words}", words)


def by_name(name: str) -> NumberFormat:
    """Return the format of that name; raises InvalidInputError for an unknown one."""
    if name in NUMBERS:
        return NUMBERS[name]
    match = re.fullmatch(r"fixed:(\d{1,2})", name, re.ASCII)
    if match and LEAST_WORDS <= int(match.group(1)) <= MOST_WORDS:
        return fixed(int(match.group(1)))
    known = ", ".join(NUMBERS)
    raise InvalidInputError(
        f"unknown number {quoted(name)}; there is auto, {known}, and fixed:{LEAST_WORDS} to fixed:{MOST_WORDS}"
    )


def require_known(name: str) -> None:
    """Raise InvalidInputError for a number that is unknown here. `auto` is none yet, and is accepted."""
    if name != "auto":
        by_name(name)


def candidates(fp64: bool) -> list[NumberFormat]:
    """Return the formats in the order in which `auto` tries them, for devices with double or without.

    Without double, fixed point begins with the fewest words.
    """
    if fp64:
        return [FLOAT, DOUBLE, *(fixed(words) for words in range(FP128.words, MOST_WORDS + 1))]
    return [FLOAT, *(fixed(words) for words in range(LEAST_WORDS, MOST_WORDS + 1))]
