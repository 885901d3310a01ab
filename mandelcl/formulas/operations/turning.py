"""What operations share that turn the sign of a part of z, everywhere or on one side of an axis."""

from dataclasses import dataclass
from typing import ClassVar

from mandelcl.formulas.operations.operation import Operation


@dataclass(frozen=True, slots=True)
class Turning(Operation):
    """z with another sign of a part, 0 for the real and 1 for the imaginary one; a change of z turns with it.

    Its kernel part defines operation_NAME_turned, too.
    """

    analytic: ClassVar[bool] = False
    isometric: ClassVar[bool] = True
    part: ClassVar[int]
