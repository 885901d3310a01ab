"""Compute the counts that a kernel with a known mistake would have, on the host, operation by operation."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mandelcl.base.arithmetic import Complex
from mandelcl.base.words import Words
from mandelcl.core.job import Job
from mandelcl.core.numbers import by_name
from mandelcl.lab.studies.reference import Arrays, escape_counts

_PART = 1 << 15  # pixels whose orbits stay in a core's own memory

Pixels: TypeAlias = npt.NDArray[np.int64]
# Returns the next z, given the arithmetic, z and c.
Step: TypeAlias = Callable[[Arrays, Complex, Complex], Complex]


def right_step(arrays: Arrays, z: Complex, c: Complex) -> Complex:
    """Return z² + c in the arithmetic's own order."""
    return arrays.square_add(z, c)


@dataclass(frozen=True, slots=True)
class Variation:
    """A way to compute counts; the default is the contract's.

    Columns and rows are moved by `columns` and `rows` before the product with the pitch, the latter upward with
    `upward`. Steps are made by `step` in `number` and `rounding`, |z|² in the rounding `test`, and points in the job's
    number and the rounding `points`; empty texts stand for the job's own. An orbit has escaped where |z|² > `limit`,
    with `at_least` where |z|² ≥ `limit`.
    """

    columns: float = 0
    rows: float = 0
    upward: bool = False
    number: str = ""
    rounding: str = ""
    points: str = ""
    test: str = ""
    step: Step = right_step
    limit: int = 4
    at_least: bool = False


RIGHT = Variation()


def least(job: Job, pixels: Pixels, max_iterations: int, variation: Variation = RIGHT) -> Words:
    """Return the least n below the limit at which each pixel's orbit has escaped, else the limit; pixels row by row."""
    number = by_name(variation.number or job.number)
    stepping, testing = (Arrays(number, name or job.rounding) for name in (variation.rounding, variation.test))
    limit = stepping.encode(Fraction(variation.limit))

    def escaped(z: Complex) -> npt.NDArray[np.bool_]:
        x, y = z
        norm = testing.multiply_add(x, x, y * y)
        return ~(norm < limit if variation.at_least else norm <= limit)

    def counts(some: Pixels) -> Words:
        with np.errstate(all="ignore"):
            re, im = (part.astype(limit.dtype) for part in points(job, some, variation))
            zero = np.zeros_like(re)
            return escape_counts(
                (zero, zero), (re, im), lambda z, c: variation.step(stepping, z, c), escaped, max_iterations
            )

    return in_parts(counts, pixels)


def in_parts(counts: Callable[[Pixels], Words], pixels: Pixels) -> Words:
    """Return counts(pixels), made in parts by as many threads as there are cores: numpy lets go of the interpreter."""
    parts = np.array_split(pixels, max(1, -(-pixels.size // _PART)))
    if len(parts) == 1:
        return counts(pixels)
    with ThreadPoolExecutor(os.cpu_count(), "mandelcl replay") as pool:
        return np.concatenate(list(pool.map(counts, parts)))


def points(job: Job, pixels: Pixels, variation: Variation = RIGHT) -> Complex:
    """Return the points of some pixels, in the job's number."""
    arrays = Arrays(by_name(job.number), variation.points or job.rounding)
    lattice = job.view.lattice
    rows, columns = np.divmod(pixels, job.view.width)
    down = rows + variation.rows
    re = arrays.along(columns + variation.columns, lattice.pitch, arrays.encode(lattice.re))
    return re, arrays.along(down if variation.upward else -down, lattice.pitch, arrays.encode(lattice.im))


def path(job: Job, pixel: int, first: int, last: int) -> list[tuple[int, Any, Any, Any]]:
    """Return a pixel's z from step `first` to `last` as (n, re, im, |z|²), as the contract has them."""
    arrays = Arrays(by_name(job.number), job.rounding)
    with np.errstate(all="ignore"):
        c = points(job, np.array([pixel], np.int64))
        z: Complex = (np.zeros_like(c[0]), np.zeros_like(c[1]))
        steps = []
        for n in range(last + 1):
            if n >= first:
                norm = arrays.multiply_add(z[0], z[0], z[1] * z[1])
                steps.append((n, z[0][0], z[1][0], norm[0]))
            z = arrays.square_add(z, c)
    return steps
