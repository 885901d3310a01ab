"""Steps of a return map at places of a reference, as the quadratics that a table of long steps joins.

At a place W, with T = W² and t what an orbit's w² is beyond it, F = ∑ f_jk·(T + t)^j·c^k is W's next place and
A·t + B·c + (D·t + E·c)·t + F·c² with what f gives at T. As |f_jk| is at most that of |A|·x/(1 − S·x) with x = |t| +
|c|·S_B (map_growth.py), the quadratic part is at most about 2^−step_bits of the linear one, and what is left out the
square of that, while S·|t| and S·S_B·|c| are below 2^−step_bits.
"""

import math

import numpy as np

from mandelcl.perturbation.error_rows import A_ERROR, B_ERROR, DOUBLE_BITS, G0, MB, MF, ROWS
from mandelcl.perturbation.jets import Floats, Indices, Pairs, Positives
from mandelcl.perturbation.map_growth import GrowthSums, growth_along
from mandelcl.perturbation.mapped_places import Mapped
from mandelcl.perturbation.orbit import Orbit
from mandelcl.perturbation.return_map import polynomial, terms_off
from mandelcl.perturbation.segments import JoinRule, Steps

_ROUNDED = 8.0  # units, of A and of B, by their own roundings
_ITERATION_BITS, _MOST_UNITS = 5, 6  # D, E and F are taken to be off by 2^5 units an iteration, A by 6
_MOST_Q, _LEFT = 2.0**-7, 0.125  # then (1 − 2·q)^−4 is below 2^0.125


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
        terms_of = [
            (w, [map_.term(1, 0), 2 * map_.term(2, 0), 3 * map_.term(3, 0), 4 * map_.term(4, 0)]),
            (c - w, [map_.term(j, 1) for j in range(4)]),
            (3 * w, [map_.term(2, 0), 3 * map_.term(3, 0), 6 * map_.term(4, 0)]),
            (w + c, [map_.term(1, 1), 2 * map_.term(2, 1), 3 * map_.term(3, 1)]),
            (2 * c - w, [map_.term(j, 2) for j in range(3)]),
        ]
        parts = [polynomial(terms, t) for _, terms in terms_of]
        exponents = np.array([[exponent] * count for exponent, _ in terms_of], np.int32)
        jets = Pairs(np.stack([re for re, _ in parts]), np.stack([im for _, im in parts]), exponents).normalised()
        small = math.ldexp(1.0, -rule.step_bits)
        of_t, of_c = (Positives.of(np.full(count, small / by)) for by in (growth.s, growth.s * growth.s_b))
        bounds = growth.in_units(w, c)
        q = bounds.s * np.hypot(*t)
        rows = None if rule.domain is None else _error_rows(growth, q, map_.period, terms_off(map_, bounds))
        self._steps = Steps(jets, np.zeros(count, bool), of_t, of_c, rows)

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


def _error_rows(growth: GrowthSums, q: Floats, period: int, off: float) -> Floats:
    """Return the `error_rows` of steps of a map whose terms are off by a share of what the growth bounds them by.

    `q` is S·|W²| of each place, which with S·|t| and S·S_B·|c| is far below 1. What F has above the terms that are
    known is at most 5·q⁴ of A and B, and 10·q³ of D, E and F. These are bounded with nothing cancelled, and off by no
    more than so many iterations round them by (bounds.py).
    """
    a, s, s_b = growth.a, growth.s, growth.s_b
    allowed = period * 2.0 ** (_ITERATION_BITS - DOUBLE_BITS)
    most = 4 + (6 * off + 12 * q**3) / allowed
    share = 3 * off * q + 6 * q**4
    rows = np.empty((ROWS, len(q)))
    rows[MB : MF + 1] = np.log2(most) + np.log2([[a * s_b], [a * s], [2 * a * s * s_b], [a * s * s_b * s_b]])
    rows[B_ERROR] = math.log2(a * s_b) + np.log2(_ROUNDED * 2.0**-DOUBLE_BITS + share)
    units = _ROUNDED + share * 2.0**DOUBLE_BITS
    left = [[a * s * s], [3 * a * s * s * s_b], [3 * a * s * s * s_b * s_b], [a * s * s * s_b**3]]
    rows[G0:A_ERROR] = np.where((q < _MOST_Q) & (units < _MOST_UNITS * period), _LEFT + np.log2(left), np.inf)
    rows[A_ERROR] = units
    return rows
