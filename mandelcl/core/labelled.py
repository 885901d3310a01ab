"""Fields as labelled arrays: the planes of a job as an `xarray.Dataset`."""

import math
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.exact import to_digits
from mandelcl.base.extras import load
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.planes import CERTIFIED, COUNTS, DISTANCE, LAST, SMOOTH, TRAILS

if TYPE_CHECKING:
    from xarray import Dataset

_FINEST = 1024  # doubles that are farther apart than such a part of a pixel are no coordinates
_TRAILS = {
    "stripe": "stripe average, the mean of (1 + sin(k*arg z))/2",
    "triangle": "triangle inequality average",
    "trap": "distance from an orbit trap",
}
_ABOUT: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        COUNTS.name: {
            "long_name": "iteration count",
            "units": "1",
            "comment": "the iteration limit where the orbit stays",
        },
        SMOOTH.name: {
            "long_name": "smooth fraction",
            "units": "1",
            "comment": "counts + smooth - 1 is a continuous count; 0 where the orbit stays",
        },
        DISTANCE.name: {
            "long_name": "estimated distance from the set",
            "units": "pixel",
            "comment": "a vector away from the set, real to the right and imaginary up; 0 where the orbit stays",
        },
        LAST.name: {
            "long_name": "z at which the orbit left the smooth radius",
            "units": "1",
            "comment": "0 where the orbit stays",
        },
        **{
            plane.name: {
                "long_name": _TRAILS[plane.name.partition("-")[0]],
                "units": "1",
                "comment": "of the last 16 iterates, interpolated as the continuous count; 0 where the orbit stays",
            }
            for plane in TRAILS
        },
        CERTIFIED.name: {
            "long_name": "whether the count is proved",
            "units": "1",
            "flag_values": [0, 1],
            "flag_meanings": "not_proved proved",
        },
    }
)


def dataset(job: Job, planes: Mapping[str, npt.NDArray[Any]]) -> "Dataset":
    """Return the planes of a job as variables over `y` and `x`; `Field.to_xarray` describes their attributes.

    Raises MandelclError without xarray.
    """
    load("xarray", "a labelled field needs xarray", "notebook")
    from xarray import Dataset

    view = job.view
    variables = {name: (("y", "x"), values, dict(_ABOUT[name])) for name, values in planes.items()}
    return Dataset(variables, coords=_coordinates(view), attrs=_exactly(job))


def _coordinates(view: View) -> dict[str, Any]:
    """Return how far pixels are from the middle, and what doubles hold of their points."""
    x = np.arange(view.width) - (view.width - 1) / 2
    y = (view.height - 1) / 2 - np.arange(view.height)
    found: dict[str, Any] = {
        "x": ("x", x, {"long_name": "to the right of the middle", "units": "pixel"}),
        "y": ("y", y, {"long_name": "above the middle", "units": "pixel"}),
    }
    spacing = Fraction(math.ulp(float(view.largest_coordinate())))
    if view.lattice.is_upright and spacing * _FINEST <= view.pitch:
        re = np.array([float(view.point(column, 0)[0]) for column in range(view.width)])
        im = np.array([float(view.point(0, row)[1]) for row in range(view.height)])
        found["re"] = ("x", re, {"long_name": "real part, as the nearest double", "units": "1"})
        found["im"] = ("y", im, {"long_name": "imaginary part, as the nearest double", "units": "1"})
    return found


def _exactly(job: Job) -> dict[str, Any]:
    """Return the job, and where its pixels are, as texts that `mandelcl.View` reads without rounding."""
    view = job.view
    a, b, c, d = view.lattice.matrix
    re, im = view.lattice.shifted(Fraction(view.width - 1, 2), Fraction(view.height - 1, 2)).point(0, 0)
    return {
        "job": job.to_json(),
        "formula": job.formula.name,
        "iterations": job.iterations,
        "centre_re": _text(re),
        "centre_im": _text(im),
        "pitch": _text(view.pitch),
        "step_right": [_text(a), _text(c)],
        "step_up": [_text(-b), _text(-d)],
    }


def _text(value: Fraction) -> str:
    return to_digits(value.numerator) + ("" if value.denominator == 1 else f"/{to_digits(value.denominator)}")
