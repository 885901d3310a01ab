"""Known mistakes in counting steps. Each turns the right count into another, in every pixel."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import Words
from mandelcl.lab.own_kernel.evidence import Evidence, Mask, Mistake
from mandelcl.lab.own_kernel.replay import Pixels

_Counts: TypeAlias = npt.NDArray[np.int64]
# Of the right counts and the limit: the counts with a mistake. With a higher iteration limit, counts go up to cap + 2.
Recount: TypeAlias = Callable[[_Counts, int], _Counts]

CONTRACT = "The count is the least n, from 0 to the iteration limit, with |z_n|² > 4, where z_0 = 0 and z_1 = c."


@dataclass(frozen=True, slots=True)
class CountMistake:
    """A mistake of counting: a function of the right counts or, with `beyond`, of counts with a higher limit."""

    name: str
    text: str
    recount: Recount
    beyond: bool = False

    def counts(self, evidence: Evidence, pixels: Pixels) -> Words:
        """Return the counts of some pixels with this mistake."""
        counts = evidence.least(pixels) if self.beyond else evidence.right[pixels]
        return self.recount(counts.astype(np.int64), evidence.job.iterations).astype(np.uint32)

    def mistake(self) -> Mistake:
        """Return it as a mistake that is tested."""
        return Mistake(self.name, f"{self.text} {CONTRACT}", self._holds, cheap=not self.beyond)

    def _holds(self, evidence: Evidence, pixels: Pixels) -> Mask:
        return np.asarray(self.counts(evidence, pixels) == evidence.yours[pixels])


def _clipped(counts: _Counts, max_iterations: int) -> _Counts:
    return np.minimum(counts, max_iterations)


COUNT_MISTAKES = (
    CountMistake(
        "one too high where orbits escape",
        "Every orbit that escapes has one too many: the count grows once more after the step in which the orbit "
        "left, or |z|² is tested a step too late.",
        lambda n, max_iterations: np.where(n < max_iterations, n + 1, max_iterations),
    ),
    CountMistake(
        "one too high everywhere",
        "Every count is one too high: it begins at 1, or grows once more after the loop.",
        lambda n, _max_iterations: n + 1,
    ),
    CountMistake(
        "counted from z = c",
        "Every orbit that escapes has one too few: z begins at c, which is z_1 already. Begin with z = 0, or the "
        "count with 1.",
        lambda n, max_iterations: _clipped(n - 1, max_iterations),
        beyond=True,
    ),
    CountMistake(
        "one too low where orbits escape",
        "Every orbit that escapes below the limit has one too few: |z|² is tested before the step is counted.",
        lambda n, max_iterations: np.where(n < max_iterations, n - 1, max_iterations),
        beyond=True,
    ),
    CountMistake(
        "one too low everywhere",
        "Every count is one too low: it begins below 0, or is made one less at the end.",
        lambda n, _max_iterations: n - 1,
    ),
    CountMistake(
        "cap one too low",
        "The loop ends one iteration too early: counts go up to cap − 1 alone.",
        lambda n, max_iterations: _clipped(n, max_iterations - 1),
    ),
    CountMistake(
        "cap one too high",
        "The loop has one iteration too many: counts go up to cap + 1. Go on while n < cap, not n <= cap.",
        lambda n, max_iterations: _clipped(n, max_iterations + 1),
        beyond=True,
    ),
    CountMistake(
        "counts of 8 bits",
        "Counts are cut to 8 bits (count mod 256): they are kept in a uchar somewhere. `counts` is of uint.",
        lambda n, _max_iterations: n & 0xFF,
    ),
    CountMistake(
        "counts of 16 bits",
        "Counts are cut to 16 bits (count mod 65536): they are kept in a ushort somewhere. `counts` is of uint.",
        lambda n, _max_iterations: n & 0xFFFF,
    ),
)


def constant_mistake(evidence: Evidence) -> Mistake | None:
    """Return the mistake of writing the same to every pixel; None where there are several values."""
    values = np.unique(evidence.yours[evidence.every])
    if values.size != 1 or evidence.unwritten.any():
        return None
    text = f"Every pixel has {values[0]}, whatever its orbit: does the count grow in every iteration?"
    return Mistake("the same everywhere", text, lambda _, pixels: np.ones(pixels.shape, bool), cheap=True)


def inside_mistake(evidence: Evidence, any_value: bool = False) -> Mistake | None:
    """Return the mistake of writing another value than the limit inside; None if inside pixels have not one value.

    Without `any_value` it is None, too, where the value is one more than the limit, as with a loop that ends too late.
    """
    max_iterations = evidence.job.iterations
    inside = evidence.right == max_iterations
    values = np.unique(evidence.yours[inside & ~evidence.unwritten])
    if values.size != 1 or values[0] == max_iterations:
        return None
    value = int(values[0])
    if value == max_iterations + 1 and not any_value:
        return None

    def holds(evidence: Evidence, pixels: Pixels) -> Mask:
        expected = np.where(evidence.right[pixels] == max_iterations, np.uint32(value), evidence.right[pixels])
        return np.asarray(evidence.yours[pixels] == expected)

    text = f"Pixels whose orbit has not escaped have {value}; the contract has {max_iterations}, the iteration limit."
    return Mistake(f"{value} inside", text, holds, cheap=True)
