"""The orbit of a point, at any depth, for a page to draw: in fixed point with as many bits as the point needs."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice

import numpy as np
import numpy.typing as npt

from mandelcl.base.arithmetic import Complex
from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.base.exact import floor_log2
from mandelcl.core.job import Job

MOST_POINTS = 1 << 14
_GUARD_BITS = 32  # below the distance of two pixels
_CYCLE_S = 0.2  # time limit for the search of a cycle
_LEAST_LOOK = 256


@dataclass(frozen=True, slots=True)
class PointOrbit:
    """z₀, z₁, … of a point as complex numbers, the step at which it `escaped` or None, and the `period` approached."""

    points: npt.NDArray[np.complex128]
    escaped: int | None
    period: int | None


class Wide:
    """Fixed point with any number of fractional bits, where each product is rounded down (an `Arithmetic`)."""

    def __init__(self, bits: int) -> None:
        self.bits = bits

    def encode(self, value: Fraction) -> int:
        """Return a value in units of the last bit."""
        return round(value * (1 << self.bits))

    def along(self, count: int, pitch: Fraction, start: int) -> int:
        """Return start + count·pitch."""
        return start + self.encode(count * pitch)

    def add(self, a: int, b: int) -> int:
        """Return a + b."""
        return a + b

    def subtract(self, a: int, b: int) -> int:
        """Return a − b."""
        return a - b

    def multiply(self, a: int, b: int) -> int:
        """Return a·b."""
        return a * b >> self.bits

    def multiply_add(self, a: int, b: int, c: int) -> int:
        """Return a·b + c."""
        return (a * b >> self.bits) + c

    def negate(self, a: int) -> int:
        """Return −a."""
        return -a

    def absolute(self, a: int) -> int:
        """Return |a|."""
        return abs(a)

    def less(self, a: int, b: int) -> bool:
        """Return whether a < b."""
        return a < b

    def square_add(self, z: Complex, c: Complex) -> Complex:
        """Return z² + c."""
        x, y = z
        return ((x + y) * (x - y) >> self.bits) + c[0], (x * y >> (self.bits - 1)) + c[1]

    def complex_square(self, z: Complex) -> Complex:
        """Return z²."""
        return self.square_add(z, (0, 0))

    def complex_multiply(self, a: Complex, b: Complex) -> Complex:
        """Return a·b."""
        return self.complex_multiply_add(a, b, (0, 0))

    def complex_multiply_add(self, a: Complex, b: Complex, c: Complex) -> Complex:
        """Return a·b + c."""
        (x, y), (u, v) = a, b
        return (x * u - y * v >> self.bits) + c[0], (x * v + y * u >> self.bits) + c[1]

    def outside(self, z: Complex, radius_squared: int) -> bool:
        """Return whether |z|² > R²."""
        return bool(z[0] * z[0] + z[1] * z[1] > radius_squared << self.bits)

    def plain(self, z: Complex) -> complex:
        """Return z as a complex number of doubles."""
        return complex(self._double(z[0]), self._double(z[1]))

    def _double(self, part: int) -> float:
        drop = max(0, self.bits - 64)
        return float(part >> drop) / float(1 << (self.bits - drop))


def orbit_of(job: Job, re: Fraction, im: Fraction, most: int, cancel: Token = NEVER) -> PointOrbit:
    """Return at most `most` points of the orbit of a point under a job's formula, and the period that it approaches.

    Raises CancelledError once the token is set.
    """
    wide = Wide(2 * (_GUARD_BITS + max(0, -floor_log2(job.view.pitch))))
    steps = _steps(job, wide, re, im)
    radius_squared = wide.encode(job.radius_squared)
    points: list[complex] = []
    z: Complex = (0, 0)
    for n, z in enumerate(islice(steps, most)):
        stop_if(cancel)
        points.append(wide.plain(z))
        if n and wide.outside(z, radius_squared):
            return PointOrbit(np.array(points), n, None)
    period, escaped = _cycle(steps, wide, radius_squared, len(points) - 1)
    return PointOrbit(np.array(points), escaped, period)


def _steps(job: Job, wide: Wide, re: Fraction, im: Fraction) -> Iterator[Complex]:
    parameters = tuple((wide.encode(x), wide.encode(y)) for x, y in job.formula.parameters)
    z, c = job.formula.start(wide, (wide.encode(re), wide.encode(im)), parameters)
    for n in count():
        yield z
        z = job.formula.step(wide, z, c, n)


def _cycle(steps: Iterator[Complex], wide: Wide, radius_squared: int, done: int) -> tuple[int | None, int | None]:
    """Return the period that an orbit approaches, and the step at which it escapes; None if not found in time.

    A point is compared with later ones, for twice as long each time (Brent, BIT 20, 1980). The first point that equals
    it in half of the bits is one period later, if the next point matches as well. Within a minibrot of size r, all
    orbits pass the cycles of what lies around it within about r, which those bits resolve.
    """
    ends, look = time.monotonic() + _CYCLE_S, _LEAST_LOOK
    same = 1 << wide.bits - wide.bits // 2
    while time.monotonic() < ends:
        x, y = next(steps)
        found = 0
        for k, z in enumerate(islice(steps, look), 1):
            if wide.outside(z, radius_squared):
                return None, done + 1 + k
            near = abs(z[0] - x) < same and abs(z[1] - y) < same
            if near and found and k == 2 * found:
                return found, None
            if near and not found:
                found = k
        done, look = done + 1 + look, 2 * look
    return None, None
