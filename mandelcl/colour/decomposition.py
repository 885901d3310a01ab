"""Binary decomposition: the side of the real axis on which orbits leave the smooth radius."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mandelcl.colour import effect_text
from mandelcl.colour.palettes import read_colour
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import LAST


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Orbits that leave below the real axis keep the fraction `share` of their light (Peitgen and Richter, 1986)."""

    share: float
    towards: str = "#000000"

    name: ClassVar[str] = "decomposition"
    planes: ClassVar[tuple[str, ...]] = (LAST.name,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", effect_text.number(self.share, "the decomposition's share", 0, 1))
        object.__setattr__(self, "towards", read_colour(self.towards))

    def factor(self, rows: Rows, job: Job) -> npt.NDArray[np.float32]:  # noqa: ARG002 - the last z suffices
        """Return the share if the imaginary part of the last z is below 0, otherwise 1."""
        return np.where(rows[LAST.name].imag < 0, np.float32(self.share), np.float32(1))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse SHARE[,COLOUR]. Raises InvalidInputError for any other text."""
        share, *colour = effect_text.values(text, cls.name, 2)
        return cls(effect_text.number(share, "--decomposition"), *colour)

    def to_json(self) -> Any:
        """Return the share and the colour."""
        return [self.share, self.towards]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the output of `to_json`. Raises InvalidInputError, TypeError or ValueError for anything else."""
        share, towards = value
        return cls(share, str(towards))
