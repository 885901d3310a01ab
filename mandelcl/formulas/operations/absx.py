"""`absx`: the absolute value of the real part."""

from dataclasses import dataclass
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.operations.operation import Place
from mandelcl.formulas.operations.turning import Turning


@dataclass(frozen=True, slots=True)
class AbsX(Turning):
    """z with the absolute value of its real part, without a derivative on an axis: there 0 counts as positive."""

    name: ClassVar[str] = "absx"
    part: ClassVar[int] = 0
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative")

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z, folded."""
        return arithmetic.absolute(place.z[0]), place.z[1]
