"""`mul`: z times the stored z."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.formulas.operations.operation import Growth, Moved, Operation, Place


@dataclass(frozen=True, slots=True)
class Mul(Operation):
    """z·stored."""

    name: ClassVar[str] = "mul"
    fuses: ClassVar[bool] = True
    operands: ClassVar[tuple[str, ...]] = ("z", "stored")
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative", "stored", "with_it")

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z·stored."""
        return arithmetic.complex_multiply(place.z, place.stored)

    def value_add(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z·stored + c."""
        return arithmetic.complex_multiply_add(place.z, place.stored, place.c)

    def point(self, arithmetic: DerivativeArithmetic, place: Place) -> Any:
        """Return z·stored."""
        return arithmetic.point_product(place.z, place.stored)

    def derivative(self, arithmetic: DerivativeArithmetic, place: Place, moved: Moved) -> Any:
        """Return stored times the change of z, plus z times that of the stored z."""
        return arithmetic.add(arithmetic.times(place.stored, moved.z), arithmetic.times(place.z, moved.stored))

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z·stored; columns of digits have room for z + stored + 1, too."""
        product = z.size * stored.size
        most = max(z.most, product, z.size + stored.size + 1)
        return Growth(product, z.degree + stored.degree, z.products + stored.products + 1, most)
