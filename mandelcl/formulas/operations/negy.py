"""`negy`: the imaginary part changes its sign."""

from dataclasses import dataclass
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.operations.operation import Place
from mandelcl.formulas.operations.turning import Turning


@dataclass(frozen=True, slots=True)
class NegY(Turning):
    """z with the other sign of its imaginary part."""

    name: ClassVar[str] = "negy"
    part: ClassVar[int] = 1

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z, mirrored."""
        return place.z[0], arithmetic.negate(place.z[1])
