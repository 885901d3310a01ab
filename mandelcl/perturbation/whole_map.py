"""A return map that carries a reference of version 4 from place to place, in integers; mapped_places.py says which."""

import math
from dataclasses import replace

import numpy as np

from mandelcl.base.errors import Token
from mandelcl.core.reference import Reference
from mandelcl.perturbation.integers import Doubles, integers_for
from mandelcl.perturbation.map_doubles import in_t_alone, next_node
from mandelcl.perturbation.map_growth import GrowthSums
from mandelcl.perturbation.map_jets import ORDER, Whole, doubles_of, in_map_units, scanned, whole_jets
from mandelcl.perturbation.map_orbit import MOST_WHOLE, Candidate, MapNodes, Returns, base_of
from mandelcl.perturbation.map_steps import MapSteps
from mandelcl.perturbation.period import Slopes
from mandelcl.perturbation.return_map import polynomial

_MOST_ORDER = 128
# |w|² times |A|² up to which steps of a map are taken, where it allows that: of one that the orbit hardly leaves, and
# of one that it leaves and comes back to.
_NARROW, _WIDE = 4.0, 2.0**24
_LEAST_STEPS, _MANY_STEPS = 16, 1024  # that a map carries an orbit at once: of any use; enough to take the first such
_MOST_BITS_OF_DOUBLES = 900
_BASE_BITS = 64  # that a base has more than the orbit
_SPARE_BITS = 40  # of growth that may be lost again
_ROOM_BITS = 32  # of the terms, beyond the bits of the first steps


class WholeMap:
    """A return map in integers: steps from a place of an orbit to the next, and what they are off by."""

    def __init__(self, nodes: MapNodes, candidate: Candidate, share: float, bits: int, order: int) -> None:
        """Take the terms up to an order; steps have up to so many bits after the point, in the map's units."""
        base, growth, period = nodes.base, candidate.growth, candidate.period
        self.entry = candidate.within(share)  # of |w|², below which a step follows
        digits = bits + (8 * order * period).bit_length()
        jets = whole_jets(base.whole_re[:-1], base.whole_im[:-1], base.bits, nodes.sizes, order, digits, nodes.cancel)
        self._jets = in_map_units(jets, nodes.w_bits)
        self.map = nodes.map_of(doubles_of(self._jets[:ORDER], min(bits, _MOST_BITS_OF_DOUBLES)))
        self._nodes, self._growth = nodes, growth
        shares = [share * 2.0**nodes.w_bits for share in growth.terms(order, self.entry)]
        self._off = sum(8 * j * period * share for j, share in enumerate(shares, 1)) * 2.0 ** (bits - digits)
        self._at: dict[int, tuple[MapSteps, list[int], float]] = {}

    @classmethod
    def of(
        cls,
        reference: Reference,
        candidate: Candidate,
        places: tuple[Doubles, Doubles],
        share: float,
        bits: int,
        cancel: Token,
    ) -> "WholeMap | None":
        """Return a map whose base are the places 1 … p of an orbit in so many bits; None where it is too long.

        Steps are taken up to |w|² of a share/|A|².
        """
        re, im = places
        base = base_of(reference, re, im, cancel, bits=bits + _BASE_BITS)
        if base is None:
            return None
        w_bits = candidate.w_bits
        entry = candidate.within(share)
        steps_bits = max(64, bits - 2 * w_bits + _SPARE_BITS + _ROOM_BITS)
        order = _order_for(candidate.growth, entry, w_bits, steps_bits)
        if order > _MOST_ORDER or order * candidate.period > MOST_WHOLE:
            return None
        nodes = MapNodes(reference, base, candidate, cancel, c_bits=2 * w_bits)
        return cls(nodes, candidate, share, steps_bits, order)

    @property
    def period(self) -> int:
        """How many iterations a step stands for."""
        return self.map.period

    @property
    def spared(self) -> int:
        """How many bits fewer than its growth before a step says an orbit may have behind it."""
        return self.map.w_bits - _SPARE_BITS

    def first(self, bits: int) -> tuple[int, int, float]:
        """Return Z_p in units of 2^−bits, and the logarithm to base 2 of what it is off by."""
        base, growth = self._nodes.base, self._growth
        x, y = Whole(int(base.whole_re[-1]), int(base.whole_im[-1]), -base.bits).at(-bits)
        return x, y, float(np.logaddexp2(math.log2(8 * growth.s_b * growth.a) - base.bits, 1.0 - bits))

    def series(self, z: tuple[int, int], bits: int, most: int) -> tuple[list[int], list[int]]:
        """Return both parts of the next places from z on, in units of 2^−bits: up to one that no step follows."""
        bits -= self.map.w_bits
        steps, orders, _ = self._steps(bits)
        (x, y), (fx, fy), terms, up = z, steps.first, steps.terms, steps.t_bits
        size = math.sqrt(self.entry) * 2.0**self.map.w_bits
        far = int(size * (1 << 60)) << bits - 60 if bits > 60 else int(size * (1 << bits)) + 1
        re, im = list[int](), list[int]()
        for _ in range(most):
            tx, ty = (x + y) * (x - y) >> bits + up, x * y >> bits - 1 + up
            order = orders[max(tx.bit_length(), ty.bit_length())]
            x, y = terms[order - 1]
            for a, b in terms[order - 2 :: -1] if order > 1 else ():
                x, y = (x * tx - y * ty >> bits) + a, (x * ty + y * tx >> bits) + b
            x, y = (x * tx - y * ty >> bits) + fx, (x * ty + y * tx >> bits) + fy
            re.append(x)
            im.append(y)
            if abs(x) > far or abs(y) > far:
                break
        return re, im

    def error(self, bits: int) -> float:
        """Return the logarithm of what a step is off by, in units of 2^−bits."""
        return self._steps(bits - self.map.w_bits)[2] - bits

    def slopes(self, re: Doubles, im: Doubles) -> Slopes:
        """Return the derivatives of the steps from some places, whose parts are given in the map's units."""
        t = re * re - im * im, 2 * (re * im)
        by_t = polynomial([j * self.map.term(j, 0) for j in range(1, 5)], t)
        by_c = polynomial([self.map.term(j, 1) for j in range(2)], t)
        return Slopes(*by_t, by_c[0] - by_t[0], by_c[1] - by_t[1])

    def _steps(self, bits: int) -> tuple[MapSteps, list[int], float]:
        """Return steps of so many bits, the order by how many bits t has, and the logarithm of their error in units."""
        found = self._at.get(bits)
        if found is None:
            nodes = self._nodes
            whole = integers_for(bits).whole
            most = self.entry * 4.0**nodes.w_bits
            steps = MapSteps.of(nodes.first(bits), self._jets, bits, most)
            terms = tuple((whole(x), whole(y)) for x, y in steps.terms)
            steps = replace(steps, first=(whole(steps.first[0]), whole(steps.first[1])), terms=terms)
            growth = self._growth
            shares = [math.ldexp(1.0, min(0, max(-900, length + 1 - bits))) for length in range(bits + 4)]
            orders = [min(len(terms), _order_for(growth, self.entry, nodes.w_bits, bits, share)) for share in shares]
            own = math.log2(8 * growth.s_b * growth.a) + nodes.w_bits - nodes.base.bits + bits
            units = 4.0 * (1 << steps.t_bits) + 4.0 * (len(terms) + 1) + 2 + 2.0 ** min(own, 900.0) + self._off
            found = self._at[bits] = steps, orders, math.log2(units)
        return found


class MappedSearch:
    """Looks along an exact orbit under way for a return map that saves places."""

    def __init__(self, reference: Reference, bits: int, cancel: Token) -> None:
        self._reference, self._bits, self._cancel = reference, bits, cancel
        self._returns = Returns(float(reference.radius))

    def look(self, re: Doubles, im: Doubles) -> WholeMap | None:
        """Return a map if the places 0, 1, … of a reference up to here show one.

        That is the first that carries the orbit over many steps at once, or else the one over the most iterations.
        """
        best, saved = None, 0
        for candidate in self._returns.among(re, im):
            period = candidate.period
            x, y = float(re[period]), float(im[period])
            if x * x + y * y >= candidate.leaves:
                continue
            steps = _carried(candidate, re, im)
            found = self._map(candidate, re, im, _NARROW) if steps == _MANY_STEPS else None
            if found is not None:
                return found
            if steps >= _LEAST_STEPS and steps * period > saved:
                best, saved = candidate, steps * period
        return None if best is None else self._map(best, re, im, _WIDE)

    def _map(self, candidate: Candidate, re: Doubles, im: Doubles, share: float) -> WholeMap | None:
        places = re[1 : candidate.period + 1], im[1 : candidate.period + 1]
        return WholeMap.of(self._reference, candidate, places, share, self._bits, self._cancel)


def _carried(candidate: Candidate, re: Doubles, im: Doubles) -> int:
    """Return over how many steps a map carries an orbit from its first return on, up to so many that are enough."""
    w_bits = candidate.w_bits
    scan = scanned(re[1 : candidate.period], im[1 : candidate.period], w_bits, 2 * w_bits)
    terms = scan.terms(scan.a)
    first = math.ldexp(float(re[candidate.period]), w_bits), math.ldexp(float(im[candidate.period]), w_bits)
    (x, y), far, known = first, candidate.leaves * 4.0**w_bits, in_t_alone(terms)
    for step in range(_MANY_STEPS):
        if not x * x + y * y < far:
            return step
        x, y = next_node(first, known, x, y)
    return _MANY_STEPS


def _order_for(growth: GrowthSums, leaves: float, w_bits: int, bits: int, share: float = 1.0) -> int:
    """Return the order that leaves out less than 2^−bits in the map's units, for a share of the largest |t|."""
    t_bits = max(0, math.frexp(leaves * 4.0**w_bits)[1])
    t = share * 2.0 ** (t_bits - 2 * w_bits)
    q = min(growth.s * t, 0.5)
    if q <= 0.0:
        return 1
    first = math.log2(growth.a) + math.log2(t) + 1 + w_bits
    return max(1, math.ceil((bits + first) / -math.log2(q)))
