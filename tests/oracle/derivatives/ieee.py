"""The arithmetic of derivatives for float and double on the host, to the last bit what cl/derivative_ieee.cl gives."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.core.numbers.ieee_arithmetic import FusedIntegers

if TYPE_CHECKING:
    from mandelcl.core.numbers.ieee import IeeeFormat


class IeeeDerivatives:
    """Derivatives are complex numbers of the format itself, in the rounding of `plain`; so is what goes on from them.

    `to_float` rounds one of its reals to float.
    """

    def __init__(self, number: "IeeeFormat", plain: Arithmetic, fused: bool) -> None:
        self.plain = self.far = plain
        self._fused = fused
        self._number = number
        self._zero = plain.encode(Fraction(0))

    def zero(self) -> Complex:
        """Return 0."""
        return self._zero, self._zero

    def unit(self, k: int) -> Complex:
        """Return 2^−k; 0 where there is no such number."""
        return self.plain.encode(Fraction(2) ** -k if k < self._number.max_exponent else Fraction(0)), self._zero

    def turned(self, a: Complex) -> Complex:
        """Return i·a, for an a that is real."""
        return a[1], a[0]

    def point(self, z: Complex) -> Complex:
        """Return z as it multiplies a derivative."""
        return z

    def far_from(self, z: Complex) -> Complex:
        """Return z as an orbit goes on with it to the smooth radius."""
        return z

    def constant(self, re: Fraction, im: Fraction) -> Complex:
        """Return a constant, as the number holds it, as a point."""
        return self.plain.encode(re), self.plain.encode(im)

    def point_square(self, z: Complex) -> Complex:
        """Return z², each operation rounded alone."""
        plain, (x, y) = self.plain, z
        return plain.subtract(plain.multiply(x, x), plain.multiply(y, y)), plain.multiply(plain.add(x, x), y)

    def point_product(self, a: Complex, b: Complex) -> Complex:
        """Return a·b, each operation rounded alone."""
        plain = self.plain
        re = plain.subtract(plain.multiply(a[0], b[0]), plain.multiply(a[1], b[1]))
        return re, plain.add(plain.multiply(a[0], b[1]), plain.multiply(a[1], b[0]))

    def point_sum(self, a: Complex, b: Complex) -> Complex:
        """Return a + b."""
        return self.add(a, b)

    def point_turn_re(self, z: Complex, where: bool) -> Complex:
        """Return z with the sign of its real part turned."""
        return self.turn_re(z, where)

    def point_turn_im(self, z: Complex, where: bool) -> Complex:
        """Return z with the sign of its imaginary part turned."""
        return self.turn_im(z, where)

    def add(self, a: Complex, b: Complex) -> Complex:
        """Return a + b."""
        return self.plain.add(a[0], b[0]), self.plain.add(a[1], b[1])

    def twice(self, a: Complex) -> Complex:
        """Return 2·a."""
        return self.add(a, a)

    def times(self, z: Complex, a: Complex) -> Complex:
        """Return z·a."""
        plain = self.plain
        less = plain.negate(plain.multiply(z[1], a[1]))
        return plain.multiply_add(z[0], a[0], less), plain.multiply_add(z[0], a[1], plain.multiply(z[1], a[0]))

    def square(self, z: Complex, a: Complex, turned: bool) -> Complex:
        """Return 2·z·a, with the sign of its imaginary part turned where `turned` says so."""
        plain, (re, im) = self.plain, self.twice(z)
        up_re, up_im = (plain.negate(part) if turned else part for part in (re, im))
        less = plain.negate(plain.multiply(im, a[1]))
        return plain.multiply_add(re, a[0], less), plain.multiply_add(up_re, a[1], plain.multiply(up_im, a[0]))

    def square_add(self, z: Complex, a: Complex, turned: bool, move: Complex) -> Complex:
        """Return the same plus move."""
        if not self._fused:
            return self.add(self.square(z, a, turned), move)
        plain, (re, im) = self.plain, self.twice(z)
        up_re, up_im = (plain.negate(part) if turned else part for part in (re, im))
        return (
            plain.multiply_add(re, a[0], plain.multiply_add(plain.negate(im), a[1], move[0])),
            plain.multiply_add(up_re, a[1], plain.multiply_add(up_im, a[0], move[1])),
        )

    def turn_re(self, a: Complex, where: bool) -> Complex:
        """Return a with the sign of its real part turned."""
        return (self.plain.negate(a[0]) if where else a[0]), a[1]

    def turn_im(self, a: Complex, where: bool) -> Complex:
        """Return a with the sign of its imaginary part turned."""
        return a[0], (self.plain.negate(a[1]) if where else a[1])

    def parts(self, a: Complex) -> tuple[np.float32, np.float32]:
        """Return both parts, rounded to float."""
        return self.to_float(a[0]), self.to_float(a[1])

    def to_float(self, value: Any) -> np.float32:
        """Return a real rounded to float."""
        with np.errstate(over="ignore"):
            if isinstance(value, int):
                return np.float32(float(Fraction(value, 1 << FusedIntegers(self._number).places)))
            return np.float32(float(value))
