"""The operations of formulas in exact fractions: the first places of an orbit whose numbers are short."""

from fractions import Fraction

from mandelcl.base.arithmetic import Complex


class Rationals:
    """Fractions as an `Arithmetic`, in which nothing is rounded."""

    def encode(self, value: Fraction) -> Fraction:
        """Return a value."""
        return value

    def along(self, count: int, pitch: Fraction, start: Fraction) -> Fraction:
        """Return start + count·pitch."""
        return start + count * pitch

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        """Return a + b."""
        return a + b

    def subtract(self, a: Fraction, b: Fraction) -> Fraction:
        """Return a − b."""
        return a - b

    def multiply(self, a: Fraction, b: Fraction) -> Fraction:
        """Return a·b."""
        return a * b

    def multiply_add(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        """Return a·b + c."""
        return a * b + c

    def negate(self, a: Fraction) -> Fraction:
        """Return −a."""
        return -a

    def absolute(self, a: Fraction) -> Fraction:
        """Return |a|."""
        return abs(a)

    def less(self, a: Fraction, b: Fraction) -> bool:
        """Return whether a < b."""
        return a < b

    def complex_square(self, z: Complex) -> Complex:
        """Return z²."""
        return self.complex_multiply(z, z)

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        """Return a·b."""
        return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]

    def square_add(self, z: Complex, c: Complex) -> Complex:
        """Return z² + c."""
        return self.complex_multiply_add(z, z, c)

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        """Return a·b + c."""
        re, im = self.complex_multiply(a, b)
        return re + c[0], im + c[1]

    def outside(self, z: Complex, radius_squared: Fraction) -> bool:
        """Return whether |z|² > R²."""
        return bool(z[0] ** 2 + z[1] ** 2 > radius_squared)
