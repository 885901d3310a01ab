"""`absy`: the absolute value of the imaginary part."""

from dataclasses import dataclass
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.operations.operation import Place
from mandelcl.formulas.operations.turning import Turning


@dataclass(frozen=True, slots=True)
class AbsY(Turning):
    """z with the absolute value of its imaginary part, without a derivative on an axis: there 0 counts as positive."""

    name: ClassVar[str] = "absy"
    part: ClassVar[int] = 1
    derivative_operands: ClassVar[tuple[str, ...]] = ("z", "derivative")

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z, folded."""
        return place.z[0], arithmetic.absolute(place.z[1])
