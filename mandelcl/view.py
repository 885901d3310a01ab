"""Which points of the plane a picture shows, exactly: fractions in, fractions kept."""

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from mandelcl.errors import InvalidInputError

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE]([+-]?\d{1,9}))?", re.ASCII)
_RATIO = re.compile(r"[+-]?\d+/\d+", re.ASCII)
_MAX_EXPONENT = 4_000
_MAX_DIGITS = 4_000
_MAX_SIDE = 1 << 31


def parse_number(text: str, what: str = "number") -> Fraction:
    """Return the exact value of a decimal (`-0.75`, `1.5e-30`) or a ratio (`1/3`); never through a float.

    Raises InvalidInputError, naming `what`, for anything else (NaN and infinities included).
    """
    text = text.strip()
    shown = _shown(text)
    if len(text) > 2 * _MAX_DIGITS:
        raise InvalidInputError(f"{what} {shown} has more than {2 * _MAX_DIGITS} characters")
    decimal = _DECIMAL.fullmatch(text)
    if decimal:
        if abs(int(decimal.group(4) or 0)) > _MAX_EXPONENT or len(decimal.group(1)) > _MAX_DIGITS:
            raise InvalidInputError(f"{what} {shown} has more than {_MAX_DIGITS} digits or an exponent beyond it")
        return Fraction(text)
    if _RATIO.fullmatch(text):
        numerator, denominator = text.split("/")
        if max(len(numerator), len(denominator)) > _MAX_DIGITS:
            raise InvalidInputError(f"{what} {shown} has more than {_MAX_DIGITS} digits")
        if int(denominator) == 0:
            raise InvalidInputError(f"{what} {shown} divides by zero")
        return Fraction(int(numerator), int(denominator))
    raise InvalidInputError(f"{what} {shown} is not a number; write it like -0.75, 1.5e-30 or 1/3")


def parse_size(text: str, what: str = "size", form: str = "WIDTHxHEIGHT; write it like 1920x1080") -> tuple[int, int]:
    """Return (width, height) from `1920x1080`; an error names `what` and the `form` expected."""
    match = re.fullmatch(r"(\d{1,10})[xX×](\d{1,10})", text.strip(), re.ASCII)
    if not match:
        raise InvalidInputError(f"{what} {_shown(text)} is not {form}")
    return int(match.group(1)), int(match.group(2))


@dataclass(frozen=True, slots=True)
class View:
    """A grid of sample points: pixel (i, j) is at anchor + ((i − a)·pitch, −(j − b)·pitch).

    Row 0 is the top and the imaginary axis points up. `anchor_column` and `anchor_row` are a and b: the
    pixel, possibly outside the picture, that lies exactly on the anchor.
    """

    anchor_re: Fraction
    anchor_im: Fraction
    pitch: Fraction
    width: int
    height: int
    anchor_column: int = 0
    anchor_row: int = 0

    def __post_init__(self) -> None:
        _require_pixels(self.width, self.height)
        if self.largest_offset >= _MAX_SIDE:
            raise InvalidInputError(f"the anchor pixel is beyond {_MAX_SIDE - 1} pixels from the picture")
        if self.pitch <= 0:
            raise InvalidInputError("the distance between pixels must be positive; is the zoom or region empty?")

    @classmethod
    def centred(cls, re: Fraction, im: Fraction, zoom: Fraction, width: int, height: int) -> "View":
        """Return the view whose middle is re + im·i and whose height is 4/zoom."""
        _require_pixels(width, height)
        if zoom <= 0:
            raise InvalidInputError("the zoom must be positive; the picture is 4/zoom high")
        pitch = Fraction(4) / zoom / height
        return cls(re - pitch * (width - 1) / 2, im + pitch * (height - 1) / 2, pitch, width, height)

    @classmethod
    def region(cls, xmin: Fraction, xmax: Fraction, ymin: Fraction, ymax: Fraction, width: int, height: int) -> "View":
        """Return the view whose outer edges are the given ones; its shape must be the picture's."""
        _require_pixels(width, height)
        if xmax <= xmin or ymax <= ymin:
            raise InvalidInputError("the region is empty; give XMIN XMAX YMIN YMAX, each minimum below its maximum")
        wide, high = xmax - xmin, ymax - ymin
        if wide * height != high * width:
            raise InvalidInputError(
                f"a region of shape {_rounded(wide / high)} (width/height) does not fill {width}x{height}; "
                + _fitting_size(wide / high, width)
            )
        return cls.centred((xmin + xmax) / 2, (ymin + ymax) / 2, 4 / high, width, height)

    @property
    def pixels(self) -> int:
        """Number of pixels."""
        return self.width * self.height

    def point(self, column: int, row: int) -> tuple[Fraction, Fraction]:
        """Return the exact (re, im) of a pixel."""
        return (
            self.anchor_re + (column - self.anchor_column) * self.pitch,
            self.anchor_im - (row - self.anchor_row) * self.pitch,
        )

    @property
    def largest_offset(self) -> int:
        """Largest number of columns or rows between the anchor pixel and a pixel of the picture."""
        columns = max(abs(self.anchor_column), abs(self.width - 1 - self.anchor_column))
        return max(columns, abs(self.anchor_row), abs(self.height - 1 - self.anchor_row))

    def largest_coordinate(self) -> Fraction:
        """Return the largest |re| or |im| of any pixel."""
        corners = (self.point(0, 0), self.point(self.width - 1, self.height - 1))
        return max(abs(part) for corner in corners for part in corner)


def _require_pixels(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise InvalidInputError(f"size {width}x{height} has no pixels; give at least 1x1")
    if max(width, height) >= _MAX_SIDE:
        raise InvalidInputError(f"size {width}x{height} is beyond {_MAX_SIDE - 1} pixels a side")


def _fitting_size(shape: Fraction, width: int) -> str:
    """Say which size has exactly the region's shape: the one nearest to the width asked for."""
    scale = max(1, round(Fraction(width, shape.numerator)))
    fitting = scale * shape.numerator, scale * shape.denominator
    if shape.numerator <= 4 * width and max(fitting) < _MAX_SIDE:
        return f"try --size {fitting[0]}x{fitting[1]}"
    height = min(max(1, round(width / shape)), _MAX_SIDE - 1)
    return f"no size near that width fits exactly; change the region to the shape of {width}x{height}"


def _rounded(value: Fraction) -> str:
    """Return six digits of a number that may be far outside the range of a float."""
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.6g}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
