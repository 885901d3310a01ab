"""Inputs and exact answers for the self-test of fixed point, computed with whole numbers."""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mandelcl.base.arithmetic import Complex
from mandelcl.base.exact import root_above
from mandelcl.base.words import WORD_MASK, Words
from mandelcl.core.numbers.answers import side_by_side
from mandelcl.core.numbers.fixed_arithmetic import Digits, FixedArithmetic
from mandelcl.formulas import Formula

if TYPE_CHECKING:
    from mandelcl.core.numbers.fixed import FixedFormat

_LARGEST_POINT = Fraction(2)
_POINTS = [
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


def steps(number: "FixedFormat", formula: Formula) -> tuple[Words, Words]:
    """Return (inputs, answers) for `selftest_number` in fixed point: orbits of several points while they are inside.

    The escape test alternates between R² = 4 and 1/4, so that it has both answers.
    """
    arithmetic = FixedArithmetic(number)
    radii = (arithmetic.encode(Fraction(4)), arithmetic.encode(Fraction(1, 4)))
    zero, distance = arithmetic.split(0), Fraction(1, 3 << 12)
    pitch, rest = arithmetic.encode(distance), number.rest(distance)
    inputs, answers = [], []
    for k, (re, im) in enumerate(_POINTS):
        c, z = (arithmetic.encode(re), arithmetic.encode(im)), (zero, zero)
        for n in range(12):
            radius = radii[n % 2]
            offset = ((n * 7919 + k) % 4096, -((n * 104729 + k) % 4096))
            point = [arithmetic.placed(m, pitch, rest, part) for part, m in zip(c, offset, strict=True)]
            following = [formula.step(arithmetic, z, c, phase) for phase in range(len(formula.lines))]
            x, y = (np.float32(part[0]) * np.float32(2.0**-number.bits) for part in z)
            norm = int(np.float32(x * x + y * y).view(np.uint32))
            outside = WORD_MASK if arithmetic.outside(z, radius) else 0
            inputs.append([*_state(*z, *c, radius, pitch), offset[0], offset[1] & WORD_MASK, rest & WORD_MASK])
            answers.append([*_state(*point, zero, zero, *(part for step in following for part in step)), norm, outside])
            z = following[n % len(following)]
            if arithmetic.outside(z, radii[0]) or not _has_room(number, formula, z):
                break
    return side_by_side(inputs), side_by_side(answers)


def _has_room(number: "FixedFormat", formula: Formula, z: Complex) -> bool:
    """Return whether all results of a step from z are within the number's reach."""
    parts = [FixedArithmetic(number).join(part) * number.last_unit for part in z]
    size = root_above(parts[0] ** 2 + parts[1] ** 2)
    return all(line.largest(size, _LARGEST_POINT) < number.step_reach for line in formula.lines)


def _state(*reals: Digits) -> list[int]:
    """Return digits as the kernels save them: 64 bits each, low word first."""
    words = []
    for digit in (digit for real in reals for digit in real):
        words += [digit & WORD_MASK, (digit >> 32) & WORD_MASK]
    return words
