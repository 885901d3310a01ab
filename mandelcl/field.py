"""The result of a job: numbers, no colour."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mandelcl.errors import MandelclError
from mandelcl.job import Job

# Rows of a field: counts, and smooth fractions where the job asked for them.
Rows = tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32] | None]

_CHUNK_PIXELS = (
    1 << 17
)  # float64 temporaries that stay in a core's cache; smaller ones have threads wait for each other


class RowSource(Protocol):
    """Where the rows of a field come from, whether or not all of them are in memory."""

    @property
    def job(self) -> Job:
        """The job that the rows belong to."""

    def rows(self, top: int, bottom: int) -> Rows:
        """Return the counts and smooth fractions of rows top … bottom − 1; it may be called from several threads."""


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

    def rows(self, top: int, bottom: int) -> Rows:
        """Return the counts and smooth fractions of some rows."""
        return self.counts[top:bottom], None if self.smooth is None else self.smooth[top:bottom]

    def counts_sha256(self) -> str:
        """Return the SHA-256 of the counts as little-endian uint32, row by row."""
        return hashlib.sha256(np.ascontiguousarray(self.counts, dtype="<u4").data).hexdigest()


def allocate(job: Job) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32] | None]:
    """Return empty counts and smooth fractions for a job; raises MandelclError where there is not the memory."""
    shape = (job.view.height, job.view.width)
    needed = job.view.pixels * (8 if job.smooth else 4)
    try:
        _require_memory(needed)
        return np.zeros(shape, np.uint32), np.zeros(shape, np.float32) if job.smooth else None
    except (MemoryError, ValueError):
        raise MandelclError(
            f"a field of {job.view.width}x{job.view.height} needs {needed / 2**30:.1f} GiB of memory, "
            "more than there is; choose a smaller size, or draw it to files with render_to"
        ) from None


def _require_memory(needed: int) -> None:
    """Raise MemoryError where the system says that so much is not available; it may not say."""
    try:
        with Path("/proc/meminfo").open() as lines:
            available = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        return
    if needed > available:
        raise MemoryError


def smooth_fraction(results: npt.NDArray[np.uint32], cap: int) -> npt.NDArray[np.float32]:
    """Return the smooth fraction of results (counts, smooth steps m, |z_m|² as float bits; each of the same shape).

    The continuous count is m − log₂ log₂ |z_m|, which hardly depends on the radius at which it is taken; the fraction
    is what it adds to count − 1 (Vepstas, "Renormalizing the Mandelbrot escape", 1997). Inside it is 0.
    """
    fractions = np.empty(results.shape[1:], np.float32)
    flat, into = results.reshape(3, -1), fractions.reshape(-1)
    for start in range(0, into.size, _CHUNK_PIXELS):
        counts, steps, bits = flat[:, start : start + _CHUNK_PIXELS]
        norm = np.clip(bits.view(np.float32), np.float32(4), np.finfo(np.float32).max).astype(np.float64)
        fraction = (steps.astype(np.float64) - counts) + 1 - np.log2(np.log2(norm) / 2)
        fraction[counts == np.uint32(cap)] = 0
        into[start : start + _CHUNK_PIXELS] = fraction
    return fractions
