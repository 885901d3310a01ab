"""`absx`: the absolute value of the real part."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.formulas.operations.operation import Growth, Moved, Operation, Place


@dataclass(frozen=True, slots=True)
class AbsX(Operation):
    """z with the absolute value of its real part, without a derivative on an axis: there 0 counts as positive."""

    name: ClassVar[str] = "absx"
    analytic: ClassVar[bool] = False
    isometric: ClassVar[bool] = True
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative")

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z, folded."""
        return arithmetic.absolute(place.z[0]), place.z[1]

    def point(self, arithmetic: DerivativeArithmetic, place: Place) -> Any:
        """Return z, folded."""
        return arithmetic.point_turn_re(
            place.z, arithmetic.plain.less(place.z[0], arithmetic.plain.encode(Fraction(0)))
        )

    def derivative(self, arithmetic: DerivativeArithmetic, place: Place, moved: Moved) -> Any:
        """Return the change of z, turned where the real part is."""
        plain = arithmetic.plain
        return arithmetic.turn_re(moved.z, plain.less(place.z[0], plain.encode(Fraction(0))))

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z."""
        return z
