"""The multibrot set of degree 3: z₀ = 0, z ← z³ + c, where c is the pixel."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.exact import root_above
from mandelcl.formulas.formula import Derivative, Formula


@dataclass(frozen=True, slots=True)
class Multibrot3(Formula):
    """z³ + c from 0."""

    name: ClassVar[str] = "multibrot-3"
    summary: ClassVar[str] = "z³ + c"
    degree: ClassVar[int] = 3
    home: ClassVar[tuple[str, str, str]] = ("0", "0", "1.4")
    kernel: ClassVar[str] = "formula_multibrot_3.cl"
    traceable: ClassVar[bool] = True

    def least_radius_squared(self) -> Fraction:
        """Return 2.

        Let |z| > √2 and |z| ≥ |c|. Then |z³ + c| ≥ |z|³ − |c| ≥ |z|·(|z|² − 1) > |z|, so |z| grows, and stays at least
        |c|. The first z outside has |z| ≥ |c|: it is z₁ = c itself, or |c| ≤ R < |z|.
        """
        return Fraction(2)

    def largest_constant(self, radius_squared: Fraction) -> Fraction:
        """Return R: the first step leads to c."""
        return root_above(radius_squared)

    def stays_outside(self, radius_squared: Fraction, unit: Fraction) -> bool:
        """Return whether R³ − 2R, by which |z| = R grows at least, exceeds twice what rounding takes.

        Where |c| ≤ R, |z| ≥ R grows by at least |z|³ − |z| − R, which is least at R. Where |c| > R, an orbit leaves at
        its first step with |z₁| = |c|, and |z| ≥ |c| grows by at least |z|³ − |z| − |c|, which is least at |z| = |c|,
        and |c|³ − 2·|c| is least at R; so |z| ≥ |c| for ever. What the growth is above the error, unit·(|z|³ + |c|), is
        least there, too. The second half is for rounding |z|², R² and c. At R = 2 the growth is 4.
        """
        radius = root_above(radius_squared)
        cube = radius * radius_squared
        return cube - 2 * radius > 2 * unit * (cube + radius)

    def start(self, arithmetic: Arithmetic, point: Complex, parameters: tuple[Complex, ...]) -> tuple[Complex, Complex]:  # noqa: ARG002
        """Return 0 and the point."""
        zero = arithmetic.encode(Fraction(0))
        return (zero, zero), point

    def step(self, arithmetic: Arithmetic, z: Complex, c: Complex) -> Complex:
        """Return z³ + c."""
        return arithmetic.cube_add(z, c)

    def derivative_start(self, arithmetic: DerivativeArithmetic, move: Derivative) -> Derivative:
        """Return 0."""
        return tuple(arithmetic.zero() for _ in move)

    def derivative_step(
        self,
        arithmetic: DerivativeArithmetic,
        z: Complex,
        derivative: Derivative,
        move: Derivative,
        n: int,  # noqa: ARG002
    ) -> Derivative:
        """Return z·(z²)′ + z²·z′ + move."""
        (by_point,), (moved,), plain = derivative, move, arithmetic.plain
        x, y = z
        real = plain.subtract(plain.multiply(x, x), plain.multiply(y, y))
        square = real, plain.multiply(plain.add(x, x), y)
        by_square = arithmetic.times(z, arithmetic.twice(arithmetic.times(z, by_point)))
        return (arithmetic.add(arithmetic.add(by_square, arithmetic.times(square, by_point)), moved),)
