"""`.toml` files of rust-fractal: `real`, `imag`, `zoom`, `iterations`, `rotate`, and optionally the size.

The facts come from its sources: the centre is the middle, the imaginary axis points down, and a step in pixels is
rotated by `rotate`. Its first and last row are 4/zoom apart; here the picture is 4/zoom high, one row less.
"""

from collections.abc import Mapping
from typing import Any

from mandelcl.base.errors import FileError
from mandelcl.base.text import quoted
from mandelcl.files.places.decimals import number_of
from mandelcl.files.places.place import ForeignPlace, Orientation

_PLACE = ("real", "imag", "zoom")
_USUAL = {"fractal_type": "mandelbrot", "fractal_power": 2}


def recognises(values: Mapping[str, Any]) -> bool:
    """Return whether a table is one of rust-fractal's."""
    return all(key in values for key in _PLACE)


def read(values: Mapping[str, Any]) -> ForeignPlace:
    """Return the location. Raises FileError or InvalidInputError if there is none, or if it cannot be drawn."""
    for key, usual in _USUAL.items():
        if str(values.get(key, usual)).lower() != str(usual):
            raise FileError(f"its {key} is {quoted(values[key])}, which is not supported")
    re, im, zoom, rotate = (number_of(values.get(key, 0), key) for key in (*_PLACE, "rotate"))
    width, height, max_iterations = (
        _whole(values.get(key), key) for key in ("image_width", "image_height", "iterations")
    )
    size = None if width is None or height is None else (width, height)
    return ForeignPlace(re, im, zoom, max_iterations, size, orientation=Orientation(rotate, mirrored=True))


def _whole(value: Any, key: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise FileError(f"its {key} is not an integer: {quoted(value)}")
    return value
