"""The totals of blocks: the sums behind a report and a progress line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from mandelcl.base.words import Words
from mandelcl.core.counts import NARROW, CountFormat, count_format, total_of
from mandelcl.core.planes import CERTIFIED, first_words


@dataclass(frozen=True, slots=True)
class Totals:
    """The sum of some pixels' counts, how many of them are at the iteration limit, and how many counts are certified.

    `certified` is 0 where the plane is not kept.
    """

    iterations: int = 0
    inside: int = 0
    certified: int = 0

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Self:
        """Return the totals that `dataclasses.asdict` gave these values of; raises ValueError for others."""
        numbers = [values.get(one.name) for one in fields(cls)]
        if len(values) != len(numbers) or not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError("they are no totals")
        return cls(**values)

    def __add__(self, other: Self) -> "Totals":
        return Totals(self.iterations + other.iterations, self.inside + other.inside, self.certified + other.certified)

    def __sub__(self, other: Self) -> "Totals":
        return Totals(self.iterations - other.iterations, self.inside - other.inside, self.certified - other.certified)


def certified_word(planes: Sequence[str], counts: CountFormat = NARROW) -> int:
    """Return the index of the word that holds whether a pixel's count is certified; 0 if there is none."""
    return first_words(planes, counts).get(CERTIFIED.name, 0)


def totals_of(planes: Sequence[str], max_iterations: int, results: Words) -> Totals:
    """Return the totals of results (words × any shape) in these planes, as the host counts them."""
    own = count_format(max_iterations)
    word, counts = certified_word(planes, own), own.of(results)
    return Totals(
        total_of(counts),
        int(np.count_nonzero(counts == max_iterations)),
        int(np.count_nonzero(results[word])) if word else 0,
    )
