"""The arithmetic of orbits by perturbation, one value at a time: complex values with an exponent of their own.

cl/method_perturbation.cl says what they are. Here each operation is made on whole numbers and rounded once.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

Parts: TypeAlias = tuple[float, float]

_NOTHING = -(1 << 28)
_NO_KEY = -(1 << 31) + 1


@dataclass(frozen=True, slots=True)
class Scaled:
    """(re + im·i)·2^exponent."""

    re: float
    im: float
    exponent: int

    @property
    def larger(self) -> float:
        """The larger of |re| and |im|."""
        return max(abs(self.re), abs(self.im))


ZERO = Scaled(0.0, 0.0, _NOTHING)
ExactPart: TypeAlias = tuple[float, int]  # mantissa and exponent


class ScaledBeside(NamedTuple):
    """A value of the reference, a difference from it, and a part of the value that an inner fold takes, if any."""

    value: Scaled
    by: Scaled
    exact: ExactPart | None = None


def _within(value: Scaled) -> Scaled:
    """Return a product, with no exponent below that of 0."""
    return Scaled(value.re, value.im, max(value.exponent, _NOTHING))


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """An IEEE 754 format, with its operations and those of scaled values.

    It has a precision, least and largest exponents, and exponents at which small values and parts begin.
    """

    precision: int
    least: int  # the exponent of its least denormal
    largest: int
    small: int
    cut: int

    def fma(self, a: float, b: float, c: float) -> float:
        """Return a·b + c, rounded once, ties to even."""
        if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
            return a * b + c
        (p, r), (q, s), (t, u) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
        return self._rounded(p * q * u + t * r * s, (r * s * u).bit_length() - 1)

    def add(self, a: float, b: float) -> float:
        """Return a + b."""
        return self.fma(a, 1.0, b)

    def multiply(self, a: float, b: float) -> float:
        """Return a·b."""
        return self.fma(a, b, 0.0)

    def rounded(self, value: float) -> float:
        """Return the nearest value of the format."""
        return self.fma(value, 1.0, 0.0)

    def power(self, exponent: int) -> float:
        """Return 2^exponent; 0 where that is no normal number."""
        return math.ldexp(1.0, exponent) if exponent > -self.largest else 0.0

    def _rounded(self, number: int, places: int) -> float:
        """Return number·2^−places."""
        size = abs(number)
        dropped = max(size.bit_length() - self.precision, places + self.least, 0)
        kept = size >> dropped
        if dropped:
            rest, half = size - (kept << dropped), 1 << (dropped - 1)
            kept += rest > half or (rest == half and kept & 1)
        if kept.bit_length() + dropped - places > self.largest + 1:
            return math.inf if number > 0 else -math.inf
        return math.ldexp(kept if number > 0 else -kept, dropped - places)

    def cut_off(self, part: float) -> float:
        """Return a part of a mantissa; 0 for one that is too small beside the other to count."""
        return 0.0 if abs(part) < 2.0**self.cut else part

    def normal(self, re: float, im: float, exponent: int) -> Scaled:
        """Return (re + im·i)·2^exponent with the larger part of the mantissa in [1/2, 1)."""
        larger = max(abs(re), abs(im))
        if larger == 0:
            return ZERO
        by = math.frexp(larger)[1]
        return Scaled(self.cut_off(math.ldexp(re, -by)), self.cut_off(math.ldexp(im, -by)), exponent + by)

    def plain(self, value: Scaled) -> Parts:
        """Return the parts of a scaled value, without an exponent."""
        power = self.power(value.exponent)
        return self.multiply(value.re, power), self.multiply(value.im, power)

    def sum(self, a: Scaled, b: Scaled) -> Scaled:
        """Return a + b, taken at the larger exponent."""
        exponent = max(a.exponent, b.exponent)
        by_a, by_b = self.power(a.exponent - exponent), self.power(b.exponent - exponent)
        fma, multiply = self.fma, self.multiply
        return Scaled(fma(a.re, by_a, multiply(b.re, by_b)), fma(a.im, by_a, multiply(b.im, by_b)), exponent)

    def product(self, a: Scaled, b: Scaled) -> Parts:
        """Return the product of two mantissas."""
        return self.product_of((a.re, a.im), (b.re, b.im))

    def product_of(self, a: Parts, b: Parts) -> Parts:
        """Return the product of two complex numbers."""
        fma, multiply = self.fma, self.multiply
        return fma(a[0], b[0], -multiply(a[1], b[1])), fma(a[0], b[1], multiply(a[1], b[0]))

    def times(self, a: Scaled, b: Scaled) -> Scaled:
        """Return a·b."""
        return Scaled(*self.product(a, b), a.exponent + b.exponent)

    def squared(self, z: ScaledBeside) -> ScaledBeside:
        """Return Z² and z·(2Z + z)."""
        value, by = z.value, z.by
        both = self.sum(Scaled(value.re, value.im, value.exponent + 1), by)
        return ScaledBeside(self._value_product(value, value), self._cut_product(by, self._cut(both)))

    def multiplied(self, z: ScaledBeside, stored: ScaledBeside) -> ScaledBeside:
        """Return Z·S and z·(S + s) + Z·s."""
        whole = self._cut(self.sum(stored.value, stored.by))
        by = self.sum(_within(self.times(z.by, whole)), _within(self.times(z.value, stored.by)))
        return ScaledBeside(self._value_product(z.value, stored.value), self._cut(by))

    def exactly(self, z: ScaledBeside, part: int, exact: ExactPart) -> ScaledBeside:  # noqa: ARG002 - the fold's
        """Return both, with what the fold behind takes."""
        return ScaledBeside(z.value, z.by, exact)

    def folded(self, z: ScaledBeside, part: int) -> ScaledBeside:
        """Return Z with the absolute value of a part, and |X + x| − |X| at the exponent of x."""
        value, by, exact = z
        parts, changes = [value.re, value.im], [by.re, by.im]
        mantissa, exponent = exact or (parts[part], value.exponent)
        above = max(-self.largest, min(exponent - by.exponent, self.largest + 1))
        here = self.multiply(mantissa, self.power(above)) if above <= self.largest else math.inf * mantissa
        x = changes[part]
        total = self.add(here, x)
        crossed = total > 0 if here < 0 else not total >= 0
        change = self.add(here, total) if crossed else x
        changes[part] = -change if (here < 0) != crossed else change
        parts[part] = self.multiply(abs(mantissa), self.power(min(exponent - value.exponent, self.largest)))
        folded = self._cut(Scaled(parts[0], parts[1], value.exponent))
        return ScaledBeside(folded, self._cut(Scaled(changes[0], changes[1], by.exponent)))

    def negated(self, z: ScaledBeside, part: int) -> ScaledBeside:
        """Return both with the other sign of a part."""
        first, second = (
            Scaled(-w.re, w.im, w.exponent) if part == 0 else Scaled(w.re, -w.im, w.exponent) for w in (z.value, z.by)
        )
        return ScaledBeside(first, second)

    def turned(self, z: ScaledBeside, cosine: Fraction, sine: Fraction) -> ScaledBeside:
        """Return both times cosine + sine·i."""
        turn = Scaled(self._rounded_ratio(cosine), self._rounded_ratio(sine), 0)
        first, second = (self._cut(Scaled(*self.product(w, turn), w.exponent)) for w in (z.value, z.by))
        return ScaledBeside(first, second)

    def _rounded_ratio(self, value: Fraction) -> float:
        """Return the nearest value of the format."""
        places = 2 * self.precision + max(0, value.denominator.bit_length() - value.numerator.bit_length())
        units, rest = divmod(abs(value.numerator) << places, value.denominator)
        rounded = self._rounded(2 * units + (rest > 0), places + 1)  # what is left decides a tie
        return -rounded if value < 0 else rounded

    def _cut(self, value: Scaled) -> Scaled:
        return Scaled(self.cut_off(value.re), self.cut_off(value.im), value.exponent)

    def _value_product(self, a: Scaled, b: Scaled) -> Scaled:
        product = _within(self.times(a, b))
        return self.normal(product.re, product.im, product.exponent)

    def _cut_product(self, a: Scaled, b: Scaled) -> Scaled:
        return self._cut(_within(self.times(a, b)))

    def norm(self, x: float, y: float) -> float:
        """Return x² + y²."""
        return self.fma(x, x, self.multiply(y, y))


FORMATS = {"double": FloatFormat(53, -1074, 1023, -300, -500), "float": FloatFormat(24, -149, 127, -30, -60)}


def key_of(t: Scaled) -> int:
    """Return exponent·256 and the eight bits after the first of the larger part."""
    if t.larger == 0:
        return _NO_KEY
    mantissa, shift = math.frexp(t.larger)
    return ((shift + t.exponent) << 8) + int(mantissa * 512) - 256
