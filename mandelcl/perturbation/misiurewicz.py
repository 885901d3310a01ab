"""Misiurewicz points of any formula: c whose orbit from 0 runs into a repelling cycle, by Newton's method."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.base.errors import NEVER, InvalidInputError, Token, stop_if
from mandelcl.base.exact import floor_log2
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.perturbation.integers import double, integers_for, reference_bits
from mandelcl.perturbation.jacobian import JacobianOrbit, log2_of, plain, solution
from mandelcl.perturbation.locate import Box, ShowProgress

_BATCH = 256  # iterations between two looks at what cancels
_DIGITS = 64
_LEAST_REACH = -45  # log2 of the image of the box from which on doubles tell points apart
_COVERED = 4.0  # a box whose image is so large holds all there is
_MOST_TRIES, _MOST_STEPS = 100, 40
_SPARE = 96  # bits beyond those of the box while Newton's method runs
_STRAY = 8  # radii from the guess at which it is given up
_SAME_BITS = 24  # two points of an orbit are one where they differ by so many bits more than the rounding of c explains

Doubles = npt.NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class MisiurewiczPoint:
    """A c with z_{k+p} = z_k, for z_0 = 0 and the least `preperiod` k ≥ 1 and `period` p.

    It is known to `bits` bits after the point. `multiplier` is the modulus of the cycle's derivative by z: zoomed in by
    it, the picture about the point repeats.
    """

    preperiod: int
    period: int
    re: Fraction
    im: Fraction
    multiplier: float
    bits: int


def find_misiurewicz(
    box: Box,
    most: int,
    period: int | None = None,
    *,
    formula: Formula = MANDELBROT,
    cancel: Token = NEVER,
    progress: ShowProgress | None = None,
) -> MisiurewiczPoint:
    """Return the Misiurewicz point in a box with the lowest k + p up to `most`; of the given period, if one is given.

    The pairs are those that pass, in the box's middle, the test for nuclei with z_{k+p} − z_k in place of z_p. Raises
    InvalidInputError where none is found and for a Julia set, and CancelledError.
    """
    if formula.constant is not None:
        raise InvalidInputError("a Julia set has no Misiurewicz points; give its formula without the constant")
    show = progress or (lambda _what, _done, _total: None)
    followed = _Followed(box, most, formula, cancel, show)
    tries = 0
    for last in range(2, len(followed.z)):
        stop_if(cancel)
        for first in followed.candidates(last, period):
            tries += 1
            show("Newton's method, k + p", last, len(followed.z))
            found = _newton(box, first, last, formula, cancel)
            if found is not None and (period is None or found.period == period):
                return found
            if tries == _MOST_TRIES:
                raise InvalidInputError(
                    f"Newton's method finds no Misiurewicz point in the box, tried {tries} times; give a smaller one"
                )
    raise InvalidInputError(
        f"no Misiurewicz point is in the box: the orbit of its middle was followed for {len(followed.z) - 1} iterations"
    )


class _Followed:
    """The orbit of a box's middle in doubles, and its Jacobians times the box's radius."""

    def __init__(self, box: Box, most: int, formula: Formula, cancel: Token, show: ShowProgress) -> None:
        bits, exponent = reference_bits(box.radius), floor_log2(box.radius) + 1
        orbit = JacobianOrbit(formula, _whole(box.middle, bits), bits, _DIGITS)
        z, direct, mirrored = [0j], [0j], [0j]
        while orbit.n < most:
            if orbit.n % _BATCH == 0:
                stop_if(cancel)
                show("orbit", orbit.n, most)
            orbit.step()
            b, m, e = plain(orbit.change)
            scale = math.ldexp(1.0, max(-1000, min(e + exponent, 1000)))
            z.append(complex(double(orbit.z[0], bits), double(orbit.z[1], bits)))
            direct.append(b * scale)
            mirrored.append(m * scale)
            if orbit.escaped or abs(direct[-1]) + abs(mirrored[-1]) > _COVERED:
                break
        self.z: Doubles = np.array(z)
        self._direct, self._mirrored = np.array(direct), np.array(mirrored)
        self._lines = len(formula.lines)

    def candidates(self, last: int, period: int | None) -> list[int]:
        """Return the k for which the box may hold a c with z_last = z_k, to first order; the nearest first."""
        if abs(self._direct[last]) + abs(self._mirrored[last]) < 2.0**_LEAST_REACH:
            return []
        apart = self.z[last] - self.z[1:last]
        b, m = self._direct[last] - self._direct[1:last], self._mirrored[last] - self._mirrored[1:last]
        determinant = np.abs(np.abs(b) ** 2 - np.abs(m) ** 2)
        reach = np.abs(b.conj() * apart - m * apart.conj())
        found = 1 + np.flatnonzero(reach < determinant)
        kept = found[(last - found) % self._lines == 0]
        if period is not None:
            kept = kept[last - kept == period]
        order = np.argsort(np.abs(apart[kept - 1]), kind="stable")
        chosen: list[int] = kept[order].tolist()
        return chosen


def _whole(point: tuple[Fraction, Fraction], bits: int) -> Parts:
    whole = integers_for(bits).whole
    return whole(round(point[0] * (1 << bits))), whole(round(point[1] * (1 << bits)))


def _newton(box: Box, first: int, last: int, formula: Formula, cancel: Token) -> MisiurewiczPoint | None:
    """Return the point with z_last = z_first to which Newton's method leads from a box's middle, if it is in the box.

    None, too, where the orbit is periodic from its beginning.
    """
    near = max(0, -floor_log2(box.radius))
    bits, needed, places = near + _SPARE, 2 * near + _SPARE, box.middle
    for _ in range(_MOST_STEPS):
        stop_if(cancel)
        orbit = JacobianOrbit(formula, _whole(places, bits), bits, max(_DIGITS, bits - near), by_first=True)
        points, changes, factors = [orbit.z], [orbit.change], [orbit.by_first]
        for _ in range(last):
            orbit.step()
            if orbit.escaped:
                return None
            points.append(orbit.z)
            changes.append(orbit.change)
            factors.append(orbit.by_first)
        rules = Differential(bits, max(_DIGITS, bits - near))
        step = solution(_apart(rules, changes, first, last), _difference(points, first, last))
        if step is None:
            return None
        places = places[0] + Fraction(int(step[0]), 1 << bits), places[1] + Fraction(int(step[1]), 1 << bits)
        if abs(places[0] - box.middle[0]) + abs(places[1] - box.middle[1]) > _STRAY * box.radius:
            return None
        gained = bits - max(int(step[0]).bit_length(), int(step[1]).bit_length())
        if gained >= needed - 8:
            if not box.holds(*places):
                return None
            lowest = _lowest(points, changes, first, last, bits, gained, len(formula.lines))
            if lowest is None:
                return None
            preperiod, period = lowest
            multiplier = 2.0 ** min(1000.0, log2_of(factors[preperiod + period]) - log2_of(factors[preperiod]))
            return MisiurewiczPoint(preperiod, period, *places, multiplier, needed)
        bits = min(2 * max(gained, near) - near + _SPARE, needed + _SPARE)
    return None


def _difference(points: list[Parts], first: int, last: int) -> Parts:
    return points[last][0] - points[first][0], points[last][1] - points[first][1]


def _apart(rules: Differential, changes: list[Change], first: int, last: int) -> Change:
    return rules.total(changes[last], rules.negated(changes[first]))


def _lowest(
    points: list[Parts], changes: list[Change], first: int, last: int, bits: int, gained: int, lines: int
) -> tuple[int, int] | None:
    """Return the least preperiod and period of an orbit with z_last = z_first; None where the preperiod is 0."""

    def same(k: int, m: int) -> bool:
        length = max(part.bit_length() for part in _difference(points, k, m)) - bits
        reach = max(part.bit_length() for part in changes[m][:4]) + changes[m][4]
        return length < max(0, reach) - gained + _SAME_BITS

    period = last - first
    period = min(n for n in range(lines, period + 1, lines) if period % n == 0 and same(first, first + n))
    while first > 0 and same(first - 1, first - 1 + period):
        first -= 1
    return (first, period) if first > 0 else None
