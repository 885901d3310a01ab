"""Inputs and exact answers for the self-test: what IEEE 754 and 32-bit arithmetic say, worked out on integers."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

from mandelcl.numbers import NumberFormat

Words = npt.NDArray[np.uint32]
Real = np.float32 | np.float64

_CORNERS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x0000FFFF, 0xFFFF0000, 0x12345678)
_MASK = 0xFFFFFFFF


def integers() -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_integers`: 3 and 15 planes of one word a case."""
    cases = [(a, b, (a ^ b) & 31 if k else 31 * (b & 1)) for a, b, k in product(_CORNERS, _CORNERS, (0, 1))]
    return _planes(cases), _planes([_integer_answers(*case) for case in cases])


def _integer_answers(a: int, b: int, s: int) -> tuple[int, ...]:
    wide, total = a * b, a + b
    signed = a - (1 << 32) if a >> 31 else a
    return (
        wide & _MASK,
        wide >> 32,
        wide >> 32,
        wide & _MASK,
        total & _MASK,
        _MASK if total > _MASK else 0,
        (a - b) & _MASK,
        _MASK if a < b else 0,
        total >> 32,
        (a << s) & _MASK,
        a >> s,
        ((wide << s) & (2**64 - 1)) >> 32,
        (signed >> s) & _MASK,
        min(total, _MASK),
        max(a, b),
    )


def shapes(number: NumberFormat, fused: bool) -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_shapes`: a, b, c; the eight unfused shapes and, if fused, two fma."""
    values = [tuple(_value(number, x) for x in case) for case in _shape_cases(number)]
    answers = []
    for a, b, c in values:
        with np.errstate(all="ignore"):
            ab = a * b
            row = [ab + c, ab - c, -(ab + c), -(ab - c), c + ab, c - ab, -(c + ab), -(c - ab)]
        if fused:
            row += [fma(number, a, b, c), fma(number, -a, b, c)]
        answers.append(row)
    return _encode(number, values), _encode(number, answers)


def steps(number: NumberFormat, fused: bool) -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_number`: z, c, R², column, row; point, step, zero, |z|², outside."""
    inputs, answers = [], []
    for case in _step_cases(number):
        zr, zi, cr, ci, radius = (_value(number, x) for x in case[:5])
        column, row = int(case[5]), int(case[6])
        inputs.append([*_words(number, (zr, zi, cr, ci, radius)), column & _MASK, row & _MASK])
        answers.append(_step_answers(number, fused, (zr, zi), (cr, ci), radius, (column, row)))
    return _planes(inputs), _planes(answers)


def _step_answers(
    number: NumberFormat,
    fused: bool,
    z: tuple[Real, Real],
    c: tuple[Real, Real],
    radius: Real,
    offset: tuple[int, int],
) -> list[int]:
    def multiply_add(a: Real, b: Real, term: Real) -> Real:
        return fma(number, a, b, term) if fused else a * b + term

    with np.errstate(all="ignore"):
        (x, y), (cr, ci) = z, c
        point = [multiply_add(_value(number, k), radius, part) for k, part in zip(offset, c, strict=True)]
        inner = fma(number, -y, y, cr) if fused else x * x - y * y
        step = [fma(number, x, x, inner) if fused else inner + cr, multiply_add(x + x, y, ci)]
        norm = multiply_add(x, x, y * y)
        outside = not norm <= radius
        norm_word = int(np.float32(norm).view(np.uint32))
    zero = _value(number, 0)
    return [*_words(number, (*point, *step, zero, zero)), norm_word, _MASK if outside else 0]


def fma(number: NumberFormat, a: Real, b: Real, c: Real) -> Real:
    """Return a·b + c rounded once (IEEE 754-2019, 5.4.1), from exact fractions where all are finite."""
    if np.isfinite([a, b]).all() and not np.isfinite(c):
        return c  # a finite product, however large
    if not np.isfinite([a, b]).all():
        with np.errstate(all="ignore"):
            return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c  # the signs of zeros as IEEE has them; an underflowing product has no part in an exact zero
    try:
        return _value(number, number.round(exact))
    except OverflowError:
        return _value(number, np.inf if exact > 0 else -np.inf)


def _shape_cases(number: NumberFormat) -> list[Sequence[float]]:
    """Cases with products that do not fit the significand, so that fusing shows, and the awkward values."""
    eps = 2.0 ** (1 - number.precision)
    tiny = 2.0 ** (2 - number.max_exponent - number.precision) * 3
    small = 2.0 ** (1 - number.max_exponent)
    huge = 2.0**number.max_exponent
    telling = [1 + eps, 1 - eps / 2, 3 + 2 * eps, -(1 + 3 * eps), 1 / 3, 0.1, -1.7]
    cases = [(a, b, -a * b) for a in telling for b in telling]
    cases += [(a, b, c) for a in telling[:4] for b in telling[3:] for c in (eps, -1.0, 0.25)]
    cases += [(tiny, 1.0, 0.0), (small, 0.5, 0.0), (small, 1.5, -small), (tiny, 0.25, tiny), (small, small, tiny)]
    cases += [(huge, 2.0, 0.0), (huge, 2.0, -np.inf), (huge, 4.0, -huge), (np.inf, 1.0, 1.0), (1.0, 1.0, np.inf)]
    return [tuple(map(float, case)) for case in cases]


def _step_cases(number: NumberFormat) -> list[Sequence[float]]:
    """z, c, R², column, row: ordinary orbits, the edge of the disc, the real axis, overflow, infinities, NaN."""
    eps = 2.0 ** (1 - number.precision)
    tiny = 2.0 ** (2 - number.max_exponent - number.precision)
    huge = 2.0**number.max_exponent
    points = [(0.3, 0.5), (-0.75, 0.1), (-1.9, tiny * 1000), (0.0, 1.0), (-2.0, 0.0), (0.25 + eps, -tiny)]
    orbits = [(0.1, -0.7), (2.0, 0.0), (2.0 - eps, eps), (1.4, 1.4), (-1.0, 1.0 + eps), (1e-5, 1 / 3)]
    extremes = [(huge, huge), (np.inf, 1.0), (-np.inf, np.inf), (tiny, tiny)]
    radii = (4.0, 4.0 - 2 * eps, 16384.0)
    cases: list[Sequence[float]] = []
    for k, (z, c) in enumerate(product(orbits + extremes, points)):
        cases.append((*z, *c, radii[k % 3], (k * 7919) % 4096, -((k * 104729) % 4096)))
    return cases


def _value(number: NumberFormat, value: float | int | Fraction | Real) -> Real:
    return np.float64(value) if number.needs_fp64 else np.float32(value)


def _words(number: NumberFormat, values: Sequence[Real]) -> list[int]:
    array = np.array(values, dtype=np.float64 if number.needs_fp64 else np.float32)
    return [int(word) for word in array.view("<u4")]


def _encode(number: NumberFormat, cases: Sequence[Sequence[Real]]) -> Words:
    return _planes([_words(number, case) for case in cases])


def _planes(cases: Sequence[Sequence[int]]) -> Words:
    """Return one row a word: all first words, all second words, and so on."""
    return np.ascontiguousarray(np.array(cases, dtype=np.uint64).T.astype(np.uint32))


def canonical(number: NumberFormat, words: Words, reals: int) -> Words:
    """Return result words with one NaN for all NaN, whose sign and payload IEEE 754 leaves open.

    The first `reals` values are of the number; a word that follows them is a float.
    """
    result = words.copy()
    for k in range(reals):
        planes = result[k * number.words : (k + 1) * number.words]
        values = np.ascontiguousarray(planes.T).view("<f8" if number.needs_fp64 else "<f4")[:, 0]
        planes[:, np.isnan(values)] = _MASK
    rest = result[reals * number.words : reals * number.words + 1]
    rest[np.isnan(rest.view(np.float32))] = _MASK
    return result


def has_denormals(number: NumberFormat, inputs: Words, answers: Words, reals: int) -> npt.NDArray[np.bool_]:
    """Return which cases have a denormal among their inputs or answers: a device that flushes may differ there."""
    found = np.zeros(inputs.shape[1], np.bool_)
    least_normal = 2.0 ** (1 - number.max_exponent)
    given = min(5, inputs.shape[0] // number.words)
    for words, total in ((inputs, given), (answers, reals)):
        for k in range(total):
            planes = np.ascontiguousarray(words[k * number.words : (k + 1) * number.words].T)
            values = np.abs(planes.view("<f8" if number.needs_fp64 else "<f4")[:, 0])
            found |= (values > 0) & (values < least_normal)
    return found
