"""Histogram equalisation: quantiles of a picture's counts, by which a palette is distributed evenly over it.

The quantiles are computed from every eighth pixel of the lattice in both directions, counted from its anchor. So every
way of computing a picture (at once, in strips, or again) finds the same ones. A picture stores them with its colouring.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mandelcl.base.view import View
from mandelcl.core.field import Rows
from mandelcl.core.job import Job
from mandelcl.core.planes import COUNTS, DISTANCE, SMOOTH

KNOTS = 257
STRIDE = 8
_DECIMALS = 4
_DECIMALS_OF_VALUES = 9  # shares lie between 0 and 1


def sampled_view(view: View) -> View:
    """Return every eighth pixel of a view, or its first pixel if it contains none of these."""
    left, top = first_of(view)
    if left >= view.width or top >= view.height:
        return view.part(0, 0, 1, 1)
    return view.part(left, top, view.width - left, view.height - top).coarser(STRIDE)


def sampled_rows(view: View, rows: Rows) -> Rows:
    """Return the planes of every eighth pixel, from the planes of a whole view."""
    left, top = first_of(view)
    if left >= view.width or top >= view.height:
        return {name: values[:1, :1] for name, values in rows.items()}
    return {name: values[top::STRIDE, left::STRIDE] for name, values in rows.items()}


def in_pixels_of(view: View, rows: Rows) -> Rows:
    """Return the planes of a view's `sampled_view` with distances in pixels of the view itself."""
    if DISTANCE.name not in rows or sampled_view(view).lattice.matrix == view.lattice.matrix:
        return rows
    return {**rows, DISTANCE.name: rows[DISTANCE.name] * np.float32(STRIDE)}


def first_of(view: View) -> tuple[int, int]:
    """Return the column and row of a view's first pixel among every eighth pixel of the lattice."""
    return view.lattice.column % STRIDE, view.lattice.row % STRIDE


def knots_of(job: Job, rows: Rows, continuous: bool) -> tuple[float, ...]:
    """Return the quantiles 0, 1/256, 2/256 … of the counts, or continuous counts, outside the set."""
    counts, smooth = rows[COUNTS.name], rows.get(SMOOTH.name) if continuous else None
    outside = counts != job.iterations
    values = counts[outside].astype(np.float64)
    if smooth is not None:
        values += smooth[outside]
        values -= 1
    if not values.size:
        return tuple(float(knot) for knot in range(KNOTS))
    return tuple(float(value) for value in np.round(_quantiles(values), _DECIMALS))


def knots_of_values(job: Job, rows: Rows, values: npt.NDArray[np.float64]) -> tuple[float, ...]:
    """Return the quantiles 0, 1/256, 2/256 … of the values of pixels outside the set."""
    outside = values[rows[COUNTS.name] != job.iterations]
    if not outside.size:
        return tuple(float(knot) for knot in range(KNOTS))
    return tuple(float(value) for value in np.round(_quantiles(outside), _DECIMALS_OF_VALUES))


def _quantiles(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the values at equal distances in rank, including the smallest and the largest."""
    ordered = np.sort(values)
    place = np.arange(KNOTS) * ((len(ordered) - 1) / (KNOTS - 1))
    low = place.astype(np.intp)
    high = np.minimum(low + 1, len(ordered) - 1)
    return np.asarray(ordered[low] + (place - low) * (ordered[high] - ordered[low]))


def require_knots(knots: Sequence[float]) -> tuple[float, ...]:
    """Return the knots as floats. Raises ValueError for invalid ones."""
    values = tuple(float(knot) for knot in knots)
    finite = all(abs(knot) < 2.0**40 for knot in values)
    if len(values) != KNOTS or not finite or any(values[k] > values[k + 1] for k in range(KNOTS - 1)):
        raise ValueError(f"equalisation needs {KNOTS} counts in ascending order")
    return values
