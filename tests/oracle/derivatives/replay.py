"""The derivative of an orbit by perturbation, one pixel at a time: what devices must give, to the last bit.

The derivative of the difference is that of the orbit, so it stays as it is where the orbit goes on beside another place
of the reference.
"""

from mandelcl.core.job import Job
from mandelcl.engine.methods import perturbation
from mandelcl.perturbation.replay import Replay, State, Turn
from mandelcl.perturbation.scaled_arithmetic import ZERO, Parts, Scaled, key_of


class DerivativeReplay(Replay):
    """Orbits beside a reference, each with its derivative by the constant, which is taken to move by 2^−scale."""

    def __init__(self, job: Job) -> None:
        vars(self).update(vars(perturbation.replay(job)))

    def derivative(self, re: float, im: float) -> tuple[Turn, Scaled, Parts]:
        """Return the last turn of a point's orbit, its derivative there, and the constant."""
        c, _, whole = self._constants(re, im)
        turn, d = Turn(State(ZERO), 0, (0.0, 0.0), outside=False), ZERO
        for following in self.turns(re, im):
            if turn.state.whole:
                d = self._through_run(turn.state, following.n - turn.n, whole, d)
            else:
                d = self._through_step(turn.state, turn.n, c, d)
            turn = following
        return turn, d, whole

    def plain(self, d: Scaled) -> Parts:
        """Return a derivative as an orbit goes on with it to the smooth radius."""
        number = self._format
        power = number.power(min(d.exponent, number.largest))
        return number.multiply(d.re, power), number.multiply(d.im, power)

    def _through_run(self, state: State, steps: int, whole: Parts, d: Scaled) -> Scaled:
        number = self._format
        add = number.add
        (x, y), (u, v) = number.plain(self._value(0, state.place)), number.plain(state.z)
        x, y = add(x, u), add(y, v)
        for _ in range(steps):
            d = self._moved(self._of_t(d, Scaled(add(x, x), add(y, y), 0)))
            x, y = self._next(x, y, whole, 0)
        return d

    def _through_step(self, state: State, n: int, c: Scaled, d: Scaled) -> Scaled:
        number = self._format
        z, here = state.z, self._value(0, state.place)
        both = number.sum(Scaled(here.re, here.im, here.exponent + 1), z)
        of_t = self._of_t(d, number.sum(both, z))
        x, y = number.product(z, Scaled(number.cut_off(both.re), number.cut_off(both.im), both.exponent))
        t = Scaled(number.cut_off(x), number.cut_off(y), z.exponent + both.exponent)
        level, record = self._longest(state, key_of(t), self._iterations - n)
        if level is None:
            return self._moved(of_t)
        by_t, by_c, *quadratic = (self._coefficient(level, record, k) for k in range(5))
        key = int(level.key[record]) - (self._reference.step_bits << 8)
        if key_of(t) >= key or level.quadratic_c[record]:
            by_tt, by_tc, by_cc = quadratic
            by_t = number.sum(by_t, number.sum(_twice(number.times(by_tt, t)), number.times(by_tc, c)))
            by_c = number.sum(by_c, number.sum(number.times(by_tc, t), _twice(number.times(by_cc, c))))
        slope = Scaled(number.cut_off(by_t.re), number.cut_off(by_t.im), by_t.exponent)
        by_move = Scaled(by_c.re, by_c.im, by_c.exponent - self._scale)
        total = number.sum(number.times(slope, of_t), by_move)
        return number.normal(total.re, total.im, total.exponent)

    def _of_t(self, d: Scaled, twice_w: Scaled) -> Scaled:
        """Return the derivative of t = w² − Z², which is 2w·w′."""
        number = self._format
        x, y = number.product(d, Scaled(number.cut_off(twice_w.re), number.cut_off(twice_w.im), 0))
        return Scaled(number.cut_off(x), number.cut_off(y), d.exponent + twice_w.exponent)

    def _moved(self, of_t: Scaled) -> Scaled:
        """Return the derivative of t + c."""
        total = self._format.sum(of_t, Scaled(0.5, 0.0, 1 - self._scale))
        return self._format.normal(total.re, total.im, total.exponent)


def _twice(value: Scaled) -> Scaled:
    return Scaled(value.re, value.im, value.exponent + 1)
