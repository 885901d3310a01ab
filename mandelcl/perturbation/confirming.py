"""Confirming a picture: some of its pixels, drawn by a fixed rule, are counted again in exact arithmetic."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from mandelcl.base.errors import NEVER, Token
from mandelcl.base.view import View
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.perturbation.counting import CountTask, exact_counts

Pixel: TypeAlias = tuple[int, int]  # column, row

# 1/g and 1/g² of the plastic number g = 1.3247…, in units of 2^−64: the additive sequence that M. Roberts calls R₂,
# "The unreasonable effectiveness of quasirandom sequences" (2018).
_BITS = 64
_STEPS = (0xC13FA9A902A6328F, 0x91E10DA5C79E7B1C)


@dataclass(frozen=True, slots=True)
class Difference:
    """A pixel whose count is not the exact one."""

    column: int
    row: int
    count: int
    exact: int


@dataclass(frozen=True, slots=True)
class Confirmation:
    """How many pixels agree with exact arithmetic, which differ, and which could not be decided."""

    agreeing: int
    differing: tuple[Difference, ...]
    undecided: tuple[Pixel, ...]

    @property
    def decided(self) -> int:
        """How many pixels were decided."""
        return self.agreeing + len(self.differing)

    @property
    def share(self) -> float:
        """The share of the decided pixels that agree; 1 where there is none."""
        return self.agreeing / self.decided if self.decided else 1.0


def drawn(view: View, number: int) -> list[Pixel]:
    """Return so many different pixels of a view, always the same ones and spread evenly; all of them if it has less."""
    if number >= view.pixels:
        return [(column, row) for row in range(view.height) for column in range(view.width)]
    pixels: dict[Pixel, None] = {}
    k = 0
    while len(pixels) < number:
        k += 1
        x, y = ((k * step + (1 << _BITS - 1)) % (1 << _BITS) for step in _STEPS)
        pixels[(x * view.width >> _BITS, y * view.height >> _BITS)] = None
    return list(pixels)


class Sample:
    """Collects the counts of so many drawn pixels of a view while the rows of a picture pass by."""

    def __init__(self, view: View, number: int) -> None:
        self._pixels = drawn(view, number)
        self._counts: dict[Pixel, int] = {}

    def note(self, top: int, counts: Words) -> None:
        """Note the counts of rows, from row `top` on."""
        for column, row in self._pixels:
            if top <= row < top + len(counts):
                self._counts[column, row] = int(counts[row - top, column])

    @property
    def counts(self) -> dict[Pixel, int]:
        """The counts of the pixels, in the order in which they are drawn."""
        return {pixel: self._counts[pixel] for pixel in self._pixels}


def confirm(
    job: Job,
    counts: Mapping[Pixel, int],
    *,
    seconds: float = math.inf,
    processes: int | None = None,
    cancel: Token = NEVER,
    progress: Callable[[int], None] = lambda _done: None,
) -> Confirmation:
    """Compare counts of a job's pixels with those of exact arithmetic, for at most `seconds`.

    `progress` is called with the number of pixels done. Raises what `exact_counts` raises.
    """
    points = [job.view.point(*pixel) for pixel in counts]
    exact = exact_counts(
        CountTask.of(job), points, seconds=seconds, processes=processes, cancel=cancel, progress=progress
    )
    pairs = [(pixel, count, true) for (pixel, count), true in zip(counts.items(), exact, strict=True)]
    return Confirmation(
        agreeing=sum(count == true for _, count, true in pairs),
        differing=tuple(Difference(*pixel, count, true) for pixel, count, true in pairs if true not in (None, count)),
        undecided=tuple(pixel for pixel, _, true in pairs if true is None),
    )
