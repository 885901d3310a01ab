"""Long steps of any formula against the iterations that they stand for, in whole numbers."""

import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import pytest

from mandelcl.core.reference import EXACT_VERSION, Reference
from mandelcl.formulas import Formula
from mandelcl.formulas.operations import Store, Turning
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.jets import GROUPS
from mandelcl.perturbation.orbit import ESCAPED, Orbit
from mandelcl.perturbation.table import NO_STEP, Table, TableLevel, build

Number = tuple[Fraction, Fraction]

_BITS, _STEP_BITS, _RADIUS = 900, 14, Fraction(1, 1 << 170)
_ONE = 1 << _BITS
PLACES = [
    ("burning-ship", "-1.768025966302943913", "-0.034725856392697519"),
    ("tricorn", "-0.1", "0.2"),
    ("celtic", "-0.71", "0.13"),
    ("buffalo", "-0.8", "-0.41"),
    ("perpendicular-celtic", "-0.75", "0.11"),
    ("multibrot-3", "0.31", "0.55"),
    ("multibrot-5", "0.31", "0.55"),
    ("multibrot-8", "0.31", "0.55"),
    ("rot:30 sqr add", "-0.4", "0.56"),
    ("store negx negy mul sqr add", "0.3", "0.2"),
    ("sqr add / absx absy sqr add", "-1.2", "-0.05"),
    ("negy sqr add / store sqr mul absx add / sqr add", "-0.3", "0.1"),
]


class _Whole:
    """An orbit in units of 2^−_BITS, each operation by its definition."""

    def __init__(self, formula: Formula, phase: int) -> None:
        self._formula, self._phase = formula, phase

    def line(self, n: int, x: int, y: int) -> tuple[int, int]:
        """Return what the line after n iterations makes of a point, but for c."""
        stored = x, y
        for operation in self._formula.lines[(self._phase + n) % len(self._formula.lines)]:
            name = operation.name
            if isinstance(operation, Store):
                stored = x, y
            elif name == "sqr":
                x, y = (x * x - y * y) // _ONE, 2 * x * y // _ONE
            elif name == "mul":
                x, y = (x * stored[0] - y * stored[1]) // _ONE, (x * stored[1] + y * stored[0]) // _ONE
            elif isinstance(operation, Turning):
                made = -x if operation.part == 0 else -y
                made = abs(made) if operation.folds else made
                x, y = (made, y) if operation.part == 0 else (x, made)
            elif name == "rot":
                cosine, sine = operation.constants
                x, y = round(x * cosine - y * sine), round(x * sine + y * cosine)
        return x, y

    def from_place(self, c: tuple[int, int], n: int, x: int, y: int, most: int) -> Iterator[tuple[int, int]]:
        """Yield the points behind that after n iterations."""
        for k in range(most):
            x, y = self.line(n + k, x, y)
            x, y = x + c[0], y + c[1]
            yield x, y


@cache
def _table(text: str, re: str, im: str, phase: int) -> tuple[Orbit, Table]:
    formula = Formula.parse(text)
    reference = Reference(Fraction(re), Fraction(im), _RADIUS, version=EXACT_VERSION)
    orbit = exact_orbit(reference, formula, phase, 200, Fraction(4))
    ends_before = orbit.ended == ESCAPED
    table = build(orbit, _RADIUS, _STEP_BITS, lines=formula.lines, phase=phase, ends_before=ends_before)
    return orbit, table


def _times(a: Number, b: Number) -> Number:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def _coefficients(level: TableLevel, record: int) -> list[Number]:
    found = list[Number]()
    for row in range(len(level.mantissas) // 2):
        power = Fraction(2) ** int(level.exponents[GROUPS[row], record])
        re, im = (Fraction(float(part)) * power for part in level.mantissas[2 * row : 2 * row + 2, record])
        found.append((re, im))
    return found


def _stepped(level: TableLevel, record: int, t: Number, c: Number) -> tuple[Number, float]:
    """Return what a step makes, and the size of its linear part with nothing cancelled."""
    turned, mirrored = (t[0], -t[1]), (c[0], -c[1])
    u = turned if level.turned is not None and level.turned[record] else t
    rows = _coefficients(level, record) + [(Fraction(0), Fraction(0))] * 4
    a, b, d, e, f, b_mirrored, e_mirrored, g, h = rows[:9]
    linear = [_times(a, u), _times(b, c), _times(b_mirrored, mirrored)]
    quadratic = [(d, u, u), (e, c, u), (e_mirrored, mirrored, u), (f, c, c), (g, c, mirrored), (h, mirrored, mirrored)]
    terms = linear + [_times(_times(row, first), second) for row, first, second in quadratic]
    total = sum((re for re, _ in terms), Fraction(0)), sum((im for _, im in terms), Fraction(0))
    return total, sum(float(abs(re) + abs(im)) for re, im in linear)


def _beside(
    whole: _Whole, n: int, point: tuple[int, int], largest: Fraction, rng: random.Random
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return a point beside that after n iterations, and what the next line makes of it: below `largest`."""
    direction, size = (rng.randrange(-256, 256), rng.randrange(-256, 256)), _ONE >> 12
    while True:
        here = point[0] + (direction[0] * size >> 8), point[1] + (direction[1] * size >> 8)
        t = tuple(b - a for a, b in zip(whole.line(n, *point), whole.line(n, *here), strict=True))
        if max(map(abs, t)) < largest:
            return here, (t[0], t[1])
        size >>= 1


@pytest.mark.parametrize(("text", "re", "im"), PLACES)
def test_a_step_makes_what_its_iterations_make(text: str, re: str, im: str) -> None:
    formula = Formula.parse(text)
    tested = 0
    for phase in range(len(formula.lines)):
        orbit, table = _table(text, re, im, phase)
        whole = _Whole(formula, phase)
        c = round(Fraction(re) * _ONE), round(Fraction(im) * _ONE)
        points = [(0, 0), *whole.from_place(c, 0, 0, 0, orbit.length)]
        rng = random.Random(phase)
        for level in table.levels:
            usable = [record for record in range(len(level.start)) if level.key[record] != NO_STEP]
            for record in rng.sample(usable, min(3, len(usable))):
                start, length = int(level.start[record]), int(level.length[record])
                assert start + length <= orbit.length - (orbit.ended == ESCAPED)
                key = int(level.key[record])
                largest = Fraction(256 + (key & 255), 512) * Fraction(2) ** (key >> 8) * _ONE
                moved = tuple(round(_RADIUS * _ONE * Fraction(rng.uniform(-0.7, 0.7))) for _ in range(2))
                here, t = _beside(whole, start, points[start], largest, rng)
                *_, there = whole.from_place((c[0] + moved[0], c[1] + moved[1]), start, *here, length)
                exact = [Fraction(b - a, _ONE) for a, b in zip(points[start + length], there, strict=True)]
                by_c = Fraction(moved[0], _ONE), Fraction(moved[1], _ONE)
                made, linear = _stepped(level, record, (Fraction(t[0], _ONE), Fraction(t[1], _ONE)), by_c)
                off = max(abs(float(a - b)) for a, b in zip(made, exact, strict=True))
                assert off <= 2.0 ** (5 - 2 * _STEP_BITS) * linear
                tested += 1
    assert tested >= 3
