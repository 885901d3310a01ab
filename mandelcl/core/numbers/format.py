"""Number formats: their range, what they require of a device, and the encoding of exact values in words."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from mandelcl.base.arithmetic import Arithmetic
from mandelcl.base.exact import floor_log2
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.numbers.answers import Check
from mandelcl.formulas import Formula

# A coordinate's error moves a pixel by less than 2^−GUARD_BITS of the distance to the next one.
GUARD_BITS = 4


@dataclass(frozen=True, slots=True)
class ErrorBounds:
    """How far rounding can carry two orbits of a view apart, beyond the difference of their points.

    In a step by `unit`·(|z|^degree + |c|) + `step`, both orbits taken together. A step of the derivative has a relative
    error of at most `relative`; the difference of two z and that of their images on the way out differ by up to `far`.
    """

    unit: Fraction
    step: Fraction
    relative: Fraction
    far: Fraction


@dataclass(frozen=True, slots=True)
class NumberFormat(ABC):
    """A way to hold a real number: its name and the number of 32-bit words of an encoded value, low word first."""

    name: str
    words: int

    @property
    @abstractmethod
    def needs_fp64(self) -> bool:
        """Whether only devices with double have it."""

    @property
    @abstractmethod
    def roundings(self) -> tuple[str, ...]:
        """The roundings that a job may name with it, the one to prefer first."""

    @property
    @abstractmethod
    def reals_words(self) -> int:
        """32-bit words of both parts of a saved z."""

    @property
    @abstractmethod
    def derivative_parts(self) -> tuple[str, ...]:
        """Kernel files with its arithmetic of derivatives."""

    @property
    @abstractmethod
    def derivative_words(self) -> int:
        """32-bit words of a saved derivative, one complex number."""

    @property
    def has_digits(self) -> bool:
        """Whether its reals are made of digits, for which a kernel may take doubles or integers, with the same bits."""
        return False

    @property
    def products(self) -> int:
        """Products of digits in a product of two reals: what is written out where loops are unrolled."""
        return 1

    @property
    def is_native(self) -> bool:
        """Whether devices compute with it in hardware, and numpy on the host."""
        return not self.has_digits

    def vector_is_double(self, double_digits: bool) -> bool:  # noqa: ARG002 - there is nothing to choose
        """Return whether it fills vectors of double rather than of float or integers."""
        return self.needs_fp64

    @abstractmethod
    def arithmetic(self, rounding: str) -> Arithmetic:
        """Return the number's operations on the host, in a rounding. They give the bits of its kernel part."""

    @abstractmethod
    def checks(self, rounding: str, formula: Formula) -> list[Check]:
        """Return the known answers for the self-test of the number with a formula."""

    @property
    @abstractmethod
    def selftest_parts(self) -> tuple[str, ...]:
        """Kernel files with self-tests of its own."""

    @abstractmethod
    def step_unit(self, products: int) -> Fraction:
        """Return u such that no step is off by more than u·(|z|^degree + |c|), for |z| of at least 1.

        `products` is how many roundings of complex products it carries: of z^degree + c, degree − 1.
        """

    @property
    def step_reach(self) -> Fraction | None:
        """What |z|^degree + |c| must stay below for a step from within the disc; None if nothing is too large."""
        return None

    @abstractmethod
    def round(self, value: Fraction) -> Fraction:
        """Return the value that is encoded for one: the nearest, ties to even."""

    @abstractmethod
    def error_bounds(self, view: View, degree: int, radius_squared: Fraction, rounding: str) -> ErrorBounds:
        """Return how far rounding can carry the orbits of a view apart (docs/decisions/0008-border.md)."""

    def reaches_denormals(self, view: View, formula: Formula) -> bool:  # noqa: ARG002 - most numbers have none
        """Return whether an orbit of the view may meet a denormal number."""
        return False

    def loops_per_step(self, products: int) -> int:  # noqa: ARG002 - most numbers have no loops
        """Return how many iterations of inner loops a step makes at most, where the compiler leaves them as loops."""
        return 1

    @property
    @abstractmethod
    def largest_radius_squared(self) -> Fraction | None:
        """The largest R² that it can test for; None if any finite one will do."""

    @abstractmethod
    def least_radius_squared(self) -> Fraction:
        """Return the least R² that it can test for: the number just below 4, which stands for |z|² ≥ 4.

        Below that an orbit could leave the disc and come back, and a count would depend on how often it is tested.
        """

    @abstractmethod
    def parts(self, double_digits: bool) -> tuple[str, ...]:
        """Return the kernel files that implement it; `double_digits` where there is a choice of digits."""

    @abstractmethod
    def defines(self, rounding: str, double_digits: bool) -> dict[str, int]:
        """Return the build options that its kernel files expect."""

    @abstractmethod
    def literal(self, value: Fraction, double_digits: bool) -> str:
        """Return a constant as its initialiser in the text of a kernel, rounded as `encode` rounds or less."""

    @abstractmethod
    def far_literal(self, value: Fraction) -> str:
        """Return a constant as one of the reals in which an escaped orbit goes on."""

    @abstractmethod
    def encode(self, value: Fraction, what: str = "a value") -> Words:
        """Return the value, rounded to nearest, as `words` words.

        Raises InvalidInputError, naming `what`, where the format cannot hold it.
        """

    def encode_pitch(self, value: Fraction) -> Words:
        """Return the distance between pixels as words."""
        return self.encode(value, "the distance between pixels")

    @abstractmethod
    def cannot_hold(self, view: View) -> str | None:
        """Return why a view's columns or coordinates are beyond the format, in a phrase; None if they are not."""

    @abstractmethod
    def unit(self, view: View) -> Fraction:
        """Return the unit in the last place of a view's largest coordinate."""

    def unresolved(self, view: View, iterations: int) -> str | None:
        """Return why the format does not resolve a view, in a phrase; None if it does.

        Neighbouring pixels must be 2^guard units in the last place of the largest coordinate apart, as
        `guard_bits` has it (docs/decisions/0004-number.md has the reasons).
        """
        reason = self.cannot_hold(view)
        if reason:
            return reason
        finest = self.finest_pitch(view, iterations)
        if view.pitch >= finest:
            return None
        return (
            f"{self.name} does not resolve pixels {approximate(view.pitch)} apart at {iterations} iterations "
            f"(its limit: {approximate(finest)})"
        )

    def finest_pitch(self, view: View, iterations: int) -> Fraction:
        """Return the least distance between pixels that the format resolves around a view's coordinates."""
        return self.unit(view) * (1 << guard_bits(iterations))


@cache
def guard_bits(iterations: int) -> int:
    """Return the bits by which the pitch must stand above the last place, for an iteration limit."""
    return GUARD_BITS + max(0, (iterations - 1).bit_length() - 10) // 4


def approximate(value: Fraction) -> str:
    """Return a positive number in short for messages, however small it is."""
    if value >= Fraction(1, 10**300):
        return f"{float(value):.2g}"
    return f"1e{int(floor_log2(value) * 0.30103)}"
