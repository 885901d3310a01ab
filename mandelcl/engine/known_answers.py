"""What a device must answer in its self-test: 32-bit arithmetic here, the rest by the number."""

from itertools import product

from mandelcl.formulas import Formula
from mandelcl.numbers import NumberFormat
from mandelcl.numbers.answers import Check, exact_check, side_by_side
from mandelcl.words import WORD_MASK, Words

_CORNERS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x0000FFFF, 0xFFFF0000, 0x12345678)


def checks(number: NumberFormat, rounding: str, formula: Formula) -> list[Check]:
    """Return what a device must answer before it is used for a formula in a number and rounding."""
    return [exact_check("integer arithmetic", "selftest_integers", *integers()), *number.checks(rounding, formula)]


def integers() -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_integers`: 3 and 15 words a case."""
    cases = [(a, b, (a ^ b) & 31 if k else 31 * (b & 1)) for a, b, k in product(_CORNERS, _CORNERS, (0, 1))]
    return side_by_side(cases), side_by_side([_integer_answers(*case) for case in cases])


def _integer_answers(a: int, b: int, s: int) -> tuple[int, ...]:
    wide, total = a * b, a + b
    signed = a - (1 << 32) if a >> 31 else a
    return (
        wide & WORD_MASK,
        wide >> 32,
        wide >> 32,
        wide & WORD_MASK,
        total & WORD_MASK,
        WORD_MASK if total > WORD_MASK else 0,
        (a - b) & WORD_MASK,
        WORD_MASK if a < b else 0,
        total >> 32,
        (a << s) & WORD_MASK,
        a >> s,
        ((wide << s) & (2**64 - 1)) >> 32,
        (signed >> s) & WORD_MASK,
        min(total, WORD_MASK),
        max(a, b),
    )
