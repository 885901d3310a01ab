"""How many counts were proved, and by which stage."""

from dataclasses import dataclass, replace
from typing import Self

from mandelcl.core.report import Certified, Report


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pixels there were, and how many of them each stage proved."""

    pixels: int = 0
    at_once: int = 0
    refined: int = 0
    exactly: int = 0

    def __add__(self, other: Self) -> "Tally":
        return Tally(
            self.pixels + other.pixels,
            self.at_once + other.at_once,
            self.refined + other.refined,
            self.exactly + other.exactly,
        )

    def noted(self, report: Report) -> Report:
        """Return a report that says so."""
        proved = self.at_once, self.refined, self.exactly
        return replace(report, certified=Certified(sum(proved) / self.pixels if self.pixels else 1.0, *proved))
