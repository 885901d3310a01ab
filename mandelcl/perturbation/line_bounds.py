"""What a line leaves out of a step that ends where it begins, and how far rounding takes its coefficients.

It goes through the line as `line_jets` does, with bounds beside each jet, in logarithms to base 2. With v = L + Q + R,
the linear and the quadratic part and the rest, of the square that rest is (2V + 2L + 2Q + R)·R + (2L + Q)·Q, and of a
product v·w, V·R_w + W·R_v + (L + Q + R)·R_w + (L_w + Q_w)·R_v + L·Q_w + (L_w + Q_w)·Q.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mandelcl.formulas.line import Line
from mandelcl.perturbation.error_rows import (
    A_ERROR,
    G0,
    MB,
    MF,
    group_sizes,
    largest_left,
    left_of_square,
    logarithms,
    sum_from,
    sum_of,
)
from mandelcl.perturbation.jets import A, B, D, E, F, Floats, Mask, Pairs, Positives
from mandelcl.perturbation.line_jets import JetBeside, JetRules, Part

_PRODUCT = math.sqrt(5)  # units of 2^−53: the rounding of a complex product
_READ = 2.0  # of reading Z, rounded toward 0


@dataclass(frozen=True, slots=True, eq=False)
class BoundedJet:
    """Jets, what they leave out, and their coefficients with nothing cancelled.

    `units` bounds the errors of the linear coefficients, `value_units` that of the value, in units of 2^−53 of them.
    """

    beside: JetBeside
    left: Floats  # (4, n): of |t|³, |t|²·|c|, |t|·|c|², |c|³
    whole: Floats  # (4, n): of B, D, E, F
    units: float = 0.0
    value_units: float = _READ


class BoundedRules:
    """The rules, for |t| and |c| of at most 2^`reach` and 2^`radius`."""

    def __init__(self, count: int, reach: Floats, radius: float) -> None:
        self._jets = JetRules(0, count)
        self._reach, self._radius = reach, radius

    def squared(self, z: BoundedJet) -> BoundedJet:
        """Return Z² and z·(2Z + z)."""
        twice = logarithms(z.beside.value.modulus()) + 1
        size = group_sizes(z.beside.jet)
        a, b = size[A], z.whole[0]
        whole = sum_from((0, twice + z.whole), (1, np.stack((2 * a, 1 + a + b, 2 * b))))
        left = left_of_square(size, z.left, twice, self._reach, self._radius)
        units = z.units + z.value_units + _PRODUCT
        return BoundedJet(self._jets.squared(z.beside), left, whole, units, 2 * z.value_units + _PRODUCT)

    def multiplied(self, z: BoundedJet, stored: BoundedJet) -> BoundedJet:
        """Return Z·S and z·(S + s) + Z·s."""
        of_z, of_stored = (logarithms(w.beside.value.modulus()) for w in (z, stored))
        v, w = group_sizes(z.beside.jet), group_sizes(stored.beside.jet)
        bent = np.stack((v[A] + w[A], sum_of(v[A] + stored.whole[0], z.whole[0] + w[A]), z.whole[0] + stored.whole[0]))
        whole = sum_from((0, of_stored + z.whole), (0, of_z + stored.whole), (1, bent))
        reach, radius = self._reach, self._radius
        by_t, by_c = sum_of(w[A], w[D] + reach, w[E] + radius), sum_of(w[B], w[F] + radius)
        left = sum_from(
            (0, sum_of(of_stored, _largest(w, reach, radius)) + z.left),
            (0, sum_of(of_z, _largest(v, reach, radius), largest_left(z.left, reach, radius)) + stored.left),
            (0, by_t + v[D:]),
            (1, by_c + v[D:]),
            (0, v[A] + w[D:]),
            (1, v[B] + w[D:]),
        )
        units = max(z.units + stored.value_units, stored.units + z.value_units) + _PRODUCT + 1
        value_units = z.value_units + stored.value_units + _PRODUCT
        return BoundedJet(self._jets.multiplied(z.beside, stored.beside), left, whole, units, value_units)

    def folded(self, z: BoundedJet, part: int) -> BoundedJet:
        """Return what the absolute value of a part makes of both."""
        return replace(z, beside=self._jets.folded(z.beside, part))

    def exactly(self, z: BoundedJet, part: int, exact: Part) -> BoundedJet:
        """Return both with a part of the value as the exact orbit has it."""
        return replace(z, beside=self._jets.exactly(z.beside, part, exact))

    def negated(self, z: BoundedJet, part: int) -> BoundedJet:
        """Return both with the other sign of a part."""
        return replace(z, beside=self._jets.negated(z.beside, part))

    def turned(self, z: BoundedJet, cosine: Fraction, sine: Fraction) -> BoundedJet:
        """Return both, turned by an angle, which is rounded as well."""
        more = _PRODUCT + 1
        beside = self._jets.turned(z.beside, cosine, sine)
        return replace(z, beside=beside, units=z.units + more, value_units=z.value_units + more)


def through(
    line: Line,
    value: Pairs,
    jet: Pairs,
    turned: Mask,
    rows: Floats,
    reach: Floats,
    radius: float,
    parts: Sequence[Part] = (),
) -> BoundedJet:
    """Return what a line makes of jets with rows of `error_rows`, where the reference is `value`."""
    count = len(value.re)
    one = Positives(np.full(count, 0.5), np.ones(count, np.int32))
    rules = BoundedRules(count, reach, radius)
    begin = BoundedJet(JetBeside(value, jet, turned, one), rows[G0:A_ERROR], rows[MB : MF + 1])
    return line.beside(rules, begin, parts)


def _largest(size: Floats, reach: Floats, radius: float) -> Floats:
    """Return the logarithm of a bound of the linear and the quadratic part."""
    a, b, d, e, f = size
    return sum_of(a + reach, b + radius, d + 2 * reach, e + reach + radius, f + 2 * radius)
