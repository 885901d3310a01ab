"""Fixed point of 2 to 32 words of 32 bits.

A value is encoded as the multiprecision article has it: two's complement in units of 2^(−32 (words − 1)), the last word
integral. The kernels compute with digits (cl/number_fixed.cl); `fixed_arithmetic` defines with Python integers what
they give, to the last bit.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.base.arithmetic import Arithmetic
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import just_below_4, root_above
from mandelcl.base.view import View
from mandelcl.base.words import WORD_MASK, Words
from mandelcl.core.numbers.answers import Check, exact_check
from mandelcl.core.numbers.fixed_arithmetic import FixedArithmetic
from mandelcl.core.numbers.format import ErrorBounds, NumberFormat
from mandelcl.formulas import Formula

LEAST_WORDS, MOST_WORDS = 2, 32
_LONG_DIGIT_WORDS = 4  # up to here a digit has 48 bits; longer columns need more room for their sums
_REACH = 1 << 15  # |c| must be below this
_FARTHEST = 1 << 30  # the anchor and a step must be below this, so that they are encoded


@dataclass(frozen=True, slots=True)
class FixedFormat(NumberFormat):
    """Signed fixed point of `words` 32-bit words, the last of them integral; `fp128` is four."""

    @property
    def needs_fp64(self) -> bool:
        """Every device has it: its digits may be doubles or integers, with the same bits."""
        return False

    @property
    def roundings(self) -> tuple[str, ...]:
        """The rounding that the format defines."""
        return ("fixed",)

    @property
    def bits(self) -> int:
        """Bits of a digit."""
        return 48 if self.words <= _LONG_DIGIT_WORDS else 46

    @property
    def fraction_bits(self) -> int:
        """Fraction bits of an encoded value."""
        return 32 * (self.words - 1)

    @property
    def digits(self) -> int:
        """Digits of a real."""
        return -(-self.fraction_bits // self.bits)

    @property
    def reals_words(self) -> int:
        """32-bit words of both parts of a saved z: 64 bits a digit."""
        return 4 * self.digits

    @property
    def derivative_parts(self) -> tuple[str, ...]:
        """Whole numbers with an exponent."""
        return ("derivative_fixed.cl",)

    @property
    def derivative_words(self) -> int:
        """Two parts and the exponent."""
        return 3

    def loops_per_step(self, products: int) -> int:
        """Return how many iterations of inner loops a step makes at most, where the compiler leaves them as loops."""
        return _pairs_of_products(products) * (self.digits**2 + 5 * self.digits + 8)

    @property
    def largest_radius_squared(self) -> Fraction:
        """The largest R² for which the first z outside is still exact: R of 2.3, or 5 with the shorter digits."""
        return Fraction(529, 100) if self.words <= _LONG_DIGIT_WORDS else Fraction(25)

    def least_radius_squared(self) -> Fraction:
        """Return the number just below 4."""
        return just_below_4(self.fraction_bits)

    def parts(self, double_digits: bool) -> tuple[str, ...]:
        """Return the kernel files that implement it."""
        return ("number_fixed.cl", "fixed_digits_double.cl" if double_digits else "fixed_digits_long.cl")

    def defines(self, rounding: str, double_digits: bool) -> dict[str, int]:  # noqa: ARG002 - there is one rounding
        """Return the build options that its kernel files expect."""
        return {"USE_FP64": int(double_digits), "NUMBER_WORDS": self.words, "DOUBLE_DIGITS": int(double_digits)}

    def round(self, value: Fraction) -> Fraction:
        """Return the nearest multiple of the last encoded bit, ties to even."""
        return Fraction(round(value * 2**self.fraction_bits), 2**self.fraction_bits)

    def encode(self, value: Fraction, what: str = "a value") -> Words:
        """Return the value, rounded to nearest (ties to even), as two's complement."""
        units = round(value * 2**self.fraction_bits)
        if not -(1 << 31) <= value < (1 << 31):
            raise InvalidInputError(f"{what} is too large for {self.name}")
        data = units.to_bytes(4 * self.words, "little", signed=True)
        return np.frombuffer(data, dtype="<u4").astype(np.uint32)

    def literal(self, value: Fraction, double_digits: bool) -> str:
        """Return the digits of the encoded value, each in all lanes."""
        digits = FixedArithmetic(self).encode(value)
        if not double_digits:
            return f"{{{{{', '.join(f'(digit_lanes)({digit}L)' for digit in digits)}}}}}"
        units = [digit * Fraction(1, 2 ** (self.bits * (k + 1))) for k, digit in enumerate(digits)]
        return f"{{{{{', '.join(f'(digit_lanes)({float(unit).hex()})' for unit in units)}}}}}"

    def far_literal(self, value: Fraction) -> str:
        """Return a float: the first digit, as `number_to_float` rounds it."""
        first = FixedArithmetic(self).encode(value)[0]
        return f"(number_far_real)({float(np.float32(first) * np.float32(2.0**-self.bits)).hex()}f)"

    def cannot_hold(self, view: View) -> str | None:
        """Return why a view's coordinates are beyond the format, in a phrase; None if they are not."""
        farthest = 1 << min(31, 62 - 31 - max(0, self.spare_bits - 32))
        if view.largest_offset >= farthest:
            return f"{self.name} holds fewer than {farthest} pixels a side"
        if view.largest_coordinate() >= _REACH:
            return f"{self.name} reaches coordinates up to {_REACH}"
        lattice = view.lattice
        if max(map(abs, (lattice.re, lattice.im, *lattice.matrix))) >= _FARTHEST:
            return f"{self.name} holds an anchor, and a distance between pixels, below {_FARTHEST}"
        return None

    def unit(self, view: View) -> Fraction:  # noqa: ARG002 - the same everywhere
        """Return the unit in the last place."""
        return Fraction(1, 2**self.fraction_bits)

    @property
    def spare_bits(self) -> int:
        """Bits that digits have below the last encoded one."""
        return self.bits * self.digits - self.fraction_bits

    def encode_pitch(self, value: Fraction) -> Words:
        """Return the distance between pixels, and its rest in units of 2^−32 of the last encoded bit, signed."""
        return np.append(self.encode(value, "the distance between pixels"), np.uint32(self.rest(value) & WORD_MASK))

    def rest(self, value: Fraction) -> int:
        """Return the remainder of rounding a value to an encoded one, in units of 2^−32 of the last bit."""
        exact = value * 2**self.fraction_bits
        rest: int = round((exact - round(exact)) * 2**32)
        return min(rest, 2**31 - 1)

    @property
    def has_digits(self) -> bool:
        """True: doubles or integers."""
        return True

    @property
    def products(self) -> int:
        """Products of digits in a product of two reals."""
        return self.digits**2

    def vector_is_double(self, double_digits: bool) -> bool:
        """Return whether its digits are doubles; integers of 64 bits take as much room, but are two of 32."""
        return double_digits

    @property
    def selftest_parts(self) -> tuple[str, ...]:
        """None."""
        return ()

    def arithmetic(self, rounding: str) -> Arithmetic:  # noqa: ARG002 - there is one
        """Return the number's operations, on the host."""
        return FixedArithmetic(self)

    def checks(self, rounding: str, formula: Formula) -> list[Check]:  # noqa: ARG002 - there is one
        """Return the known answers for a device's self-test."""
        from mandelcl.core.numbers import fixed_answers  # only a self-test needs it

        return [exact_check(formula.summary, "selftest_number", *fixed_answers.steps(self, formula))]

    @property
    def last_unit(self) -> Fraction:
        """The unit of the last digit, in which a step rounds."""
        return Fraction(1, 2 ** (self.bits * self.digits))

    def step_unit(self, products: int) -> Fraction:
        """Return 2·digits units of the last digit a pair of products: each is off by less than digits − 1/2.

        docs/decisions/0007-fixed-point.md adds them up.
        """
        return 2 * self.digits * _pairs_of_products(products) * self.last_unit

    @property
    def step_reach(self) -> Fraction:
        """8, or 32 with the shorter digits: beyond, digits are lost (cl/fixed_digits_double.cl)."""
        return Fraction(8 if self.words <= _LONG_DIGIT_WORDS else 32)

    def error_bounds(self, view: View, degree: int, radius_squared: Fraction, rounding: str) -> ErrorBounds:  # noqa: ARG002 - there is one
        """Return how far rounding can carry the orbits of a view apart."""
        in_step = (
            2 * self.digits * _pairs_of_products(degree - 1) * math.ceil(root_above(radius_squared)) ** (degree - 2)
        )
        units = 2 * (in_step + 2) + (0 if view.lattice.is_upright else 4)  # a second rounding on the way to c
        far = (radius_squared + 1) * Fraction(1, 1 << 22)
        return ErrorBounds(Fraction(0), units * self.last_unit, Fraction(1, 2 ** (24 - 5)), far)


def _pairs_of_products(products: int) -> int:
    """Return how many times some complex products take one of reals for each part: once for z², twice for each more."""
    return 2 * products - 1


FP128 = FixedFormat("fp128", 4)
