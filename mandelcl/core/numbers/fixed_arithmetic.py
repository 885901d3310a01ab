"""Fixed point on the host, in digits of whole numbers. It gives the same bits as cl/number_fixed.cl."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from mandelcl.base.arithmetic import Complex

if TYPE_CHECKING:
    from mandelcl.core.numbers.fixed import FixedFormat

# Most significant first, each a count of its own units.
Digits: TypeAlias = list[int]


class FixedArithmetic:
    """The operations of a fixed-point format on digits."""

    def __init__(self, number: "FixedFormat") -> None:
        self._number = number
        self._zero = self.split(0)

    def encode(self, value: Fraction) -> Digits:
        """Return the digits of a value as it is encoded."""
        number = self._number
        return self.split(round(value * 2**number.fraction_bits) << number.spare_bits)

    def along(self, count: int, pitch: Fraction, start: Digits) -> Digits:
        """Return the digits of start + count·pitch, the pitch with its rest."""
        return self.placed(count, self.encode(pitch), self._number.rest(pitch), start)

    def placed(self, count: int, pitch: Digits, rest: int, start: Digits) -> Digits:
        """Return the digits of start + count·(pitch and its rest), rounded to a unit of the last digit, halves up."""
        more = Fraction(count * rest * 2**self._number.spare_bits, 2**32)
        nearest: int = math.floor(more + Fraction(1, 2))
        return self.split(self.join(start) + count * self.join(pitch) + nearest)

    def add(self, a: Digits, b: Digits) -> Digits:
        """Return a + b, exactly."""
        return self.split(self.join(a) + self.join(b))

    def subtract(self, a: Digits, b: Digits) -> Digits:
        """Return a − b, exactly."""
        return self.split(self.join(a) - self.join(b))

    def multiply(self, a: Digits, b: Digits) -> Digits:
        """Return a·b."""
        return self.multiply_add(a, b, self._zero)

    def multiply_add(self, a: Digits, b: Digits, c: Digits) -> Digits:
        """Return the digits of a·b + c.

        Column k holds the products of digits i + j = k; those from the number of digits on are dropped. A product is
        added to its column and rounded to the column's unit, ties to even; what that leaves goes to the next column,
        and is dropped in the last. At the end what exceeds half a unit is carried up.
        """
        count, bits = self._number.digits, self._number.bits
        sums, left = list(c), [0] * (count + 1)
        for k in range(count):
            for i in range(k + 1):
                product = a[i] * b[k - i]
                rounded = _round_ties_even((sums[k] << bits) + product, bits)
                left[k + 1] += (sums[k] << bits) + product - (rounded << bits)
                sums[k] = rounded
        for k in range(count - 1, 0, -1):
            whole = sums[k] + left[k]
            carry = _round_ties_even(whole, bits)
            sums[k] = whole - (carry << bits)
            sums[k - 1] += carry
        return sums

    def negate(self, a: Digits) -> Digits:
        """Return −a: each digit with the opposite sign."""
        return [-digit for digit in a]

    def absolute(self, a: Digits) -> Digits:
        """Return |a|; a value has the sign of its first digit that is not 0."""
        return self.negate(a) if next((digit for digit in a if digit), 0) < 0 else a

    def less(self, a: Digits, b: Digits) -> bool:
        """Return whether a < b."""
        return self.join(a) < self.join(b)

    def square_add(self, z: Complex, c: Complex) -> Complex:
        """Return the digits of z² + c: (x + y)(x − y) + cx and 2xy + cy, sums and differences digit by digit."""
        (x, y), (re, im) = z, c
        total, difference = [a + b for a, b in zip(x, y, strict=True)], [a - b for a, b in zip(x, y, strict=True)]
        return self.multiply_add(total, difference, re), self.multiply_add([2 * a for a in x], y, im)

    def complex_square(self, z: Complex) -> Complex:
        """Return the digits of z²."""
        return self.square_add(z, (self._zero, self._zero))

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        """Return the digits of a·b."""
        return self.complex_multiply_add(a, b, (self._zero, self._zero))

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        """Return the digits of a·b + c: for a = u + vi and b = x + yi, u·x + (−v·y + cx) and u·y + (v·x + cy)."""
        (u, v), (x, y), (re, im) = a, b, c
        next_re = self.multiply_add(u, x, self.multiply_add(self.negate(v), y, re))
        return next_re, self.multiply_add(u, y, self.multiply_add(v, x, im))

    def outside(self, z: Complex, radius_squared: Digits) -> bool:
        """Return whether |z|² > R², with |z|² the columns of both squares that a step keeps."""
        norm = 0
        for k in range(self._number.digits):
            column = sum(part[i] * part[k - i] for part in z for i in range(k + 1))
            norm = (norm << self._number.bits) + column
        return norm > self.join(radius_squared) << self._number.bits

    def split(self, units: int) -> Digits:
        """Return the digits of a whole number of units of the last digit: all but the first at most half, in size."""
        bits = self._number.bits
        half, result = 1 << (bits - 1), []
        for _ in range(self._number.digits - 1):
            carry = (units + half) >> bits
            result.append(units - (carry << bits))
            units = carry
        return [units, *reversed(result)]

    def join(self, digits: Digits) -> int:
        """Return the value of some digits: the inverse of `split`."""
        units = 0
        for digit in digits:
            units = (units << self._number.bits) + digit
        return units


def _round_ties_even(value: int, bits: int) -> int:
    return round(Fraction(value, 1 << bits))
