"""Which pixels need more samples, where that is decided for each by itself and its neighbours on the lattice.

So a part of a picture, a strip, and a device that has some of its blocks decide alike.
"""

import numpy as np
import numpy.typing as npt

from mandelcl.colour.averaging import Averages, Indices
from mandelcl.colour.linear_light import Light, bytes_of
from mandelcl.colour.painting import lit
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS

Marks = npt.NDArray[np.bool_]
Wholes = npt.NDArray[np.int32]

_CONTRAST = 16  # of 255, between neighbours: above it a pixel is more than its own point
_ERROR = 2  # of 255: the standard error of a pixel's mean that is left


def contrasting(light: Light) -> Marks:
    """Return which pixels differ from one of their eight neighbours; `light` has a row and column more on each side."""
    height, width = light.shape[0] - 2, light.shape[1] - 2
    marks = np.zeros((height, width), np.bool_)
    for channel in range(3):
        values = bytes_of(light[..., channel]).astype(np.int16)
        middle = values[1:-1, 1:-1]
        for y in range(3):
            for x in range(3):
                marks |= np.abs(values[y : y + height, x : x + width] - middle) >= _CONTRAST
    return marks


class Undecided:
    """Pixels of a band of which further samples are taken, at `indices` (row·width + column), and sums over these.

    By the sums of bytes, which is how pixels look, the error of their means is told.
    """

    def __init__(self, averages: Averages, marks: Marks, light: Light) -> None:
        self.indices: Indices = np.flatnonzero(marks).astype(np.uint32)
        self._averages = averages
        values = self._values(light[marks])
        self._sums, self._squares, self._samples = values, values**2, 1
        self._clear()

    def _clear(self) -> None:
        """Begin sums that the averages have not been told of."""
        self._light = np.zeros((self.indices.size, 3), np.float32)
        self._outside = np.zeros(self.indices.size, np.uint16)
        self._further = 0

    def add(self, job: Job, rows: Rows) -> None:
        """Add a sample of each pixel; `rows` have a single row, of these pixels, and `job` is the sample's."""
        light = lit(job, rows, self._averages.colouring)[0]
        outside = rows[COUNTS.name][0] != np.uint32(job.iterations)
        values = self._values(light)
        self._sums += values
        values *= values
        self._squares += values
        self._samples += 1
        self._outside += outside
        self._light += light * outside[:, np.newaxis] if self._averages.transparent else light
        self._further += 1

    def settle(self) -> None:
        """Tell the averages of the samples, and go on with the pixels whose means have too large an error."""
        self._averages.put(self.indices, self._light, self._outside, self._further)
        n, sums = self._samples, self._sums
        # n² times the variance of the mean, times n − 1, in whole numbers: exactly the same everywhere.
        scaled = n * self._squares - sums * sums
        worst = np.maximum(np.maximum(scaled[:, 0], scaled[:, 1]), scaled[:, 2])
        left = worst >= _ERROR**2 * n * n * (n - 1)
        self.indices = self.indices[left]
        self._sums, self._squares = sums[left], self._squares[left]
        self._clear()

    @staticmethod
    def _values(light: Light) -> Wholes:
        return bytes_of(light).astype(np.int32)
