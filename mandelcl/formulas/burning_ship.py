"""The burning ship (Michelitsch and Rössler, 1992): z₀ = 0, z ← (|re z| + |im z|·i)² + c, where c is the pixel.

The imaginary axis points up, as for every formula: the ship that is known from pictures lies upside down.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.exact import root_above
from mandelcl.formulas.formula import Derivative, Formula


@dataclass(frozen=True, slots=True)
class BurningShip(Formula):
    """(|re z| + |im z|·i)² + c from 0."""

    name: ClassVar[str] = "burning-ship"
    summary: ClassVar[str] = "(|re z| + |im z|·i)² + c"
    home: ClassVar[tuple[str, str, str]] = ("-0.45", "-0.5", "1.25")
    analytic: ClassVar[bool] = False
    kernel: ClassVar[str] = "formula_burning_ship.cl"

    def least_radius_squared(self) -> Fraction:
        """Return 4: the modulus of (|re z| + |im z|·i)² is |z|², so that all is as for z² + c."""
        return Fraction(4)

    def largest_constant(self, radius_squared: Fraction) -> Fraction:
        """Return R: the first step leads to c."""
        return root_above(radius_squared)

    def stays_outside(self, radius_squared: Fraction, unit: Fraction) -> bool:
        """Return whether R² − 2R, by which |z| = R grows at least, exceeds twice what rounding takes.

        Where |c| ≤ R, |z| ≥ R grows by at least |z|² − |z| − R, which is least at R. Where |c| > R, an orbit leaves
        at its first step with |z₁| = |c|; if |z| ≥ |c|, it grows by at least |z|² − |z| − |c|, which is least at
        |z| = |c|, |c|² − 2·|c|, and that, too, is least at R; so |z| ≥ |c| for ever. All exceed the error,
        unit·(|z|² + |c|), if R² − 2R does at |z| = |c| = R; the second half is for rounding |z|², R² and c. At R = 2
        nothing is left: in float, `separate`, 72 of 10⁶ orbits near c = 1 − i√3 came back.
        """
        radius = root_above(radius_squared)
        return radius_squared - 2 * radius > 2 * unit * (radius_squared + radius)

    def start(self, arithmetic: Arithmetic, point: Complex, parameters: tuple[Complex, ...]) -> tuple[Complex, Complex]:  # noqa: ARG002
        """Return 0 and the point."""
        zero = arithmetic.encode(Fraction(0))
        return (zero, zero), point

    def step(self, arithmetic: Arithmetic, z: Complex, c: Complex) -> Complex:
        """Return (|re z| + |im z|·i)² + c."""
        return arithmetic.square_add((arithmetic.absolute(z[0]), arithmetic.absolute(z[1])), c)

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
        """Return 2·folded z·(derivative, turned with what the fold turns) + move, by the point's re and im."""
        plain = arithmetic.plain
        zero, folded = plain.encode(Fraction(0)), (plain.absolute(z[0]), plain.absolute(z[1]))
        turned_re, turned_im = plain.less(z[0], zero), plain.less(z[1], zero)
        next_columns = []
        for column, moved in zip(derivative, move, strict=True):
            turned = arithmetic.turn_im(arithmetic.turn_re(column, turned_re), turned_im)
            next_columns.append(arithmetic.add(arithmetic.twice(arithmetic.times(folded, turned)), moved))
        return tuple(next_columns)
