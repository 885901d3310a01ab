"""An orbit by perturbation, one pixel at a time, from the definition alone: what devices must give, to the last bit.

cl/advance_turns.cl says what a turn is.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mandelcl.core.numbers.ieee import IEEE_FORMATS
from mandelcl.core.numbers.ieee_arithmetic import Scalars
from mandelcl.core.reference import Reference
from mandelcl.formulas import Formula
from mandelcl.perturbation.jets import GROUPS
from mandelcl.perturbation.map_replay import MapReplay
from mandelcl.perturbation.orbit import INSIDE, Orbit
from mandelcl.perturbation.scaled_arithmetic import FORMATS, ZERO, Parts, Scaled, ScaledBeside, key_of
from mandelcl.perturbation.table import Table, TableLevel

_RUN = 64
_CLOSE_RETURN = 2.0**-8
_NEAR, _NEAR_SHARE = 2.0**-11, 2.0**-18


@dataclass(frozen=True, slots=True)
class State:
    """An orbit between two turns: its difference, its place in the reference of a phase, and whether it runs next.

    In a return map it is at a `node`, and its place is 0.
    """

    z: Scaled
    place: int = 0
    phase: int = 0
    whole: bool = False
    node: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn led to: the state, the iteration, z itself, and whether it lies outside."""

    state: State
    n: int
    w: Parts
    outside: bool


class Replay:
    """Orbits beside the references of a formula, for points that are differences from the reference's times 2^scale.

    `radius_squared` is R² as the number has it.
    """

    def __init__(
        self,
        references: Sequence[tuple[Orbit, Table]],
        formula: Formula,
        reference: Reference,
        scale: int,
        number: str,
        radius_squared: float,
        iterations: int,
    ) -> None:
        self._references, self._formula, self._reference, self._scale = references, formula, reference, scale
        self._format = FORMATS[number]
        self._arithmetic = Scalars(IEEE_FORMATS[number], fused=True)
        self._radius_squared, self._iterations = radius_squared, iterations
        mapped = references[0][0].mapped
        self._mapped_places = frozenset(() if mapped is None else mapped.places.tolist())

    def count(self, re: float, im: float, most: int) -> int | None:
        """Return the count of a point; None where it takes more than so many turns.

        Where the reference's end says so, no orbit escapes. One that comes back to a state that it had never does,
        either; one is kept after 1, 2, 4, 8 … turns.
        """
        if self._references[0][0].ended == INSIDE:
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
        """Yield the turns of a point's orbit until it is outside or at the iteration limit."""
        orbit, constants = self._references[0][0], self._constants(re, im)
        returns, mapped = orbit.returns, orbit.mapped
        map_ = None if returns is None else MapReplay(returns, self._format, constants[0])
        by_map = None if mapped is None else MapReplay(mapped.map, self._format, constants[0])
        turn = self._start(re, im, None if map_ is None else 0)
        if turn.outside:
            yield turn
        while turn.n < self._iterations and not turn.outside:
            if map_ is not None and returns is not None and turn.state.node is not None:
                run = map_.run(turn.state.z, turn.state.node, self._iterations - turn.n)
                turn = replace(turn, state=State(run.z, node=run.node), n=turn.n + run.steps * returns.period)
            elif by_map is not None and (mapped_turn := self._mapped(turn, by_map)) is not None:
                turn = mapped_turn
            else:
                turn = (self._run if turn.state.whole else self._step)(turn.state, turn.n, *constants)
                state = turn.state
                if map_ is not None and state.place == 0 and map_.enters(state.z, self._iterations - turn.n):
                    turn = replace(turn, state=State(state.z, node=0))
            yield turn

    def _mapped(self, turn: Turn, by_map: MapReplay) -> Turn | None:
        """Return a turn over a place that a step of a return map may follow; None where there is none to be taken."""
        orbit, state = self._references[0][0], turn.state
        mapped, place, left = orbit.mapped, state.place, self._iterations - turn.n
        if mapped is None or state.whole or (place > 0 and place not in self._mapped_places):
            return None
        period = mapped.map.period
        level, record = self._longest(state, key_of(self._delta(state, state.z)), left)
        if level is not None and level.length[record] >= period:
            return None
        to = place + 1 if place else period
        step = by_map.step_from(self._value(0, place), self._value(0, to), state.z)
        if not step.near:
            return replace(turn, state=State(step.anew)) if place else None
        if left < period:
            return replace(turn, n=self._iterations)
        returns = step.returns or to == orbit.length
        state = State(step.anew) if returns else State(step.z, to)
        return replace(turn, state=state, n=turn.n + period)

    def smooth(self, re: float, im: float, radius_squared: float, limit: int) -> tuple[int, float]:
        """Return at which iteration a point's orbit, once it has escaped, leaves a larger disc, and |z|² there.

        It is carried on as it is, for at most `limit` iterations.
        """
        *_, turn = self.turns(re, im)
        *_, whole = self._constants(re, im)
        (x, y), n = turn.w, turn.n
        while (norm := self._format.norm(x, y)) <= radius_squared and n < turn.n + limit:
            (x, y), n = self._next(x, y, whole, n), n + 1
        return n, norm

    def _start(self, re: float, im: float, node: int | None) -> Turn:
        """Return where the orbit of a point begins: at 0, or at the point beside a Julia set's own reference."""
        if self._formula.begins_inside:
            return Turn(State(ZERO, node=node), 0, (0.0, 0.0), outside=False)
        number, phase = self._format, len(self._formula.lines)
        z, there = number.normal(re, im, -self._scale), self._value(phase, 0)
        w = number.sum(there, z)
        plain = number.multiply(number.norm(w.re, w.im), number.power(2 * max(-60, min(60, w.exponent))))
        outside = self._is_outside(phase, 0, there, z, plain)
        return Turn(State(z, phase=phase), 0, number.plain(w), outside)

    def _constants(self, re: float, im: float) -> tuple[Scaled, Scaled, Parts]:
        """Return the difference of the constant, its square, and the constant."""
        number = self._format
        c = number.normal(re, im, -self._scale) if self._formula.begins_inside else ZERO
        square = number.normal(*number.product(c, c), 2 * c.exponent)
        (x, y), (u, v) = number.plain(self._value(0, 1)), number.plain(c)
        add, cut = number.add, number.cut_off
        return c, square, (cut(add(x, u)), cut(add(y, v)))

    def _step(self, state: State, n: int, c: Scaled, square: Scaled, _whole: Parts) -> Turn:
        number = self._format
        z, phase = state.z, state.phase
        t = self._delta(state, z)
        level, record = self._longest(state, key_of(t), self._iterations - n)
        if level is None:
            z, length, to = number.sum(t, c), 1, None
        else:
            z, length, to = self._over(level, record, t, c, square), int(level.length[record]), level.to
        z = number.normal(z.re, z.im, z.exponent)
        place = state.place + length if to is None else int(to[record])
        there = self._value(phase, place)
        exponent = max(there.exponent, z.exponent)
        power = number.power
        by_there, by_z = power(there.exponent - exponent), power(z.exponent - exponent)
        dx, dy = number.multiply(z.re, by_z), number.multiply(z.im, by_z)
        x, y = number.fma(there.re, by_there, dx), number.fma(there.im, by_there, dy)
        norm = number.norm(x, y)
        plain = number.multiply(norm, power(2 * max(-60, min(60, exponent))))
        outside = self._is_outside(phase, place, there, z, plain)
        if norm < number.norm(dx, dy) or place >= self._references[phase][0].length:
            z, place, phase = number.normal(x, y, exponent), 0, (phase + place) % len(self._formula.lines)
        whole = level is None and z.exponent > -self._reference.tail_bits
        w = number.plain(Scaled(x, y, exponent))
        return Turn(State(z, place, phase, whole), n + length, w, outside)

    def _is_outside(self, phase: int, place: int, there: Scaled, z: Scaled, square: float) -> bool:
        """Return whether |Z + z|² > R²; near R it follows from |Z|² − R², where the reference has that."""
        number, edge = self._format, self._references[phase][0].edges.get(place)
        margin = number.fma(self._radius_squared, _NEAR_SHARE, _NEAR)
        if edge is None or not abs(number.add(square, -self._radius_squared)) <= margin:
            return not square <= self._radius_squared
        (k, shift), fma, multiply = edge, number.fma, number.multiply
        length = k.bit_length()
        value, value_exponent = number.rounded(math.ldexp(k, -length)), shift + length if k else ZERO.exponent
        along = fma(there.re, z.re, multiply(there.im, z.im))
        change = fma(number.norm(z.re, z.im), number.power(z.exponent), number.add(along, along))
        exponent = max(value_exponent, z.exponent) if change else value_exponent
        by_z = multiply(change, number.power(z.exponent - exponent))
        return fma(value, number.power(value_exponent - exponent), by_z) > 0

    def _run(self, state: State, n: int, _c: Scaled, _square: Scaled, whole: Parts) -> Turn:
        number = self._format
        add = number.add
        phase, length = state.phase, self._references[state.phase][0].length
        (x, y), (u, v) = number.plain(self._value(phase, state.place)), number.plain(state.z)
        x, y = add(x, u), add(y, v)
        most, steps, norm = min(_RUN, self._iterations - n), 0, 1.0
        if len(self._references) > 1:
            most = min(most, length - state.place)
        while steps < most and _CLOSE_RETURN <= norm <= self._radius_squared:
            x, y = self._next(x, y, whole, phase + state.place + steps)
            norm, steps = number.norm(x, y), steps + 1
        place = state.place + steps
        ended = (len(self._references) > 1 and place == length) or bool(self._mapped_places)
        place = place if ended else place % length
        u, v = number.plain(self._value(phase, place))
        u, v = add(x, -u), add(y, -v)
        if norm < _CLOSE_RETURN or ended or norm < number.norm(u, v):
            z, place, phase = number.normal(x, y, 0), 0, (phase + place) % len(self._formula.lines)
        else:
            z = number.normal(u, v, 0)
        far = z.exponent > -self._reference.tail_bits and norm >= _CLOSE_RETURN
        return Turn(State(z, place, phase, far), n + steps, (x, y), not norm <= self._radius_squared)

    def _delta(self, state: State, z: Scaled) -> Scaled:
        """Return the difference after the line that is next, but for the constant."""
        line = self._formula.lines[(state.phase + state.place) % len(self._formula.lines)]
        inner = self._references[state.phase][0].inner[: len(line.inner_folds)]
        parts = [(self._format.rounded(float(m[state.place])), int(e[state.place])) for m, e in inner]
        return line.beside(self._format, ScaledBeside(self._value(state.phase, state.place), z), parts).by

    def _longest(self, state: State, key: int, left: int) -> tuple[TableLevel | None, int]:
        """Return the longest step that begins at a place, holds for a key, and stays within the iteration limit."""
        found: tuple[TableLevel | None, int] = None, 0
        place = state.place
        for level in self._references[state.phase][1].levels:
            record = place // level.block
            if record >= len(level.start) or level.start[record] != place:
                break
            if key >= level.key[record] or level.length[record] > left:
                break
            found = level, record
        return found

    def _over(self, level: TableLevel, record: int, t: Scaled, c: Scaled, square: Scaled) -> Scaled:
        """Return A·û + B·c, and where t or c ask for it (D·û + E·c)·û + F·c² beside it; with the terms of c̄."""
        number = self._format
        a, b, d, e, f, *mirrored = (self._coefficient(level, record, k) for k in range(len(level.mantissas) // 2))
        of_t = Scaled(t.re, -t.im, t.exponent) if level.turned is not None and level.turned[record] else t
        by_b, by_e, by_f = number.times(b, c), number.times(e, c), number.times(f, square)
        if mirrored:
            m_b, m_e, g, h = mirrored
            by_b, by_e, by_f = self._both(b, m_b, c), self._both(e, m_e, c), self._both(f, h, square)
            by_f = self._with_norm(by_f, g, c, square)
        linear = number.sum(number.times(a, of_t), by_b)
        key = int(level.key[record]) - (self._reference.step_bits << 8)
        if key_of(t) < key and not level.quadratic_c[record]:
            return linear
        inner = number.sum(number.times(d, of_t), by_e)
        slope = Scaled(number.cut_off(inner.re), number.cut_off(inner.im), inner.exponent)
        by_t = number.times(slope, of_t)
        exponent = max(linear.exponent, by_t.exponent, by_f.exponent)
        first, second, third = (number.power(term.exponent - exponent) for term in (linear, by_t, by_f))
        fma, multiply = number.fma, number.multiply
        return Scaled(
            fma(by_f.re, third, fma(by_t.re, second, multiply(linear.re, first))),
            fma(by_f.im, third, fma(by_t.im, second, multiply(linear.im, first))),
            exponent,
        )

    def _both(self, a: Scaled, b: Scaled, z: Scaled) -> Scaled:
        """Return a·z + b·z̄, where b has the exponent of a."""
        number = self._format
        fma = number.fma
        x, y = number.product(a, z)
        return Scaled(
            fma(b.im, z.im, fma(b.re, z.re, x)), fma(-b.re, z.im, fma(b.im, z.re, y)), a.exponent + z.exponent
        )

    def _with_norm(self, both: Scaled, g: Scaled, c: Scaled, square: Scaled) -> Scaled:
        """Return G·|c|² more, at the exponent that is there."""
        number = self._format
        power = number.power(max(-number.largest, min(2 * c.exponent - square.exponent, number.largest + 1)))
        norm = number.multiply(number.norm(c.re, c.im), power)
        return Scaled(number.fma(g.re, norm, both.re), number.fma(g.im, norm, both.im), both.exponent)

    def _coefficient(self, level: TableLevel, record: int, k: int) -> Scaled:
        number = self._format
        re, im = (number.cut_off(float(part)) for part in level.mantissas[2 * k : 2 * k + 2, record])
        exponent = int(level.exponents[GROUPS[k], record])
        return Scaled(number.rounded(re), number.rounded(im), exponent)

    def _value(self, phase: int, place: int) -> Scaled:
        """Return the value of a phase's reference: plain, or with an exponent where it is small."""
        number, orbit = self._format, self._references[phase][0]
        re, im = float(orbit.re[place]), float(orbit.im[place])
        rounded, exponent = number.rounded, 0
        if max(abs(re), abs(im)) >= 2.0**number.small:
            return Scaled(rounded(re), rounded(im), 0)
        if re == im == 0:
            if place not in orbit.tiny:
                return ZERO
            re, im, exponent = orbit.tiny[place]
        shift = math.frexp(max(abs(re), abs(im)))[1]
        re, im = (number.cut_off(math.ldexp(part, -shift)) for part in (re, im))
        return Scaled(rounded(re), rounded(im), exponent + shift)

    def _next(self, x: float, y: float, c: Parts, n: int) -> Parts:
        """Return what follows z, the n-th of its orbit."""
        value = self._arithmetic.value
        re, im = self._formula.step(self._arithmetic, (value(x), value(y)), (value(c[0]), value(c[1])), n)
        return float(re), float(im)
