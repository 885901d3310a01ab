"""Formulas as people write them, and the operations that they stand for."""

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import InvalidInputError
from mandelcl.formulas import Formula
from mandelcl.formulas.named import NAMED
from mandelcl.formulas.notation import operations_of


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("z^2+c", "sqr add"),
        ("z² + c", "sqr add"),
        ("z*z + c", "sqr add"),
        ("zz+c", "sqr add"),
        ("c + z**2", "sqr add"),
        ("z = z^2 + c", "sqr add"),
        ("z_{n+1} -> Z^2 + C", "sqr add"),
        ("z → z³ + c", "store sqr mul add"),
        ("z^2 z + c", "store sqr mul add"),
        ("(z^2)^2 + c", "sqr sqr add"),
        ("z^5 + c", "store sqr sqr mul add"),
        ("z^9 + c", "store sqr sqr sqr mul add"),
        ("conj(z)^2 + c", "negy sqr add"),
        ("conj(z^2) + c", "sqr negy add"),
        ("(x - iy)^2 + c", "negy sqr add"),
        ("(|x| + i|y|)^2 + c", "absx absy sqr add"),
        ("(|x| + |y| i)² + c", "absx absy sqr add"),
        ("(|re z| + i*|im z|)^2 + c", "absx absy sqr add"),
        ("abs(z)^2 + c", "absx absy sqr add"),
        ("(abs(x) - i y)^2 + c", "absx negy sqr add"),
        ("(-x + iy)^2+c", "negx sqr add"),
        ("|re(z^2)| + i im(z^2) + c", "sqr absx add"),
        ("|Re(z²)| + i·|Im(z²)| + c", "sqr absx absy add"),
        ("-z^2 + c", "sqr negx negy add"),
        ("(z^2 + c)^2 + c", "sqr add sqr add"),
        ("z^2 + c / (|x| + i|y|)^2 + c", "sqr add / absx absy sqr add"),
        ("sqr add / absx sqr add", "sqr add / absx sqr add"),
        ("sqr add / (|x| + i|y|)^2 + c", "sqr add / absx absy sqr add"),
        ("rot:+30 sqr add", "rot:+30 sqr add"),
        ("burning-ship", "burning-ship"),
    ],
)
def test_notation_equals_its_operations(text: str, operations: str) -> None:
    assert operations_of(text) == operations
    assert Formula.parse(text) == Formula.parse(operations)


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("mandelbrot / burning-ship", "sqr add / absx absy sqr add"),
        ("Mandelbar / z^3 + c / sqr add", "negy sqr add / store sqr mul add / sqr add"),
    ],
)
def test_a_hybrid_may_have_named_lines(text: str, operations: str) -> None:
    assert Formula.parse(text).text == operations


def test_the_summaries_of_named_formulas_are_read() -> None:
    read = [named for named in NAMED.values() if "celtic" not in named.name and "buffalo" not in named.name]
    for named in read:
        text = named.summary.replace("re z − im z·i", "re z - i im z")
        assert Formula.parse(text).name == named.name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("z^2 + z + c", "adds nothing but c"),
        ("z^2 - c", "not subtracted"),
        ("z^10 + c", "powers go up to 9"),
        ("z^-2 + c", "a whole number"),
        ("sin(z) + c", "is nothing that it may have"),
        ("|z|^2 + c", "bars take a real or an imaginary part"),
        ("(|x| + i|x|)^2 + c", "belong together"),
        ("(x + y)^2 + c", "belong together"),
        ("z^2 + c)", "not expected"),
        ("(z^2 + c", "a ) is missing"),
        ("z^2 +", "missing at its end"),
        ("2*z^2 + c", "not expected"),
        ("c^2 + c", "a power"),
        ("=", "missing at its end"),
        ("x + c", "belong together"),
    ],
)
def test_unsupported_notation_is_refused_in_one_line(text: str, why: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot make operations of the formula") as refusal:
        Formula.parse(text)
    assert why in str(refusal.value)


@settings(deadline=None, max_examples=50)
@given(st.text("zcxyi()|^+-*2³ /reimconjabs=", max_size=24))
def test_any_text_is_a_formula_or_one_line(text: str) -> None:
    with suppress(InvalidInputError):  # and nothing else
        formula = Formula.parse(text)
        assert Formula.parse(formula.text) == formula


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 9), st.fractions(-2, 2, max_denominator=8), st.fractions(-2, 2, max_denominator=8))
def test_powers_are_powers(power: int, re: Fraction, im: Fraction) -> None:
    z, word = (re, im), (Fraction(1), Fraction(0))
    for _ in range(power):
        word = word[0] * z[0] - word[1] * z[1], word[0] * z[1] + word[1] * z[0]
    value, stored = z, z
    for name in operations_of(f"z^{power} + c").split()[:-1]:
        if name == "store":
            stored = value
        else:
            other = value if name == "sqr" else stored
            value = value[0] * other[0] - value[1] * other[1], value[0] * other[1] + value[1] * other[0]
    assert value == word
