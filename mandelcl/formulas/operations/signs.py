"""Operations that change the sign of a part of z, everywhere or on one side of an axis."""

from dataclasses import dataclass
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.delta import Beside, DeltaRules
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import IntegerErrors, Operation, OrbitPoint


@dataclass(frozen=True, slots=True)
class Turning(Operation):
    """z with another sign of a part, 0 for the real and 1 for the imaginary one; a change of z turns with it.

    Its kernel part defines operation_NAME_turned, too.
    """

    analytic: ClassVar[bool] = False
    isometric: ClassVar[bool] = True
    part: ClassVar[int]

    def integer_error(self, z: Parts, stored: Parts, bits: int, error: IntegerErrors) -> int:  # noqa: ARG002
        """Return z's: a fold moves no two points apart."""
        return error.z

    def delta(self, rules: DeltaRules[Beside], z: Beside, stored: Beside) -> Beside:  # noqa: ARG002
        """Return both, folded or mirrored."""
        return rules.folded(z, self.part) if self.folds else rules.negated(z, self.part)


@dataclass(frozen=True, slots=True)
class NegY(Turning):
    """z with the other sign of its imaginary part."""

    name: ClassVar[str] = "negy"
    part: ClassVar[int] = 1

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z, mirrored."""
        return place.z[0], arithmetic.negate(place.z[1])

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z, mirrored."""
        return z[0], -z[1]

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return the conjugate of dz."""
        return rules.mirrored(change)


@dataclass(frozen=True, slots=True)
class NegX(Turning):
    """z with the other sign of its real part."""

    name: ClassVar[str] = "negx"
    part: ClassVar[int] = 0

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z, mirrored."""
        return arithmetic.negate(place.z[0]), place.z[1]

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z, mirrored."""
        return -z[0], z[1]

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return less the conjugate of dz."""
        return rules.negated(rules.mirrored(change))


@dataclass(frozen=True, slots=True)
class AbsY(Turning):
    """z with the absolute value of its imaginary part, without a derivative on an axis: there 0 counts as positive."""

    name: ClassVar[str] = "absy"
    folds: ClassVar[bool] = True
    part: ClassVar[int] = 1
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative")

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z, folded."""
        return place.z[0], arithmetic.absolute(place.z[1])

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z, folded."""
        return z[0], abs(z[1])

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return dz, or its conjugate below the real axis."""
        return rules.mirrored(change) if z[1] < 0 else change


@dataclass(frozen=True, slots=True)
class AbsX(Turning):
    """z with the absolute value of its real part, without a derivative on an axis: there 0 counts as positive."""

    name: ClassVar[str] = "absx"
    folds: ClassVar[bool] = True
    part: ClassVar[int] = 0
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative")

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z, folded."""
        return arithmetic.absolute(place.z[0]), place.z[1]

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z, folded."""
        return abs(z[0]), z[1]

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return dz, or less its conjugate left of the imaginary axis."""
        return rules.negated(rules.mirrored(change)) if z[0] < 0 else change
