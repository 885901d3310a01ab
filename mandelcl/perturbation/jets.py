"""Numbers with exponents of their own, many at once, and quadratic steps made of them.

Everything is real float64 +, −, ×, ÷, square root and powers of two in the order that is written, which IEEE 754 rounds
the same way on every machine. numpy's complex numbers, `hypot`, `log2` and `sum` are not.
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int32]
Indices: TypeAlias = npt.NDArray[np.int64]
Mask: TypeAlias = npt.NDArray[np.bool_]

ZERO_EXPONENT = -(1 << 28)  # of 0, below all others
INFINITE_EXPONENT = 1 << 28  # of what has no limit, above all others

# The rows of a jet: z after a step is A·t + B·c + (D·t + E·c)·t + F·c². Under formulas with folds or mirrors, c̄ has
# rows of its own, B̃, Ẽ, G and H, and t may be conjugated: A·û + B·c + B̃·c̄ + (D·û + E·c + Ẽ·c̄)·û + F·c² + G·|c|² + H·c̄².
A, B, D, E, F, MIRRORED_B, MIRRORED_E, G, H = range(9)
DIRECT_ROWS, ALL_ROWS = 5, 9
GROUPS = (A, B, D, E, F, B, E, F, F)  # of rows that have one exponent in a record, by the first of each
_CONJUGATED = [A, MIRRORED_B, D, MIRRORED_E, H, B, E, G, F]  # whose conjugate takes the place of each row's


@dataclass(slots=True, eq=False)
class Positives:
    """Numbers mantissa·2^exponent, mantissas in [1/2, 1) or 0: what is never negative, infinity included."""

    mantissa: Floats
    exponent: Integers

    @classmethod
    def of(cls, mantissa: Floats, exponent: Integers | int = 0) -> "Positives":
        """Return mantissa·2^exponent for any mantissas from 0 to infinity."""
        unlimited = np.isinf(mantissa)
        fraction, shift = np.frexp(np.where(unlimited, 0.5, mantissa))
        shift += exponent
        shift[fraction == 0.0] = ZERO_EXPONENT
        shift[unlimited] = INFINITE_EXPONENT
        return cls(fraction, shift)

    @classmethod
    def unlimited(cls, count: int) -> "Positives":
        """Return so many infinities."""
        return cls(np.full(count, 0.5), np.full(count, INFINITE_EXPONENT, np.int32))

    def scaled(self, bits: int) -> "Positives":
        """Return these numbers times 2^bits."""
        return Positives(self.mantissa, self.exponent + np.int32(bits))

    def over(self, other: "Positives") -> "Positives":
        """Return the quotients: 0/0 is 0, and anything else over 0 is infinity."""
        nothing = other.mantissa == 0.0
        fraction, shift = np.frexp(self.mantissa / np.where(nothing, 1.0, other.mantissa))
        shift += self.exponent - other.exponent
        shift[nothing] = INFINITE_EXPONENT
        shift[fraction == 0.0] = ZERO_EXPONENT
        return Positives(fraction, shift)

    def below(self, other: "Positives") -> Mask:
        """Return where these are less than others."""
        less: Mask = self.exponent < other.exponent
        less |= (self.exponent == other.exponent) & (self.mantissa < other.mantissa)
        return less

    def times(self, other: "Positives") -> "Positives":
        """Return the products."""
        return Positives.of(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def plus(self, other: "Positives") -> "Positives":
        """Return the sums."""
        exponent = np.maximum(self.exponent, other.exponent)
        here, there = self.exponent - exponent, other.exponent - exponent
        return Positives.of(np.ldexp(self.mantissa, here) + np.ldexp(other.mantissa, there), exponent)

    def least(self, other: "Positives") -> "Positives":
        """Return the less of each two."""
        less = self.below(other)
        return Positives(np.where(less, self.mantissa, other.mantissa), np.where(less, self.exponent, other.exponent))


@dataclass(slots=True, eq=False)
class Pairs:
    """Complex numbers (re + i·im)·2^exponent. Sums and products are not normalised; `normalised` does it."""

    re: Floats
    im: Floats
    exponent: Integers

    def __getitem__(self, rows: int | slice | list[int]) -> "Pairs":
        return Pairs(self.re[rows], self.im[rows], self.exponent[rows])

    def __mul__(self, other: "Pairs") -> "Pairs":
        return Pairs(
            self.re * other.re - self.im * other.im,
            self.re * other.im + self.im * other.re,
            self.exponent + other.exponent,
        )

    def __add__(self, other: "Pairs") -> "Pairs":
        exponent = np.maximum(self.exponent, other.exponent)
        here, there = self.exponent - exponent, other.exponent - exponent
        return Pairs(
            np.ldexp(self.re, here) + np.ldexp(other.re, there),
            np.ldexp(self.im, here) + np.ldexp(other.im, there),
            exponent,
        )

    def doubled(self) -> "Pairs":
        """Return twice these numbers."""
        return Pairs(self.re, self.im, self.exponent + np.int32(1))

    def normalised(self) -> "Pairs":
        """Return the same numbers with the larger part in [1/2, 1), or 0 with ZERO_EXPONENT."""
        fraction, shift = np.frexp(np.maximum(np.abs(self.re), np.abs(self.im)))
        exponent = self.exponent + shift
        exponent[fraction == 0.0] = ZERO_EXPONENT
        np.negative(shift, out=shift)
        return Pairs(np.ldexp(self.re, shift), np.ldexp(self.im, shift), exponent)

    def modulus(self) -> Positives:
        """Return the absolute values of normalised numbers."""
        return Positives.of(np.sqrt(self.re * self.re + self.im * self.im), self.exponent)


def single_steps(count: int, rows: int = DIRECT_ROWS) -> Pairs:
    """Return the jets of single iterations, (rows, count): z after one is t + c."""
    re = np.zeros((rows, count))
    re[:D] = 0.5
    exponent = np.full((rows, count), ZERO_EXPONENT, np.int32)
    exponent[:D] = 1
    return Pairs(re, np.zeros((rows, count)), exponent)


def product(first: Pairs, second: Pairs) -> Pairs:
    """Return the quadratic rows of the product of two jets of one flag, without what is above second order."""
    if len(first.re) == DIRECT_ROWS:
        mixed = first[[A]] * second[[B]] + first[[B]] * second[[A]]
        return stacked(first[[A]] * second[[A]], mixed, first[[B]] * second[[B]])
    left = first[[A, A, B, A, MIRRORED_B]] * second[[A, B, B, MIRRORED_B, B]]
    right = first[[B, MIRRORED_B, B]] * second[[A, A, MIRRORED_B]]
    e, m, g = left[1:2] + right[:1], left[3:4] + right[1:2], left[4:] + right[2:]
    last = first[[MIRRORED_B]] * second[[MIRRORED_B]]
    return stacked(left[:1], e, left[2:3], m, g, last)


def squares(jet: Pairs) -> Pairs:
    """Return the quadratic rows of the square of a jet, without what is above second order."""
    if len(jet.re) == DIRECT_ROWS:
        result = jet[[A, A, B]] * jet[[A, B, B]]
        result.exponent[1] += 1
        return result
    result = jet[[A, A, B, A, B, MIRRORED_B]] * jet[[A, B, B, MIRRORED_B, MIRRORED_B, MIRRORED_B]]
    result.exponent[[1, 3, 4]] += 1
    return result


def with_quadratic(linear: Pairs, quadratic: Pairs) -> Pairs:
    """Return a jet to whose quadratic rows so much is added, in the order of `squares`."""
    if len(linear.re) == DIRECT_ROWS:
        return stacked(linear[:D], linear[D:] + quadratic)
    bent = linear[[D, E, F, MIRRORED_E, G, H]] + quadratic
    return stacked(linear[:D], bent[:3], linear[MIRRORED_B : MIRRORED_B + 1], bent[3:])


def conjugated(jet: Pairs, where: Mask) -> Pairs:
    """Return the conjugates of some jets, and the others: of one of û that of ū, which its flag must say."""
    return Pairs(
        np.where(where, jet.re[_CONJUGATED], jet.re),
        np.where(where, -jet.im[_CONJUGATED], jet.im),
        np.where(where, jet.exponent[_CONJUGATED], jet.exponent),
    )


def behind(inner: Pairs, second: Pairs) -> Pairs:
    """Return the jets of steps, normalised, from `inner`, that of t for the second ones."""
    outer = second[A] * inner
    if len(inner.re) == ALL_ROWS:
        return _behind_all(inner, second, outer)
    by_t = second[D] * inner[: B + 1]
    quadratic = by_t[[A, A, B]] * inner[[A, B, B]]
    quadratic.exponent[1] += 1
    mixed = second[E] * inner[: B + 1]
    added = outer[B:] + stacked(second[B : B + 1], quadratic)
    last = added[2:] + mixed
    full = last[1:] + second[F:]
    return stacked(outer[:B], added[:2], last[:1], full).normalised()


def _behind_all(inner: Pairs, second: Pairs, outer: Pairs) -> Pairs:
    """Return what `behind` returns, with the rows of c̄."""
    linear = inner[[A, B, MIRRORED_B]]
    by_t, by_c, by_mirrored = second[D] * linear, second[E] * linear, second[MIRRORED_E] * linear
    bent = by_t[[0, 0, 1, 0, 1, 2]] * inner[[A, B, B, MIRRORED_B, MIRRORED_B, MIRRORED_B]]
    bent.exponent[[1, 3, 4]] += 1
    bent = outer[[D, E, F, MIRRORED_E, G, H]] + bent
    mixed = stacked(by_c[:2], by_mirrored[:1], by_c[2:] + by_mirrored[1:2], by_mirrored[2:])
    full = bent[1:] + mixed
    own = full[[1, 3, 4]] + second[[F, G, H]]
    by_constants = outer[[B, MIRRORED_B]] + second[[B, MIRRORED_B]]
    rows = stacked(
        outer[:1], by_constants[:1], bent[:1], full[:1], own[:1], by_constants[1:], full[2:3], own[1:2], own[2:]
    )
    return rows.normalised()


def in_groups(jet: Pairs) -> Pairs:
    """Return jets whose rows have the exponents of their groups, the largest of each: so records keep them."""
    if len(jet.re) == DIRECT_ROWS:
        return jet
    groups = np.array(GROUPS)
    largest = np.stack([jet.exponent[groups == first].max(axis=0) for first in GROUPS])
    down = jet.exponent - largest
    return Pairs(np.ldexp(jet.re, down), np.ldexp(jet.im, down), largest)


def stacked(*rows: Pairs) -> Pairs:
    """Return numbers below one another, row by row."""
    return Pairs(
        np.concatenate([row.re for row in rows]),
        np.concatenate([row.im for row in rows]),
        np.concatenate([row.exponent for row in rows]),
    )
