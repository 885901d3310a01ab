"""Number formats: what each can hold, what it needs, and how an exact value becomes its words."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.errors import InvalidInputError
from mandelcl.view import View


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """An IEEE binary format as the kernels use it.

    `precision` counts significand bits with the hidden one, `max_exponent` is the largest e of 1.f × 2^e; `words` is
    the number of 32-bit words of an encoded value, low word first. `parts` are the kernel files that implement it.
    """

    name: str
    precision: int
    max_exponent: int
    words: int
    needs_fp64: bool
    parts: tuple[str, ...]

    @property
    def state_words(self) -> int:
        """32-bit words of one saved orbit: its index and both parts of z."""
        return 1 + 2 * self.words

    def round(self, value: Fraction) -> Fraction:
        """Return the nearest representable value, ties to even; raises OverflowError beyond the largest.

        IEEE 754-2019, 4.3.1, with gradual underflow; on integers throughout.
        """
        if value == 0:
            return Fraction(0)
        magnitude = abs(value)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if magnitude < Fraction(2) ** exponent:
            exponent -= 1
        least_exponent = 1 - self.max_exponent
        unit = Fraction(2) ** (max(exponent, least_exponent) - self.precision + 1)
        rounded = round(magnitude / unit) * unit
        if rounded >= Fraction(2) ** (self.max_exponent + 1):
            raise OverflowError(f"too large for {self.name}")
        return rounded if value > 0 else -rounded

    def encode(self, value: Fraction, what: str = "a value") -> npt.NDArray[np.uint32]:
        """Return the value, rounded to nearest, as `words` words.

        Raises InvalidInputError, naming `what`, where the format has no finite value for it.
        """
        try:
            exact = float(self.round(value))
        except OverflowError:
            raise InvalidInputError(f"{what} is too large for {self.name}") from None
        dtype = np.float64 if self.needs_fp64 else np.float32
        return np.array([exact], dtype=dtype).view("<u4").astype(np.uint32)

    def unresolved(self, view: View, iterations: int) -> str | None:
        """Return why the format does not resolve a view, in a phrase; None if it does.

        Neighbouring pixels must differ by 2^guard units in the last place of the largest coordinate, where
        guard = 2 + ⌈log₂(iterations)/2⌉: the noise of an orbit grows with its length.
        """
        if self.cannot_hold(view):
            return self.cannot_hold(view)
        largest = max(view.largest_coordinate(), view.pitch)
        exponent = largest.numerator.bit_length() - largest.denominator.bit_length()
        unit = Fraction(2) ** (max(exponent, -2) - self.precision + 1)
        guard = guard_bits(iterations)
        if view.pitch >= unit * 2**guard:
            return None
        return f"{self.name} does not resolve pixels {float(view.pitch):.2g} apart at {iterations} iterations"

    def cannot_hold(self, view: View) -> str | None:
        """Return why a view's columns or coordinates are beyond the format, in a phrase; None if they are not."""
        if view.largest_offset > 1 << self.precision:
            return f"{self.name} holds at most {1 << self.precision} pixels a side"
        if view.largest_coordinate() >= Fraction(2) ** self.max_exponent:
            return f"{self.name} does not reach the coordinates"
        return None


def guard_bits(iterations: int) -> int:
    """Return the bits by which the pitch must stand above the last place, for a cap."""
    return 2 + ((iterations - 1).bit_length() + 1) // 2


FLOAT = NumberFormat("float", 24, 127, 1, False, ("number_float.cl", "number_ieee.cl"))
DOUBLE = NumberFormat("double", 53, 1023, 2, True, ("number_double.cl", "number_ieee.cl"))
NUMBERS = {number.name: number for number in (FLOAT, DOUBLE)}


def by_name(name: str) -> NumberFormat:
    """Return the format of that name; raises InvalidInputError for an unknown one."""
    if name not in NUMBERS:
        raise InvalidInputError(f"unknown number {name!r}; there is auto, {', '.join(NUMBERS)}")
    return NUMBERS[name]
