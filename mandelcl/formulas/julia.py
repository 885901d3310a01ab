"""Julia sets of z² + c: z₀ is the pixel, and c is the same for all."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.exact import Exact, exact, root_above
from mandelcl.formulas.formula import Derivative, Formula


@dataclass(frozen=True, slots=True, init=False)
class Julia(Formula):
    """z² + c from the pixel, with the constant c = re + im·i; each part may be anything that `exact` takes."""

    re: Fraction
    im: Fraction

    name: ClassVar[str] = "julia"
    summary: ClassVar[str] = "z² + c from the pixel, with one c for all"
    kernel: ClassVar[str] = "formula_julia.cl"
    begins_inside: ClassVar[bool] = False

    def __init__(self, re: Exact, im: Exact) -> None:
        object.__setattr__(self, "re", exact(re, "the Julia set's constant"))
        object.__setattr__(self, "im", exact(im, "the Julia set's constant"))

    @property
    def constant(self) -> tuple[Fraction, Fraction]:
        """The c of all orbits."""
        return self.re, self.im

    def least_radius_squared(self) -> Fraction:
        """Return the square of the least R ≥ 2 with R² − R ≥ |c|: from there on |z² + c| ≥ |z|² − |c| ≥ |z|."""
        if self._constant_squared() <= 4:
            return Fraction(4)
        return ((1 + root_above(1 + 4 * self._constant())) / 2) ** 2

    def largest_constant(self, radius_squared: Fraction) -> Fraction:  # noqa: ARG002 - whatever the radius
        """Return |c|, or a little more where that is no ratio."""
        return self._constant()

    def stays_outside(self, radius_squared: Fraction, unit: Fraction) -> bool:
        """Return whether R² − R − |c|, by which |z| = R grows at least, exceeds twice what rounding takes.

        From |z| ≥ R follows |z² + c| ≥ |z|² − |c|, and what that is above |z| and above the error, unit·(|z|² + |c|),
        grows with |z|. The second half is for rounding |z|², R² and c.
        """
        growth = radius_squared - root_above(radius_squared) - self._constant()
        return growth > 2 * unit * (radius_squared + self._constant())

    def start(self, arithmetic: Arithmetic, point: Complex, parameters: tuple[Complex, ...]) -> tuple[Complex, Complex]:  # noqa: ARG002 - the constant is encoded
        """Return the point and the constant."""
        return point, parameters[0]

    def step(self, arithmetic: Arithmetic, z: Complex, c: Complex) -> Complex:
        """Return z² + c."""
        return arithmetic.square_add(z, c)

    def derivative_start(self, arithmetic: DerivativeArithmetic, move: Derivative) -> Derivative:  # noqa: ARG002
        """Return the move: z₀ is the point."""
        return move

    def derivative_step(
        self,
        arithmetic: DerivativeArithmetic,
        z: Complex,
        derivative: Derivative,
        move: Derivative,  # noqa: ARG002
        n: int,  # noqa: ARG002
    ) -> Derivative:
        """Return 2·z·derivative."""
        return (arithmetic.twice(arithmetic.times(z, derivative[0])),)

    def _constant_squared(self) -> Fraction:
        return self.re * self.re + self.im * self.im

    def _constant(self) -> Fraction:
        """Return |c|, rounded up."""
        return root_above(self._constant_squared())
