"""`.toml` files of Fraktaler-3 (`.f3.toml`).

The facts come from its sources (2.1: parameters, matrices, coordinates of pixels). The picture is 4/zoom high, with the
centre at its middle and the imaginary axis up. A step in pixels is mirrored if `reflect` is set, then stretched by
2^(stretch_amount/100) along `stretch_angle`, then rotated counter-clockwise by `rotate`, or clockwise if mirrored.
"""

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from mandelcl.base.errors import FileError
from mandelcl.base.text import quoted
from mandelcl.files.places.decimals import decimal, number_of, scientific
from mandelcl.files.places.formulas import of_fraktaler_3, to_fraktaler_3
from mandelcl.files.places.place import ForeignPlace, Orientation
from mandelcl.formulas import MANDELBROT

_DEFAULTS: Mapping[str, Any] = {
    "location.real": "0",
    "location.imag": "0",
    "location.zoom": "1",
    "bailout.iterations": 1024,
    "bailout.escape_radius": 625,
    "image.width": 1024,
    "image.height": 576,
    "transform.reflect": False,
    "transform.rotate": 0,
    "transform.stretch_angle": 0,
    "transform.stretch_amount": 0,
    "transform.exponential_map": False,
}


def read(values: Mapping[str, Any]) -> ForeignPlace:
    """Return the location. Raises FileError or InvalidInputError if there is none, or if it cannot be drawn."""
    found = {key: _looked_up(values, key) for key in _DEFAULTS}
    if found["transform.exponential_map"]:
        raise FileError("it is an exponential map, which is not supported")
    numbers = {key: number_of(found[key], key) for key in _DEFAULTS if not isinstance(_DEFAULTS[key], bool)}
    width, height, max_iterations = (numbers[key] for key in ("image.width", "image.height", "bailout.iterations"))
    if not width.denominator == height.denominator == max_iterations.denominator == 1:
        raise FileError("its size and its iterations must be integers")
    return ForeignPlace(
        numbers["location.real"],
        numbers["location.imag"],
        numbers["location.zoom"],
        max_iterations.numerator,
        (width.numerator, height.numerator),
        numbers["bailout.escape_radius"],
        orientation=_orientation(numbers, bool(found["transform.reflect"])),
        formula=of_fraktaler_3(values.get("formula", [{}])),
    )


def write(place: ForeignPlace) -> str:
    """Return the location as such a text. Raises FileError for a formula that Fraktaler-3 lacks.

    Fraktaler-3 ends orbits at four limits. All are set to the iteration limit; otherwise a deep view would have blots.
    """
    finest, orientation = 1 / place.zoom, place.orientation
    rotate, angle = -orientation.rotation, orientation.rotation - orientation.direction
    if orientation.mirrored:
        angle = orientation.direction - orientation.rotation
    lines = {
        "location.real": decimal(place.re, finest),
        "location.imag": decimal(place.im, finest),
        "location.zoom": scientific(place.zoom),
    }
    text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
    if place.iterations is not None:
        limits = ("iterations", "maximum_reference_iterations", "maximum_perturb_iterations", "maximum_bla_steps")
        text += "".join(f"bailout.{limit} = {place.iterations}\n" for limit in limits)
    if place.radius is not None:
        text += f"bailout.escape_radius = {_float(place.radius)}\n"
    if place.size is not None:
        text += f"image.width = {place.size[0]}\nimage.height = {place.size[1]}\n"
    text += "transform.reflect = true\n" if orientation.mirrored else ""
    text += f"transform.rotate = {_float(rotate)}\n" if rotate else ""
    if orientation.stretch:
        text += f"transform.stretch_angle = {_float(angle)}\n"
        text += f"transform.stretch_amount = {_float(orientation.stretch * 100)}\n"
    if place.formula != MANDELBROT:
        text += "".join(f'\n[[formula]]\nopcodes = "{line}"\n' for line in to_fraktaler_3(place.formula))
    return 'program = "fraktaler-3"\n' + text


def _orientation(numbers: Mapping[str, Fraction], mirrored: bool) -> Orientation:
    rotate, angle, amount = (numbers[f"transform.{key}"] for key in ("rotate", "stretch_angle", "stretch_amount"))
    direction = angle - rotate if mirrored else -(angle + rotate)
    return Orientation(-rotate, amount / 100, direction, mirrored)


def _looked_up(values: Mapping[str, Any], key: str) -> Any:
    table, name = key.split(".")
    found = values.get(table, {})
    if not isinstance(found, Mapping):
        raise FileError(f"its {table} is not a table: {quoted(found)}")
    return found.get(name, _DEFAULTS[key])


def _float(value: Fraction) -> str:
    """Return a number as a TOML float, which always has a point."""
    text = decimal(value)
    return text if "." in text else f"{text}.0"
