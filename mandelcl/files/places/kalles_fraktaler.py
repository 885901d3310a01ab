"""`.kfr` files of Kalles Fraktaler: lines `Key: value`, which include the location.

The facts come from its sources (2.15: reading of parameters, matrices, coordinates of pixels). The picture is 4/Zoom
high, and Re + Im·i is at pixel (⌊width/2⌋, ⌊height/2⌋). The imaginary axis points down, unless ImagPointsUp is 1. A
step in pixels is rotated by RotateAngle, then stretched by 2^StretchAmount along StretchAngle, then mirrored.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.exact import parse_number
from mandelcl.base.text import printable, quoted
from mandelcl.files.places.decimals import decimal, scientific
from mandelcl.files.places.formulas import of_kalles_fraktaler, to_kalles_fraktaler
from mandelcl.files.places.place import ForeignPlace, Orientation

_MOST_LINES = 10_000
_COMMENTS = (";", "#")
_RADIUS = {"0": Fraction(10_000), "1": Fraction(2), "2": Fraction(2)}  # by BailoutRadiusPreset, or by SmoothMethod

# Other keys that affect counts, with their required values, and keys of older versions that newer ones ignore.
_REFUSED = {
    "usehybridformula": ("0", "a hybrid formula"),
    "exponentialmap": ("0", "an exponential map"),
    "bailoutnormpreset": ("1", "a norm other than the distance from 0"),
    "real": ("1", "a norm other than the distance from 0"),
    "imag": ("1", "a norm other than the distance from 0"),
    "seedr": ("0", "a start other than 0"),
    "seedi": ("0", "a start other than 0"),
}
_IGNORED = {
    "rotate": ("0", "an angle in the form of older versions"),
    "ratio": ("360", "a stretch in the form of older versions"),
    "jitterseed": ("0", "randomly shifted pixels"),
}


def values_of(text: str) -> Mapping[str, str]:
    """Return the values in a text by lower-case key. If a key is repeated, the last one counts."""
    values: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines()):
        if number >= _MOST_LINES:
            raise FileError(f"a .kfr of more than {_MOST_LINES} lines")
        key, colon, value = line.partition(":")
        if colon and not key.lstrip().startswith(_COMMENTS):
            values[key.strip().lower()] = value.strip()
    return values


def read(text: str) -> ForeignPlace:
    """Return the location. Raises FileError or InvalidInputError if there is none, or if it cannot be drawn."""
    values = values_of(text)
    missing = [key for key in ("Re", "Im", "Zoom") if not values.get(key.lower())]
    if missing:
        raise FileError(f"not a location of Kalles Fraktaler: {' and '.join(missing)} are missing")
    for what in unusual(values, _REFUSED):
        raise FileError(f"it has {what}, which is not supported")
    notes = [f"it has {what}, which is left out" for what in unusual(values, _IGNORED)]
    angles = {key: _number(values, key) for key in ("rotateangle", "stretchangle", "stretchamount")}
    return ForeignPlace(
        parse_number(values["re"], "Re"),
        parse_number(values["im"], "Im"),
        parse_number(values["zoom"], "Zoom"),
        _whole(values, "iterations") if values.get("iterations") else None,
        radius=_radius(values),
        on_pixel=True,
        orientation=Orientation(
            angles["rotateangle"],
            angles["stretchamount"],
            angles["stretchangle"],
            _is(values, "imagpointsup", "0"),
        ),
        notes=tuple(notes),
        formula=of_kalles_fraktaler(_whole(values, "fractaltype", 0), _whole(values, "power", 2)),
    )


def unusual(values: Mapping[str, str], expected: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """Yield what the unusual values of a file mean, each with its key and value.

    `expected` holds the usual value of each key, and what any other value means.
    """
    for key, (usual, what) in expected.items():
        with suppress(InvalidInputError):  # a value that is not a number is unusual, too
            if _is(values, key, usual):
                continue
        yield f"{what} ({key}: {printable(values[key], 30)})"


def write(place: ForeignPlace) -> str:
    """Return the location as such a text, with that program's line endings. Raises FileError for an unknown formula."""
    orientation, finest = place.orientation, 1 / place.zoom
    kind, power = to_kalles_fraktaler(place.formula)
    lines = {
        "Re": decimal(place.re, finest),
        "Im": decimal(place.im, finest),
        "Zoom": scientific(place.zoom),
        **({} if place.iterations is None else {"Iterations": str(place.iterations)}),
        "SmoothMethod": "0",
        "SmoothingMethod": "0",
        **_bailout(place.radius),
        "Power": str(power),
        "FractalType": str(kind),
        "RotateAngle": decimal(orientation.rotation),
        "StretchAngle": decimal(orientation.direction),
        "StretchAmount": decimal(orientation.stretch),
        "ImagPointsUp": "0" if orientation.mirrored else "1",
    }
    return "".join(f"{key}: {value}\r\n" for key, value in lines.items())


def _bailout(radius: Fraction | None) -> dict[str, str]:
    for preset, known in _RADIUS.items():
        if radius == known:
            return {"BailoutRadiusPreset": preset}
    return {} if radius is None else {"BailoutRadiusPreset": "3", "BailoutRadiusCustom": decimal(radius)}


def _radius(values: Mapping[str, str]) -> Fraction:
    preset = values.get("bailoutradiuspreset") or values.get("smoothmethod", "0")
    if preset == "3":
        return parse_number(values.get("bailoutradiuscustom", "2"), "BailoutRadiusCustom")
    return _RADIUS.get(preset, _RADIUS["0"])


def _is(values: Mapping[str, str], key: str, usual: str) -> bool:
    """Return whether a value is missing, or is equal to its usual value."""
    text = values.get(key, "")
    return not text or text == usual or parse_number(text, key) == parse_number(usual)


def _number(values: Mapping[str, str], key: str) -> Fraction:
    return parse_number(values[key], key) if values.get(key) else Fraction(0)


def _whole(values: Mapping[str, str], key: str, usual: int = 0) -> int:
    value = parse_number(values[key], key) if values.get(key) else Fraction(usual)
    if value.denominator != 1:
        raise FileError(f"its {key} is not an integer: {quoted(values[key])}")
    return value.numerator
