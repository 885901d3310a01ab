"""Inputs and exact answers for the self-test of float and double, as IEEE 754 defines them."""

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import WORD_MASK, Words
from mandelcl.core.numbers.answers import Check, side_by_side
from mandelcl.core.numbers.ieee_arithmetic import Scalar, Scalars
from mandelcl.formulas import Formula

if TYPE_CHECKING:
    from mandelcl.core.numbers.ieee import IeeeFormat


def checks(number: "IeeeFormat", fused: bool, formula: Formula) -> list[Check]:
    """Return the known answers that show that nothing else is fused, and how a step rounds."""
    checks_made = []
    asked = [
        ("rounding of a·b ± c", "selftest_shapes", shapes(number, fused), 3, 10 if fused else 8),
        (formula.summary, "selftest_number", steps(number, fused, formula), 5, 4 + 2 * len(formula.lines)),
    ]
    if fused:  # perturbation alone takes roots, and rounds fused
        asked.append(("square root", "selftest_roots", roots(number), 1, 1))
    for what, kernel, (inputs, answers), reals_in, reals_out in asked:
        denormals = has_denormals(number, inputs, reals_in) | has_denormals(number, answers, reals_out)
        checks_made.append(Check(what, kernel, inputs, answers, denormals, partial(canonical, number, reals=reals_out)))
    return checks_made


def shapes(number: "IeeeFormat", fused: bool) -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_shapes`: a, b, c; the eight unfused shapes and, if fused, two fma."""
    scalars = Scalars(number, fused)
    values = [tuple(map(scalars.value, case)) for case in _shape_cases(number)]
    answers = []
    for a, b, c in values:
        with np.errstate(all="ignore"):
            ab = a * b
            row = [ab + c, ab - c, -(ab + c), -(ab - c), c + ab, c - ab, -(c + ab), -(c - ab)]
        if fused:
            row += [scalars.fma(a, b, c), scalars.fma(-a, b, c)]
        answers.append(row)
    return _encode(number, values), _encode(number, answers)


def steps(number: "IeeeFormat", fused: bool, formula: Formula) -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_number`: z, c, R², column, row, 0; point, zero, steps, |z|², outside."""
    scalars, zero = Scalars(number, fused), [0.0, 0.0]
    inputs, answers = [], []
    for case in _step_cases(number):
        zr, zi, cr, ci, radius = map(scalars.value, case[:5])
        offset = int(case[5]), int(case[6])
        inputs.append([*_words(number, (zr, zi, cr, ci, radius, radius)), *(k & WORD_MASK for k in offset), 0])
        point = [scalars.multiply_add(scalars.value(k), radius, part) for k, part in zip(offset, (cr, ci), strict=True)]
        steps_made = [part for n in range(len(formula.lines)) for part in formula.step(scalars, (zr, zi), (cr, ci), n)]
        with np.errstate(all="ignore"):
            norm = int(np.float32(scalars.norm_squared((zr, zi))).view(np.uint32))
        outside = WORD_MASK if scalars.outside((zr, zi), radius) else 0
        answers.append([*_words(number, (*point, *map(scalars.value, zero), *steps_made)), norm, outside])
    return side_by_side(inputs), side_by_side(answers)


def roots(number: "IeeeFormat") -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_roots`: a, and what the number's part takes for its root."""
    scalars = Scalars(number, fused=True)
    values = [scalars.value(case) for case in _root_cases(number)]
    found = [scalars.root_above(value) for value in values]
    return _encode(number, [(value,) for value in values]), _encode(number, [(value,) for value in found])


def _shape_cases(number: "IeeeFormat") -> list[Sequence[float]]:
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


def _step_cases(number: "IeeeFormat") -> list[Sequence[float]]:
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


def _root_cases(number: "IeeeFormat") -> list[float]:
    """Squares and their neighbours, and values of many sizes, from which no denormal arises."""
    eps = 2.0 ** (1 - number.precision)
    cases = [0.0, 1.0, 1 + eps, 9.0, 1 - eps / 2, 2.0, 3.0, 4 - 2 * eps, 4.0, 0.1, 1 / 3, 16384.0]
    half = number.max_exponent // 2
    for exponent in range(-half, half, half // 7):
        cases += [(1 + k / 64 + 3 * eps) * 2.0**exponent for k in range(0, 64, 9)]
    return cases


def _words(number: "IeeeFormat", values: Sequence[Scalar]) -> list[int]:
    array = np.array(values, dtype=np.float64 if number.needs_fp64 else np.float32)
    return [int(word) for word in array.view("<u4")]


def _encode(number: "IeeeFormat", cases: Sequence[Sequence[Scalar]]) -> Words:
    return side_by_side([_words(number, case) for case in cases])


def canonical(number: "IeeeFormat", words: Words, reals: int) -> Words:
    """Return result words with one NaN for all NaN, whose sign and payload IEEE 754 leaves open.

    The first `reals` values are of the number; a word that follows them is a float.
    """
    result = words.copy()
    for k in range(reals):
        words_of_case = result[k * number.words : (k + 1) * number.words]
        values = np.ascontiguousarray(words_of_case.T).view("<f8" if number.needs_fp64 else "<f4")[:, 0]
        words_of_case[:, np.isnan(values)] = WORD_MASK
    rest = result[reals * number.words : reals * number.words + 1]
    rest[np.isnan(rest.view(np.float32))] = WORD_MASK
    return result


def has_denormals(number: "IeeeFormat", words: Words, reals: int) -> npt.NDArray[np.bool_]:
    """Return which cases have a denormal among their first `reals` values."""
    denormal = np.zeros(words.shape[1], np.bool_)
    least_normal = 2.0 ** (1 - number.max_exponent)
    for k in range(reals):
        words_of_case = np.ascontiguousarray(words[k * number.words : (k + 1) * number.words].T)
        values = np.abs(words_of_case.view("<f8" if number.needs_fp64 else "<f4")[:, 0])
        denormal |= (values > 0) & (values < least_normal)
    return denormal
