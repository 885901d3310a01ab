"""`sqr`: z²."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import Growth, Operation, OrbitPoint


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

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return 2z·dz."""
        return rules.product(change, z, 1)
