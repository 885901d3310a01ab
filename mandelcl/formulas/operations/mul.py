"""`mul`: z times the stored z."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.delta import Beside, DeltaRules
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import Flags, Growth, IntegerErrors, Operation, OrbitPoint, modulus_above


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

    def integer_error(self, z: Parts, stored: Parts, bits: int, error: IntegerErrors) -> int:
        """Return |z|·stored's + |stored|·z's + the product of both, and what rounding does."""
        (x, y), (u, v), e, f = z, stored, error.z, error.stored
        (size, shift), (other, by) = modulus_above(z), modulus_above(stored)
        through = (size * f << shift) + (other * e << by) + e * f
        if not through and not ((x * u - y * v) | (x * v + y * u)) & (1 << bits) - 1:
            return 0
        return (through >> bits) + 3

    def zeros(self, z: Flags, stored: Flags, c: Flags) -> Flags:  # noqa: ARG002
        """Return the parts of a product that are 0."""
        (x, y), (u, v) = z, stored
        return (x or u) and (y or v), (x or v) and (y or u)

    def delta(self, rules: DeltaRules[Beside], z: Beside, stored: Beside) -> Beside:
        """Return Z·S and z·(S + s) + Z·s."""
        return rules.multiplied(z, stored)

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:
        """Return stored·dz + z·dstored."""
        return rules.total(rules.product(change, stored), rules.product(kept, z))
