"""Places of a reference that a step of a return map follows, for references of version 4.

Where an orbit comes back near 0, its next p iterations are F = f^p, a polynomial of low order in t = w² and c. The
values in between are left out, so memory and time follow the places and not the iterations. The orbit may leave the
map, go on by single iterations and come back, as often as it does: so minibrots inside minibrots have few places, too.
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mandelcl.perturbation.integers import Doubles
from mandelcl.perturbation.jets import Indices
from mandelcl.perturbation.return_map import ReturnMap


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """The map, without nodes, and the places that a step of it follows, ascending; others are followed by iterations.

    These are all places up to an iteration `limit`.
    """

    map: ReturnMap
    places: Indices
    limit: int

    def iterations(self, places: Indices | int) -> Indices:
        """Return the iterations that places of the reference are."""
        found: Indices = places + np.searchsorted(self.places, places) * (self.map.period - 1)
        return found

    def last_within(self, length: int, iterations: int) -> int:
        """Return the last place, of those up to `length`, that is within so many iterations."""
        return bisect_right(range(length + 1), iterations, key=lambda place: int(self.iterations(place))) - 1

    def until(self, length: int, iterations: int) -> "Mapped":
        """Return the same for a reference that ends at a place, for a smaller iteration limit."""
        return replace(self, places=self.places[self.places < length], limit=iterations)

    def packed(self) -> tuple[dict[str, Any], list[Doubles]]:
        """Return the numbers, of which JSON keeps every bit, and the places as doubles."""
        numbers, _ = self.map.packed()
        return numbers | {"limit": self.limit}, [self.places.astype(np.float64)]

    @classmethod
    def unpacked(cls, numbers: dict[str, Any], places: Doubles) -> Self:
        """Return what `packed` was made of."""
        limit = numbers.pop("limit")
        return cls(ReturnMap.unpacked(numbers, np.zeros(2)), places.astype(np.int64), limit)
