"""Steps of a return map at places of a reference, as the quadratics that a table of long steps joins.

At a place W, with T = W² and t what an orbit's w² is beyond it, F = ∑ f_jk·(T + t)^j·c^k is W's next place and
A·t + B·c + (D·t + E·c)·t + F·c² with what f gives at T. As |f_jk| is at most that of |A|·x/(1 − S·x) with x = |t| +
|c|·S_B (map_growth.py), the quadratic part is at most about 2^−step_bits of the linear one, and what is left out the
square of that, while S·|t| and S·S_B·|c| are below 2^−step_bits.
"""

import math

import numpy as np

from mandelcl.perturbation.jets import Indices, Pairs, Positives
from mandelcl.perturbation.map_growth import growth_along
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.return_map import polynomial
from mandelcl.perturbation.segments import JoinRule, Steps


class MappedSteps:
    """The steps that follow the mapped places of an orbit."""

    def __init__(self, orbit: Orbit, mapped: Mapped, rule: JoinRule) -> None:
        map_, places = mapped.map, mapped.places
        self.places, self._rule, count = places, rule, len(places)
        last = 1 + map_.period
        growth = growth_along(orbit.re[1:last], orbit.im[1:last])
        x, y = (np.ldexp(part[places], map_.w_bits) for part in (orbit.re, orbit.im))
        t = x * x - y * y, 2 * (x * y)
        w, c = map_.w_bits, map_.c_bits
        rows = [
            (w, [map_.term(1, 0), 2 * map_.term(2, 0), 3 * map_.term(3, 0), 4 * map_.term(4, 0)]),
            (c - w, [map_.term(j, 1) for j in range(4)]),
            (3 * w, [map_.term(2, 0), 3 * map_.term(3, 0), 6 * map_.term(4, 0)]),
            (w + c, [map_.term(1, 1), 2 * map_.term(2, 1), 3 * map_.term(3, 1)]),
            (2 * c - w, [map_.term(j, 2) for j in range(3)]),
        ]
        parts = [polynomial(terms, t) for _, terms in rows]
        exponents = np.array([[exponent] * count for exponent, _ in rows], np.int32)
        jets = Pairs(np.stack([re for re, _ in parts]), np.stack([im for _, im in parts]), exponents).normalised()
        small = math.ldexp(1.0, -rule.step_bits)
        of_t, of_c = (Positives.of(np.full(count, small / by)) for by in (growth.s, growth.s * growth.s_b))
        self._steps = Steps(jets, np.zeros(count, bool), of_t, of_c, None)

    def within(self, starts: Indices, lengths: Indices) -> Indices:
        """Return the indices of the segments in which a step of the map is."""
        first, last = (np.searchsorted(self.places, places) for places in (starts, starts + lengths))
        return np.flatnonzero(last > first)

    def at(self, places: Indices) -> Steps:
        """Return the steps that follow some places: of the map, or single iterations."""
        steps = Steps.single(len(places), self._rule)
        index = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        mine = np.flatnonzero(self.places[index] == places)
        steps.put(mine, self._steps.at(index[mine]))
        return steps
