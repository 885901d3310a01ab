"""The operations of a number in one rounding on the host. They are slow, exact and independent of every device.

`numbers` implements them; formulas and methods are written in them, once for all numbers.
"""

from fractions import Fraction
from typing import Any, Protocol, TypeAlias

# A real in the arithmetic's own form (a numpy scalar or array, a whole number, digits), and a pair of them.
Real: TypeAlias = Any
Complex: TypeAlias = tuple[Any, Any]


class Arithmetic(Protocol):
    """The operations of a number's kernel part, with the same bits. They never raise."""

    def encode(self, value: Fraction) -> Real:
        """Return a value as the number holds it, rounded to nearest."""

    def along(self, count: Any, pitch: Fraction, start: Real) -> Real:
        """Return start + count·pitch, as the kernels place pixels."""

    def add(self, a: Real, b: Real) -> Real:
        """Return a + b."""

    def subtract(self, a: Real, b: Real) -> Real:
        """Return a − b."""

    def multiply(self, a: Real, b: Real) -> Real:
        """Return a·b."""

    def multiply_add(self, a: Real, b: Real, c: Real) -> Real:
        """Return a·b + c."""

    def negate(self, a: Real) -> Real:
        """Return −a."""

    def absolute(self, a: Real) -> Real:
        """Return |a|."""

    def less(self, a: Real, b: Real) -> Any:
        """Return whether a < b."""

    def square_add(self, z: Complex, c: Complex) -> Complex:
        """Return z² + c, in the order of operations that is the number's own."""

    def complex_square(self, z: Complex) -> Complex:
        """Return z², in the order of operations that is the number's own."""

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        """Return a·b, in the order of operations that is the number's own."""

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        """Return a·b + c, in the order of operations that is the number's own."""

    def outside(self, z: Complex, radius_squared: Real) -> Any:
        """Return whether not |z|² ≤ R²."""
