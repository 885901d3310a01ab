"""A job as text, with every number exact. It also reads the texts of earlier versions."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import LONGEST, from_digits, to_digits
from mandelcl.base.lattice import Lattice
from mandelcl.base.view import View
from mandelcl.core.planes import COUNTS, SMOOTH
from mandelcl.core.reference import Reference
from mandelcl.formulas import MANDELBROT, Formula

VERSION = 2
# A job with a reference, which earlier readers must not take for one without.
VERSION_WITH_REFERENCE = 3
# A job with counts of 64 bits, which earlier readers would refuse with a worse line; it may have a reference.
VERSION_WIDE = 4
_DECIMAL_BITS = 13_000  # of what is written in decimal; more is written in hexadecimal, which is shorter
_MOST_SHOWN = 100
_LONGEST_WHOLE = LONGEST + 30  # characters
_WHOLE = r"-?(?:\d+|0x[0-9a-f]+)"
_RATIO = re.compile(f"({_WHOLE})(?:/({_WHOLE}))?", re.ASCII)
_REFERENCE = ("re", "im", "radius", "step_bits", "tail_bits", "version")


def _version_1(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a job that 0.1 wrote: an upright view, and a word whether it is smooth."""
    if {"method", "planes"} & set(values):
        raise TypeError("version 1 has neither a method nor planes")
    view: Mapping[str, Any] = values.pop("view")
    names = {"anchor_re", "anchor_im", "pitch", "width", "height", "anchor_column", "anchor_row"}
    if set(view) | {"anchor_column", "anchor_row"} != names:
        raise TypeError(f"the view has not {', '.join(sorted(names))}")
    if values["formula"] != MANDELBROT.name:
        raise InvalidInputError(f"unknown formula {shown(values['formula'])}; version 1 has mandelbrot")
    smooth = values.pop("smooth")
    if not isinstance(smooth, bool):
        raise TypeError(f"smooth is {shown(smooth)}")
    values.setdefault("strict", False)  # from before there was a choice
    re, im, pitch = (fraction(view[name]) for name in ("anchor_re", "anchor_im", "pitch"))
    width, height = (integer(view[name]) for name in ("width", "height"))
    column, row = (integer(view.get(name, 0)) for name in ("anchor_column", "anchor_row"))
    kept = (COUNTS.name, SMOOTH.name)[: 1 + smooth]
    return values | {
        "view": View.upright(re, im, pitch, width, height, column, row),
        "formula": MANDELBROT,
        "method": "direct",
        "planes": kept,
    }


def _version_2(values: dict[str, Any]) -> dict[str, Any]:
    view: Mapping[str, Any] = values.pop("view")
    chart: Mapping[str, Any] = view["map"]
    if set(view) != {"map", "width", "height"} or set(chart) != {"kind", "anchor", "matrix", "pixel"}:
        raise TypeError("the view has not a map, a width and a height")
    if chart["kind"] != "affine":
        raise InvalidInputError(f"unknown map {shown(chart['kind'])}; there is affine")
    re, im = _numbers(chart["anchor"], 2)
    a, b, c, d = _numbers(chart["matrix"], 4)
    column, row = (integer(value) for value in _items(chart["pixel"], 2))
    lattice = Lattice(re, im, (a, b, c, d), column, row)
    kept = values["planes"]
    if not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise TypeError(f"planes are {shown(kept)}")
    return values | {
        "view": View(lattice, integer(view["width"]), integer(view["height"])),
        "formula": Formula.from_json(values["formula"], fraction),
        "planes": tuple(kept),
    }


def _version_3(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a job that names its reference."""
    given: Mapping[str, Any] = values.pop("reference")
    if set(given) != set(_REFERENCE):
        raise TypeError(f"the reference has not {', '.join(_REFERENCE)}")
    re, im, radius = (fraction(given[name]) for name in _REFERENCE[:3])
    step_bits, tail_bits, version = (integer(given[name]) for name in _REFERENCE[3:])
    return _version_2(values) | {"reference": Reference(re, im, radius, step_bits, tail_bits, version)}


def _version_4(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a job with wide counts."""
    return _version_3(values) if "reference" in values else _version_2(values)


READERS = {1: _version_1, VERSION: _version_2, VERSION_WITH_REFERENCE: _version_3, VERSION_WIDE: _version_4}


def lattice_json(lattice: Lattice) -> dict[str, Any]:
    """Return a lattice as it stands in a job."""
    return {
        "kind": "affine",
        "anchor": [text(lattice.re), text(lattice.im)],
        "matrix": [text(entry) for entry in lattice.matrix],
        "pixel": [lattice.column, lattice.row],
    }


def reference_json(reference: Reference) -> dict[str, Any]:
    """Return a reference as it stands in a job."""
    values = [getattr(reference, name) for name in _REFERENCE]
    return dict(zip(_REFERENCE, [*map(text, values[:3]), *values[3:]], strict=True))


def shown(value: object) -> str:
    """Return a value for a message, cut where it is long."""
    whole = to_digits(value) if type(value) is int else repr(value)
    return whole if len(whole) <= _MOST_SHOWN else whole[: _MOST_SHOWN - 3] + "..."


def _items(value: object, number: int) -> Sequence[object]:
    if not isinstance(value, list) or len(value) != number:
        raise TypeError(f"{shown(value)} is not a list of {number}")
    return value


def _numbers(value: object, number: int) -> list[Fraction]:
    return [fraction(item) for item in _items(value, number)]


def integer(value: object) -> int:
    """Return a whole number; raises TypeError for anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{shown(value)} is not a whole number")
    return value


def text(value: Fraction) -> str:
    """Return `p/q`, what is long in hexadecimal."""
    parts = (value.numerator,) if value.denominator == 1 else (value.numerator, value.denominator)
    return "/".join(to_digits(part) if part.bit_length() <= _DECIMAL_BITS else hex(part) for part in parts)


def fraction(given: object) -> Fraction:
    """Return the value of what `text` wrote."""
    match = _RATIO.fullmatch(given) if isinstance(given, str) else None
    if match is None:
        raise TypeError(f"{shown(given)} is not a ratio of whole numbers")
    if any(len(part) > _LONGEST_WHOLE for part in match.groups("1")):
        raise InvalidInputError(f"a number of the job has more than {LONGEST} digits")
    return Fraction(*(_whole(part) for part in match.groups("1")))


def _whole(given: str) -> int:
    """Return the value of `-12` or `-0xc`."""
    digits = given.removeprefix("-")
    value = int(digits, 16) if digits.startswith("0x") else from_digits(digits)
    return -value if given.startswith("-") else value
