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

    def cube_add(self, z: Complex, c: Complex) -> Complex:
        x, y = z
        return x**3 - 3 * x * y**2 + c[0], 3 * x**2 * y - y**3 + c[1]
