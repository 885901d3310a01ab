"""Steps of a return map, one orbit at a time: what devices must give, to the last bit.

cl/turn_map.cl and cl/turn_mapped.cl say what they are. Nothing is said of orbits that stay for ever.
"""

from dataclasses import dataclass

from mandelcl.perturbation.return_map import ReturnMap
from mandelcl.perturbation.scaled_arithmetic import FloatFormat, Parts, Scaled

_RUN = 64


@dataclass(frozen=True, slots=True)
class MapRun:
    """Where a run of the map led: the difference, its node (None out of the map), and how many steps it made."""

    z: Scaled
    node: int | None
    steps: int


@dataclass(frozen=True, slots=True)
class MappedStep:
    """What a step from a place leads to: the difference there, that from 0, and whether it is the larger one.

    Where the orbit is not `near` enough to 0 there is no step, and both are where it is.
    """

    z: Scaled
    anew: Scaled
    near: bool
    returns: bool


class MapReplay:
    """Steps beside the nodes of a map, for the constant whose difference from the reference's is c."""

    def __init__(self, returns: ReturnMap, number: FloatFormat, c: Scaled) -> None:
        self._map, self._number = returns, number
        at = number.plain(Scaled(c.re, c.im, c.exponent + returns.c_bits))
        self._b, self._e, self._q = (
            number.product_of(at, self._plus(self._term(j, 1), at, self._term(j, 2))) for j in range(3)
        )
        self._f = [self._term(j, 0) for j in range(1, 5)]
        self._threshold = 2.0**returns.threshold

    def enters(self, z: Scaled, left: int) -> bool:
        """Return whether an orbit that begins anew from z, with so many iterations left, comes into the map."""
        x, y = self._number.plain(self._in_map(z))
        return self._number.norm(x, y) < self._threshold / 4 and left >= self._map.period

    def run(self, z: Scaled, node: int, left: int) -> MapRun:
        """Return what up to 64 steps lead to, of an orbit that has so many iterations left."""
        number, (x, y), steps = self._number, self._number.plain(self._in_map(z)), 0
        most = min(_RUN, left // self._map.period)
        while steps < _RUN:
            u, v = self._node(node)
            w = number.add(u, x), number.add(v, y)
            if not number.norm(*w) < self._threshold or steps == most:
                return MapRun(number.normal(*w, -self._map.w_bits), None, steps)
            x, y = self._step((x, y), (u, v), w)
            steps, node = steps + 1, node + 1
            u, v = self._node(node)
            after = number.add(u, x), number.add(v, y)
            if number.norm(*after) < number.norm(x, y) or node == self._map.last:
                (x, y), node = after, 0
        return MapRun(number.normal(x, y, -self._map.w_bits), node, steps)

    def step_from(self, at: Scaled, to: Scaled, z: Scaled) -> MappedStep:
        """Return a step of the map from a place of a reference, `at`, to another one."""
        number, w_bits = self._number, self._map.w_bits
        (u, v), (x, y) = number.plain(self._in_map(at)), number.plain(self._in_map(z))
        w = number.add(u, x), number.add(v, y)
        anew = number.normal(*w, -w_bits)
        if not number.norm(*w) < self._threshold:
            return MappedStep(anew, anew, near=False, returns=True)
        x, y = self._step((x, y), (u, v), w)
        u, v = number.plain(self._in_map(to))
        w = number.add(u, x), number.add(v, y)
        returns = number.norm(*w) < number.norm(x, y)
        return MappedStep(number.normal(x, y, -w_bits), number.normal(*w, -w_bits), near=True, returns=returns)

    def _step(self, z: Parts, at: Parts, w: Parts) -> Parts:
        number, plus = self._number, self._plus
        f1, f2, f3, f4 = self._f
        both = number.add(w[0], at[0]), number.add(w[1], at[1])
        t, d = number.product_of(at, at), number.product_of(z, both)
        three, four = self._times(f3, 3.0), self._times(f4, 4.0)
        a3 = plus(f3, t, four)
        a2 = plus(f2, t, plus(three, t, self._times(f4, 6.0)))
        a1 = plus(f1, t, plus(self._times(f2, 2.0), t, plus(three, t, four)))
        a1 = number.add(a1[0], self._e[0]), number.add(a1[1], self._e[1])
        free = plus(self._b, t, plus(self._e, t, self._q))
        return plus(free, d, plus(a1, d, plus(a2, d, plus(a3, d, f4))))

    def _in_map(self, z: Scaled) -> Scaled:
        return Scaled(z.re, z.im, z.exponent + self._map.w_bits)

    def _node(self, node: int) -> Parts:
        return float(self._map.re[node]), float(self._map.im[node])

    def _term(self, j: int, k: int) -> Parts:
        value = self._map.term(j, k)
        return value.real, value.imag

    def _plus(self, s: Parts, a: Parts, b: Parts) -> Parts:
        """Return s + a·b."""
        fma = self._number.fma
        return fma(a[0], b[0], fma(-a[1], b[1], s[0])), fma(a[0], b[1], fma(a[1], b[0], s[1]))

    def _times(self, a: Parts, by: float) -> Parts:
        return self._number.multiply(a[0], by), self._number.multiply(a[1], by)
