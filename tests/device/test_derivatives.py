"""The derivatives of formulas: by differences of exact orbits, and on devices as on the host."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.core.numbers import by_name
from mandelcl.engine import source
from mandelcl.formulas import FORMULAS, Formula, Julia
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of
from tests.oracle.derivatives import formula as derivatives
from tests.ratios import Ratios

# An arithmetic of derivatives without exponents of their own.
PLAIN = """
#define HAS_DERIVATIVES 1
typedef number_far derivative_point;
typedef number_far derivative_complex;
static derivative_complex derivative_zero(void) {
  const derivative_complex zero = {(number_far_real)(0), (number_far_real)(0)};
  return zero;
}
static derivative_complex derivative_add(derivative_complex a, derivative_complex b) {
  const derivative_complex sum = {a.re + b.re, a.im + b.im};
  return sum;
}
static derivative_complex derivative_twice(derivative_complex a) { return derivative_add(a, a); }
static derivative_complex derivative_times(derivative_point z, derivative_complex a) {
  const derivative_complex product = {z.re * a.re - z.im * a.im, z.re * a.im + z.im * a.re};
  return product;
}
static derivative_complex derivative_turn_re(derivative_complex a, int_lanes mask) {
  const derivative_complex turned = {mask ? -a.re : a.re, a.im};
  return turned;
}
static derivative_complex derivative_turn_im(derivative_complex a, int_lanes mask) {
  const derivative_complex turned = {a.re, mask ? -a.im : a.im};
  return turned;
}
static derivative_point derivative_point_from(number_complex z) { return number_far_from(z); }
static derivative_complex derivative_square(derivative_point z, derivative_complex a, int_lanes turned) {
  return derivative_turn_im(derivative_twice(derivative_times(z, a)), turned);
}
static derivative_complex derivative_square_add(derivative_point z, derivative_complex a, int_lanes turned,
                                                derivative_complex move) {
  return derivative_add(derivative_square(z, a, turned), move);
}
static derivative_point derivative_point_square(derivative_point z) { return derivative_times(z, z); }
static derivative_point derivative_point_product(derivative_point a, derivative_point b) {
  return derivative_times(a, b);
}
static derivative_point derivative_point_sum(derivative_point a, derivative_point b) { return derivative_add(a, b); }
static derivative_point derivative_point_turn_re(derivative_point z, int_lanes mask) {
  return derivative_turn_re(z, mask);
}
static derivative_point derivative_point_turn_im(derivative_point z, int_lanes mask) {
  return derivative_turn_im(z, mask);
}
static derivative_complex derivative_keep(derivative_complex a, derivative_complex other, int_lanes mask) {
  return number_far_keep(a, other, mask);
}
"""
KERNEL = """
kernel void test_derivatives(global const float *in, global float *out) {
  number_far z = {in[0], in[1]};
  const number_far c = {in[2], in[3]};
#if FORMULA_ANALYTIC
  const formula_derivative move = {in[4], in[5]};
#else
  const formula_derivative move = {{in[4], in[5]}, {in[6], in[7]}};
#endif
  formula_derivative derivative = formula_derivative_start(move);
  for (uint step = 0; step < STEPS; step++) {
    derivative = formula_derivative_step(z, c, derivative, move, step % FORMULA_PHASES);
    z = formula_far_step(z, c, step % FORMULA_PHASES);
  }
#if FORMULA_ANALYTIC
  out[0] = derivative.re;
  out[1] = derivative.im;
#else
  out[0] = derivative.by_re.re;
  out[1] = derivative.by_re.im;
  out[2] = derivative.by_im.re;
  out[3] = derivative.by_im.im;
#endif
}
"""
STEPS = 6
POINT: Complex = (Fraction(-3, 8), Fraction(5, 16))
CONSTANT: Complex = (Fraction(-1, 4), Fraction(1, 2))
OTHERS = (
    "store absx rot:30 mul add / sqr add sqr absy",
    "sqr add / store sqr negx mul add / negy sqr",
    "rot:-77 sqr add",
)
EVERY = [*FORMULAS.values(), *map(Formula.parse, OTHERS), Julia(*CONSTANT), FORMULAS["tricorn"].julia(*CONSTANT)]
formulas = pytest.mark.parametrize("formula", EVERY, ids=str)


class PlainDerivatives:
    """Derivatives as pairs of exact numbers."""

    plain: Arithmetic = Ratios()

    def constant(self, re: Fraction, im: Fraction) -> Any:
        return re, im

    def point_square(self, z: Complex) -> Any:
        return self.times(z, z)

    def point_product(self, a: Complex, b: Complex) -> Any:
        return self.times(a, b)

    def point_sum(self, a: Complex, b: Complex) -> Any:
        return self.add(a, b)

    def point_turn_re(self, z: Complex, where: bool) -> Any:
        return self.turn_re(z, where)

    def point_turn_im(self, z: Complex, where: bool) -> Any:
        return self.turn_im(z, where)

    def zero(self) -> Any:
        return Fraction(0), Fraction(0)

    def add(self, a: Complex, b: Complex) -> Any:
        return a[0] + b[0], a[1] + b[1]

    def twice(self, a: Complex) -> Any:
        return 2 * a[0], 2 * a[1]

    def times(self, z: Complex, a: Complex) -> Any:
        return z[0] * a[0] - z[1] * a[1], z[0] * a[1] + z[1] * a[0]

    def square(self, z: Complex, a: Complex, turned: bool) -> Any:
        return self.turn_im(self.twice(self.times(z, a)), turned)

    def square_add(self, z: Complex, a: Complex, turned: bool, move: Complex) -> Any:
        return self.add(self.square(z, a, turned), move)

    def turn_re(self, a: Complex, where: bool) -> Any:
        return (-a[0] if where else a[0]), a[1]

    def turn_im(self, a: Complex, where: bool) -> Any:
        return a[0], (-a[1] if where else a[1])


def moves(formula: Formula) -> tuple[Complex, ...]:
    along = (Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))
    return along[:1] if formula.analytic else along


def on_the_host(formula: Formula, steps: int) -> list[Complex]:
    """Return the derivative after some steps, exactly."""
    z, c = formula.start(Ratios(), POINT, (CONSTANT,))
    derivative = derivatives.start(formula, PlainDerivatives(), moves(formula))
    for n in range(steps):
        derivative = derivatives.step(formula, PlainDerivatives(), z, c, derivative, moves(formula), n)
        z = formula.step(Ratios(), z, c, n)
    return list(derivative)


def after(formula: Formula, point: Complex, steps: int) -> Complex:
    z, c = formula.start(Ratios(), point, (CONSTANT,))
    for n in range(steps):
        z = formula.step(Ratios(), z, c, n)
    return z


@formulas
@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_derivatives_are_limits_of_differences(formula: Formula, steps: int) -> None:
    found, step = on_the_host(formula, steps), Fraction(1, 1 << 60)
    for column, move in zip(found, moves(formula), strict=True):
        ends = [after(formula, (POINT[0] + k * step * move[0], POINT[1] + k * step * move[1]), steps) for k in (-1, 1)]
        slope = [(b - a) / (2 * step) for a, b in zip(*ends, strict=True)]
        assert max(abs(part - wanted) for part, wanted in zip(column, slope, strict=True)) < Fraction(1, 1 << 90)


@formulas
def test_devices_take_the_same_steps(device: Device, formula: Formula) -> None:
    number = by_name("float")
    defines = number.defines("separate", False) | {"LANES": 1, "SMOOTH_RADIUS_SQUARED": 4, "STEPS": STEPS}
    parts = (texts.Text("plain derivatives", PLAIN), *source.formula_parts(formula, number, False))
    text = texts.assemble((*number.parts(False), *parts, texts.Text("test_derivatives", KERNEL)), defines)
    z, c = formula.start(Ratios(), POINT, (CONSTANT,))
    given = [*z, *c, *(part for move in moves(formula) for part in move)]
    out = np.zeros(2 * len(moves(formula)), np.float32)
    taken = device.allocate(out.nbytes)
    values = device.upload(np.array([*map(float, given), 0, 0], np.float32))
    device.launch(kernel_of(device.build(text), "test_derivatives"), (1,), (1,), values, taken)
    device.wait(device.read(taken, out))
    exact = [float(part) for column in on_the_host(formula, STEPS) for part in column]
    np.testing.assert_allclose(out, exact, rtol=1e-5, atol=1e-6)
