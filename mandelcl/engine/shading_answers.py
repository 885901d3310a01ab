"""Known answers for shading: extreme counts, steps and norms, in pictures that fill no vector."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mandelcl.base.smooth import CHORD_BITS, LEAST_BITS, MOST_BITS
from mandelcl.base.words import Words
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.colour.palettes import Palette
from mandelcl.core.counts import MOST_NARROW
from mandelcl.core.job import Job
from mandelcl.core.planes import SMOOTH

_MANY = tuple(f"#{7 * k:06x}" for k in range(1, 301))
_NOISE = Palette("noise", "changes with the last bit of a float", ("#000000", "#ffffff"), cycle=1e-12)
# One for each kind of kernel, and those in which the last bit of all that is rounded shows.
COLOURINGS = (
    Colouring(find_palette("classic"), offset=0.3),
    Colouring(find_palette("spectrum"), cycle=7.3, offset=-0.21),
    Colouring(_NOISE),
    Colouring(_NOISE, cycle=1e-5),
    Colouring(find_palette("coursework")),
    Colouring(find_palette("coursework"), cycle=48, offset=1 / 3),
    Colouring(Palette("three", "no power of two", _MANY[:3], cycle=3.0, discrete=True)),
    Colouring(Palette("many", "more colours than a byte numbers", _MANY, cycle=300.0, discrete=True), offset=0.01),
    Colouring(find_palette("classic"), offset=0.3, dither=True),
    Colouring(find_palette("spectrum"), cycle=7.3, dither=True),
    Colouring(find_palette("coursework"), dither=True),
)
_LIMITS = (50, 1 << 24, MOST_NARROW)
_RAGGED = (1, 3, 4, 5, 15, 17, 63, 65)
_PIXELS = 20011
_COUNTS = (0, 1, 2, 15, 16, 17, 255, 256, 65535, 65536, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, 1 << 31)
_FURTHER = (0, 1, 2, 3, 4, 5, 30, 31, 32, 33, 64, 1000, 1001)  # steps beyond the count
_NORMS = (0, 1, LEAST_BITS - 1, LEAST_BITS, LEAST_BITS + 1, MOST_BITS, 0x7F800000, 0x7FC00000, 0xFFC00000, 0xFFFFFFFF)


def cases(job: Job) -> Iterator[tuple[Job, Words]]:
    """Yield jobs like this one but for their iteration limits, with results of some pixels: words × rows × columns."""
    random = np.random.default_rng(2026)
    for max_iterations in _LIMITS:
        like = replace(job, iterations=max_iterations)
        yield like, results_of(like, _PIXELS, random)[:, None]
    for pixels in _RAGGED:
        rows = next(rows for rows in (7, 5, 3, 1) if pixels % rows == 0)
        yield job, results_of(job, pixels, random).reshape(job.words, rows, -1)


def results_of(job: Job, pixels: int, random: np.random.Generator) -> Words:
    """Return results of this many pixels as a device might write them, words × pixels, with edge cases."""
    max_iterations = job.iterations
    results = random.integers(0, 1 << 32, (job.words, pixels), np.uint32)
    spread = np.exp2(random.uniform(0, 32, pixels)).astype(np.uint32)
    near = random.choice(
        np.array([*_COUNTS, max(0, max_iterations - 2), max_iterations - 1, max_iterations], np.uint32), pixels
    )
    counts = np.minimum(np.where(random.random(pixels) < 0.5, spread, near), np.uint32(max_iterations))
    results[0] = counts
    if SMOOTH.name in job.planes:
        first = job.first_words[SMOOTH.name]
        results[first] = counts + random.choice(np.array(_FURTHER, np.uint32), pixels)
        usual = np.exp2(random.uniform(14, 28.1, pixels)).astype(np.float32).view(np.uint32)
        ends = (usual >> CHORD_BITS << CHORD_BITS) - random.integers(0, 2, pixels, np.uint32)
        any_norm = random.integers(LEAST_BITS, MOST_BITS, pixels, np.uint32, endpoint=True)
        edges = random.choice(np.array(_NORMS, np.uint32), pixels)
        results[first + 1] = np.choose(random.integers(0, 4, pixels), [usual, ends, any_norm, edges])
    return results
