"""`mul`: z times the stored z."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import Growth, Operation, OrbitPoint


@dataclass(frozen=True, slots=True)
class Mul(Operation):
    """z·stored."""

    name: ClassVar[str] = "mul"
    fuses: ClassVar[bool] = True
    operands: ClassVar[tuple[str, ...]] = ("z", "stored")
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative", "stored", "with_it")

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z·stored."""
        return arithmetic.complex_multiply(place.z, place.stored)

    def value_add(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z·stored + c."""
        return arithmetic.complex_multiply_add(place.z, place.stored, place.c)

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z·stored; columns of digits have room for z + stored + 1, too."""
        product = z.size * stored.size
        most = max(z.most, product, z.size + stored.size + 1)
        return Growth(product, z.degree + stored.degree, z.products + stored.products + 1, most)

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z·stored."""
        (x, y), (u, v) = z, stored
        return x * u - y * v >> bits, x * v + y * u >> bits

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:
        """Return stored·dz + z·dstored."""
        return rules.total(rules.product(change, stored), rules.product(kept, z))
