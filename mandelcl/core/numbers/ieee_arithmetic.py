"""Float and double on the host. Each operation is rounded once, as IEEE 754 defines it."""

from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mandelcl.base.arithmetic import Complex

if TYPE_CHECKING:
    from mandelcl.core.numbers.ieee import IeeeFormat

Scalar: TypeAlias = np.float32 | np.float64


class Scalars:
    """Operations on numpy scalars, with infinities and NaN. A fused product and sum uses exact fractions."""

    def __init__(self, number: "IeeeFormat", fused: bool) -> None:
        self._number, self._fused = number, fused

    def value(self, value: float | Fraction | Scalar) -> Scalar:
        """Return a value of the number's type; one that has more digits is rounded."""
        if self._number.needs_fp64:
            return np.float64(value)
        return np.float32(value)

    def encode(self, value: Fraction) -> Scalar:
        """Return the nearest value."""
        try:
            return self.value(float(self._number.round(value)))
        except OverflowError:
            return self.value(np.inf if value > 0 else -np.inf)

    def along(self, count: int, pitch: Fraction, start: Scalar) -> Scalar:
        """Return start + count·pitch."""
        return self.multiply_add(self.value(count), self.encode(pitch), start)  # type: ignore[no-any-return]  # numpy does not say which

    def add(self, a: Scalar, b: Scalar) -> Any:
        """Return a + b."""
        with np.errstate(all="ignore"):
            return a + b

    def subtract(self, a: Scalar, b: Scalar) -> Any:
        """Return a − b."""
        with np.errstate(all="ignore"):
            return a - b

    def multiply(self, a: Scalar, b: Scalar) -> Any:
        """Return a·b."""
        with np.errstate(all="ignore"):
            return a * b

    def multiply_add(self, a: Scalar, b: Scalar, c: Scalar) -> Any:
        """Return a·b + c, in the rounding."""
        if self._fused:
            return self.fma(a, b, c)
        with np.errstate(all="ignore"):
            return a * b + c

    def negate(self, a: Scalar) -> Any:
        """Return −a."""
        return -a

    def absolute(self, a: Scalar) -> Any:
        """Return |a|."""
        return abs(a)

    def less(self, a: Scalar, b: Scalar) -> bool:
        """Return whether a < b."""
        return bool(a < b)

    def root_above(self, value: Scalar) -> Any:
        """Return `number_root_above` of a value that is not negative, as the number's kernel part takes it."""
        if self._number.needs_fp64:
            return np.sqrt(value) * self.value(1 + 2.0**-50)
        halved = self.value(0.5) * value
        inverse = (np.int32(0x5F3759DF) - (value.view(np.int32) >> 1)).view(np.float32)
        for _ in range(3):
            inverse = inverse * self.fma(-(halved * inverse), inverse, self.value(1.5))
        return value * inverse * self.value(1 + 2.0**-20)

    def square_add(self, z: Complex, c: Complex) -> Complex:
        """Return z² + c."""
        (x, y), (re, im) = z, c
        with np.errstate(all="ignore"):
            if self._fused:
                return self.fma(x, x, self.fma(-y, y, re)), self.fma(x + x, y, im)
            return (x * x - y * y) + re, (x + x) * y + im

    def complex_square(self, z: Complex) -> Complex:
        """Return z²."""
        x, y = z
        with np.errstate(all="ignore"):
            return (self.fma(x, x, -(y * y)) if self._fused else x * x - y * y), (x + x) * y

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        """Return a·b."""
        (x, y), (u, v) = a, b
        with np.errstate(all="ignore"):
            if self._fused:
                return self.fma(x, u, -(y * v)), self.fma(x, v, y * u)
            return x * u - y * v, x * v + y * u

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        """Return a·b + c."""
        (x, y), (u, v), (re, im) = a, b, c
        with np.errstate(all="ignore"):
            if self._fused:
                return self.fma(x, u, self.fma(-y, v, re)), self.fma(x, v, self.fma(y, u, im))
            return (x * u - y * v) + re, (x * v + y * u) + im

    def outside(self, z: Complex, radius_squared: Scalar) -> bool:
        """Return whether not |z|² ≤ R²; NaN is outside."""
        return not self.norm_squared(z) <= radius_squared

    def norm_squared(self, z: Complex) -> Any:
        """Return |z|²."""
        x, y = z
        with np.errstate(all="ignore"):
            return self.multiply_add(x, x, y * y)

    def fma(self, a: Scalar, b: Scalar, c: Scalar) -> Any:
        """Return a·b + c rounded once (IEEE 754-2019, 5.4.1), from exact fractions where all are finite."""
        if np.isfinite([a, b]).all() and not np.isfinite(c):
            return c  # a finite product, however large
        with np.errstate(all="ignore"):
            if not np.isfinite([a, b]).all():
                return a * b + c
            exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
            if exact == 0:
                # The signs of zeros as IEEE has them; an underflowing product has no part in an exact zero.
                return a * b + c
        return self.encode(exact)


class FusedIntegers:
    """Fused operations on whole multiples of the least denormal. They are much faster than fractions.

    Beyond the largest number it goes on as if there were larger ones, where a device has infinity; neither is inside.
    """

    def __init__(self, number: "IeeeFormat") -> None:
        self._number = number
        self.places = number.max_exponent + number.precision - 2  # a multiple's unit is 2 to minus this
        self._largest = 1 << (self.places + number.max_exponent + 1)

    def encode(self, value: Fraction) -> int:
        """Return the nearest value."""
        return int(self._number.round(value) * 2**self.places)

    def along(self, count: int, pitch: Fraction, start: int) -> int:
        """Return start + count·pitch."""
        return self.multiply_add(int(self._number.round(Fraction(count))) << self.places, self.encode(pitch), start)

    def add(self, a: int, b: int) -> int:
        """Return a + b."""
        return self._rounded((a + b) << self.places)

    def subtract(self, a: int, b: int) -> int:
        """Return a − b."""
        return self._rounded((a - b) << self.places)

    def multiply(self, a: int, b: int) -> int:
        """Return a·b."""
        return self._rounded(a * b)

    def multiply_add(self, a: int, b: int, c: int) -> int:
        """Return a·b + c, rounded once."""
        return self._rounded(a * b + (c << self.places))

    def negate(self, a: int) -> int:
        """Return −a."""
        return -a

    def absolute(self, a: int) -> int:
        """Return |a|."""
        return abs(a)

    def less(self, a: int, b: int) -> bool:
        """Return whether a < b."""
        return a < b

    def square_add(self, z: Complex, c: Complex) -> Complex:
        """Return z² + c."""
        (x, y), (re, im) = z, c
        return self.multiply_add(x, x, self.multiply_add(-y, y, re)), self.multiply_add(2 * x, y, im)

    def complex_square(self, z: Complex) -> Complex:
        """Return z²."""
        x, y = z
        return self.multiply_add(x, x, -self.multiply(y, y)), self.multiply(2 * x, y)

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        """Return a·b."""
        (x, y), (u, v) = a, b
        return self.multiply_add(x, u, -self.multiply(y, v)), self.multiply_add(x, v, self.multiply(y, u))

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        """Return a·b + c."""
        (x, y), (u, v), (re, im) = a, b, c
        return (
            self.multiply_add(x, u, self.multiply_add(-y, v, re)),
            self.multiply_add(x, v, self.multiply_add(y, u, im)),
        )

    def outside(self, z: Complex, radius_squared: int) -> bool:
        """Return whether not |z|² ≤ R²."""
        x, y = z
        if abs(x) >= self._largest or abs(y) >= self._largest:
            return True
        return self.multiply_add(x, x, self.multiply(y, y)) > radius_squared

    def _rounded(self, exact: int) -> int:
        """Return a number of squares of the unit as a number of units, rounded to the precision, ties to even."""
        dropped = max(exact.bit_length() - self._number.precision, self.places)
        floor, half = exact >> dropped, 1 << (dropped - 1)
        rest = exact - (floor << dropped)
        return (floor + (rest > half or (rest == half and floor & 1))) << (dropped - self.places)
