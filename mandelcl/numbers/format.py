"""Number formats: what each can hold, what it needs, and how an exact value becomes its words."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt

from mandelcl.view import View

Words = npt.NDArray[np.uint32]

# A coordinate's error moves a pixel by less than 2^−GUARD_BITS of the distance to the next one.
GUARD_BITS = 4


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
    def state_words(self) -> int:
        """32-bit words of one saved orbit: its index and z."""
        return 1 + self.reals_words

    @property
    def loops_per_step(self) -> int:
        """Iterations of inner loops that a step makes at most, where the compiler leaves them as loops."""
        return 1

    @property
    @abstractmethod
    def largest_radius_squared(self) -> Fraction | None:
        """The largest R² that it can test for; None where any finite one will do."""

    @abstractmethod
    def least_radius_squared(self) -> Fraction:
        """Return the least R² that it can test for: the number just below 4, which stands for |z|² ≥ 4.

        Below that an orbit could leave the disc and come back, and a count would depend on how often one looks.
        """

    @abstractmethod
    def parts(self, double_digits: bool) -> tuple[str, ...]:
        """Return the kernel files that implement it; `double_digits` where there is a choice of digits."""

    @abstractmethod
    def defines(self, rounding: str, double_digits: bool) -> dict[str, int]:
        """Return the build options that its kernel files expect."""

    @abstractmethod
    def encode(self, value: Fraction, what: str = "a value") -> Words:
        """Return the value, rounded to nearest, as `words` words.

        Raises InvalidInputError, naming `what`, where the format cannot hold it.
        """

    @property
    def pitch_words(self) -> int:
        """32-bit words of an encoded distance between pixels."""
        return self.words

    def encode_pitch(self, value: Fraction) -> Words:
        """Return the distance between pixels as `pitch_words` words."""
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
        `guard_bits` has it (docs/decisions/0004-number.md says why).
        """
        reason = self.cannot_hold(view)
        if reason:
            return reason
        if view.pitch >= self.unit(view) * 2 ** guard_bits(iterations):
            return None
        return f"{self.name} does not resolve pixels {approximate(view.pitch)} apart at {iterations} iterations"


@cache
def guard_bits(iterations: int) -> int:
    """Return the bits by which the pitch must stand above the last place, for a cap."""
    return GUARD_BITS + max(0, (iterations - 1).bit_length() - 10) // 4


def floor_log2(value: Fraction) -> int:
    """Return the largest e with 2^e ≤ value, for a positive value."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if value >= Fraction(2) ** exponent else exponent - 1


def approximate(value: Fraction) -> str:
    """Return a positive number in short for messages, however small it is."""
    if value >= Fraction(1, 10**300):
        return f"{float(value):.2g}"
    return f"1e{int(floor_log2(value) * 0.30103)}"
