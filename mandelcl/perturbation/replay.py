"""An orbit by perturbation, one pixel at a time, from the definition alone: what devices must give, to the last bit.

cl/advance_turns.cl says what a turn is. Here each operation is made on whole numbers and rounded once.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from mandelcl.perturbation.orbit import INSIDE, Orbit
from mandelcl.perturbation.table import Level, Table
from mandelcl.reference import Reference

Parts: TypeAlias = tuple[float, float]

_RUN = 64
_DIP = 2.0**-8
_NOTHING = -(1 << 28)
_NO_KEY = -(1 << 31) + 1


@dataclass(frozen=True, slots=True)
class Format:
    """An IEEE 754 format: its precision, its least and largest exponents, and where small values and parts begin."""

    precision: int
    least: int  # the exponent of its least denormal
    largest: int
    small: int
    cut: int

    def fma(self, a: float, b: float, c: float) -> float:
        """Return a·b + c, rounded once, ties to even."""
        if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
            return a * b + c
        (p, r), (q, s), (t, u) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
        return self._rounded(p * q * u + t * r * s, (r * s * u).bit_length() - 1)

    def add(self, a: float, b: float) -> float:
        """Return a + b."""
        return self.fma(a, 1.0, b)

    def multiply(self, a: float, b: float) -> float:
        """Return a·b."""
        return self.fma(a, b, 0.0)

    def rounded(self, value: float) -> float:
        """Return the nearest value of the format."""
        return self.fma(value, 1.0, 0.0)

    def power(self, exponent: int) -> float:
        """Return 2^exponent; 0 where that is no normal number."""
        return math.ldexp(1.0, exponent) if exponent > -self.largest else 0.0

    def _rounded(self, number: int, places: int) -> float:
        """Return number·2^−places."""
        size = abs(number)
        dropped = max(size.bit_length() - self.precision, places + self.least, 0)
        kept = size >> dropped
        if dropped:
            rest, half = size - (kept << dropped), 1 << (dropped - 1)
            kept += rest > half or (rest == half and kept & 1)
        if kept.bit_length() + dropped - places > self.largest + 1:
            return math.inf if number > 0 else -math.inf
        return math.ldexp(kept if number > 0 else -kept, dropped - places)


FORMATS = {"double": Format(53, -1074, 1023, -300, -500), "float": Format(24, -149, 127, -30, -60)}


@dataclass(frozen=True, slots=True)
class Scaled:
    """(re + im·i)·2^exponent."""

    re: float
    im: float
    exponent: int

    @property
    def larger(self) -> float:
        """The larger of |re| and |im|."""
        return max(abs(self.re), abs(self.im))


ZERO = Scaled(0.0, 0.0, _NOTHING)


@dataclass(frozen=True, slots=True)
class State:
    """An orbit between two turns: its difference, its place in the reference, whether its next turn is of itself."""

    z: Scaled
    place: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn led to: the state, the iteration, z itself, and whether it lies outside."""

    state: State
    n: int
    w: Parts
    outside: bool


class Replay:
    """Orbits beside a reference, for points that are differences of the constant times 2^scale.

    `radius_squared` is R² as the number has it.
    """

    def __init__(
        self,
        orbit: Orbit,
        table: Table,
        reference: Reference,
        scale: int,
        number: str,
        radius_squared: float,
        iterations: int,
    ) -> None:
        self._orbit, self._table, self._reference, self._scale = orbit, table, reference, scale
        self._format = FORMATS[number]
        self._radius_squared, self._iterations = radius_squared, iterations

    def count(self, re: float, im: float, most: int) -> int | None:
        """Return the count of a point; None where it takes more than so many turns.

        Where the reference's end says so, no orbit escapes. One that comes back to a state that it had never does,
        either; one is kept after 1, 2, 4, 8 … turns.
        """
        if self._orbit.ended == INSIDE:
            return self._iterations
        kept, keep_at = None, 1
        for number, turn in enumerate(self.turns(re, im), 1):
            if turn.outside:
                return turn.n
            if turn.n == self._iterations or turn.state == kept:
                return self._iterations
            if number >= most:
                break
            if number == keep_at:
                kept, keep_at = turn.state, 2 * number
        return None

    def turns(self, re: float, im: float) -> Iterator[Turn]:
        """Yield the turns of a point's orbit until it is outside or at the cap."""
        constants = self._constants(re, im)
        turn = Turn(State(ZERO), 0, (0.0, 0.0), outside=False)
        while turn.n < self._iterations and not turn.outside:
            turn = (self._run if turn.state.whole else self._step)(turn.state, turn.n, *constants)
            yield turn

    def smooth(self, re: float, im: float, radius_squared: float, limit: int) -> tuple[int, float]:
        """Return at which iteration a point's orbit, once it has escaped, leaves a larger disc, and |z|² there.

        It is carried on as it is, for at most `limit` iterations.
        """
        *_, turn = self.turns(re, im)
        *_, whole = self._constants(re, im)
        (x, y), n = turn.w, turn.n
        while (norm := self._norm(x, y)) <= radius_squared and n < turn.n + limit:
            (x, y), n = self._next(x, y, whole), n + 1
        return n, norm

    def _constants(self, re: float, im: float) -> tuple[Scaled, Scaled, Parts]:
        """Return the difference of the constant, its square, and the constant."""
        c = self._normal(re, im, -self._scale)
        square = self._normal(*self._product(c, c), 2 * c.exponent)
        (x, y), (u, v) = self._plain(self._value(1)), self._plain(c)
        add, cut = self._format.add, self._cut
        return c, square, (cut(add(x, u)), cut(add(y, v)))

    def _step(self, state: State, n: int, c: Scaled, square: Scaled, _whole: Parts) -> Turn:
        z, here = state.z, self._value(state.place)
        both = self._sum(Scaled(here.re, here.im, here.exponent + 1), z)
        x, y = self._product(z, Scaled(self._cut(both.re), self._cut(both.im), both.exponent))
        t = Scaled(self._cut(x), self._cut(y), z.exponent + both.exponent)
        level, record = self._longest(state.place, key_of(t), self._iterations - n)
        if level is None:
            z, length = self._sum(t, c), 1
        else:
            z, length = self._over(level, record, t, c, square), int(level.length[record])
        z, place = self._normal(z.re, z.im, z.exponent), state.place + length
        there = self._value(place)
        exponent = max(there.exponent, z.exponent)
        power = self._format.power
        by_there, by_z = power(there.exponent - exponent), power(z.exponent - exponent)
        dx, dy = self._format.multiply(z.re, by_z), self._format.multiply(z.im, by_z)
        x, y = self._format.fma(there.re, by_there, dx), self._format.fma(there.im, by_there, dy)
        norm = self._norm(x, y)
        size = self._format.multiply(norm, power(2 * max(-60, min(60, exponent))))
        if norm < self._norm(dx, dy) or place >= self._orbit.length:
            z, place = self._normal(x, y, exponent), 0
        whole = level is None and z.exponent > -self._reference.tail_bits
        w = self._plain(Scaled(x, y, exponent))
        return Turn(State(z, place, whole), n + length, w, not size <= self._radius_squared)

    def _run(self, state: State, n: int, _c: Scaled, _square: Scaled, whole: Parts) -> Turn:
        add = self._format.add
        (x, y), (u, v) = self._plain(self._value(state.place)), self._plain(state.z)
        x, y = add(x, u), add(y, v)
        most, steps, norm = min(_RUN, self._iterations - n), 0, 1.0
        while steps < most and _DIP <= norm <= self._radius_squared:
            x, y = self._next(x, y, whole)
            norm, steps = self._norm(x, y), steps + 1
        place = (state.place + steps) % self._orbit.length
        u, v = self._plain(self._value(place))
        u, v = add(x, -u), add(y, -v)
        if norm < _DIP or norm < self._norm(u, v):
            z, place = self._normal(x, y, 0), 0
        else:
            z = self._normal(u, v, 0)
        far = z.exponent > -self._reference.tail_bits and norm >= _DIP
        return Turn(State(z, place, far), n + steps, (x, y), not norm <= self._radius_squared)

    def _longest(self, place: int, key: int, left: int) -> tuple[Level | None, int]:
        """Return the longest step that begins at a place, holds for a key, and stays within the cap."""
        found: tuple[Level | None, int] = None, 0
        for level in self._table.levels:
            record = place // level.block
            if record >= len(level.start) or level.start[record] != place:
                break
            if key >= level.key[record] or level.length[record] > left:
                break
            found = level, record
        return found

    def _over(self, level: Level, record: int, t: Scaled, c: Scaled, square: Scaled) -> Scaled:
        """Return A·t + B·c, and where t or c ask for it (D·t + E·c)·t + F·c² beside it."""
        a, b, d, e, f = (self._coefficient(level, record, k) for k in range(5))
        linear = self._sum(self._times(a, t), self._times(b, c))
        key = int(level.key[record]) - (self._reference.step_bits << 8)
        if key_of(t) < key and not level.quadratic_c[record]:
            return linear
        inner = self._sum(self._times(d, t), self._times(e, c))
        slope = Scaled(self._cut(inner.re), self._cut(inner.im), inner.exponent)
        by_t, by_c = self._times(slope, t), self._times(f, square)
        exponent = max(linear.exponent, by_t.exponent, by_c.exponent)
        first, second, third = (self._format.power(term.exponent - exponent) for term in (linear, by_t, by_c))
        fma, multiply = self._format.fma, self._format.multiply
        return Scaled(
            fma(by_c.re, third, fma(by_t.re, second, multiply(linear.re, first))),
            fma(by_c.im, third, fma(by_t.im, second, multiply(linear.im, first))),
            exponent,
        )

    def _coefficient(self, level: Level, record: int, k: int) -> Scaled:
        re, im = (self._cut(float(part)) for part in level.mantissas[2 * k : 2 * k + 2, record])
        return Scaled(self._format.rounded(re), self._format.rounded(im), int(level.exponents[k, record]))

    def _value(self, place: int) -> Scaled:
        """Return the reference's value: plain, or with an exponent where it is small."""
        re, im = float(self._orbit.re[place]), float(self._orbit.im[place])
        rounded, exponent = self._format.rounded, 0
        if max(abs(re), abs(im)) >= 2.0**self._format.small:
            return Scaled(rounded(re), rounded(im), 0)
        if re == im == 0:
            if place not in self._orbit.tiny:
                return ZERO
            re, im, exponent = self._orbit.tiny[place]
        shift = math.frexp(max(abs(re), abs(im)))[1]
        re, im = (self._cut(math.ldexp(part, -shift)) for part in (re, im))
        return Scaled(rounded(re), rounded(im), exponent + shift)

    def _cut(self, part: float) -> float:
        return 0.0 if abs(part) < 2.0**self._format.cut else part

    def _normal(self, re: float, im: float, exponent: int) -> Scaled:
        larger = max(abs(re), abs(im))
        if larger == 0:
            return ZERO
        by = math.frexp(larger)[1]
        return Scaled(self._cut(math.ldexp(re, -by)), self._cut(math.ldexp(im, -by)), exponent + by)

    def _plain(self, value: Scaled) -> Parts:
        power = self._format.power(value.exponent)
        return self._format.multiply(value.re, power), self._format.multiply(value.im, power)

    def _sum(self, a: Scaled, b: Scaled) -> Scaled:
        exponent = max(a.exponent, b.exponent)
        by_a, by_b = self._format.power(a.exponent - exponent), self._format.power(b.exponent - exponent)
        fma, multiply = self._format.fma, self._format.multiply
        return Scaled(fma(a.re, by_a, multiply(b.re, by_b)), fma(a.im, by_a, multiply(b.im, by_b)), exponent)

    def _product(self, a: Scaled, b: Scaled) -> Parts:
        fma, multiply = self._format.fma, self._format.multiply
        return fma(a.re, b.re, -multiply(a.im, b.im)), fma(a.re, b.im, multiply(a.im, b.re))

    def _times(self, a: Scaled, b: Scaled) -> Scaled:
        return Scaled(*self._product(a, b), a.exponent + b.exponent)

    def _next(self, x: float, y: float, c: Parts) -> Parts:
        """Return z² + c."""
        add, fma = self._format.add, self._format.fma
        return fma(x, x, fma(-y, y, c[0])), fma(add(x, x), y, c[1])

    def _norm(self, x: float, y: float) -> float:
        return self._format.fma(x, x, self._format.multiply(y, y))


def key_of(t: Scaled) -> int:
    """Return exponent·256 and the eight bits after the first of the larger part."""
    if t.larger == 0:
        return _NO_KEY
    mantissa, shift = math.frexp(t.larger)
    return ((shift + t.exponent) << 8) + int(mantissa * 512) - 256
