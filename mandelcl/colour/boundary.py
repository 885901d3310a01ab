"""Draw the boundary as a line with a given width. It shows filaments that are much thinner than a pixel."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mandelcl.colour import effect_text
from mandelcl.colour.palettes import read_colour
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import DISTANCE


@dataclass(frozen=True, slots=True)
class Boundary:
    """A line along the set. `towards` is its colour, which fades out over `width` pixels."""

    width: float
    towards: str = "#000000"

    name: ClassVar[str] = "boundary"
    planes: ClassVar[tuple[str, ...]] = (DISTANCE.name,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", effect_text.number(self.width, "the boundary's width", 1e-6, 1e6))
        object.__setattr__(self, "towards", read_colour(self.towards))

    def factor(self, rows: Rows, job: Job) -> npt.NDArray[np.float32]:  # noqa: ARG002 - distances suffice
        """Return distance / width, at most 1."""
        distance = rows[DISTANCE.name]
        re, im = distance.real.astype(np.float64), distance.imag.astype(np.float64)
        re *= re
        im *= im
        re += im
        np.sqrt(re, out=re)
        re /= self.width
        return np.minimum(re, 1, out=re).astype(np.float32)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse WIDTH[,COLOUR]. Raises InvalidInputError for any other text."""
        width, *colour = effect_text.values(text, cls.name, 2)
        return cls(effect_text.number(width, "--boundary"), *colour)

    def to_json(self) -> Any:
        """Return the width and the colour."""
        return [self.width, self.towards]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the output of `to_json`. Raises InvalidInputError, TypeError or ValueError for anything else."""
        width, towards = value
        return cls(width, str(towards))
