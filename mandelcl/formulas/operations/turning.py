"""What operations share that turn the sign of a part of z, everywhere or on one side of an axis."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from mandelcl.arithmetic import Arithmetic, DerivativeArithmetic
from mandelcl.formulas.operations.operation import Moved, Operation, Place


@dataclass(frozen=True, slots=True)
class Turning(Operation):
    """z with another sign of a part, 0 for the real and 1 for the imaginary one; a change of z turns with it.

    Its kernel part defines operation_NAME_turned, too.
    """

    analytic: ClassVar[bool] = False
    isometric: ClassVar[bool] = True
    part: ClassVar[int]

    @abstractmethod
    def turned(self, arithmetic: DerivativeArithmetic, z: Any) -> bool:
        """Return whether the sign of the part of a point is turned."""

    def point(self, arithmetic: DerivativeArithmetic, place: Place) -> Any:
        """Return z, turned."""
        turn = (arithmetic.point_turn_re, arithmetic.point_turn_im)[self.part]
        return turn(place.z, self.turned(arithmetic, place.z))

    def derivative(self, arithmetic: DerivativeArithmetic, place: Place, moved: Moved) -> Any:
        """Return the change of z, turned where z is."""
        turn = (arithmetic.turn_re, arithmetic.turn_im)[self.part]
        return turn(moved.z, self.turned(arithmetic, place.z))


def is_negative(plain: Arithmetic, part: Any) -> bool:
    """Return whether a part of a point is below 0."""
    negative: bool = plain.less(part, plain.encode(Fraction(0)))
    return negative
