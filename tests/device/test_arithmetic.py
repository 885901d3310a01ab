"""The arithmetic that formulas are written in, and their tangents: every operation of every number on every device.

The host's arithmetic, which is compared, has its own oracle: tests/host/test_arithmetic.py.
"""

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

from mandelcl.base.arithmetic import Real
from mandelcl.base.words import Words
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED
from mandelcl.core.numbers import NumberFormat, by_name
from mandelcl.engine import selftest, source
from mandelcl.engine.variant import default_variant
from mandelcl.formulas import FORMULAS, Formula
from mandelcl.opencl import texts
from mandelcl.opencl.device import Device
from mandelcl.opencl.programs import kernel_of
from tests.device.targets import Target
from tests.ratios import Ratios

CASES = 64
OPERATIONS = ("add", "subtract", "multiply", "square", "multiply_add", "negate", "absolute")
KERNEL = """
#line 1 "test_arithmetic"
#define AT(place, w) (((place) * NUMBER_STATE_WORDS + (w)) * CASES + get_global_id(0) * LANES)
static number_real test_real(global const uint *in, uint place) {
  uint_lanes words[NUMBER_STATE_WORDS];
  for (uint w = 0; w < NUMBER_STATE_WORDS; w++) {
    uint lane[LANES];
    for (uint l = 0; l < LANES; l++) lane[l] = in[AT(place, w) + l];
    words[w] = lanes_load(lane);
  }
  return number_unpack(words).re;
}

static void test_put(global uint *out, uint place, number_real value) {
  uint_lanes words[NUMBER_STATE_WORDS];
  const number_complex pair = {value, value};
  number_pack(pair, words);
  for (uint w = 0; w < NUMBER_STATE_WORDS; w++) {
    uint lane[LANES];
    lanes_store(words[w], lane);
    for (uint l = 0; l < LANES; l++) out[AT(place, w) + l] = lane[l];
  }
}

KERNEL void test_arithmetic(global const uint *in, global uint *out, global uint *less) {
  const number_real a = test_real(in, 0), b = test_real(in, 1), c = test_real(in, 2);
  test_put(out, 0, number_add(a, b));
  test_put(out, 1, number_subtract(a, b));
  test_put(out, 2, number_multiply(a, b));
  test_put(out, 3, number_square(a));
  test_put(out, 4, number_multiply_add(a, b, c));
  test_put(out, 5, number_negate(a));
  test_put(out, 6, number_absolute(a));
  uint lane[LANES];
  lanes_store(LANED(as_uint)(number_less(a, b)), lane);
  for (uint l = 0; l < LANES; l++) less[get_global_id(0) * LANES + l] = lane[l];
}
"""
TANGENT = """
#line 1 "test_tangent"
kernel void test_tangent(global const float *in, global float *out) {
  number_far z = {number_far_real_from((float_lanes)(in[0])), number_far_real_from((float_lanes)(in[1]))};
  const number_far move = {number_far_real_from((float_lanes)(in[2])), number_far_real_from((float_lanes)(in[3]))};
  const number_far c = {number_far_real_from((float_lanes)(in[4])), number_far_real_from((float_lanes)(in[5]))};
  number_far change = formula_tangent_start(move);
  for (uint step = 0; step < 3; step++) {
    change = formula_tangent(z, change, move);
    z = formula_far_step(z, c, 0);
  }
  float lane[LANES];
  lanes_store(LANED(convert_float)(change.re), lane);
  out[0] = lane[0];
  lanes_store(LANED(convert_float)(change.im), lane);
  out[1] = lane[0];
}
"""


def operands() -> list[tuple[Fraction, ...]]:
    """Return triples of numbers of all sizes up to 2, of both signs, some of them equal, 0, or near each other."""
    random = Random(5)

    def one() -> Fraction:
        kind = random.random()
        if kind < 0.1:
            return Fraction(random.choice([0, 1, -1, 2]))
        return Fraction(random.uniform(-2, 2)) / (1 << random.choice([0, 0, 0, 7, 20]))

    triples = [(one(), one(), one()) for _ in range(CASES - 8)]
    near = [(a, a + Fraction(1, 1 << 60), c) for a, _, c in triples[:4]]
    return [*triples, *near, *((a, a, c) for a, _, c in triples[4:8])]


def run(device: Device, number: NumberFormat, rounding: str, double_digits: bool) -> tuple[list[list[Any]], Words, Any]:
    """Return the operands as the number holds them, the words of all results, and where a < b."""
    variant = default_variant(device, number, double_digits)
    defines = number.defines(rounding, variant.double_digits) | variant.defines()
    defines |= {"SMOOTH_RADIUS_SQUARED": int(SMOOTH_RADIUS_SQUARED), "CASES": CASES}
    program = device.build(texts.assemble(number.parts(variant.double_digits), defines) + KERNEL)
    arithmetic = number.arithmetic(rounding)
    held = [[arithmetic.encode(value) for value in values] for values in zip(*operands(), strict=True)]
    given = np.concatenate([packed(number, values) for values in held])
    size = number.reals_words * CASES
    out, less = np.zeros(len(OPERATIONS) * size, np.uint32), np.zeros(CASES, np.uint32)
    buffers = device.upload(given), device.allocate(out.nbytes), device.allocate(less.nbytes)
    device.launch(kernel_of(program, "test_arithmetic"), (CASES // variant.lanes,), (1,), *buffers)
    device.read(buffers[1], out)
    device.wait(device.read(buffers[2], less))
    return held, out.reshape(len(OPERATIONS), -1), less


def packed(number: NumberFormat, values: list[Real]) -> Words:
    """Return reals as the kernels save a z that has them for both parts: words × cases, flat."""
    if number.has_digits:
        rows = [[(digit >> shift) & 0xFFFFFFFF for digit in (*v, *v) for shift in (0, 32)] for v in values]
    else:
        scalars = [value if isinstance(value, np.floating) else to_scalar(number, value) for value in values]
        rows = [[int(word) for word in np.array([v, v]).view("<u4")] for v in scalars]
    return np.array(rows, np.uint32).T.reshape(-1)


def to_scalar(number: NumberFormat, units: int) -> Any:
    """Return a whole number of the least denormal as a float or double."""
    places = 149 if number.name == "float" else 1074
    exact = float(Fraction(units, 1 << places))
    return np.float64(exact) if number.needs_fp64 else np.float32(exact)


def check(device: Device, number: NumberFormat, rounding: str, double_digits: bool = False) -> None:
    held, out, less = run(device, number, rounding, double_digits)
    arithmetic = number.arithmetic(rounding)
    a, b, c = held
    for place, name in enumerate(OPERATIONS):
        if name == "square":
            answers = [arithmetic.multiply(x, x) for x in a]
        else:
            rest = {"multiply_add": (b, c), "negate": (), "absolute": ()}.get(name, (b,))
            answers = [getattr(arithmetic, name)(*values) for values in zip(a, *rest, strict=True)]
        expected = packed(number, answers)
        if number.has_digits or name not in ("negate", "subtract", "add", "multiply", "multiply_add"):
            np.testing.assert_array_equal(out[place], expected, err_msg=name)
        else:  # whole numbers have one zero
            dtype = np.float64 if number.needs_fp64 else np.float32
            got, wanted = (words.reshape(-1, CASES).T.copy().view(dtype) for words in (out[place], expected))
            np.testing.assert_array_equal(got, wanted, err_msg=name)
    answers = [bool(arithmetic.less(x, y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_array_equal(less != 0, answers)
    assert 0 < sum(answers) < CASES


def test_native_operations(target: Target) -> None:
    if target.flushes:
        pytest.skip("denormals are flushed here")
    check(target.device, target.number, target.rounding)


@pytest.mark.parametrize("name", ["fixed:2", "fp128", "fixed:5", "fixed:8"])
@pytest.mark.parametrize("digits", ["double", "integer"])
def test_operations_of_fixed_point(device: Device, name: str, digits: str) -> None:
    if digits == "double" and not device.fp64:
        pytest.skip("no double precision")
    check(device, by_name(name), "fixed", digits == "double")


@pytest.mark.parametrize(
    "formula",
    [*(formula for formula in FORMULAS.values() if formula.traceable), FORMULAS["multibrot-3"].julia("-1/4", "1/2")],
    ids=str,
)
@pytest.mark.parametrize("move", [(1.0, 0.0), (0.0, 1.0), (0.6, -0.8)], ids=str)
def test_derivatives_equal_limits_of_differences_on_the_device(
    device: Device, formula: Formula, move: tuple[float, float]
) -> None:
    """Three steps of the change of z beside the difference of two orbits in exact ratios."""
    number = by_name("float")
    defines = number.defines("separate", False) | {"LANES": 1, "SMOOTH_RADIUS_SQUARED": 4}
    text = texts.assemble((*number.parts(False), *source.formula_parts(formula, number, False)), defines) + TANGENT
    kernel = kernel_of(device.build(text), "test_tangent")
    point, constant, epsilon = (
        (Fraction(-3, 8), Fraction(5, 16)),
        (Fraction(-1, 4), Fraction(1, 2)),
        Fraction(1, 1 << 40),
    )

    def third(shift: Fraction) -> list[Fraction]:
        moved = point[0] + shift * Fraction(move[0]), point[1] + shift * Fraction(move[1])
        z, c = formula.start(Ratios(), moved, (constant,))
        for _ in range(3):
            z = formula.step(Ratios(), z, c)
        return list(z)

    exact = [(b - a) / (2 * epsilon) for a, b in zip(third(-epsilon), third(epsilon), strict=True)]
    z, c = formula.start(Ratios(), point, (constant,))
    given = np.array([*map(float, z), *move, *map(float, c)], np.float32)
    out, taken = np.zeros(2, np.float32), device.allocate(8)
    device.launch(kernel, (1,), (1,), device.upload(given), taken)
    device.wait(device.read(taken, out))
    np.testing.assert_allclose(out, [float(part) for part in exact], rtol=1e-5, atol=1e-6)


@pytest.mark.full
def test_the_self_test_knows_the_formula(device: Device) -> None:
    """A device is tested with the step of the very formula that it is to compute."""
    number = by_name("float")
    for formula in (*FORMULAS.values(), Formula.parse("sqr absx add / rot:30 sqr sqr add")):
        assert selftest.result(device, number, "separate", formula=formula).passed
