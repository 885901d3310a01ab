"""Stripes along the field lines of the set, on which orbits leave the smooth radius in the same direction."""

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.distance import logarithms
from mandelcl.base.errors import InvalidInputError
from mandelcl.colour import effect_text
from mandelcl.colour.palettes import read_colour
from mandelcl.core.field import Rows
from mandelcl.core.job import SMOOTH_RADIUS_SQUARED, Job
from mandelcl.core.planes import LAST

_MOST = 64

_Reals: TypeAlias = npt.NDArray[np.float64]
_Pair: TypeAlias = tuple[_Reals, _Reals]


@dataclass(frozen=True, slots=True)
class Stripes:
    """`number` stripes around z at the smooth radius, darker by `strength` (0 to 1) between them.

    A band of one count has `number` stripes at its outer edge, and times the formula's degree at its inner edge, so
    stripes continue from band to band.
    """

    number: int
    strength: float = 0.5
    towards: str = "#000000"

    name: ClassVar[str] = "stripes"
    planes: ClassVar[tuple[str, ...]] = (LAST.name,)

    def __post_init__(self) -> None:
        number = effect_text.number(self.number, "the number of stripes", 1, _MOST)
        if number != int(number):
            raise InvalidInputError(f"the number of stripes must be a whole number, not {number:g}")
        object.__setattr__(self, "number", int(number))
        object.__setattr__(self, "strength", effect_text.number(self.strength, "the stripes' strength", 0, 1))
        object.__setattr__(self, "towards", read_colour(self.towards))

    def factor(self, rows: Rows, job: Job) -> npt.NDArray[np.float32]:
        """Return 1 in the middle of a stripe, and 1 − strength between two stripes.

        With w from 0 to 1 as |z| goes from the radius R to R^d, the height of a stripe is (1 − w)·sin(d·k·arg z) +
        w·sin(k·arg z).
        """
        last, degree = rows[LAST.name], job.formula.degree
        re, im = last.real.astype(np.float64), last.imag.astype(np.float64)
        norm = re * re + im * im
        norm[norm == 0] = 1
        size = np.sqrt(norm)
        along = _power((re / size, im / size), self.number)
        grown = logarithms(np.maximum(norm, float(SMOOTH_RADIUS_SQUARED)))
        weight = np.minimum(logarithms(grown / _logarithm(float(SMOOTH_RADIUS_SQUARED))) / _logarithm(float(degree)), 1)
        height = (1 - weight) * _power(along, degree)[1] + weight * along[1]
        return np.clip(1 - self.strength * (0.5 - 0.5 * height), 0, 1).astype(np.float32)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse NUMBER[,STRENGTH[,COLOUR]]. Raises InvalidInputError for any other text."""
        number, *rest = effect_text.values(text, cls.name, 3)
        strength = [effect_text.number(rest[0], "--stripes")] if rest else []
        return cls(effect_text.number(number, "--stripes"), *strength, *rest[1:])  # type: ignore[arg-type]  # at most 3

    def to_json(self) -> Any:
        """Return the number, the strength and the colour."""
        return [self.number, self.strength, self.towards]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the output of `to_json`. Raises InvalidInputError, TypeError or ValueError for anything else."""
        number, strength, towards = value
        return cls(number, strength, str(towards))


@cache
def _logarithm(value: float) -> float:
    return float(logarithms(np.array([value]))[0])


def _power(base: _Pair, exponent: int) -> _Pair:
    """Return a power of unit complex numbers, by products and sums of reals, each rounded once."""
    power = base if exponent & 1 else (np.ones_like(base[0]), np.zeros_like(base[0]))
    while exponent := exponent >> 1:
        base = _product(base, base)
        if exponent & 1:
            power = _product(power, base)
    return power


def _product(a: _Pair, b: _Pair) -> _Pair:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]
