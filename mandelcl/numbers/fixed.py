"""Fixed point of 2 to 32 words of 32 bits.

A value is encoded as the multiprecision article has it: two's complement in units of 2^(−32 (words − 1)), the last word
integral. The kernels compute with digits (cl/number_fixed.cl); `step` and `outside` say on Python integers what they
give, to the last bit.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.errors import InvalidInputError
from mandelcl.numbers.format import NumberFormat, Words
from mandelcl.view import View

LEAST_WORDS, MOST_WORDS = 2, 32
_LONG_DIGIT_WORDS = 4  # up to here a digit has 48 bits; longer columns need more room for their sums
_REACH = 1 << 15  # |c| must be below this

Digits = list[int]


@dataclass(frozen=True, slots=True)
class FixedFormat(NumberFormat):
    """Signed fixed point of `words` 32-bit words, the last of them integral; `fp128` is four."""

    @property
    def needs_fp64(self) -> bool:
        """Every device has it: its digits may be doubles or integers, with the same bits."""
        return False

    @property
    def roundings(self) -> tuple[str, ...]:
        """The one that the format defines."""
        return ("fixed",)

    @property
    def bits(self) -> int:
        """Bits of a digit."""
        return 48 if self.words <= _LONG_DIGIT_WORDS else 46

    @property
    def fraction_bits(self) -> int:
        """Fraction bits of an encoded value."""
        return 32 * (self.words - 1)

    @property
    def digits(self) -> int:
        """Digits of a real."""
        return -(-self.fraction_bits // self.bits)

    @property
    def reals_words(self) -> int:
        """32-bit words of both parts of a saved z: 64 bits a digit."""
        return 4 * self.digits

    @property
    def loops_per_step(self) -> int:
        """Iterations of inner loops that a step makes at most, where the compiler leaves them as loops."""
        return self.digits**2 + 5 * self.digits + 8

    @property
    def largest_radius_squared(self) -> Fraction:
        """The largest R² for which the first z outside is still exact: R of 2.3, or 5 with the shorter digits."""
        return Fraction(529, 100) if self.words <= _LONG_DIGIT_WORDS else Fraction(25)

    def least_radius_squared(self) -> Fraction:
        """Return the number just below 4."""
        return 4 - Fraction(1, 2**self.fraction_bits)

    def parts(self, double_digits: bool) -> tuple[str, ...]:
        """Return the kernel files that implement it."""
        return ("number_fixed.cl", "fixed_digits_double.cl" if double_digits else "fixed_digits_long.cl")

    def defines(self, rounding: str, double_digits: bool) -> dict[str, int]:  # noqa: ARG002 - there is one rounding
        """Return the build options that its kernel files expect."""
        return {"USE_FP64": int(double_digits), "NUMBER_WORDS": self.words, "DOUBLE_DIGITS": int(double_digits)}

    def encode(self, value: Fraction, what: str = "a value") -> Words:
        """Return the value, rounded to nearest (ties to even), as two's complement."""
        units = round(value * 2**self.fraction_bits)
        if not -(1 << 31) <= value < (1 << 31):
            raise InvalidInputError(f"{what} is too large for {self.name}")
        data = units.to_bytes(4 * self.words, "little", signed=True)
        return np.frombuffer(data, dtype="<u4").astype(np.uint32)

    def cannot_hold(self, view: View) -> str | None:
        """Return why a view's coordinates are beyond the format, in a phrase; None if they are not."""
        farthest = 1 << min(31, 62 - 31 - max(0, self.spare_bits - 32))
        if view.largest_offset >= farthest:
            return f"{self.name} holds fewer than {farthest} pixels a side"
        if view.largest_coordinate() >= _REACH:
            return f"{self.name} reaches coordinates up to {_REACH}"
        return None

    def unit(self, view: View) -> Fraction:  # noqa: ARG002 - the same everywhere
        """Return the unit in the last place."""
        return Fraction(1, 2**self.fraction_bits)

    @property
    def pitch_words(self) -> int:
        """32-bit words of an encoded distance between pixels: a value and what rounding it left over."""
        return self.words + 1

    @property
    def spare_bits(self) -> int:
        """Bits that digits have below the last encoded one."""
        return self.bits * self.digits - self.fraction_bits

    def encode_pitch(self, value: Fraction) -> Words:
        """Return the distance between pixels, and its rest in units of 2^−32 of the last encoded bit, signed."""
        return np.append(self.encode(value, "the distance between pixels"), np.uint32(self.rest(value) & 0xFFFFFFFF))

    def rest(self, value: Fraction) -> int:
        """Return what rounding a value to an encoded one leaves over, in units of 2^−32 of the last bit."""
        exact = value * 2**self.fraction_bits
        rest: int = round((exact - round(exact)) * 2**32)
        return min(rest, 2**31 - 1)

    def point(self, count: int, anchor: Digits, pitch: Digits, rest: int) -> Digits:
        """Return the digits of anchor + count·pitch, rounded to a unit of the last digit, halves up."""
        more = Fraction(count * rest * 2**self.spare_bits, 2**32)
        nearest: int = math.floor(more + Fraction(1, 2))
        return self.split(self.join(anchor) + count * self.join(pitch) + nearest)

    def load(self, value: Fraction) -> Digits:
        """Return the digits of a value as it is encoded, most significant first, each a count of its own units."""
        units = round(value * 2**self.fraction_bits) << (self.bits * self.digits - self.fraction_bits)
        return self.split(units)

    def split(self, units: int) -> Digits:
        """Return the digits of a whole number of units of the last digit: all but the first at most half, in size."""
        half, result = 1 << (self.bits - 1), []
        for _ in range(self.digits - 1):
            carry = (units + half) >> self.bits
            result.append(units - (carry << self.bits))
            units = carry
        return [units, *reversed(result)]

    def join(self, digits: Digits) -> int:
        """Return what `split` took apart."""
        units = 0
        for digit in digits:
            units = (units << self.bits) + digit
        return units

    def step(self, z: tuple[Digits, Digits], c: tuple[Digits, Digits]) -> tuple[Digits, Digits]:
        """Return the digits of z² + c: (x + y)(x − y) + cx and 2xy + cy."""
        (x, y), (cx, cy) = z, c
        total, difference = [a + b for a, b in zip(x, y, strict=True)], [a - b for a, b in zip(x, y, strict=True)]
        return self._multiply_add(total, difference, cx), self._multiply_add([2 * a for a in x], y, cy)

    def outside(self, z: tuple[Digits, Digits], radius_squared: Digits) -> bool:
        """Return whether |z|² > R², with |z|² the columns of both squares that a step keeps."""
        norm = 0
        for k in range(self.digits):
            column = sum(part[i] * part[k - i] for part in z for i in range(k + 1))
            norm = (norm << self.bits) + column
        return norm > self.join(radius_squared) << self.bits

    def _multiply_add(self, a: Digits, b: Digits, c: Digits) -> Digits:
        """Return the digits of a·b + c.

        Column k holds the products of digits i + j = k; those from `digits` on are dropped. A product is added to its
        column and rounded to the column's unit, ties to even; what that leaves goes to the next column, and is dropped
        in the last. At the end what exceeds half a unit is carried up.
        """
        sums, left = list(c), [0] * (self.digits + 1)
        for k in range(self.digits):
            for i in range(k + 1):
                product = a[i] * b[k - i]
                rounded = _round_ties_even((sums[k] << self.bits) + product, self.bits)
                left[k + 1] += (sums[k] << self.bits) + product - (rounded << self.bits)
                sums[k] = rounded
        for k in range(self.digits - 1, 0, -1):
            whole = sums[k] + left[k]
            carry = _round_ties_even(whole, self.bits)
            sums[k] = whole - (carry << self.bits)
            sums[k - 1] += carry
        return sums


def _round_ties_even(value: int, bits: int) -> int:
    return round(Fraction(value, 1 << bits))


FP128 = FixedFormat("fp128", 4)
