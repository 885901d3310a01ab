"""Steps of a return map in integers: F(w) of w in units of 2^−bits, and what its roundings come to."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mandelcl.perturbation.map_jets import Whole


@dataclass(frozen=True, slots=True)
class MapSteps:
    """F(w) = f_0 + f_1·t + f_2·t² + …, t = w², for |t| up to 2^t_bits.

    It is computed in t·2^−t_bits, which is at most 1, so that no rounding grows. `terms` has f_j·2^(j·t_bits).
    """

    bits: int
    t_bits: int
    first: tuple[int, int]
    terms: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, first: tuple[int, int], jets: Sequence[Whole], bits: int, most: float) -> "MapSteps":
        """Return the steps of f_0 and f_1, f_2, …, for |t| up to `most`."""
        t_bits = max(0, math.frexp(most)[1])
        return cls(bits, t_bits, first, tuple(jet.at(-bits - j * t_bits) for j, jet in enumerate(jets, 1)))

    @property
    def rounded(self) -> float:
        """What a step is off by at most, by its own roundings, if f_1 is at most 1 and those behind it are small.

        t is off by 2 units, and each product and sum by 3.
        """
        return math.ldexp(4.0 * (1 << self.t_bits) + 4.0 * (len(self.terms) + 1), -self.bits)

    def next(self, x: int, y: int) -> tuple[int, int]:
        """Return F at x + y·i."""
        bits, terms = self.bits, self.terms
        tx, ty = (x + y) * (x - y) >> bits + self.t_bits, x * y >> bits - 1 + self.t_bits
        x, y = terms[-1]
        for a, b in terms[-2::-1]:
            x, y = (x * tx - y * ty >> bits) + a, (x * ty + y * tx >> bits) + b
        return (x * tx - y * ty >> bits) + self.first[0], (x * ty + y * tx >> bits) + self.first[1]
