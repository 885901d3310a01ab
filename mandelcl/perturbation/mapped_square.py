"""Exact orbits of z² + c by steps of a return map: references of version 4, and how their maps are found.

Until a map is found the orbit is that of exact_square.py. It then goes back to where the map returns first, and goes on
by a step of it wherever it is near to 0, by single iterations elsewhere.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from mandelcl.base.errors import NEVER, Token
from mandelcl.core.reference import Reference
from mandelcl.perturbation import map_orbit
from mandelcl.perturbation.exact_places import STEADY, grown_errors
from mandelcl.perturbation.exact_square import SquareComputation
from mandelcl.perturbation.integers import LEAST_EXPONENT, Doubles, reference_bits
from mandelcl.perturbation.long_returns import LongReturns
from mandelcl.perturbation.map_orbit import LONGEST_BASE, MapSearch
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.orbit import AT_LIMIT, PERIOD, Orbit, completed
from mandelcl.perturbation.period import PeriodSearch, Slopes
from mandelcl.perturbation.whole_map import MappedSearch, WholeMap

_FIRST_STEPS, _MOST_MAP_STEPS = 64, 1 << 10  # iterations behind a step of a map; such steps at a time
_SPARED_AT_ONCE = 32  # bits of a map's steps
_LOOKS = 4  # for a map to take, between where one is looked for first and at twice that
_SLOPE_ERROR = 2.0**-20  # more than the logarithm of a slope in doubles is off by


def mapped_orbit(
    reference: Reference,
    iterations: int,
    radius_squared: Fraction,
    bits: int,
    cancel: Token = NEVER,
    progress: Callable[[int], None] | None = None,
) -> Orbit:
    """Return the orbit of a reference of version 4 as `square_orbit` does that of version 2.

    A map that carries it gives it nodes, as in version 3; by one that it leaves it goes on as long as it is near to 0.
    Where it is seen to return after iterations enough for a base, a map is looked for that carries it from there: that
    of a minibrot in the minibrot.
    """
    computation = _Computation(reference, iterations, radius_squared, bits)
    base = partial(SquareComputation, reference, radius_squared=radius_squared, bits=bits)
    nodes = partial(MapSearch, reference, iterations, cancel, progress)
    search = _Search(computation, base, nodes, MappedSearch(reference, bits, cancel), iterations, cancel)
    return completed(computation, cancel, progress, search.look)


class _Search:
    """Looks along an orbit for return maps."""

    def __init__(
        self,
        computation: "_Computation",
        base: Callable[..., SquareComputation],
        nodes: Callable[[], MapSearch],
        maps: MappedSearch,
        iterations: int,
        cancel: Token,
    ) -> None:
        self._computation, self._base, self._nodes, self._maps = computation, base, nodes, maps
        self._iterations, self._cancel = iterations, cancel
        self._first = nodes()
        self._tried_from = map_orbit.TRIED_FROM + 1

    def look(self, re: Doubles, im: Doubles) -> Orbit | None:
        """Return the whole orbit, if a map carries it; one that it leaves is for the computation to take."""
        computation = self._computation
        if computation.map is None:
            found = self._first.look(re, im)
            if found is not None:
                return found
            if not computation.ended and computation.length % _looks_apart() == 0:
                computation.take(self._maps.look(re, im))
        end = computation.iterations + (not computation.ended)
        for length in computation.returns:
            if self._tried_from <= length < min(end, self._iterations) and length <= LONGEST_BASE:
                self._tried_from = 2 * length
                found = self._carried(length)
                if found is not None:
                    return replace(found, since=length)
        return None

    def _carried(self, length: int) -> Orbit | None:
        """Return the whole orbit, by a map that returns among its first iterations; None where none carries it."""
        found = completed(self._base(iterations=length + 1), self._cancel, None, self._nodes().look)
        return found if found.returns is not None else None


def _looks_apart() -> int:
    """Return after how many iterations each a map to take is looked for."""
    return map_orbit.TRIED_FROM // _LOOKS


class _Computation(SquareComputation):
    """An exact orbit under way, which goes on by steps of a map once that has been found."""

    def __init__(self, reference: Reference, iterations: int, radius_squared: Fraction, bits: int) -> None:
        self.map: WholeMap | None = None
        self._since = 0  # where that was found
        self.returns: list[int] = []  # the iterations, of those just done, at which a map of a longer base may return
        self._mapped: list[int] = []  # the places that a step of the map follows
        self._radius, self._long = reference.radius, LongReturns()
        super().__init__(reference, iterations, radius_squared, bits)

    def go_on(self) -> None:
        """Compute some more of it, and see whether it has ended."""
        found, place, begun = self.map, self.length, self.iterations
        if found is None:
            super().go_on()
        elif self._is_near(found):
            self._go_on_by(found)
        else:
            super().go_on()
            self._watch(place, begun)

    def orbit(self) -> Orbit:
        """Return it, once it has ended."""
        found, mapped = super().orbit(), None
        if self.map is not None:
            mapped = Mapped(self.map.map, np.array(self._mapped, np.int64), self._iterations)
        return replace(found, mapped=mapped, since=self._since)

    def _room(self) -> int:
        room = super()._room()
        return room if self.map is not None else min(room, _looks_apart() - self.length % _looks_apart())

    def take(self, found: WholeMap | None) -> None:
        """Go back to where a map returns first, and go on by its steps from there, if there is one."""
        if found is None:
            return
        self.map, self._since, self.length = found, self.length, found.period
        for values in (self._small, self._edges, self._tiny):
            for place in [place for place in values if place > self.length]:
                del values[place]
        self._bits, self._look = self._most_bits, sys.maxsize
        x, y, self._error = found.first(self._bits)
        whole = type(self._c[0])
        self._z = whole(x), whole(y)
        passes, self._search = self._search.passes, PeriodSearch(self._radius)
        self._search.passes = passes
        self._search.find(self._re[1 : self.length + 1], self._im[1 : self.length + 1], self._tiny)
        self._watch(1, 1)

    def _is_near(self, found: WholeMap) -> bool:
        """Return whether a step of a map follows the last place."""
        x, y = float(self._re[self.length]), float(self._im[self.length])
        return x * x + y * y < found.entry

    def _watch(self, place: int, begun: int) -> None:
        """See whether a map of a longer base may return at one of the iterations that follow a place."""
        re, im = self._re[place : self.length + 1], self._im[place : self.length + 1]
        self._returned((re[1:], im[1:]), (2 * re[:-1], 2 * im[:-1]), begun, 1)

    def _returned(self, z: tuple[Doubles, Doubles], growths: tuple[Doubles, Doubles], begun: int, step: int) -> None:
        """See whether a map of a longer base may return at the next places, so many iterations apart."""
        found = self._long.among(z, growths) if begun < LONGEST_BASE else ()
        self.returns = [begun + step * (1 + k) for k in found]

    def _go_on_by(self, found: WholeMap) -> None:
        """Go on by steps of a map, up to a place that none follows, and see whether the orbit has ended."""
        begun, first = self.iterations, self.length + 1
        left = (self._iterations - begun) // found.period
        if left == 0:
            self.ended = AT_LIMIT
            return
        spared = max(0, min(self._search.growth + found.spared, self._most_bits - reference_bits(Fraction(1))))
        spared -= spared % _SPARED_AT_ONCE
        self._take_bits(self._most_bits - spared)
        z_re, z_im = found.series(self._z, self._bits, min(left, _MOST_MAP_STEPS))
        re, im = super()._rounded(z_re, z_im)
        outside = np.flatnonzero(~(re * re + im * im < found.entry))
        inside = int(outside[0]) + 1 if outside.size else len(re)
        re, im = re[:inside], im[:inside]
        tiny = self._too_small(re, im, z_re, z_im)
        w_bits = found.map.w_bits
        u = np.ldexp(np.append(self._re[self.length], re), w_bits)
        v = np.ldexp(np.append(self._im[self.length], im), w_bits)
        slopes = found.slopes(u[:-1], v[:-1])
        self._bound_steps(found, slopes, (re, im), (z_re, z_im))
        ended = self._search.find_mapped((u[1:], v[1:]), slopes, w_bits, spared - w_bits)
        count = self._search.index - first + ended
        self._prove(count, z_re, z_im)
        self._z = z_re[count - 1], z_im[count - 1]
        self._mapped.extend(range(self.length, self.length + count))
        self._left_out += count * (found.period - 1)
        self._keep(re[:count], im[:count])
        self._tiny |= {index: value for index, value in tiny.items() if index < first + count}
        self._steps = _FIRST_STEPS
        x, y = 2 * u[:count], 2 * v[:count]
        t_re, t_im = slopes.t_re[:count], slopes.t_im[:count]
        growths = x * t_re - y * t_im, x * t_im + y * t_re
        self._returned((re[:count], im[:count]), growths, begun, found.period)
        if ended or self.iterations == self._iterations:
            self.ended = PERIOD if ended else AT_LIMIT

    def _bound_steps(
        self,
        found: WholeMap,
        slopes: Slopes,
        rounded: tuple[Doubles, Doubles],
        z: tuple[Sequence[int], Sequence[int]],
    ) -> None:
        """Bound the errors of the next values, to which steps of a map lead, and round small ones exactly."""
        sizes = self._sizes(*rounded, *z)
        before = np.append(self._last_size(), sizes[:-1])
        growth = before + np.log2(slopes.sizes()) + (found.map.w_bits + 1 + _SLOPE_ERROR)
        self._bounds = grown_errors(self._error, growth, found.error(self._bits))
        self._steady = self._bounds <= sizes + STEADY
        small = np.flatnonzero(self._least(*rounded) < 2.0**LEAST_EXPONENT)
        self._special = {k: self._placed(k, *z) for k in small.tolist()}

    def _rounded(self, z_re: Sequence[int], z_im: Sequence[int]) -> tuple[Doubles, Doubles]:
        """Return values as doubles: up to one that has escaped, or that a step of the map follows."""
        re, im = super()._rounded(z_re, z_im)
        if self.map is not None:
            near = np.flatnonzero(re * re + im * im < self.map.entry)
            if near.size:
                return re[: near[0] + 1], im[: near[0] + 1]
        return re, im
