"""The mean of several samples per pixel, in linear light."""

import numpy as np

from mandelcl.colour.colour import Colouring
from mandelcl.colour.painting import finished, lit
from mandelcl.colour.quantising import Pixels
from mandelcl.core.block import Block
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS


class Averages:
    """Sums of the samples' linear light for the pixels of a band, and the number of samples of each pixel.

    If the set is transparent, only samples outside count, and a pixel's opacity is their share of its samples.
    """

    def __init__(self, job: Job, colouring: Colouring, band: Block) -> None:
        self.band = band
        self.colouring = colouring
        self._job = job
        self._light = np.zeros((band.height, band.width, 3), np.float32)
        self._samples = np.zeros((band.height, band.width), np.uint16)
        self._outside = np.zeros((band.height, band.width), np.uint16) if colouring.transparent else None

    def add(self, job: Job, rows: Rows, left: int, top: int) -> None:
        """Add one sample for a rectangle of pixels, whose first one is at (left, top). `job` is the sample's job."""
        counts = rows[COUNTS.name]
        height, width = counts.shape
        x, y = left - self.band.x, top - self.band.y
        place = np.s_[y : y + height, x : x + width]
        light = lit(job, rows, self.colouring)
        if self._outside is not None:
            outside = counts != job.iterations
            light *= outside[..., np.newaxis]
            self._outside[place] += outside
        self._light[place] += light
        self._samples[place] += 1

    def pixels(self) -> Pixels:
        """Return the pixels of the band."""
        colouring, job, band = self.colouring, self._job, self.band
        shares = np.maximum(self._samples if self._outside is None else self._outside, 1)
        light = self._light
        light /= shares[..., np.newaxis].astype(np.float32)
        alpha = None
        if self._outside is not None:
            alpha = np.divide(self._outside, self._samples, dtype=np.float32)
        return finished(light, alpha, colouring, job, band.x, band.y)
