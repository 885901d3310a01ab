"""`negy`: the imaginary part changes its sign."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.formulas.operations.operation import Growth, Moved, Operation, Place


@dataclass(frozen=True, slots=True)
class NegY(Operation):
    """z with the other sign of its imaginary part."""

    name: ClassVar[str] = "negy"
    analytic: ClassVar[bool] = False
    isometric: ClassVar[bool] = True

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z, mirrored."""
        return place.z[0], arithmetic.negate(place.z[1])

    def point(self, arithmetic: DerivativeArithmetic, place: Place) -> Any:
        """Return z, mirrored."""
        return arithmetic.point_turn_im(place.z, True)

    def derivative(self, arithmetic: DerivativeArithmetic, place: Place, moved: Moved) -> Any:  # noqa: ARG002
        """Return the change of z, mirrored."""
        return arithmetic.turn_im(moved.z, True)

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z."""
        return z
