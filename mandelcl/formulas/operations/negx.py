"""`negx`: the real part changes its sign."""

from dataclasses import dataclass
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.operations.operation import Place
from mandelcl.formulas.operations.turning import Turning


@dataclass(frozen=True, slots=True)
class NegX(Turning):
    """z with the other sign of its real part."""

    name: ClassVar[str] = "negx"
    part: ClassVar[int] = 0

    def value(self, arithmetic: Arithmetic, place: Place) -> Complex:
        """Return z, mirrored."""
        return arithmetic.negate(place.z[0]), place.z[1]
