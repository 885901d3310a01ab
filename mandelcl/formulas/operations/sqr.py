"""`sqr`: z²."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.delta import Beside, DeltaRules
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import Flags, Growth, IntegerErrors, Operation, OrbitPoint, modulus_above


@dataclass(frozen=True, slots=True)
class Sqr(Operation):
    """z²."""

    name: ClassVar[str] = "sqr"
    fuses: ClassVar[bool] = True
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative")

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z²."""
        return arithmetic.complex_square(place.z)

    def value_add(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z² + c."""
        return arithmetic.square_add(place.z, place.c)

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z²."""
        square = z.size * z.size
        return Growth(square, 2 * z.degree, 2 * z.products + 1, max(z.most, square))

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z²."""
        x, y = z
        return (x + y) * (x - y) >> bits, x * y >> bits - 1

    def integer_error(self, z: Parts, stored: Parts, bits: int, error: IntegerErrors) -> int:  # noqa: ARG002
        """Return 2|z|·z's and its square, and what rounding does."""
        (x, y), e = z, error.z
        if not e:
            return 3 if ((x + y) * (x - y) | 2 * x * y) & (1 << bits) - 1 else 0
        size, shift = modulus_above(z)
        return (((2 * size << shift) + e) * e >> bits) + 3

    def zeros(self, z: Flags, stored: Flags, c: Flags) -> Flags:  # noqa: ARG002
        """Return the parts of the square that are 0."""
        return z[0] and z[1], z[0] or z[1]

    def delta(self, rules: DeltaRules[Beside], z: Beside, stored: Beside) -> Beside:  # noqa: ARG002
        """Return Z² and z·(2Z + z)."""
        return rules.squared(z)

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return 2z·dz."""
        return rules.product(change, z, 1)
