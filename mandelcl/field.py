"""The result of a job: numbers, no colour."""

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mandelcl.job import Job


@dataclass(frozen=True, slots=True)
class Field:
    """Escape counts of a view.

    `counts` is uint32, height × width; a pixel is inside the set where its count is the job's cap.
    `smooth`, where the job asked for it, is float32 of the same shape: counts + smooth − 1 is a continuous
    count. It lies in about (0, 1], and is 0 inside.
    """

    job: Job
    counts: npt.NDArray[np.uint32]
    smooth: npt.NDArray[np.float32] | None = None

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """True where the orbit did not escape below the cap."""
        return np.equal(self.counts, np.uint32(self.job.iterations))

    def counts_sha256(self) -> str:
        """Return the SHA-256 of the counts as little-endian uint32, row by row."""
        return hashlib.sha256(np.ascontiguousarray(self.counts, dtype="<u4").data).hexdigest()
