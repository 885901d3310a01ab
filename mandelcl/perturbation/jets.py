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

# The rows of a jet: z after a step is A·t + B·c + (D·t + E·c)·t + F·c².
A, B, D, E, F = range(5)


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


def single_steps(count: int) -> Pairs:
    """Return the jets of single iterations, (5, count): z after one is t + c."""
    re = np.zeros((5, count))
    re[:2] = 0.5
    exponent = np.full((5, count), ZERO_EXPONENT, np.int32)
    exponent[:2] = 1
    return Pairs(re, np.zeros((5, count)), exponent)


def one_after_another(first: Pairs, second: Pairs, twice: Pairs) -> tuple[Pairs, Pairs]:
    """Return the jets of the steps `first` then `second`, (5, n), joined where twice the reference is `twice`, (n,).

    The second result is that of t for the second step, (5, n), not normalised: 2Z·z + z² for the z after the first one,
    without what is above second order.
    """
    inner = twice * first
    squares = first[[A, A, B]] * first[[A, B, B]]
    squares.exponent[1] += 1
    bent = inner[D:] + squares
    inner = stacked(inner[:D], bent)

    outer = second[A] * inner
    by_t = second[D] * inner[: B + 1]
    quadratic = by_t[[A, A, B]] * inner[[A, B, B]]
    quadratic.exponent[1] += 1
    mixed = second[E] * inner[: B + 1]
    added = outer[B:] + stacked(second[B : B + 1], quadratic)
    last = added[2:] + mixed
    full = last[1:] + second[F:]
    return stacked(outer[:B], added[:2], last[:1], full).normalised(), inner


def stacked(*rows: Pairs) -> Pairs:
    """Return numbers below one another, row by row."""
    return Pairs(
        np.concatenate([row.re for row in rows]),
        np.concatenate([row.im for row in rows]),
        np.concatenate([row.exponent for row in rows]),
    )
