"""The result of carrying escaped orbits on to the smooth radius."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass(slots=True)
class Smooth:
    """Three arrays, (height, width).

    `counts` (uint32); `steps` (uint32), the first m >= count with |z_m|² > 128², or count + limit; `norms`
    (float32), |z_m|² rounded to nearest. Inside, steps is the iteration limit and norms 0.
    """

    counts: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.uint32]
    norms: npt.NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))

    def __post_init__(self) -> None:
        if self.norms.shape != self.counts.shape:
            self.norms = np.zeros(self.counts.shape, np.float32)
