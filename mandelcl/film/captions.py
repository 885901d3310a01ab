"""Captions: a line of text in a corner of each frame, for example with the frame's zoom."""

import re
from collections.abc import Mapping
from fractions import Fraction
from math import floor

import numpy as np
from PIL import Image, ImageDraw, ImageFont, features

from mandelcl.base.errors import InvalidInputError, MandelclError
from mandelcl.film.assembly import Rgb
from mandelcl.film.path import Leg, log2
from mandelcl.film.plan import FilmPlan
from mandelcl.film.timing import Frame

DEFAULT = "zoom {zoom}"
FIELDS = ("zoom", "iterations", "re", "im")
_MOST = 200  # characters
_HEIGHT = 24  # the height of a frame, in lines of the caption
_LEAST_PIXELS = 8
_DIGITS = 12  # of coordinates
_LOG2_OF_10 = log2(Fraction(10))


def require_caption(text: str) -> str:
    """Return a caption's text. Raises InvalidInputError for fields that do not exist, and for long texts."""
    unknown = [field for field in re.findall(r"{(.*?)}", text) if field not in FIELDS]
    if unknown:
        known = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise InvalidInputError(f"a caption has no field {{{unknown[0][:20]}}}; use {known}")
    if not 0 < len(text) <= _MOST or "\n" in text:
        raise InvalidInputError(f"a caption is one line of 1 to {_MOST} characters")
    return text


class Caption:
    """Draws the caption of each frame of a film. Raises MandelclError if Pillow was built without FreeType."""

    def __init__(self, text: str, plan: FilmPlan, size: tuple[int, int]) -> None:
        if not features.check("freetype2"):
            raise MandelclError("captions need a Pillow with FreeType; leave --caption out")
        self._text, self._legs, self._size = require_caption(text), plan.legs, size
        pixels = max(_LEAST_PIXELS, size[1] // _HEIGHT)
        self._font = ImageFont.load_default(pixels)
        self._margin, self._outline = pixels // 2, max(1, pixels // 12)
        last = plan.stops[-1]
        self._fixed: Mapping[str, str] = {
            "iterations": str(plan.job.iterations),
            "re": _decimal(last.re),
            "im": _decimal(last.im),
        }

    def text(self, frame: Frame) -> str:
        """Return the caption of a frame."""
        values = {**self._fixed, "zoom": zoom_text(zoom_log2(self._legs[frame.leg], frame.travelled))}
        return re.sub(r"{(.*?)}", lambda field: values[field[1]], self._text)

    def draw(self, frame: Frame, picture: Rgb) -> Rgb:
        """Return a frame's picture with its caption: white, outlined in black, at the lower left."""
        image = Image.fromarray(picture)
        ImageDraw.Draw(image).text(
            (self._margin, self._size[1] - self._margin),
            self.text(frame),
            (255, 255, 255),
            self._font,
            anchor="ls",
            stroke_width=self._outline,
            stroke_fill=(0, 0, 0),
        )
        return np.asarray(image)


def zoom_log2(leg: Leg, travelled: float) -> float:
    """Return the base-2 logarithm of a frame's zoom, after `travelled` doublings from the start of a leg."""
    deeper = travelled if leg.inward else leg.doublings - travelled
    return log2(leg.outer.zoom) + min(max(deeper, 0.0), leg.doublings)


def zoom_text(logarithm: float) -> str:
    """Return a zoom, given its base-2 logarithm, with three digits: `1.60`, `25.0`, `3.12e45`."""
    tens = logarithm / _LOG2_OF_10
    exponent = floor(tens + 1e-9)
    mantissa = 10 ** (tens - exponent)
    if mantissa >= 9.995:
        exponent, mantissa = exponent + 1, 1.0
    if not 0 <= exponent < 3:
        return f"{mantissa:.2f}e{exponent}"
    return f"{mantissa * 10**exponent:.{2 - exponent}f}"


def _decimal(value: Fraction) -> str:
    """Return the first digits of a coordinate."""
    digits = f"{float(value):.{_DIGITS}f}".rstrip("0").rstrip(".")
    return digits if digits not in ("", "-0") else "0"
