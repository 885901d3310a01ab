"""Newton's method for nuclei: the c near a guess with z_p = 0, to as many bits as its minibrot needs to be seen."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mandelcl.base.errors import NEVER, Token, stop_if
from mandelcl.base.exact import floor_log2
from mandelcl.base.lattice import Matrix
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.perturbation.integers import FASTEST, Integers, advanced, doubles, normalised
from mandelcl.perturbation.jacobian import JacobianOrbit, view_matrix

_BATCH = 512  # steps of an orbit at a time
_MOST_STEPS = 200
_FOLDED_STEPS = 16  # after so many a step has gained a few bits, or folds lead to and fro
_SPARE = 96  # bits beyond those that a step can gain
BEYOND = 40  # bits of a nucleus below its minibrot's size
_SMALL = 2.0**-8  # of |z|²: the derivative then loses more bits in a step than are looked after at once
_LOOK = 32  # steps between two looks at the derivative's length
_STRAY = 8  # radii from the guess at which the search is given up


@dataclass(frozen=True, slots=True)
class Nucleus:
    """A centre of a component of the set: its period and its place, to some 40 bits below the size of its minibrot.

    `size` is that of the minibrot's cardioid, with the main one's as 1, and `turn` its orientation in radians: c is in
    the minibrot, to first order, where (c − nucleus)/(size·e^(i·turn)) is in the set. `bits` after the point are good.
    Where a minibrot is stretched, too, `matrix` is the one of determinant 1 with which a view shows it undistorted, and
    `turn` is 0.
    """

    period: int
    re: Fraction
    im: Fraction
    size: Fraction
    turn: float
    bits: int
    matrix: Matrix | None = None


def find_nucleus(
    re: Fraction,
    im: Fraction,
    radius: Fraction,
    period: int,
    *,
    cancel: Token = NEVER,
    progress: Callable[[int], None] = lambda _done: None,
    integers: Integers = FASTEST,
    formula: Formula = MANDELBROT,
) -> Nucleus | None:
    """Return the nucleus of a period to which Newton's method leads from re + im·i; None if it leads nowhere.

    It is given up 8 radii away, and where the orbit is 0 before another line, too, of which no size follows. The period
    may turn out to be a divisor of what was asked for. `progress` is called with the iterations done of each step's
    `period`. Raises CancelledError.
    """
    near = max(0, -floor_log2(radius))
    bits, places = near + _SPARE, (re, im)
    for step in range(_MOST_STEPS):
        c_re, c_im = (integers.whole(round(part * (1 << bits))) for part in places)
        digits = bits - near + _SPARE
        square = formula.knows_inside
        orbit = (
            _Orbit(integers, (c_re, c_im), bits, digits)
            if square
            else _FormulaOrbit(formula, (c_re, c_im), bits, digits)
        )
        if not orbit.run(period, cancel, progress):
            return None
        if not math.isfinite(orbit.size_log2):
            if orbit.divisor is None:
                return None
            period = orbit.divisor
            continue
        step_re, step_im = orbit.newton_step()
        places = Fraction(int(c_re + step_re), 1 << bits), Fraction(int(c_im + step_im), 1 << bits)
        if abs(places[0] - re) + abs(places[1] - im) > _STRAY * radius:
            return None
        gained = bits - max(int(step_re).bit_length(), int(step_im).bit_length())
        if step >= _FOLDED_STEPS and not formula.analytic and gained < near + 8:
            return None
        needed = math.ceil(-orbit.size_log2) + BEYOND
        if gained >= needed - 8 and bits >= needed + 8:
            if orbit.elsewhere_bits >= gained - 8:
                return None
            if orbit.divisor is None or orbit.divisor_bits < needed - BEYOND // 2:
                size = Fraction(2) ** math.floor(orbit.size_log2) * Fraction(2.0 ** (orbit.size_log2 % 1))
                return Nucleus(period, *places, size, orbit.turn, needed, orbit.matrix)
            period = orbit.divisor
        bits = max(near + _SPARE, min(2 * max(gained, near) - near + _SPARE, needed + _SPARE))
    return None


class _Orbit:
    """z_n in units of 2^−bits, and dz_n/dc = (x + y·i)·2^exponent, to some `digits` bits.

    The size of a component is 1/(β·λ²), with λ = Π 2·z_k and β = Σ 1/λ_k, λ_k being the product's first k factors
    (C. Heiland-Allen, mathr.co.uk, "Deriving the size estimate"); and λ·β = dz_p/dc.
    """

    matrix: Matrix | None = None
    elsewhere_bits = 0

    def __init__(self, integers: Integers, c: tuple[int, int], bits: int, digits: int) -> None:
        self.divisor: int | None = None
        self.divisor_bits = 0
        self._c, self._bits, self._digits = c, bits, digits
        self._z = c
        self._x, self._y, self._exponent = integers.whole(1) << digits, integers.whole(0), -digits
        self._product_log2 = self._product_turn = 0.0
        self._drop = max(0, bits - digits)

    def run(self, period: int, cancel: Token, progress: Callable[[int], None]) -> bool:
        """Advance from n = 1 to n = period; return whether z is below 4 all the way, and has a derivative there."""
        n = 1
        while n < period:
            stop_if(cancel)
            progress(n)
            steps = min(_BATCH, period - n)
            parts = advanced(*self._z, *self._c, self._bits, steps)
            if len(parts[0]) < steps or max(part[steps - 1].bit_length() for part in parts) > self._bits + 2:
                return False
            z_re, z_im = ([before, *after[: steps - 1]] for before, after in zip(self._z, parts, strict=True))
            self._z = parts[0][steps - 1], parts[1][steps - 1]
            small = self._multiply(z_re, z_im)
            self._derive(n, z_re, z_im, small)
            n += steps
        return bool(self._x or self._y)

    def newton_step(self) -> tuple[int, int]:
        """Return −z/(dz/dc) in units of 2^−bits."""
        (a, b), x, y, exponent = self._z, self._x, self._y, self._exponent
        norm = x * x + y * y
        down, up = max(0, exponent), max(0, -exponent)
        return -(a * x + b * y << up >> down) // norm, -(b * x - a * y << up >> down) // norm

    @property
    def size_log2(self) -> float:
        """log2 of the minibrot's size."""
        x, y, exponent = self._derivative()
        return -(math.log2(math.hypot(x, y)) + exponent + self._product_log2)

    @property
    def turn(self) -> float:
        """The minibrot's orientation in radians, from −π to π."""
        x, y, _ = self._derivative()
        return math.remainder(-(math.atan2(y, x) + self._product_turn), math.tau)

    def _derivative(self) -> tuple[float, float, int]:
        return normalised(self._x, self._y, -self._exponent)

    def _multiply(self, z_re: Sequence[int], z_im: Sequence[int]) -> list[bool]:
        """Multiply λ by some 2·z; return which of them are small."""
        re, im = doubles(list(z_re), self._bits), doubles(list(z_im), self._bits)
        squares = re * re + im * im
        logs, turns = np.zeros(len(re)), np.arctan2(im, re)
        common = squares > 0.0
        logs[common] = np.log2(squares[common]) / 2
        for k in np.flatnonzero(~common).tolist():
            x, y, exponent = normalised(z_re[k], z_im[k], self._bits) if z_re[k] or z_im[k] else (1.0, 0.0, -self._bits)
            logs[k], turns[k] = math.log2(math.hypot(x, y)) + exponent, math.atan2(y, x)
        self._product_log2 += float(logs.sum()) + len(re)
        self._product_turn += float(turns.sum())
        small: list[bool] = (squares < _SMALL).tolist()
        return small

    def _derive(self, n: int, z_re: Sequence[int], z_im: Sequence[int], small: list[bool]) -> None:
        """Take the derivative along z from z_n on."""
        drop, shift = self._drop, self._bits - self._drop - 1
        x, y, one = self._x, self._y, self._one()
        for k, (a, b) in enumerate(zip(z_re, z_im, strict=True)):
            if small[k]:
                self._x, self._y = x, y
                self._note(n + k, a, b)
                self._x, self._y = a * x - b * y, a * y + b * x
                self._exponent += 1 - self._bits
                self._shorten()
                x, y, one = self._x, self._y, self._one()
                x += one
                continue
            u, v = a >> drop, b >> drop
            x, y = (u * x - v * y >> shift) + one, u * y + v * x >> shift
            if k % _LOOK == _LOOK - 1:
                self._x, self._y = x, y
                self._shorten()
                x, y, one = self._x, self._y, self._one()
        self._x, self._y = x, y

    def _one(self) -> int:
        return 1 << -self._exponent if self._exponent <= 0 else 0

    def _shorten(self) -> None:
        """Bring the derivative to its digits and some more."""
        length = max(self._x.bit_length(), self._y.bit_length())
        # Where it is small, 1 is to be added, and decides.
        drop = max(length, -self._exponent + 1) - self._digits - 4 * _LOOK
        self._exponent += drop
        if drop > 0:
            self._x, self._y = self._x >> drop, self._y >> drop
        else:
            self._x, self._y = self._x << -drop, self._y << -drop

    def _note(self, n: int, a: int, b: int) -> None:
        """Note how near a nucleus of period n is, if it is the nearest so far: |z_n|/|dz_n/dc| away."""
        length = max(self._x.bit_length(), self._y.bit_length()) + self._exponent
        apart = length + self._bits - max(a.bit_length(), b.bit_length())
        if apart > self.divisor_bits:
            self.divisor, self.divisor_bits = n, apart


class _FormulaOrbit:
    """The same for any formula: z_n and its Jacobian by c, in two real dimensions."""

    def __init__(self, formula: Formula, c: tuple[int, int], bits: int, digits: int) -> None:
        self.divisor: int | None = None
        self.divisor_bits = self.elsewhere_bits = 0
        self._formula, self._bits = formula, bits
        self._orbit = JacobianOrbit(formula, c, bits, digits, by_first=True)

    def run(self, period: int, cancel: Token, progress: Callable[[int], None]) -> bool:
        """Advance to n = period; return whether z stays all the way, and has an invertible derivative there."""
        orbit, lines = self._orbit, len(self._formula.lines)
        while orbit.n < period:
            if orbit.n % _BATCH == 0:
                stop_if(cancel)
                progress(orbit.n)
            orbit.step()
            if orbit.escaped:
                return False
            if orbit.n < period and period % orbit.n == 0:
                self._note(orbit.n % lines == 0)
        return orbit.newton_step() is not None

    def newton_step(self) -> tuple[int, int]:
        """Return −J⁻¹·z in units of 2^−bits."""
        step = self._orbit.newton_step()
        assert step is not None
        return step

    @property
    def size_log2(self) -> float:
        """log2 of the minibrot's size."""
        return self._orbit.size_log2

    @property
    def turn(self) -> float:
        """The minibrot's orientation in radians, from −π to π; 0 where it is stretched, too."""
        return self._orbit.turn

    @property
    def matrix(self) -> Matrix | None:
        """The view's matrix that shows it undistorted."""
        return view_matrix(self._orbit.change)

    def _note(self, same_line: bool) -> None:
        """Note how near a c is whose orbit is 0 here: a nucleus, where that is before the first line."""
        step = self._orbit.newton_step()
        if step is None:
            return
        apart = self._bits - max(int(step[0]).bit_length(), int(step[1]).bit_length())
        if not same_line:
            self.elsewhere_bits = max(apart, self.elsewhere_bits)
        elif apart > self.divisor_bits:
            self.divisor, self.divisor_bits = self._orbit.n, apart
