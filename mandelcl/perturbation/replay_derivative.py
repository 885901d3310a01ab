"""The derivative of an orbit by perturbation, one pixel at a time: what devices must give, to the last bit.

The derivative of the difference is that of the orbit, so it stays as it is where the orbit goes on beside another place
of the reference.
"""

from mandelcl.perturbation.replay import ZERO, Parts, Replay, Scaled, State, Turn, key_of


class DerivativeReplay(Replay):
    """Orbits beside a reference, each with its derivative by the constant, which is taken to move by 2^−scale."""

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
        power = self._format.power(min(d.exponent, self._format.largest))
        return self._format.multiply(d.re, power), self._format.multiply(d.im, power)

    def _through_run(self, state: State, steps: int, whole: Parts, d: Scaled) -> Scaled:
        add = self._format.add
        (x, y), (u, v) = self._plain(self._value(state.place)), self._plain(state.z)
        x, y = add(x, u), add(y, v)
        for _ in range(steps):
            d = self._moved(self._of_t(d, Scaled(add(x, x), add(y, y), 0)))
            x, y = self._next(x, y, whole)
        return d

    def _through_step(self, state: State, n: int, c: Scaled, d: Scaled) -> Scaled:
        z, here = state.z, self._value(state.place)
        both = self._sum(Scaled(here.re, here.im, here.exponent + 1), z)
        of_t = self._of_t(d, self._sum(both, z))
        x, y = self._product(z, Scaled(self._cut(both.re), self._cut(both.im), both.exponent))
        t = Scaled(self._cut(x), self._cut(y), z.exponent + both.exponent)
        level, record = self._longest(state.place, key_of(t), self._iterations - n)
        if level is None:
            return self._moved(of_t)
        by_t, by_c, *quadratic = (self._coefficient(level, record, k) for k in range(5))
        key = int(level.key[record]) - (self._reference.step_bits << 8)
        if key_of(t) >= key or level.quadratic_c[record]:
            by_tt, by_tc, by_cc = quadratic
            by_t = self._sum(by_t, self._sum(_twice(self._times(by_tt, t)), self._times(by_tc, c)))
            by_c = self._sum(by_c, self._sum(self._times(by_tc, t), _twice(self._times(by_cc, c))))
        slope = Scaled(self._cut(by_t.re), self._cut(by_t.im), by_t.exponent)
        by_move = Scaled(by_c.re, by_c.im, by_c.exponent - self._scale)
        total = self._sum(self._times(slope, of_t), by_move)
        return self._normal(total.re, total.im, total.exponent)

    def _of_t(self, d: Scaled, twice_w: Scaled) -> Scaled:
        """Return the derivative of t = w² − Z², which is 2w·w′."""
        x, y = self._product(d, Scaled(self._cut(twice_w.re), self._cut(twice_w.im), 0))
        return Scaled(self._cut(x), self._cut(y), d.exponent + twice_w.exponent)

    def _moved(self, of_t: Scaled) -> Scaled:
        """Return the derivative of t + c."""
        total = self._sum(of_t, Scaled(0.5, 0.0, 1 - self._scale))
        return self._normal(total.re, total.im, total.exponent)


def _twice(value: Scaled) -> Scaled:
    return Scaled(value.re, value.im, value.exponent + 1)
