"""Exact views in the form of the page, and as commands and Python code."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any
from urllib.parse import urlsplit

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import root_below, to_digits
from mandelcl.base.lattice import Lattice
from mandelcl.base.rotation import cosine_and_sine
from mandelcl.base.text import command_line
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.colour.palette_files import hexadecimal
from mandelcl.colour.palettes import PALETTES, Palette
from mandelcl.core.job import Job
from mandelcl.formulas import MANDELBROT

_DEGREE_PLACES = 6
_MOST_ZEROS = 6
_MOST = 1 << 16
_PART = re.compile(r"[a-z_]+(?:\.[a-z_]+)?=[A-Za-z0-9%._~!*'():,/+-]*", re.ASCII)
_PLACE = frozenset(("re", "im", "zoom", "n", "formula", "palette", "colours"))


def number_text(value: Fraction) -> str:
    """Return an exact number for `parse_number`: a decimal if it is finite, otherwise a ratio."""
    denominator, fives = value.denominator, 0
    twos = (denominator & -denominator).bit_length() - 1
    denominator >>= twos
    while denominator % 5 == 0:
        denominator //= 5
        fives += 1
    ratio = to_digits(value.numerator) + ("" if value.denominator == 1 else "/" + to_digits(value.denominator))
    if denominator != 1:
        return ratio
    decimal = _decimal(value, max(twos, fives))
    return decimal if len(decimal) <= 2 * len(ratio) else ratio


def _decimal(value: Fraction, places: int) -> str:
    """Return a number with this many decimals as text."""
    digits = to_digits(abs(value.numerator) * 10**places // value.denominator)
    sign = "-" if value < 0 else ""
    short = digits.rstrip("0") or "0"
    exponent = len(digits) - 1 - places  # of the first digit
    if -_MOST_ZEROS <= exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{short}"
    if 0 <= exponent < max(len(short), _MOST_ZEROS):
        whole, rest = short[: exponent + 1].ljust(exponent + 1, "0"), short[exponent + 1 :]
        return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"
    return f"{sign}{short[0]}{'.' + short[1:] if short[1:] else ''}e{exponent}"


def upright_of(lattice: Lattice) -> tuple[Fraction, Fraction]:
    """Return the pitch and the rotation, in degrees, of a lattice.

    Raises InvalidInputError unless it is an upright lattice, rotated by an angle with six decimals.
    """
    if lattice.is_upright:
        return lattice.matrix[0], Fraction(0)
    a, b, c, d = lattice.matrix
    length = root_below(a * a + c * c)
    angle = math.degrees(math.atan2(-float(c / length), float(a / length)))
    degrees = Fraction(round(angle * 10**_DEGREE_PLACES), 10**_DEGREE_PLACES)
    cosine, sine = cosine_and_sine(degrees)
    pitch = a / cosine if abs(cosine) > abs(sine) else -c / sine
    if Lattice.upright(0, 0, abs(pitch)).rotated(degrees).matrix == (a, b, c, d):
        return pitch, degrees
    raise InvalidInputError(
        "the explorer cannot show this picture: its lattice is not upright or rotated by up to six decimals"
    )


def resized(job: Job, width: int, height: int) -> Job:
    """Return a job with another picture size, with the same centre and the same height in the plane.

    Its reference is kept if it reaches the new view.
    """
    view = job.view
    if (view.width, view.height) == (width, height):
        return job
    re, im = _middle(view)
    scale = Fraction(view.height, height)
    a, b, c, d = (entry * scale for entry in view.lattice.matrix)
    centred = Lattice(re, im, (a, b, c, d)).shifted(Fraction(1 - width, 2), Fraction(1 - height, 2))
    changed = replace(job, view=View(centred, width, height), reference=None, method="auto", number="auto")
    changed = replace(changed, rounding="auto")
    if job.reference is not None and job.reference.reaches(changed.view):
        changed = replace(changed, reference=job.reference, method="perturbation")
    return changed


def finer(job: Job, factor: int) -> Job:
    """Return a job with `factor` times the columns and rows. Every `factor`-th pixel is one of the original job."""
    view = job.view.finer(factor)
    if job.method == "perturbation":
        return replace(job, view=view)
    return replace(job, view=view, method="auto", number="auto", rounding="auto")


def described(job: Job) -> dict[str, Any]:
    """Return a job in the form of a page's `view` request."""
    lattice, view = job.view.lattice, job.view
    pitch, rotation = upright_of(lattice)
    chart = {"re": lattice.re, "im": lattice.im, "pitch": pitch, "rotation": rotation}
    facts: dict[str, Any] = {
        "lattice": {name: number_text(value) for name, value in chart.items()},
        "origin": [-lattice.column, -lattice.row],
        "size": [view.width, view.height],
        "iterations": job.iterations,
        "formula": job.formula.as_json(number_text),
        "number": job.number,
        "rounding": job.rounding,
        "method": job.method,
        "algorithm": job.algorithm,
        "radius_squared": number_text(job.radius_squared),
    }
    if job.reference is not None:
        reference = job.reference
        facts["reference"] = [number_text(value) for value in (reference.re, reference.im, reference.radius)]
    return facts


def centred(view: View) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return the centre of a view, its zoom (it is 4/zoom high) and its rotation in degrees.

    Raises InvalidInputError unless the lattice is upright or rotated.
    """
    pitch, rotation = upright_of(view.lattice)
    return *_middle(view), 4 / (pitch * view.height), rotation


def command(job: Job, colouring: Colouring, output: str) -> str:
    """Return the command that draws a resolved job with exactly the same counts."""
    view = job.view
    re, im, zoom, rotation = centred(view)
    words = ["mandelcl", "render", "--center", number_text(re), number_text(im)]
    words += ["--zoom", number_text(zoom), "--size", f"{view.width}x{view.height}"]
    if rotation:
        words += ["--rotate", number_text(rotation)]
    if (view.lattice.column, view.lattice.row) != (0, 0):
        words += ["--anchor", str(view.lattice.column), str(view.lattice.row)]
    words += _formula(job)
    words += ["--iterations", str(job.iterations)]
    words += _radius(job)
    words += ["--method", job.method, "--number", job.number, "--rounding", job.rounding]
    if job.reference is not None:
        reference = job.reference
        words += ["--reference", *map(number_text, (reference.re, reference.im, reference.radius))]
    if job.algorithm != "escape":
        words += ["--algorithm", job.algorithm] + ["--strict"] * job.strict
    return command_line([*words, *_colours(colouring), "-o", output])


def python(job: Job, colouring: Colouring, output: str) -> str:
    """Return Python code that draws a resolved job with exactly the same counts."""
    return (
        "import mandelcl\n\n"
        f"job = mandelcl.Job.from_json({job.to_json()!r})\n"
        f"colouring = mandelcl.Colouring.from_json({colouring.to_json()!r})\n"
        f"mandelcl.render_to({output!r}, job, colouring)\n"
    )


def _middle(view: View) -> tuple[Fraction, Fraction]:
    middle = view.lattice.shifted(Fraction(view.width - 1, 2), Fraction(view.height - 1, 2))
    return middle.point(0, 0)


def _formula(job: Job) -> list[str]:
    formula = job.formula
    values = formula.as_json(number_text)
    words = ["--julia", values["re"], values["im"]] if formula.constant is not None else []
    if formula.lines == MANDELBROT.lines:
        return words
    return ["--formula", values.get("operations", values["name"]), *words]


def _radius(job: Job) -> list[str]:
    root = root_below(job.radius_squared)
    if root * root != job.radius_squared:
        raise InvalidInputError("the escape radius is irrational, so no command can express it")
    return [] if root == 2 else ["--escape-radius", number_text(root)]


def _colours(colouring: Colouring) -> list[str]:
    words = ["--palette", _palette(colouring.palette, colouring.inside)]
    if colouring.cycle is not None:
        words += ["--cycle", repr(colouring.cycle)]
    if colouring.offset:
        words += ["--offset", repr(colouring.offset)]
    if colouring.transfer is not None:
        words += ["--transfer", colouring.transfer]
    if colouring.equalise is not None:
        words += ["--equalise", repr(colouring.equalise)]
    if colouring.inside is not None:
        words += ["--inside", colouring.inside]
    for effect in colouring.effects:
        values = effect.to_json()
        words += [f"--{effect.name}", ",".join(map(str, values if isinstance(values, list) else [values]))]
    return [*words, *_finish(colouring)]


def _palette(palette: Palette, inside: str | None) -> str:
    """Return a value for `--palette`: a built-in name, or a description of another palette."""
    row = ",".join(palette.colours)
    for text, known in ((palette.name, PALETTES.get(palette.name)), (row, next(hexadecimal.read(row, "colours")))):
        if known is not None and palette == replace(known, inside=inside or known.inside):
            return text
    return json.dumps(palette.to_json())


def _finish(colouring: Colouring) -> list[str]:
    """Return the options of a colouring for its depth, dithering, transparency and height map."""
    words = [] if colouring.height is None else ["--height-map", colouring.height]
    words += [] if colouring.by is None else ["--colour-by", colouring.by]
    if colouring.height is not None or colouring.depth != 8:
        words += ["--depth", str(colouring.depth)]
    words += ["--dither" if colouring.dither else "--no-dither"]
    words += ["--transparent-inside"] * colouring.transparent
    return [*words, "--samples", str(colouring.samples)]


def colouring_json(colouring: Colouring) -> Mapping[str, Any]:
    """Return a colouring in the form of messages."""
    values: Mapping[str, Any] = json.loads(colouring.to_json())
    return values


def colouring_of(values: Mapping[str, Any]) -> Colouring:
    """Return the colouring in a message. Raises InvalidInputError if it is invalid."""
    return Colouring.from_json(json.dumps({"cycle": None, "offset": 0.0, **values}))


def view_of(link: str) -> str:
    """Return the part of a link that describes the view: everything after #, without a token.

    Raises InvalidInputError for anything that is not a link of the explorer.
    """
    try:
        fragment = urlsplit(link).fragment
    except ValueError:
        fragment = ""
    parts = [part for part in fragment.split("&") if part and not part.startswith("token=")]
    named = {part.partition("=")[0] for part in parts}
    if len(link) > _MOST or not named & _PLACE or not all(map(_PART.fullmatch, parts)):
        raise InvalidInputError(
            "this is not a link of the explorer; press l on a page to copy one, and give it in quotes, "
            "such as 'http://127.0.0.1:27182/#re=-0.75&im=0&zoom=2'"
        )
    return "&".join(parts)
