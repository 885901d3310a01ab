"""Relief: light from one side, as if the surroundings of the set rose towards it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from mandelcl.base.rotation import cosine_and_sine
from mandelcl.colour import effect_text
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import DISTANCE

HEIGHT = 1.5


@dataclass(frozen=True, slots=True)
class Light:
    """Lambert's law on a normal that leans away from the set (Chéritat, "Mandelbrot set", normal map effect).

    `angle` is the direction of the light, in degrees counter-clockwise from the right. `height` is how high the light
    stands above a slope of 45°. `strength`, from 0 to 1, is the share of the effect.
    """

    angle: float
    height: float = HEIGHT
    strength: float = 1.0

    name: ClassVar[str] = "light"
    planes: ClassVar[tuple[str, ...]] = (DISTANCE.name,)
    towards: ClassVar[str] = "#000000"

    def __post_init__(self) -> None:
        for field, *bounds in (("angle", -math.inf, math.inf), ("height", 0, 1000), ("strength", 0, 1)):
            value = effect_text.number(getattr(self, field), f"the light's {field}", *bounds)
            object.__setattr__(self, field, value)

    def factor(self, rows: Rows, job: Job) -> npt.NDArray[np.float32]:  # noqa: ARG002 - distances suffice
        """Return (cos φ + h)/(1 + h), at least 0, mixed by `strength`. φ is the angle between light and normal."""
        x, y = (float(part) for part in cosine_and_sine(Fraction(self.angle)))
        distance = rows[DISTANCE.name]
        re, im = distance.real.astype(np.float64), distance.imag.astype(np.float64)
        length = re * re
        length += im * im
        np.sqrt(length, out=length)
        re *= x
        im *= y
        re += im
        np.divide(re, length, out=re, where=length > 0)
        re *= self.strength / (1 + self.height)
        re += 1 - self.strength / (1 + self.height)
        return np.maximum(re, 1 - self.strength, out=re).astype(np.float32)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ANGLE[,HEIGHT[,STRENGTH]]. Raises InvalidInputError for any other text."""
        return cls(*(effect_text.number(part, "--light") for part in effect_text.values(text, cls.name, 3)))

    def to_json(self) -> Any:
        """Return the three numbers."""
        return [self.angle, self.height, self.strength]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Parse the output of `to_json`. Raises InvalidInputError, TypeError or ValueError for anything else."""
        angle, height, strength = value
        return cls(angle, height, strength)
