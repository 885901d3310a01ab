"""What a line of a formula makes of a step that ends where it begins: the jet of t for the step behind, and its limit.

On each side of its axes a line is differentiable as a complex function, or the conjugate of one. So it makes a jet of a
jet, to second order: v·(2V + v) of `sqr`, V·s + S·v + v·s of `mul`, and v or its conjugate, with a sign, of folds and
mirrors. That holds while v is small beside what each operation takes: below 2^−step_bits of V for products, and below a
quarter of the part that is folded, which keeps orbits within that, with all that is left out, on one side of the axis.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mandelcl.formulas.line import Line
from mandelcl.perturbation import jets
from mandelcl.perturbation.jets import Floats, Integers, Mask, Pairs, Positives

_FOLD_BITS = 2  # of the part that is folded


@dataclass(frozen=True, slots=True, eq=False)
class JetBeside:
    """Values of the reference, normalised, and the jets of differences from them.

    `turned` says of which jets t is conjugated. `slope` is how many times as large as at the line's beginning a
    difference is here.
    """

    value: Pairs
    jet: Pairs
    turned: Mask
    slope: Positives


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Real numbers mantissa·2^exponent, mantissas below 1: a part of values as the exact orbit has it."""

    mantissa: Floats
    exponent: Integers


class JetRules:
    """The rules; they note how small a difference at the line's beginning must be: its `limit`."""

    def __init__(self, step_bits: int, count: int) -> None:
        self._step_bits = step_bits
        self.limit = Positives.unlimited(count)

    def squared(self, z: JetBeside) -> JetBeside:
        """Return Z² and z·(2Z + z)."""
        self._limit_to(z.value.modulus().scaled(-self._step_bits), z.slope)
        doubled = z.value.doubled()
        jet = jets.with_quadratic(doubled * z.jet, jets.squares(z.jet))
        return JetBeside((z.value * z.value).normalised(), jet, z.turned, z.slope.times(doubled.modulus()))

    def multiplied(self, z: JetBeside, stored: JetBeside) -> JetBeside:
        """Return Z·S and z·(S + s) + Z·s."""
        of_z, of_stored = z.value.modulus(), stored.value.modulus()
        self._limit_to(of_z.scaled(-self._step_bits), z.slope)
        self._limit_to(of_stored.scaled(-self._step_bits), stored.slope)
        linear = stored.value * z.jet + z.value * stored.jet
        jet = jets.with_quadratic(linear, jets.product(z.jet, stored.jet))
        slope = of_stored.times(z.slope).plus(of_z.times(stored.slope))
        return JetBeside((z.value * stored.value).normalised(), jet, z.turned, slope)

    def folded(self, z: JetBeside, part: int) -> JetBeside:
        """Return what the absolute value of a part makes of both, which must be as they are normalised."""
        size = z.value.im if part else z.value.re
        self._limit_to(Positives.of(np.abs(size), z.value.exponent).scaled(-_FOLD_BITS), z.slope)
        return self._mirrored(z, part, size < 0.0)

    def exactly(self, z: JetBeside, part: int, exact: Part) -> JetBeside:
        """Return both with a part of the value as the exact orbit has it, at the value's exponent."""
        scaled = np.ldexp(exact.mantissa, exact.exponent - z.value.exponent)
        re, im = (z.value.re, scaled) if part else (scaled, z.value.im)
        return replace(z, value=Pairs(re, im, z.value.exponent))

    def negated(self, z: JetBeside, part: int) -> JetBeside:
        """Return both with the other sign of a part."""
        return self._mirrored(z, part, np.full(z.turned.shape, True))

    def turned(self, z: JetBeside, cosine: Fraction, sine: Fraction) -> JetBeside:
        """Return both, turned by an angle."""
        turn = Pairs(np.array([float(cosine)]), np.array([float(sine)]), np.zeros(1, np.int32))
        return replace(z, value=(turn * z.value).normalised(), jet=turn * z.jet)

    def _limit_to(self, most: Positives, slope: Positives) -> None:
        self.limit = self.limit.least(most.over(slope))

    def _mirrored(self, z: JetBeside, part: int, where: Mask) -> JetBeside:
        """Return the conjugates of some differences, with the other sign where it is the real part."""
        jet = jets.conjugated(z.jet, where)
        value = z.value
        if part:
            value = Pairs(value.re, np.where(where, -value.im, value.im), value.exponent)
        else:
            value = Pairs(np.where(where, -value.re, value.re), value.im, value.exponent)
            jet = Pairs(np.where(where, -jet.re, jet.re), np.where(where, -jet.im, jet.im), jet.exponent)
        return replace(z, value=value, jet=jet, turned=z.turned ^ where)


def through(
    line: Line, value: Pairs, jet: Pairs, turned: Mask, step_bits: int, parts: Sequence[Part] = ()
) -> tuple[JetBeside, Positives]:
    """Return what a line makes of jets where the reference is `value`, and how small a difference there must be.

    `parts` are the parts of values that are folded behind a product, in their order.
    """
    count = len(value.re)
    one = Positives(np.full(count, 0.5), np.ones(count, np.int32))
    rules = JetRules(step_bits, count)
    made = line.beside(rules, JetBeside(value, jet, turned, one), parts)
    return made, rules.limit
