"""The IEEE 754 binary formats: float and double."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.base.arithmetic import Arithmetic
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import floor_log2, just_below_4
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.numbers.answers import Check
from mandelcl.core.numbers.format import ErrorBounds, NumberFormat
from mandelcl.core.numbers.ieee_arithmetic import FusedIntegers, Scalars
from mandelcl.formulas import Formula


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
    def derivative_parts(self) -> tuple[str, ...]:
        """Plain numbers of the same type."""
        return ("derivative_ieee.cl",)

    @property
    def derivative_words(self) -> int:
        """As many as z has."""
        return self.reals_words

    @property
    def selftest_parts(self) -> tuple[str, ...]:
        """Kernel files with self-tests of its own."""
        return ("selftest_ieee.cl",)

    def arithmetic(self, rounding: str) -> Arithmetic:
        """Return the number's operations in a rounding, on the host."""
        return FusedIntegers(self) if rounding == "fused" else Scalars(self, fused=False)

    def checks(self, rounding: str, formula: Formula) -> list[Check]:
        """Return the known answers for a device's self-test."""
        from mandelcl.core.numbers import ieee_answers  # only a self-test needs it

        return ieee_answers.checks(self, rounding == "fused", formula)

    def step_unit(self, products: int) -> Fraction:
        """Return 3·2^−precision a product and a little more, in either rounding (docs/decisions/0008-border.md)."""
        return Fraction(3 * products * 1025, 1024 << self.precision)

    def error_bounds(self, view: View, degree: int, radius_squared: Fraction, rounding: str) -> ErrorBounds:  # noqa: ARG002 - relative errors
        """Return how far rounding can carry the orbits of a view apart."""
        ulp = Fraction(1, 2**self.precision)
        away = view.largest_offset * view.lattice.stretch  # how far a pixel is from the anchor, along either side
        step = 4 * away * ulp if rounding == "separate" else Fraction(0)
        if not view.lattice.is_upright:  # a second product and sum on the way to c
            step = (8 * away + 4 * view.largest_coordinate()) * ulp
        return ErrorBounds(2 * self.step_unit(degree - 1), step, Fraction(1, 2 ** (self.precision - 5)), Fraction(0))

    @property
    def largest_radius_squared(self) -> None:
        """Any finite one will do."""
        return None

    def least_radius_squared(self) -> Fraction:
        """Return the number just below 4."""
        return just_below_4(self.precision - 2)

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

    def literal(self, value: Fraction, double_digits: bool) -> str:  # noqa: ARG002 - it has no digits
        """Return the nearest value in hexadecimal, in all lanes."""
        return f"(number_real)({float(self.round(value)).hex()}{'' if self.needs_fp64 else 'f'})"

    def far_literal(self, value: Fraction) -> str:
        """Return the same: the way out is in the number itself."""
        return self.literal(value, double_digits=False)

    def cannot_hold(self, view: View) -> str | None:
        """Return why a view's columns or coordinates are beyond the format, in a phrase; None if they are not."""
        if view.largest_offset > 1 << self.precision:
            return f"{self.name} holds at most {1 << self.precision} pixels a side"
        if view.largest_coordinate() >= Fraction(2) ** self.max_exponent:
            return f"{self.name} does not reach the coordinates"
        return None

    def unit(self, view: View) -> Fraction:
        """Return the unit in the last place of a view's largest coordinate, or of 1/4 if that is larger.

        However small c is, an interesting orbit has a z of some size, and is rounded there.
        """
        largest = max(view.largest_coordinate(), Fraction(1, 4))
        return Fraction(2) ** (floor_log2(largest) - self.precision + 1)

    def reaches_denormals(self, view: View, formula: Formula) -> bool:
        """Return whether some coordinate is so near an axis, without lying on it, that squares underflow.

        The bound is generous: constants of at least 2^−(max_exponent/2 − 3) have squares well above the least normal
        number, and the terms added to these keep what follows from growing smaller. An orbit whose constant is real or
        imaginary may shrink for ever towards an axis that it does not begin on. Where steps do not end with c, nothing
        is known.
        """
        if not formula.adds_last:
            return True
        bound = Fraction(1, 2 ** (self.max_exponent // 2 - 3))
        if formula.constant is not None and min(map(abs, formula.constant)) < bound:
            return True
        if formula.constant is not None or not view.lattice.is_upright:
            return self._least_coordinate(view) < bound
        if view.pitch < bound:
            return True
        lattice = view.lattice
        axes = ((lattice.re, -lattice.column, view.width), (-lattice.im, -lattice.row, view.height))
        for anchor, first, size in axes:
            nearest = round(-anchor / view.pitch)
            for step in range(nearest - 1, nearest + 2):
                if first <= step < first + size and 0 < abs(anchor + step * view.pitch) < bound:
                    return True
        return False

    def _least_coordinate(self, view: View) -> Fraction:
        """Return a bound below every coordinate but 0, as it is computed.

        All are sums of whole multiples of the anchor and of the matrix' entries, so multiples of the least unit in the
        last place of these; rounding keeps them that.
        """
        lattice = view.lattice
        values = [abs(self.round(value)) for value in (lattice.re, lattice.im, *lattice.matrix)]
        return min(Fraction(2) ** (floor_log2(value) - self.precision + 1) for value in values if value)


FLOAT = IeeeFormat("float", 1, 24, 127)
DOUBLE = IeeeFormat("double", 2, 53, 1023)
IEEE_FORMATS = {number.name: number for number in (FLOAT, DOUBLE)}
