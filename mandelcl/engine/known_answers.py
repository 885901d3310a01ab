"""Known answers of the self-test: those of 32-bit arithmetic are here, the others come from the number."""

from itertools import product

from mandelcl.base.words import WORD_MASK, Words
from mandelcl.core.numbers import NumberFormat
from mandelcl.core.numbers.answers import Check, exact_check, side_by_side
from mandelcl.formulas import Formula

# Factors of 24 bits, with the sign as the last of these or without.
_SHORT = (0, 1, 2, 0xFFF, 0x1000, 0x1001, 0x7FFFFF, 0x800000, 0x800001, 0xABCDEF, 0xFFFFFE, 0xFFFFFF)
_CORNERS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x0000FFFF, 0xFFFF0000, 0x12345678)


def checks(number: NumberFormat, rounding: str, formula: Formula) -> list[Check]:
    """Return the known answers that a device must give before it is used for a formula, number and rounding."""
    return [
        exact_check("integer arithmetic", "selftest_integers", *integers()),
        exact_check("products of short integers", "selftest_short_products", *short_products()),
        *number.checks(rounding, formula),
    ]


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


def short_products() -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_short_products`: 2 and 8 words a case.

    Compilers use other instructions if they know that factors have at most 24 bits. Some have mixed up factors with
    and without a sign, or lost the upper half.
    """
    cases = list(product(_SHORT, _SHORT))
    return side_by_side(cases), side_by_side([_short_answers(*case) for case in cases])


def _short_answers(a: int, b: int) -> tuple[int, ...]:
    c, d = (value - (1 << 24) if value >> 23 else value for value in (a, b))
    halves = [(value & WORD_MASK, value >> 32 & WORD_MASK) for value in (a * b, c * d, a * d)]
    return (a * a) >> 32, *halves[0], *halves[1], *halves[2], halves[1][1]
