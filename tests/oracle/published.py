"""The arithmetic of the five published programs, written from their descriptions, and the jobs that reproduce it."""

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from mandelcl.base.view import View
from mandelcl.core.job import Job
from tests.oracle import LEAST_DOUBLE, LEAST_FLOAT, compiled

_COLOURS = np.array(
    [
        (66, 30, 15), (25, 7, 26), (9, 1, 47), (4, 4, 73), (0, 7, 100), (12, 44, 138), (24, 82, 177), (57, 125, 209),
        (134, 181, 229), (211, 236, 248), (241, 233, 191), (248, 201, 95), (255, 170, 0), (204, 128, 0), (153, 87, 0),
        (106, 52, 3),
    ],
    np.uint8,
)  # fmt: skip


def hybridizer_counts(size: int, max_iterations: int) -> npt.NDArray[np.int32]:
    """Return `light` of the Hybridizer post, (size, size): the real axis along the first index, the test a step late.

    With `hybridizer_job`: light = minimum(counts[::-1].T + 1, cap).
    """
    h = np.float32(4) / np.float32(size)
    grid = np.float32(-2) + np.arange(size).astype(np.float32) * h
    x, y, cx, cy, xx, yy = _start(grid[:, None], grid[None, :], 0, 0)
    light = np.zeros(size * size, np.int32)
    pixels = np.arange(size * size)
    with np.errstate(all="ignore"):
        for _ in range(max_iterations):
            going = xx + yy <= 4
            pixels = pixels[going]
            x, y, cx, cy = (values[going] for values in (x, y, cx, cy))
            xx, yy = x * x, y * y
            x, y = xx - yy + cx, np.float32(2) * x * y + cy
            light[pixels] += 1
    return light.reshape(size, size)


def hybridizer_job(size: int, max_iterations: int) -> Job:
    """Return the job that reproduces the Hybridizer post: anchored at (−2, −2), its bottom left pixel."""
    view = View.upright(Fraction(-2), Fraction(-2), Fraction(4, size), size, size, 0, size - 1)
    return Job(view, max_iterations, number="float", rounding="separate")


def dynamic_parallelism_counts(width: int, height: int, max_iterations: int) -> npt.NDArray[np.int32]:
    """Return the counts, (height, width), of the dynamic-parallelism report: row 0 at the bottom, z from c, < 4.

    With `dynamic_parallelism_job`: counts[::-1] − 1. The report divides by the width and then multiplies by the
    extent, so a picture whose sides are no powers of two is sampled at points a rounding apart.
    """
    extent = np.float32(2)
    re = np.float32(-1.5) + np.arange(width).astype(np.float32) / np.float32(width) * extent
    im = np.float32(-1) + np.arange(height).astype(np.float32) / np.float32(height) * extent
    x, y, cx, cy, _, _ = _start(re[None, :], im[:, None], re[None, :], im[:, None])
    iterations = np.zeros(width * height, np.int32)
    pixels = np.arange(width * height)
    with np.errstate(all="ignore"):
        for _ in range(max_iterations):
            going = x * x + y * y < 4
            pixels = pixels[going]
            x, y, cx, cy = (values[going] for values in (x, y, cx, cy))
            x, y = x * x - y * y + cx, x * y + y * x + cy
            iterations[pixels] += 1
    return iterations.reshape(height, width)


def dynamic_parallelism_job(size: int, max_iterations: int) -> Job:
    """Return the job that reproduces that report for a square: R² just below 4, and an iteration limit one higher."""
    view = View.upright(Fraction(-3, 2), Fraction(-1), Fraction(2, size), size, size, 0, size - 1)
    return Job(view, max_iterations + 1, LEAST_FLOAT, number="float", rounding="separate")


def coursework(width: int, height: int) -> bytes:
    """Return the file that the coursework's sequential program writes."""
    if width < 4:
        raise ValueError("the published program divides by width/4 in integers")
    band = max(1, (1 << 14) // width)
    rows = [_coursework_rows(np.arange(i, min(i + band, height)), width, height) for i in range(0, height, band)]
    return b"P6\n%d %d\n255\n" % (width, height) + np.concatenate(rows)[::-1].tobytes()


def coursework_job(width: int, height: int) -> Job:
    """Return the job that reproduces that file.

    The anchor −0.6 + 0i is the pixel of column width//2 and, counted from the bottom, of row height//2. Row 0 of
    the job is the first row of the file. A count n < 255 is colour n mod 16; 255, the iteration limit, is black.
    """
    anchor_row = height - 1 - height // 2
    view = View.upright(Fraction(-6, 10), Fraction(0), Fraction(1, width // 4), width, height, width // 2, anchor_row)
    return Job(view, 255, LEAST_DOUBLE, number="double", rounding="separate")


def coursework_file(counts: npt.NDArray[np.uint32]) -> bytes:
    """Return the file for the counts of `coursework_job`."""
    height, width = counts.shape
    rows = np.where((counts < 255)[..., None], _COLOURS[counts % 16], np.uint8(0))
    return b"P6\n%d %d\n255\n" % (width, height) + rows.astype(np.uint8).tobytes()


def hpc_avx_counts(resolution: int, dtype: npt.DTypeLike) -> npt.NDArray[np.uint32]:
    """Return the image, (2R, 3R), of the HPC report's AVX program with FMA: row 0 at −1, escape at |z|² > 4.

    An image holds the first n of 1 to 1000 that is outside, else 0. Needs a C compiler. Its order of operations is
    not the design's `fused`; the nearest job is `hpc_job`, whose counts[::-1] differ in some pixels.
    """
    number = "float" if np.dtype(dtype) == np.float32 else "double"
    counts = compiled.counts(hpc_job(resolution, number), order="avx")[::-1]
    return np.where(counts > 1000, np.uint32(0), counts)


def hpc_job(resolution: int, number: str, rounding: str = "fused") -> Job:
    """Return the job on the HPC report's grid; its limit is 1001, since a step 1000 that is outside is written."""
    view = View.upright(
        Fraction(-2), Fraction(-1), Fraction(1, resolution), 3 * resolution, 2 * resolution, 0, 2 * resolution - 1
    )
    return Job(view, 1001, number=number, rounding=rounding)


def _start(
    cx: npt.NDArray[np.float32], cy: npt.NDArray[np.float32], x: npt.ArrayLike, y: npt.ArrayLike
) -> tuple[npt.NDArray[np.float32], ...]:
    """Return flat float32 arrays x, y, cx, cy, 0, 0, broadcast to one shape."""
    zero = np.float32(0)
    arrays = np.broadcast_arrays(np.asarray(x, np.float32), np.asarray(y, np.float32), cx, cy, zero, zero)
    return tuple(values.flatten() for values in arrays)


def _coursework_rows(i: npt.NDArray[np.int64], width: int, height: int) -> npt.NDArray[np.uint8]:
    """Return the colours, (rows, width, 3), of the program's rows i."""
    scale = 1.0 / (width // 4)
    x = np.tile((np.arange(width) - width // 2) * scale + -0.6, len(i))
    y = np.repeat((i - height // 2) * scale + 0.0, width)
    counter = np.zeros(x.shape, np.uint8)
    q = np.hypot(x - 0.25, y)
    counter[x < q - 2 * q * q + 0.25] = 255
    counter[(x + 1) * (x + 1) + y * y < 1 // 16] = 255
    pixels = np.arange(x.size)
    zx, zy, zx2, zy2 = np.zeros((4, x.size))
    while pixels.size:
        zy = 2 * zx * zy + y
        zx = zx2 - zy2 + x
        zx2, zy2 = zx * zx, zy * zy
        again = (counter[pixels] < 255) & (zx2 + zy2 < 4)
        counter[pixels] += np.uint8(1)  # wraps from 255 to 0, as the program's does
        pixels = pixels[again]
        x, y, zx, zy, zx2, zy2 = (values[again] for values in (x, y, zx, zy, zx2, zy2))
    black = (counter == 0) | (counter == 255)
    colours = np.where(black[:, None], np.uint8(0), _COLOURS[counter % 16])
    return colours.reshape(len(i), width, 3)
