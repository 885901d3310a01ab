"""The IEEE 754 binary formats: float and double."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.errors import InvalidInputError
from mandelcl.numbers.format import NumberFormat, Words, floor_log2
from mandelcl.view import View


@dataclass(frozen=True, slots=True)
class IeeeFormat(NumberFormat):
    """An IEEE 754 binary format: `precision` significand bits with the hidden one, largest exponent `max_exponent`."""

    precision: int
    max_exponent: int

    @property
    def needs_fp64(self) -> bool:
        """Whether only devices with double have it."""
        return self.precision > 24

    @property
    def roundings(self) -> tuple[str, ...]:
        """Fused, or every operation on its own."""
        return ("fused", "separate")

    @property
    def reals_words(self) -> int:
        """32-bit words of both parts of a saved z."""
        return 2 * self.words

    @property
    def largest_radius_squared(self) -> None:
        """Any finite one will do."""
        return None

    def least_radius_squared(self) -> Fraction:
        """Return the number just below 4."""
        return 4 - Fraction(4, 1 << self.precision)

    def parts(self, double_digits: bool) -> tuple[str, ...]:  # noqa: ARG002 - it has no digits
        """Return the kernel files that implement it."""
        return (f"number_{self.name}.cl", "number_ieee.cl")

    def defines(self, rounding: str, double_digits: bool) -> dict[str, int]:  # noqa: ARG002 - no digits
        """Return the build options that its kernel files expect."""
        return {"USE_FP64": int(self.needs_fp64), "ROUNDING_FUSED": int(rounding == "fused")}

    def round(self, value: Fraction) -> Fraction:
        """Return the nearest representable value, ties to even; raises OverflowError beyond the largest.

        IEEE 754-2019, 4.3.1, with gradual underflow; on integers throughout.
        """
        if value == 0:
            return Fraction(0)
        exponent = max(floor_log2(abs(value)), 1 - self.max_exponent)
        unit = Fraction(2) ** (exponent - self.precision + 1)
        rounded = round(abs(value) / unit) * unit
        if rounded >= Fraction(2) ** (self.max_exponent + 1):
            raise OverflowError(f"too large for {self.name}")
        return rounded if value > 0 else -rounded

    def encode(self, value: Fraction, what: str = "a value") -> Words:
        """Return the value, rounded to nearest, as its bit pattern in `words` words."""
        try:
            exact = float(self.round(value))
        except OverflowError:
            raise InvalidInputError(f"{what} is too large for {self.name}") from None
        dtype = np.float64 if self.needs_fp64 else np.float32
        return np.array([exact], dtype=dtype).view("<u4").astype(np.uint32)

    def cannot_hold(self, view: View) -> str | None:
        """Return why a view's columns or coordinates are beyond the format, in a phrase; None if they are not."""
        if view.largest_offset > 1 << self.precision:
            return f"{self.name} holds at most {1 << self.precision} pixels a side"
        if view.largest_coordinate() >= Fraction(2) ** self.max_exponent:
            return f"{self.name} does not reach the coordinates"
        return None

    def unit(self, view: View) -> Fraction:
        """Return the unit in the last place of a view's largest coordinate, or of 1/4 where that is larger.

        However small c is, an interesting orbit has a z of some size, and is rounded there.
        """
        largest = max(view.largest_coordinate(), Fraction(1, 4))
        return Fraction(2) ** (floor_log2(largest) - self.precision + 1)


FLOAT = IeeeFormat("float", 1, 24, 127)
DOUBLE = IeeeFormat("double", 2, 53, 1023)
