"""What operations make of a value of a reference orbit and of another orbit's difference from it, in any arithmetic."""

from fractions import Fraction
from typing import Protocol, TypeVar

Beside = TypeVar("Beside")  # a value and a difference from it
Exact_contra = TypeVar("Exact_contra", contravariant=True)  # a part of a value, as it is exactly


class DeltaRules(Protocol[Beside]):
    """An arithmetic of differences: each method takes the pair (Z, z) to that of what is made of Z and of Z + z."""

    def squared(self, z: Beside) -> Beside:
        """Return Z² and z·(2Z + z)."""

    def multiplied(self, z: Beside, stored: Beside) -> Beside:
        """Return Z·S and z·(S + s) + Z·s."""

    def folded(self, z: Beside, part: int) -> Beside:
        """Return Z with the absolute value of a part, 0 or 1, and what that makes of z."""

    def negated(self, z: Beside, part: int) -> Beside:
        """Return both with the other sign of a part."""

    def turned(self, z: Beside, cosine: Fraction, sine: Fraction) -> Beside:
        """Return both times cosine + sine·i."""


class ExactRules(DeltaRules[Beside], Protocol[Beside, Exact_contra]):
    """Such an arithmetic that can be told a part of a value more exactly than products of rounded numbers have it."""

    def exactly(self, z: Beside, part: int, exact: Exact_contra) -> Beside:
        """Return both with that part of the value."""
