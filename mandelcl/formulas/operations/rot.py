"""`rot`: z rotated about 0."""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import about
from mandelcl.formulas.delta import Beside, DeltaRules
from mandelcl.formulas.differential import Change, Differential, Parts
from mandelcl.formulas.operations.operation import Flags, Growth, IntegerErrors, Operation, OrbitPoint

_OFF = Fraction(1, 1 << 64)


@dataclass(frozen=True, slots=True)
class Rot(Operation):
    """z times cosine + sine·i, exact fractions whose squares sum to 1, to within 2⁻⁶⁴."""

    cosine: Fraction
    sine: Fraction

    name: ClassVar[str] = "rot"
    fuses: ClassVar[bool] = True
    operands: ClassVar[tuple[str, ...]] = ("z", "turn")
    derivative_operands: ClassVar[tuple[str, ...]] = ("derivative", "turn")

    def __post_init__(self) -> None:
        square = self.cosine * self.cosine + self.sine * self.sine
        if abs(square - 1) > _OFF:
            raise InvalidInputError(
                f"rot takes an angle in degrees, or its cosine and sine, whose squares sum to 1, not to {about(square)}"
            )

    @property
    def constants(self) -> tuple[Fraction, Fraction]:
        """Cosine and sine."""
        return self.cosine, self.sine

    def value(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z, turned."""
        return arithmetic.complex_multiply(place.z, self._turn(arithmetic))

    def value_add(self, arithmetic: Arithmetic, place: OrbitPoint) -> Complex:
        """Return z, turned, plus c."""
        return arithmetic.complex_multiply_add(place.z, self._turn(arithmetic), place.c)

    def grown(self, z: Growth, stored: Growth, constant: Fraction) -> Growth:  # noqa: ARG002
        """Return what is known of z, turned: columns of digits have room for z + 2."""
        size = z.size * (1 + _OFF)
        return Growth(size, z.degree, z.products + 1, max(z.most, size + 2))

    def integers(self, z: Parts, stored: Parts, c: Parts, bits: int) -> Parts:  # noqa: ARG002
        """Return z, turned by the cosine and sine rounded to nearest."""
        (x, y), (u, v) = z, _whole(self.cosine, self.sine, bits)
        return x * u - y * v >> bits, x * v + y * u >> bits

    def integer_error(self, z: Parts, stored: Parts, bits: int, error: IntegerErrors) -> int:  # noqa: ARG002
        """Return z's, and what rounding does: to the cosine and sine by half a unit each, and to the product."""
        (x, y), (u, v) = z, _whole(self.cosine, self.sine, bits)
        quarter = self.cosine.denominator == self.sine.denominator == 1
        if quarter:
            return error.z
        exact = not error.z and u == self.cosine * (1 << bits) and v == self.sine * (1 << bits)
        if exact and not ((x * u - y * v) | (x * v + y * u)) & (1 << bits) - 1:
            return 0
        return error.z + (error.z >> 60) + (abs(x) + abs(y) + error.z >> bits) + 4

    def zeros(self, z: Flags, stored: Flags, c: Flags) -> Flags:  # noqa: ARG002
        """Return the parts of the product that are 0."""
        (x, y), (u, v) = z, (self.cosine == 0, self.sine == 0)
        return (x or u) and (y or v), (x or v) and (y or u)

    def delta(self, rules: DeltaRules[Beside], z: Beside, stored: Beside) -> Beside:  # noqa: ARG002
        """Return both, turned."""
        return rules.turned(z, self.cosine, self.sine)

    def differential(self, rules: Differential, z: Parts, stored: Parts, change: Change, kept: Change) -> Change:  # noqa: ARG002
        """Return dz, turned."""
        return rules.product(change, _whole(self.cosine, self.sine, rules.bits))

    def _turn(self, arithmetic: Arithmetic) -> Complex:
        return arithmetic.encode(self.cosine), arithmetic.encode(self.sine)

    def __str__(self) -> str:
        return f"rot:{self.cosine},{self.sine}"


@lru_cache(maxsize=64)
def _whole(cosine: Fraction, sine: Fraction, bits: int) -> Parts:
    """Return cosine and sine in units of 2^−bits, to nearest."""
    return round(cosine * (1 << bits)), round(sine * (1 << bits))
