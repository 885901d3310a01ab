"""The arithmetic of formulas without rounding, in fractions."""

from fractions import Fraction

Complex = tuple[Fraction, Fraction]


class Ratios:
    """What formulas need of an arithmetic, exactly."""

    def encode(self, value: Fraction) -> Fraction:
        return value

    def add(self, a: Fraction, b: Fraction) -> Fraction:
        return a + b

    def subtract(self, a: Fraction, b: Fraction) -> Fraction:
        return a - b

    def multiply(self, a: Fraction, b: Fraction) -> Fraction:
        return a * b

    def multiply_add(self, a: Fraction, b: Fraction, c: Fraction) -> Fraction:
        return a * b + c

    def negate(self, a: Fraction) -> Fraction:
        return -a

    def absolute(self, a: Fraction) -> Fraction:
        return abs(a)

    def along(self, count: int, pitch: Fraction, start: Fraction) -> Fraction:
        return start + count * pitch

    def less(self, a: Fraction, b: Fraction) -> bool:
        return a < b

    def outside(self, z: Complex, radius_squared: Fraction) -> bool:
        return z[0] ** 2 + z[1] ** 2 > radius_squared

    def square_add(self, z: Complex, c: Complex) -> Complex:
        return z[0] * z[0] - z[1] * z[1] + c[0], 2 * z[0] * z[1] + c[1]

    def complex_square(self, z: Complex) -> Complex:
        return self.square_add(z, (Fraction(0), Fraction(0)))

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        return self.complex_multiply_add(a, b, (Fraction(0), Fraction(0)))

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        return a[0] * b[0] - a[1] * b[1] + c[0], a[0] * b[1] + a[1] * b[0] + c[1]
