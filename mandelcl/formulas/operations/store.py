"""`store`: keep z for the `mul` that follow."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.delta import Beside, DeltaRules
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import Growth, IntegerErrors, Operation, OrbitPoint


@dataclass(frozen=True, slots=True)
class Store(Operation):
    """z, which is also kept; it makes no operation of a kernel."""

    name: ClassVar[str] = "store"
    isometric: ClassVar[bool] = True

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:  # noqa: ARG002
        """Return z."""
        return place.z

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z."""
        return z

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z."""
        return z

    def integer_error(self, z: Parts, stored: Parts, bits: int, error: IntegerErrors) -> int:  # noqa: ARG002
        """Return z's."""
        return error.z

    def delta(self, rules: DeltaRules[Beside], z: Beside, stored: Beside) -> Beside:  # noqa: ARG002
        """Return z."""
        return z

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return dz."""
        return change
