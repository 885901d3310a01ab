"""`absy`: the absolute value of the imaginary part."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.formulas.operations.operation import Growth, Moved, Operation, Place


@dataclass(frozen=True, slots=True)
class AbsY(Operation):
    """z with the absolute value of its imaginary part, without a derivative on an axis: there 0 counts as positive."""

    name: ClassVar[str] = "absy"
    analytic: ClassVar[bool] = False
    isometric: ClassVar[bool] = True
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative")

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z, folded."""
        return place.z[0], arithmetic.absolute(place.z[1])

    def point(self, arithmetic: DerivativeArithmetic, place: Place) -> Any:
        """Return z, folded."""
        return arithmetic.point_turn_im(
            place.z, arithmetic.plain.less(place.z[1], arithmetic.plain.encode(Fraction(0)))
        )

    def derivative(self, arithmetic: DerivativeArithmetic, place: Place, moved: Moved) -> Any:
        """Return the change of z, turned where the imaginary part is."""
        plain = arithmetic.plain
        return arithmetic.turn_im(moved.z, plain.less(place.z[1], plain.encode(Fraction(0))))

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z."""
        return z
