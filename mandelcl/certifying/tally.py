"""How many counts were proved, and by which stage."""

from dataclasses import dataclass, replace

from mandelcl.report import Certified, Report


@dataclass(slots=True)
class Tally:
    """How many pixels there were, and how many of them each stage proved."""

    pixels: int = 0
    at_once: int = 0
    refined: int = 0
    exactly: int = 0

    def begin(self, pixels: int, at_once: int) -> None:
        """Note a block of so many pixels, of which so many were proved as they were computed."""
        self.pixels += pixels
        self.at_once += at_once

    def noted(self, report: Report) -> Report:
        """Return a report that says so."""
        proved = self.at_once, self.refined, self.exactly
        return replace(report, certified=Certified(sum(proved) / self.pixels if self.pixels else 1.0, *proved))
