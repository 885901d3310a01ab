"""How orbits beside a reference grow: bounds on a return map's terms, and where a return map may be.

With A_n the product of 2·Z_1 … 2·Z_{n−1}, a difference v that begins as t = w² has v_n = A_n·u_n with
u ← u + A_n/(2·Z_n)·u² + c/A_{n+1}. So u is at most x/(1 − S·x), term by term, where x = |t| + |c|·S_B,
S is the sum of |A_n/(2·Z_n)| and S_B that of 1/|A_n|.
"""

import math
from dataclasses import dataclass

import numpy as np

from mandelcl.perturbation.integers import Doubles

_MOST_GROWTH = 2.0**400  # of |A|, whose square is in range with room
LEAST_RATIO = 2.0**-8  # of the second term of a return map to the first at |w| = 4/|A|
_INSIDE = 2.0 - 2.0**-4  # no orbit leaves the disc of radius 2 unseen
LEAST_PERIOD = 32  # a shorter base saves nothing
_UP = 1 + 2.0**-20  # covers the roundings of sums of up to 2^31 terms


@dataclass(frozen=True, slots=True)
class GrowthSums:
    """|A|, S and S_B at the end of a number of iterations."""

    a: float
    s: float
    s_b: float

    def terms(self, order: int, t: float) -> list[float]:
        """Return bounds on a map's terms in t alone, up to an order, for |t| up to this."""
        return [self.a * t * (self.s * t) ** (j - 1) for j in range(1, order + 1)]

    def rest(self, order: int, t: float, c: float) -> float:
        """Return a bound on a map's terms above an order in t and c together, for |t| and |c| up to these."""
        x = t + c * self.s_b
        q = self.s * x
        return math.inf if q >= 0.5 else self.a * x * q**order / (1 - q) * _UP

    def order_for(self, t: float, off: float, most: int) -> int | None:
        """Return the least order that leaves out less than `off` for |t| and no c; None where it is above `most`."""
        return next((order for order in range(1, most + 1) if self.rest(order, t, 0.0) < off), None)

    def in_units(self, w_bits: int, c_bits: int) -> "GrowthSums":
        """Return the same for w times 2^w_bits and c times 2^c_bits."""
        t_bits = 2 * w_bits
        return GrowthSums(
            math.ldexp(self.a, -w_bits), math.ldexp(self.s, -t_bits), math.ldexp(self.s_b, t_bits - c_bits)
        )


def growth_along(re: Doubles, im: Doubles) -> GrowthSums:
    """Return the growth at the last of the places 1, 2, … of a reference, each rounded up."""
    twice = 2 * np.sqrt(re * re + im * im)[:-1]
    products = np.multiply.accumulate(np.concatenate([[1.0], twice]))
    s, s_b = (products[:-1] / twice).sum(), (1 / products).sum()
    return GrowthSums(float(products[-1]) * _UP, float(s) * _UP, float(s_b) * _UP)


class GrowthWatch:
    """Follows the places 1, 2, … of a reference and keeps the sums; says which places may end the base of a map."""

    def __init__(self, radius: float) -> None:
        self._radius = radius
        self._least = math.inf
        self._a, self._s, self._s_b = 1.0, 0.0, 0.0
        self._sizes: list[Doubles] = []
        self._growths: list[Doubles] = []
        self.count = 0

    def add(self, re: Doubles, im: Doubles) -> list[tuple[int, GrowthSums]]:
        """Follow the next places; return those at which a map may return, with the growth up to there."""
        sizes = np.sqrt(re * re + im * im)
        with np.errstate(all="ignore"):
            products = np.multiply.accumulate(np.concatenate([[self._a], 2 * sizes]))
            a = products[:-1]
            s = np.add.accumulate(np.concatenate([[self._s], a / (2 * sizes)]))[:-1]
            s_b = np.add.accumulate(np.concatenate([[self._s_b], 1 / a]))[1:]
            least = np.minimum.accumulate(np.concatenate([[self._least], sizes]))[:-1]
            ratio = 16 * s / (a * a)
            reach = a * a * s_b * self._radius
            fits = (sizes < least) & (a * sizes <= 2) & (a * sizes + reach <= 4) & (ratio < LEAST_RATIO)
            fits &= (a < _MOST_GROWTH) & (np.arange(self.count + 1, self.count + 1 + len(re)) >= LEAST_PERIOD)
            at_end = a[-1] / (2 * sizes[-1])
        found = [
            (self.count + 1 + int(k), GrowthSums(float(a[k]), float(s[k]), float(s_b[k]) * _UP))
            for k in np.flatnonzero(fits)
        ]
        self._least = min(self._least, float(sizes.min()))
        self._a, self._s, self._s_b = float(products[-1]), float(s[-1] + at_end), float(s_b[-1])
        self._sizes.append(sizes)
        self._growths.append(a)
        self.count += len(re)
        return found

    def reach(self, end: int, growth: GrowthSums, t: float, c: float) -> bool:
        """Return whether all orbits with |w|² ≤ t and |c| ≤ c stay well inside the disc of radius 2 until the end."""
        x = t + c * growth.s_b
        q = growth.s * x
        if q >= 0.5:
            return False
        if len(self._sizes) > 1:  # it is asked several times about the same places
            self._sizes, self._growths = [np.concatenate(self._sizes)], [np.concatenate(self._growths)]
        (sizes,), (a,) = self._sizes, self._growths
        return bool((sizes[: end - 1] + a[: end - 1] * (x / (1 - q) * _UP)).max() < _INSIDE)
