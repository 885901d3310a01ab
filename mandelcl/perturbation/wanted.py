"""What a reference orbit and its table depend on."""

from fractions import Fraction
from typing import NamedTuple

from mandelcl.core.reference import Reference


class Wanted(NamedTuple):
    """A reference, its cap and R², and the bits of the number in which errors are to be bounded, or None."""

    reference: Reference
    iterations: int
    radius_squared: Fraction
    unit_bits: int | None
