"""Fixed point on Python integers: what cl/number_fixed.cl and cl/words.cl must return, to the last bit.

Every function takes Python integers or numpy arrays of them, and knows nothing of the kernels' code.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from tests.oracle import reading
from tests.oracle.smooth import Smooth

Integers = Any  # a Python integer, or a numpy array of them
Floats = npt.NDArray[np.float32]
Digits = list[Integers]  # of a real, most significant first, each a count of its own units


class Fixed:
    """The number of `words` 32-bit words: `count` digits of `bits` bits."""

    def __init__(self, words: int) -> None:
        self.words = words
        self.encoded_bits = 32 * (words - 1)
        self.bits = 48 if words <= 4 else 46
        self.count = -(-self.encoded_bits // self.bits)
        self.device_pool = self.bits * self.count - self.encoded_bits

    def value(self, digits: Digits) -> Integers:
        """Return the value of the digits, in units of the last."""
        total = 0
        for digit in digits:
            total = (total << self.bits) + digit
        return total

    def digits(self, value: Integers) -> Digits:
        """Return the digits of a value in units of the last: each but the first in [−half, half)."""
        half, result = 1 << (self.bits - 1), []
        for _ in range(self.count - 1):
            carry = (value + half) >> self.bits
            result.append(value - (carry << self.bits))
            value = carry
        return [value, *reversed(result)]

    def load(self, encoded: Integers) -> Digits:
        """Return the digits of an encoded value, given as a signed integer."""
        return self.digits(encoded << self.device_pool)

    def encode(self, value: Fraction) -> int:
        """Return a value as it is encoded: rounded to nearest, ties to even, as a signed integer."""
        return round(value * (1 << self.encoded_bits))

    def rest(self, value: Fraction) -> int:
        """Return what rounding a value to an encoded one leaves over, in units of 2^−32 of the last encoded bit."""
        return min(round((value * (1 << self.encoded_bits) - self.encode(value)) * (1 << 32)), (1 << 31) - 1)

    def point(self, count: Integers, anchor: Digits, pitch: Digits, rest: int) -> Digits:
        """Return anchor + count · (pitch and its rest), rounded to a unit of the last digit, halves up."""
        more = (count * rest * (1 << self.device_pool) + (1 << 31)) >> 32
        return self.digits(self.value(anchor) + count * self.value(pitch) + more)

    def rounded(self, total: Integers, product: Integers) -> Integers:
        """Return total + product / 2^bits to the nearest integer, ties to even: what an fma at a fixed point gives."""
        whole = total + (product >> self.bits)
        part = product & ((1 << self.bits) - 1)
        half = 1 << (self.bits - 1)
        return whole + ((part + (whole & 1) + half - 1) >> self.bits)

    def multiply_add(self, a: Digits, b: Digits, c: Digits) -> Digits:
        """Return the digits of a · b + c.

        Column k is the digit products i + j = k. Each is added to the column's sum and rounded to the column's unit;
        what the rounding leaves goes to the next column, except from the last, where it is dropped. Then what exceeds
        half a unit is carried up, from the last digit, to nearest, ties to even.
        """
        sums, left = list(c), [0 * c[0]] * (self.count + 1)
        for k in range(self.count):
            for i in range(k + 1):
                product = a[i] * b[k - i]
                more = self.rounded(sums[k], product)
                left[k + 1] = left[k + 1] + product - ((more - sums[k]) << self.bits)
                sums[k] = more
        for k in range(self.count - 1, 0, -1):
            whole = sums[k] + left[k]
            carry = self.rounded(0 * whole, whole)
            sums[k] = whole - (carry << self.bits)
            sums[k - 1] = sums[k - 1] + carry
        return sums

    def step(self, x: Digits, y: Digits, cx: Digits, cy: Digits) -> tuple[Digits, Digits]:
        """Return the digits of z² + c."""
        plus, minus = [p + q for p, q in zip(x, y, strict=True)], [p - q for p, q in zip(x, y, strict=True)]
        return self.multiply_add(plus, minus, cx), self.multiply_add([2 * p for p in x], y, cy)

    def product(self, u: Digits, v: Digits, x: Digits, y: Digits, cx: Digits, cy: Digits) -> tuple[Digits, Digits]:
        """Return the digits of (u + vi)·(x + yi) + c: u·x + (−v·y + cx) and u·y + (v·x + cy)."""
        re = self.multiply_add(u, x, self.multiply_add([-part for part in v], y, cx))
        return re, self.multiply_add(u, y, self.multiply_add(v, x, cy))

    def line(
        self, line: tuple[reading.Step, ...], x: Digits, y: Digits, cx: Digits, cy: Digits
    ) -> tuple[Digits, Digits]:
        """Return the digits of what a line of a formula makes of z."""
        stored, zero = (x, y), [0 * part for part in cx]
        for step in line:
            re, im = (cx, cy) if step.adds else (zero, zero)
            if step.name == "store":
                stored = x, y
            elif step.name == "sqr":
                x, y = self.step(x, y, re, im)
            elif step.name in ("mul", "rot"):
                encoded = (self.load(self.encode(part)) for part in step.turn)
                by, also = (
                    stored if step.name == "mul" else ([p + q for p, q in zip(d, zero, strict=True)] for d in encoded)
                )
                x, y = self.product(x, y, by, also, re, im)
            elif step.name == "add":
                x, y = (self.digits(self.value(a) + self.value(b)) for a, b in ((x, cx), (y, cy)))
            elif step.name == "absx":
                x = self.folded(x)
            elif step.name == "absy":
                y = self.folded(y)
            elif step.name == "negx":
                x = [-part for part in x]
            elif step.name == "negy":
                y = [-part for part in y]
            else:
                raise ValueError(f"the oracle has no operation {step.name}")
        return x, y

    def norm_squared(self, x: Digits, y: Digits) -> Integers:
        """Return |z|² as the escape test sees it, in units of 2^−(bits·(count + 1)): the kept columns, exact."""
        total = 0
        for k in range(self.count):
            column = sum(x[i] * x[k - i] + y[i] * y[k - i] for i in range(k + 1))
            total = (total << self.bits) + column
        return total

    def outside(self, x: Digits, y: Digits, radius_squared: Digits) -> Any:
        """Return whether |z|² > R²."""
        return self.norm_squared(x, y) > self.value(radius_squared) << self.bits

    def folded(self, x: Digits) -> Digits:
        """Return the digits of |x|: all negated where the value is negative."""
        sign = 1 - 2 * (self.value(x) < 0)
        return [sign * part for part in x]

    def far(self, x: Digits) -> Floats:
        """Return a real rounded to float: its first digit, to nearest."""
        return np.asarray(x[0], dtype=np.int64).astype(np.float32) * np.float32(2.0**-self.bits)

    def far_norm(self, x: Digits, y: Digits) -> Floats:
        """Return |z|² in float, of the first digits rounded to float."""
        return _far_norm(self.far(x), self.far(y))


def _far_norm(x: Floats, y: Floats) -> Floats:
    return (x * x + y * y).astype(np.float32)


def points(number: Fixed, job: Job, columns: Integers, rows: Integers) -> tuple[Digits, Digits]:
    """Return the digits of re and im of pixels: rows first, then columns."""
    lattice = job.view.lattice
    x, u = columns - lattice.column, lattice.row - rows
    re, im = (number.load(number.encode(value)) for value in (lattice.re, lattice.im))
    pitch = reading.upright_pitch(job)
    if pitch is not None:
        return _along(number, x, pitch, re), _along(number, u, pitch, im)
    a, b, c, d = reading.matrix(job)
    return _along(number, x, a, _along(number, u, b, re)), _along(number, x, c, _along(number, u, d, im))


def _along(number: Fixed, count: Integers, step: Fraction, start: Digits) -> Digits:
    return number.point(count, start, number.load(number.encode(step)), number.rest(step))


def counts(job: Job) -> npt.NDArray[np.uint32]:
    """Return the counts, (height, width), of a job in fixed point; every step is tested."""
    return smooth_steps(job, limit=0).counts


def smooth_steps(job: Job, limit: int = 1000) -> Smooth:
    """Return what `oracle.smooth_steps` returns: from its first z outside an orbit goes on in float, separate."""
    number, formula = Fixed(4 if job.number == "fp128" else int(job.number.partition(":")[2])), reading.formula(job)
    shape, n = (job.view.height, job.view.width), number.count
    result = Smooth(np.full(shape, job.iterations, np.uint32), np.full(shape, job.iterations, np.uint32))
    radius_squared = number.load(number.encode(job.radius_squared))
    pixels = np.arange(job.view.pixels)
    rows, columns = (values.astype(object) for values in np.divmod(pixels, job.view.width))
    z = [part for real in points(number, job, columns, rows) for part in real]
    zero = [0 * part for part in z]
    if formula.constant is None:
        z, c = zero, z
    else:
        encoded = [part for value in formula.constant for part in number.load(number.encode(value))]
        c = [part + nothing for part, nothing in zip(encoded, zero, strict=True)]
    for iteration in range(job.iterations):
        outside = number.outside(z[:n], z[n:], radius_squared).astype(bool)
        if outside.any():
            result.counts.flat[pixels[outside]] = iteration
            far = [number.far([real[k][outside] for k in range(n)]) for real in (z[:n], z[n:], c[:n], c[n:])]
            _carry_on(number, formula, far, pixels[outside], iteration, limit, result)
            pixels, z, c = pixels[~outside], [part[~outside] for part in z], [part[~outside] for part in c]
            if not pixels.size:
                break
        z = [part for real in number.line(formula.line(iteration), z[:n], z[n:], c[:n], c[n:]) for part in real]
    return result


def _carry_on(
    number: Fixed,
    formula: reading.Formula,
    far: list[Floats],
    pixels: npt.NDArray[np.int64],
    count: int,
    limit: int,
    result: Smooth,
) -> None:
    """Carry orbits that escaped at `count` on to the smooth radius, in float with products and sums alone."""
    x, y, cx, cy = far
    with np.errstate(over="ignore", invalid="ignore"):
        for m in range(count, count + limit + 1):
            norm = _far_norm(x, y)
            result.steps.flat[pixels] = m
            result.norms.flat[pixels] = norm
            within = norm <= np.float32(SMOOTH_RADIUS_SQUARED)
            if not within.any():
                return
            pixels = pixels[within]
            x, y, cx, cy = (values[within] for values in (x, y, cx, cy))
            x, y = _far_line(number, formula.line(m), x, y, cx, cy)


def _far_line(
    number: Fixed, line: tuple[reading.Step, ...], x: Floats, y: Floats, cx: Floats, cy: Floats
) -> tuple[Floats, Floats]:
    """Return what a line makes of z in float, with products and sums alone."""
    stored = x, y
    for step in line:
        if step.name == "store":
            stored = x, y
        elif step.name == "sqr":
            x, y = x * x - y * y, (x + x) * y
        elif step.name in ("mul", "rot"):
            u, v = (
                stored
                if step.name == "mul"
                else tuple(number.far(number.load(number.encode(part))) for part in step.turn)
            )
            x, y = x * u - y * v, x * v + y * u
        elif step.name != "add":
            change = np.abs if step.name.startswith("abs") else np.negative
            x, y = (change(x), y) if step.name.endswith("x") else (x, change(y))
        if step.adds or step.name == "add":
            x, y = x + cx, y + cy
    return x, y


Left = tuple[Integers, Integers]  # a result, and what left it
Operation = Callable[[int, Integers, Integers, Integers, Integers], Left]


def _add(size: int, z: Integers, x: Integers, k: Integers, carry: Integers) -> Left:  # noqa: ARG001
    total = z + x + (carry & 1)
    return total, total >> size


def _subtract(size: int, z: Integers, x: Integers, k: Integers, carry: Integers) -> Left:  # noqa: ARG001
    total = z - x - (carry & 1)
    return total, (total >> size) & 1


def _multiply_word(size: int, z: Integers, x: Integers, k: Integers, carry: Integers) -> Left:  # noqa: ARG001
    total = z * k + carry
    return total, total >> size


def _divide_word(size: int, z: Integers, x: Integers, k: Integers, carry: Integers) -> Left:  # noqa: ARG001
    divisor = k | 1
    total = ((carry % divisor) << size) + z
    return total // divisor, total % divisor


def _shift_left(size: int, z: Integers, x: Integers, k: Integers, carry: Integers) -> Left:  # noqa: ARG001
    by = k & 31
    total = (z << by) | (carry & ((1 << by) - 1))
    return total, total >> size


def _shift_right(size: int, z: Integers, x: Integers, k: Integers, carry: Integers) -> Left:  # noqa: ARG001
    low = (1 << (k & 31)) - 1
    return (z | (carry & low) << size) >> (k & 31), z & low


_bit_length = np.frompyfunc(int.bit_length, 1, 1)

# Every operation of cl/words.cl on a `size`-bit z: with a second number x, a word k and a word `carry` that comes in.
# Results and what leaves are taken modulo what holds them; `multiply` and `square` leave as many words as they have.
OPERATIONS: dict[str, Operation] = {
    "zero": lambda size, z, x, k, carry: (0 * z, 0 * k),  # noqa: ARG005
    "copy": lambda size, z, x, k, carry: (x, 0 * k),  # noqa: ARG005
    "add": _add,
    "subtract": _subtract,
    "negate": lambda size, z, x, k, carry: (-z, (-z >> size) & 1),  # noqa: ARG005
    "multiply_word": _multiply_word,
    "divide_word": _divide_word,
    "shift_left": _shift_left,
    "shift_right": _shift_right,
    "compare": lambda size, z, x, k, carry: (0 * z, 1 * (z > x) - 1 * (z < x)),  # noqa: ARG005
    "is_zero": lambda size, z, x, k, carry: (0 * z, -1 * (z == 0)),  # noqa: ARG005
    "highest_bit": lambda size, z, x, k, carry: (0 * z, _bit_length(z) - 1),  # noqa: ARG005
    "multiply": lambda size, z, x, k, carry: (z * x, (z * x) >> size),  # noqa: ARG005
    "square": lambda size, z, x, k, carry: (z * z, (z * z) >> size),  # noqa: ARG005
}
WIDE = ("multiply", "square")
