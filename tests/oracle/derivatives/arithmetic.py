"""What arithmetics of derivatives have in common, and which one belongs to a number."""

from fractions import Fraction
from typing import Any, Protocol

from mandelcl.base.arithmetic import Arithmetic, Complex, Real
from mandelcl.core.numbers import NumberFormat
from mandelcl.core.numbers.fixed import FixedFormat
from mandelcl.core.numbers.ieee import FLOAT, IeeeFormat
from mandelcl.core.numbers.ieee_arithmetic import Scalars


class DerivativeArithmetic(Protocol):
    """What a kernel's arithmetic of derivatives does, to the last bit: complex numbers with exponents of their own.

    A z that multiplies one is a point: a pair of plain reals, on which `plain` computes, each operation rounded on its
    own, and in some numbers an exponent behind them.
    """

    plain: Arithmetic

    def constant(self, re: Fraction, im: Fraction) -> Any:
        """Return a constant, as the job's number holds it, as a point."""

    def point_square(self, z: Any) -> Any:
        """Return z² of a point."""

    def point_product(self, a: Any, b: Any) -> Any:
        """Return a·b of points."""

    def point_sum(self, a: Any, b: Any) -> Any:
        """Return a + b of points."""

    def point_turn_re(self, z: Any, where: Any) -> Any:
        """Return a point with the sign of its real part turned where `where` says so."""

    def point_turn_im(self, z: Any, where: Any) -> Any:
        """Return a point with the sign of its imaginary part turned where `where` says so."""

    def zero(self) -> Any:
        """Return 0."""

    def add(self, a: Any, b: Any) -> Any:
        """Return a + b."""

    def twice(self, a: Any) -> Any:
        """Return 2·a, exactly."""

    def times(self, z: Any, a: Any) -> Any:
        """Return the complex product z·a, of a point and a derivative."""

    def square(self, z: Any, a: Any, turned: Any) -> Any:
        """Return 2·z·a, with the sign of its imaginary part turned where `turned` says so: the derivative of z².

        That of the square of a z of which parts have turned their signs is the same but for that sign.
        """

    def square_add(self, z: Any, a: Any, turned: Any, move: Any) -> Any:
        """Return the same plus move."""

    def turn_re(self, a: Any, where: Any) -> Any:
        """Return a with the sign of its real part turned where `where` says so, which `plain.less` returned."""

    def turn_im(self, a: Any, where: Any) -> Any:
        """Return a with the sign of its imaginary part turned where `where` says so."""


class FollowedDerivatives(DerivativeArithmetic, Protocol):
    """The derivatives of a number, and how an escaped orbit goes on with them to the smooth radius."""

    far: Arithmetic  # in which an escaped orbit goes on to the smooth radius

    def unit(self, k: int) -> Any:
        """Return 2^−k."""

    def turned(self, a: Any) -> Any:
        """Return i·a, for an a that is real."""

    def point(self, z: Complex) -> Any:
        """Return z, of the job's own number, as it multiplies a derivative."""

    def far_from(self, z: Complex) -> Complex:
        """Return z, of the job's own number, as `far` has it; that multiplies a derivative as it is."""

    def parts(self, a: Any) -> tuple[Any, Any]:
        """Return the real and the imaginary part of a, rounded to float."""

    def to_float(self, value: Real) -> Any:
        """Return a real of `far` rounded to float."""


def derivatives(number: NumberFormat, rounding: str) -> FollowedDerivatives:
    """Return the arithmetic of derivatives of a number in a rounding."""
    from tests.oracle.derivatives.fixed import FixedDerivatives
    from tests.oracle.derivatives.ieee import IeeeDerivatives

    if isinstance(number, IeeeFormat):
        return IeeeDerivatives(number, number.arithmetic(rounding), rounding == "fused")
    assert isinstance(number, FixedFormat)
    return FixedDerivatives(number, Scalars(FLOAT, fused=False))
