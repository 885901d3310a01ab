"""A return map: an orbit of 0 that comes back near 0 after p iterations repeats its own beginning, F = f^p.

Near 0, F is a polynomial of low order in t = w² and c. Where a reference stays there, its places after p are nodes,
W_j = F^j(0, 0), a step of F apart; so they are few, however many iterations they stand for.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mandelcl.perturbation.integers import Doubles
from mandelcl.perturbation.map_growth import GrowthSums, GrowthWatch
from mandelcl.perturbation.map_jets import ORDER, TERMS, scan_error

_TARGET = 2.0**-52  # of |A|·T: what may be left out at |w|² of 2T
_LEAST, _MOST = 16.0, 2.0**600  # T times |A|²: where |w| is 4/|A|, an orbit has as good as left


@dataclass(frozen=True, slots=True, eq=False)
class ReturnMap:
    """F = f^p beside a reference, in units that make its numbers ordinary: w times 2^w_bits, c times 2^c_bits.

    `terms` has the coefficients of TERMS. F holds for |w|² < 2^threshold in these units. `re` and `im` are the nodes
    W_0 = 0, W_1, …, each part rounded to nearest.
    """

    period: int
    w_bits: int
    c_bits: int
    threshold: int
    terms: tuple[complex, ...]
    re: Doubles
    im: Doubles

    @property
    def last(self) -> int:
        """The index of the last node, at which orbits begin anew from the first."""
        return len(self.re) - 1

    def term(self, j: int, k: int) -> complex:
        """Return the coefficient of t^j·c^k."""
        return self.terms[TERMS.index((j, k))]

    def packed(self) -> tuple[dict[str, Any], list[Doubles]]:
        """Return the numbers, of which JSON keeps every bit, and the nodes."""
        names = ("period", "w_bits", "c_bits", "threshold")
        numbers: dict[str, Any] = {name: getattr(self, name) for name in names}
        return numbers | {"terms": [[term.real, term.imag] for term in self.terms]}, [self.re, self.im]

    @classmethod
    def unpacked(cls, numbers: dict[str, Any], nodes: Doubles) -> Self:
        """Return the map of what `packed` returned, the nodes one behind the other."""
        terms = tuple(complex(*term) for term in numbers.pop("terms"))
        if len(terms) != len(TERMS) or len(nodes) < 2:
            raise ValueError("these are not the numbers of a return map")
        re, im = nodes.reshape(2, -1)
        return cls(terms=terms, re=re, im=im, **numbers)

    def until(self, iterations: int) -> "ReturnMap":
        """Return the map with the nodes of so many iterations."""
        end = iterations // self.period + 1
        return replace(self, re=self.re[:end], im=self.im[:end])


def threshold_of(growth: GrowthSums, watch: GrowthWatch, end: int, radius: float) -> int | None:
    """Return m where F may be taken while |w|² < 2^m; None where orbits that it is needed for might leave the disc."""
    least = math.frexp(_LEAST / growth.a**2)[1]
    if not watch.reach(end, growth, 2.0**least, radius):
        return None
    most = least
    while 2.0 ** (most + 1) * growth.a**2 <= _MOST:
        t = 2.0 ** (most + 2)
        if growth.rest(ORDER, t, radius) > _TARGET * growth.a * t / 2:
            break
        most += 1
    # Orbits that stay inside for one t do so for each smaller one.
    held = bisect_left(
        range(least + 1, most + 1), True, key=lambda m: not watch.reach(end, growth, 2.0 ** (m + 1), radius)
    )
    return least + held


def terms_off(map_: ReturnMap, growth: GrowthSums) -> float:
    """Return what a map's terms are off by at most, as a share of what `growth` bounds them by, in the map's units.

    Those in t alone may have been rounded to a unit, of which they are multiples: by so little that F_t is off by no
    more than 4·share·a·s·|t| and a few roundings, as far as the map is taken.
    """
    most, rounded = 2.0**map_.threshold, 0.0
    for j in range(2, ORDER + 1):
        parts = [part for part in (map_.term(j, 0).real, map_.term(j, 0).imag) if part]
        share = min((1 / part.as_integer_ratio()[1] / (growth.a * growth.s) for part in parts), default=1.0)
        for _ in range(2, j):
            share *= most if parts else growth.s * most
        rounded += j / 4 * share
    return max(scan_error(map_.period), rounded)


def no_nodes() -> Doubles:
    """Return the first node alone."""
    return np.zeros(1)


def polynomial(terms: list[complex], t: tuple[Doubles, Doubles]) -> tuple[Doubles, Doubles]:
    """Return f_0 + f_1·t + …, both parts, in real operations."""
    x, y = np.full(len(t[0]), terms[-1].real), np.full(len(t[0]), terms[-1].imag)
    for term in terms[-2::-1]:
        x, y = term.real + (x * t[0] - y * t[1]), term.imag + (x * t[1] + y * t[0])
    return x, y
