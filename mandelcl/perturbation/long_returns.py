"""Where a return map of a long base may be, seen along an orbit whose steps are of any length.

Where what orbits beside a reference differ by has grown to A times w² at a place Z, the map is about A·w² + Z. In units
of 1/A that is w² + A·Z, which says whether the map carries the orbit.
"""

import math

import numpy as np

from mandelcl.perturbation.integers import Doubles

_MOST_GROWTH = 2.0**400  # as for other bases
_CARRIED = 128  # steps of a map that may carry an orbit over many more


class LongReturns:
    """Follows the places of a reference from its first one on."""

    def __init__(self) -> None:
        self._a, self._least = 1.0, math.inf
        self._growths: list[tuple[Doubles, Doubles]] = []

    def among(self, z: tuple[Doubles, Doubles], growths: tuple[Doubles, Doubles]) -> list[int]:
        """Return the indices of those of the next places at which a map may return that carries the orbit.

        `growths` are the derivatives of these places by those before them.
        """
        sizes, by = (np.sqrt(re * re + im * im) for re, im in (z, growths))
        with np.errstate(all="ignore"):
            a = np.multiply.accumulate(np.concatenate([[self._a], by]))[1:]
            least = np.minimum.accumulate(np.concatenate([[self._least], sizes]))
            near = np.flatnonzero((sizes < least[:-1]) & (a * sizes <= 2) & (a < _MOST_GROWTH))
        self._a, self._least = float(a[-1]), float(least[-1])
        self._growths.append(growths)
        return [k for k in near.tolist() if self._carries(k + 1 - len(sizes), float(z[0][k]), float(z[1][k]))]

    def _carries(self, behind: int, x: float, y: float) -> bool:
        """Return whether w² + A·Z carries an orbit, for the Z so many places behind the last one, or at it with 0."""
        re, im = (np.concatenate(parts) for parts in zip(*self._growths, strict=True))
        end = len(re) + behind
        for u, v in zip(re[:end].tolist(), im[:end].tolist(), strict=True):
            x, y = u * x - v * y, u * y + v * x
        u = v = 0.0
        for _ in range(_CARRIED):
            u, v = (u + v) * (u - v) + x, 2 * (u * v) + y
            if not u * u + v * v < 16:
                return False
        return True
