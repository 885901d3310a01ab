"""The Mandelbrot set: z₀ = 0, z ← z² + c, where c is the pixel."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from mandelcl.arithmetic import Arithmetic, Complex, DerivativeArithmetic
from mandelcl.exact import root_above
from mandelcl.formulas.formula import Derivative, Formula


@dataclass(frozen=True, slots=True)
class Mandelbrot(Formula):
    """z² + c from 0."""

    name: ClassVar[str] = "mandelbrot"
    summary: ClassVar[str] = "z² + c"
    home: ClassVar[tuple[str, str, str]] = ("-0.75", "0", "1.6")
    kernel: ClassVar[str] = "formula_mandelbrot.cl"
    traceable: ClassVar[bool] = True
    perturbable: ClassVar[bool] = True
    component_kernels: ClassVar[tuple[str, ...]] = ("formula_mandelbrot_component.cl",)

    def least_radius_squared(self) -> Fraction:
        """Return 4: from |z| > 2 and |z| ≥ |c| on, |z| grows."""
        return Fraction(4)

    def largest_constant(self, radius_squared: Fraction) -> Fraction:
        """Return R: the first step leads to c."""
        return root_above(radius_squared)

    def stays_outside(self, radius_squared: Fraction, unit: Fraction) -> bool:  # noqa: ARG002 - proved for all of them
        """Return True: shown for R² from just below 4 on, in each number (docs/exactness.md)."""
        return True

    def start(self, arithmetic: Arithmetic, point: Complex, parameters: tuple[Complex, ...]) -> tuple[Complex, Complex]:  # noqa: ARG002
        """Return 0 and the point."""
        zero = arithmetic.encode(Fraction(0))
        return (zero, zero), point

    def step(self, arithmetic: Arithmetic, z: Complex, c: Complex) -> Complex:
        """Return z² + c."""
        return arithmetic.square_add(z, c)

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
        """Return 2·z·derivative + move."""
        (by_point,), (moved,) = derivative, move
        return (arithmetic.add(arithmetic.twice(arithmetic.times(z, by_point)), moved),)
