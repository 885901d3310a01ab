"""An operation of a formula: its functions on the host, and its properties for the kernel text."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple, TypeAlias

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.formulas.delta import Beside, DeltaRules
from mandelcl.formulas.differential import Change, Differential, Parts

Flags: TypeAlias = tuple[bool, bool]  # of re and im
_MODULUS_BITS = 40


@dataclass(frozen=True, slots=True)
class OrbitPoint:
    """What an operation finds: z, the z that was stored last, and the constant c, each in one arithmetic."""

    z: Complex
    stored: Complex
    c: Complex


class IntegerErrors(NamedTuple):
    """Bounds of the errors of numbers in units of 2^−bits: of z, of the z that was stored last, and of c."""

    z: int
    stored: int
    c: int


@dataclass(frozen=True, slots=True)
class Growth:
    """What is known of a value within a line, for z of modulus `size` at its start.

    `size` bounds the modulus, `degree` says with which power of |z| it grows, `products` how many roundings of complex
    products it carries at most, as shares of its modulus, and `most` bounds all that was made on the way to it.
    """

    size: Fraction
    degree: int
    products: int
    most: Fraction


def modulus_above(z: Parts) -> tuple[int, int]:
    """Return (m, s) with |z| at most m·2^s, and hardly less: m has some 40 bits."""
    x, y = z
    shift = max(0, max(x.bit_length(), y.bit_length()) - _MODULUS_BITS)
    a, b = (int(abs(part) >> shift) + 1 for part in z)
    return math.isqrt(a * a + b * b) + 1, shift


@dataclass(frozen=True, slots=True)
class Operation(ABC):
    """One elementary operation on z.

    Its kernel part defines operation_NAME, the same in `number_far` as operation_NAME_far, and operation_NAME_point and
    operation_NAME_derivative beside derivatives, but for `sqr`, whose derivative is the arithmetic's own.
    """

    name: ClassVar[str]
    # Whether it is differentiable as a complex function, so that a derivative is one complex number.
    analytic: ClassVar[bool] = True
    # Whether numbers have it together with an `add` behind it as one operation, operation_NAME_add.
    fuses: ClassVar[bool] = False
    # Whether it leaves |z| as it is.
    isometric: ClassVar[bool] = False
    # Whether it does something else on the other side of an axis: mirrors z there.
    folds: ClassVar[bool] = False
    # What these take, and the derivative: z, stored, c and turn, and how the first three change.
    operands: ClassVar[tuple[str, ...]] = ("z",)
    derivative_operands: ClassVar[tuple[str, ...]] = ("derivative",)

    @property
    def kernel(self) -> str:
        """The kernel part."""
        return f"operation_{self.name}.cl"

    @property
    def constants(self) -> tuple[Fraction, ...]:
        """The numbers that stand in it, exactly: re and im of a complex one, or none."""
        return ()

    @abstractmethod
    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return what it makes of z."""

    def value_add(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return that plus c, as one operation of the number; for what `fuses`."""
        raise NotImplementedError(f"{self.name} and add are two operations")

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002 - others take them
        """Return what is known of what it makes, where |c| ≤ `constant`: what is known of z, if |z| stays."""
        if not self.isometric:
            raise NotImplementedError(f"{self.name} changes |z|")
        return z

    @abstractmethod
    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:
        """Return what it makes of z in units of 2^−bits: exact, but products are rounded down."""

    @abstractmethod
    def integer_error(self, z: Parts, stored: Parts, bits: int, error: IntegerErrors) -> int:
        """Return a bound of the error of what `integers` makes of z, in units of 2^−bits; 0 only where it is exact.

        It is one of the modulus, from those of z, of the stored z and of c.
        """

    def zeros(self, z: Flags, stored: Flags, c: Flags) -> Flags:  # noqa: ARG002
        """Return which parts of what it makes of z are known to be exactly 0, from those of z, the stored z and c."""
        return z

    @abstractmethod
    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:
        """Return the change of what it makes of z, from the changes of z and of the stored z.

        It is the total differential in Wirtinger's form.
        """

    @abstractmethod
    def delta(self, rules: DeltaRules[Beside], z: Beside, stored: Beside) -> Beside:
        """Return what it makes of a value of a reference and of a difference from it; not what `add` adds to both."""

    def __str__(self) -> str:
        return self.name
