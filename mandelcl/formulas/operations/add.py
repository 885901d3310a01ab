"""`add`: z + c."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.delta import Beside, DeltaRules
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import Flags, Growth, IntegerErrors, Operation, OrbitPoint


@dataclass(frozen=True, slots=True)
class Add(Operation):
    """z + c."""

    name: ClassVar[str] = "add"
    operands: ClassVar[tuple[str, ...]] = ("z", "c")
    derivative_operands: ClassVar[tuple[str, ...]] = ("derivative", "move")

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z + c."""
        return arithmetic.add(place.z[0], place.c[0]), arithmetic.add(place.z[1], place.c[1])

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z + c."""
        total = z.size + constant
        return replace(z, size=total, most=max(z.most, total))

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z + c."""
        return z[0] + c[0], z[1] + c[1]

    def integer_error(self, z: Parts, stored: Parts, bits: int, error: IntegerErrors) -> int:  # noqa: ARG002
        """Return the sum of those of z and c."""
        return error.z + error.c

    def zeros(self, z: Flags, stored: Flags, c: Flags) -> Flags:  # noqa: ARG002
        """Return the parts that are 0 in z and in c."""
        return z[0] and c[0], z[1] and c[1]

    def delta(self, rules: DeltaRules[Beside], z: Beside, stored: Beside) -> Beside:  # noqa: ARG002
        """Return z: c is added to what follows a whole line."""
        return z

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return dz + dc."""
        return rules.with_constant(change)
