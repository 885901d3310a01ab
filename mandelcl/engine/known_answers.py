"""Inputs and exact answers for the self-test: what IEEE 754 and 32-bit arithmetic say, worked out on integers."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

from mandelcl.numbers import FixedFormat, IeeeFormat, NumberFormat
from mandelcl.numbers.fixed import Digits

Words = npt.NDArray[np.uint32]
Real = np.float32 | np.float64

_CORNERS = (0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x0000FFFF, 0xFFFF0000, 0x12345678)
_MASK = 0xFFFFFFFF
_FIXED_POINTS = [
    (Fraction(re), Fraction(im))
    for re, im in (
        ("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"),
        ("-1.25066", "0.02012"),
        ("0.3750001200618655", "-0.2166393884377127"),
        ("-1.7499", "1e-17"),
        ("0.25", "0.5000001"),
        ("-2", "0"),
        ("1/3", "-1/7"),
    )
]


@dataclass(frozen=True, slots=True)
class Check:
    """A self-test kernel with its inputs and answers, both planes × cases.

    The first `reals` answers are of `number`, of which IEEE 754 leaves a NaN's sign and payload open. `denormals`
    tells the cases with a denormal in or out: a device that flushes them may differ there.
    """

    what: str
    kernel: str
    inputs: Words
    answers: Words
    denormals: npt.NDArray[np.bool_]
    number: IeeeFormat | None = None
    reals: int = 0

    def canonical(self, words: Words) -> Words:
        """Return result words with one NaN for all NaN."""
        return words if self.number is None else canonical(self.number, words, self.reals)


def checks(number: NumberFormat, rounding: str) -> list[Check]:
    """Return what a device must answer before it is used for a number in a rounding."""
    inputs, answers = integers()
    found = [Check("integer arithmetic", "selftest_integers", inputs, answers, np.zeros(inputs.shape[1], np.bool_))]
    if isinstance(number, FixedFormat):
        inputs, answers = fixed_steps(number)
        return [*found, Check("z² + c", "selftest_number", inputs, answers, np.zeros(inputs.shape[1], np.bool_))]
    assert isinstance(number, IeeeFormat)
    fused = rounding == "fused"
    for what, kernel, (inputs, answers), given, reals in (
        ("rounding of a·b ± c", "selftest_shapes", shapes(number, fused), 3, 10 if fused else 8),
        ("z² + c", "selftest_number", steps(number, fused), 5, 6),
    ):
        denormals = has_denormals(number, inputs, given) | has_denormals(number, answers, reals)
        found.append(Check(what, kernel, inputs, answers, denormals, number, reals))
    return found


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


def shapes(number: IeeeFormat, fused: bool) -> tuple[Words, Words]:
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


def steps(number: IeeeFormat, fused: bool) -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_number`: z, c, R², column, row, 0; point, step, zero, |z|², outside."""
    inputs, answers = [], []
    for case in _step_cases(number):
        zr, zi, cr, ci, radius = (_value(number, x) for x in case[:5])
        column, row = int(case[5]), int(case[6])
        inputs.append([*_words(number, (zr, zi, cr, ci, radius, radius)), column & _MASK, row & _MASK, 0])
        answers.append(_step_answers(number, fused, (zr, zi), (cr, ci), radius, (column, row)))
    return _planes(inputs), _planes(answers)


def _step_answers(
    number: IeeeFormat,
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


def fma(number: IeeeFormat, a: Real, b: Real, c: Real) -> Real:
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


def _shape_cases(number: IeeeFormat) -> list[Sequence[float]]:
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


def _step_cases(number: IeeeFormat) -> list[Sequence[float]]:
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


def _value(number: IeeeFormat, value: float | int | Fraction | Real) -> Real:
    return np.float64(value) if number.needs_fp64 else np.float32(value)


def _words(number: IeeeFormat, values: Sequence[Real]) -> list[int]:
    array = np.array(values, dtype=np.float64 if number.needs_fp64 else np.float32)
    return [int(word) for word in array.view("<u4")]


def _encode(number: IeeeFormat, cases: Sequence[Sequence[Real]]) -> Words:
    return _planes([_words(number, case) for case in cases])


def _planes(cases: Sequence[Sequence[int]]) -> Words:
    """Return one row a word: all first words, all second words, and so on."""
    return np.ascontiguousarray(np.array(cases, dtype=np.uint64).T.astype(np.uint32))


def canonical(number: IeeeFormat, words: Words, reals: int) -> Words:
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


def has_denormals(number: IeeeFormat, words: Words, reals: int) -> npt.NDArray[np.bool_]:
    """Return which cases have a denormal among their first `reals` values."""
    found = np.zeros(words.shape[1], np.bool_)
    least_normal = 2.0 ** (1 - number.max_exponent)
    for k in range(reals):
        planes = np.ascontiguousarray(words[k * number.words : (k + 1) * number.words].T)
        values = np.abs(planes.view("<f8" if number.needs_fp64 else "<f4")[:, 0])
        found |= (values > 0) & (values < least_normal)
    return found


def fixed_steps(number: FixedFormat) -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_number` in fixed point: orbits of several points while they are inside.

    The test for escape is made against R² = 4 and 1/4 in turn, so that it has both answers.
    """
    radii = (number.load(Fraction(4)), number.load(Fraction(1, 4)))
    zero, distance = number.split(0), Fraction(1, 3 << 12)
    pitch, rest = number.load(distance), number.rest(distance)
    inputs, answers = [], []
    for k, (re, im) in enumerate(_FIXED_POINTS):
        c, z = (number.load(re), number.load(im)), (zero, zero)
        for n in range(12):
            radius = radii[n % 2]
            offset = ((n * 7919 + k) % 4096, -((n * 104729 + k) % 4096))
            point = [number.point(m, part, pitch, rest) for part, m in zip(c, offset, strict=True)]
            step = number.step(z, c)
            x, y = (np.float32(part[0]) * np.float32(2.0**-number.bits) for part in z)
            norm = int(np.float32(x * x + y * y).view(np.uint32))
            outside = _MASK if number.outside(z, radius) else 0
            inputs.append([*_state(*z, *c, radius, pitch), offset[0], offset[1] & _MASK, rest & _MASK])
            answers.append([*_state(*point, *step, zero, zero), norm, outside])
            z = step
            if number.outside(z, radii[0]):
                break
    return _planes(inputs), _planes(answers)


def _state(*reals: Digits) -> list[int]:
    """Return digits as the kernels save them: 64 bits each, low word first."""
    words = []
    for digit in (digit for real in reals for digit in real):
        words += [digit & _MASK, (digit >> 32) & _MASK]
    return words
