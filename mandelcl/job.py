"""What is to be computed: everything that decides the bytes of the result, and nothing else."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from mandelcl.errors import InvalidInputError
from mandelcl.exact import Exact, exact, just_below_4
from mandelcl.formulas import MANDELBROT, Formula, formula_from_json
from mandelcl.lattice import Lattice
from mandelcl.names import ALGORITHMS, METHODS, ROUNDINGS
from mandelcl.planes import COUNTS, SMOOTH, Facts, ordered, words_of
from mandelcl.view import View

MAX_ITERATIONS = (1 << 32) - 2
# Smooth colouring carries an escaped orbit on to |z| > 128; a job's own radius may not lie beyond that.
SMOOTH_RADIUS_SQUARED = Fraction(128 * 128)
# "The number just below 4" in float is as low as R² may go: under 2 an orbit can leave the disc and come back,
# and a count would depend on how often one looks.
LEAST_RADIUS_SQUARED = just_below_4(22)
_VERSION = 2
_DECIMAL_BITS = 13_000  # Python writes and reads 4 300 decimal digits, some 14 280 bits, and no more
_MOST_SHOWN = 100
_WHOLE = r"-?(?:\d+|0x[0-9a-f]+)"
_RATIO = re.compile(f"({_WHOLE})(?:/({_WHOLE}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Job:
    """A view and the exact arithmetic to run on it: equal jobs give equal bytes on every device.

    `formula` is what is iterated, `method` how, and `planes` what is kept of each pixel, by name; `counts` are always
    among them. `number` and `rounding` are names (`"float"`, `"double"`; `"fused"`, `"separate"`), or `"auto"` until
    they have been settled for the devices; so may `algorithm` be. Border tracing gives the bytes of escape time for
    certain only where it is `strict`. `radius_squared` is R²: an orbit has escaped where |z|² > R². Raises
    InvalidInputError for values that make no sense.
    """

    view: View
    iterations: int = 1000
    radius_squared: Fraction = Fraction(4)
    formula: Formula = MANDELBROT
    number: str = "auto"
    rounding: str = "auto"
    method: str = "direct"
    algorithm: str = "escape"
    planes: tuple[str, ...] = ("counts",)
    strict: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "planes", ordered(self.planes))
        object.__setattr__(self, "radius_squared", exact(self.radius_squared, "the square of the escape radius"))
        object.__setattr__(self, "iterations", _whole(self.iterations))
        if not isinstance(self.view, View):
            raise InvalidInputError(f"a job's view must be a View, not {type(self.view).__name__}")
        if not isinstance(self.formula, Formula):
            raise InvalidInputError(f"a job's formula must be a Formula, not {type(self.formula).__name__}")
        if not 1 <= self.iterations <= MAX_ITERATIONS:
            raise InvalidInputError(f"the iteration cap must be from 1 to {MAX_ITERATIONS}, not {self.iterations}")
        _require_radius(self.formula, self.radius_squared)
        if self.smooth and self.radius_squared > SMOOTH_RADIUS_SQUARED:
            raise InvalidInputError("smooth colouring needs an escape radius of at most 128")
        _require_known("rounding", self.rounding, ("auto", *ROUNDINGS))
        _require_known("method", self.method, METHODS)
        _require_known("algorithm", self.algorithm, ALGORITHMS)
        if self.algorithm == "border" and not self.formula.traceable:
            raise InvalidInputError(
                f"borders say nothing of what is inside for {self.formula.name}; use --algorithm escape"
            )

    @property
    def smooth(self) -> bool:
        """Whether smooth fractions are kept."""
        return SMOOTH.name in self.planes

    @property
    def words(self) -> int:
        """Words of 32 bits that a pixel has in the results: those of all planes."""
        return len(words_of(self.planes))

    @property
    def facts(self) -> Facts:
        """What the values of planes depend on."""
        return Facts(self.iterations, self.formula.degree)

    def resolved(self, number: str, rounding: str) -> Self:
        """Return the same job with its number and rounding settled."""
        return replace(self, number=number, rounding=rounding)

    def at(self, view: View) -> Self:
        """Return the same job for another view: of one lattice, settled alike, with the same bits where they meet."""
        return replace(self, view=view)

    def to_json(self) -> str:
        """Return the job as one line of JSON, every number exact (`"p/q"` strings), with a `version`."""
        lattice = self.view.lattice
        values: dict[str, Any] = {
            "version": _VERSION,
            "view": {
                "map": {
                    "kind": "affine",
                    "anchor": [_text(lattice.re), _text(lattice.im)],
                    "matrix": [_text(entry) for entry in lattice.matrix],
                    "pixel": [lattice.column, lattice.row],
                },
                "width": self.view.width,
                "height": self.view.height,
            },
            "iterations": self.iterations,
            "radius_squared": _text(self.radius_squared),
            "formula": self.formula.as_json(_text),
            "planes": list(self.planes),
        }
        values |= {name: getattr(self, name) for name in _NAMES}
        return json.dumps(values | {"strict": self.strict}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the job that `to_json` wrote, now or in version 0.1; raises InvalidInputError for anything else."""
        try:
            values: dict[str, Any] = json.loads(text)
            version = values.pop("version")
            if version not in _READERS:
                raise InvalidInputError(
                    f"the job has version {_shown(version)}; this mandelcl reads versions up to {_VERSION}"
                )
            values = _READERS[version](values)
            for name in _NAMES:
                if not isinstance(values[name], str):
                    raise TypeError(f"{name} is {_shown(values[name])}")
            if not isinstance(values["strict"], bool):
                raise TypeError(f"strict is {_shown(values['strict'])}")
            values["iterations"] = _integer(values["iterations"])
            values["radius_squared"] = _fraction(values["radius_squared"])
            return cls(**values)
        except InvalidInputError:
            raise
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise InvalidInputError(f"not a mandelcl job: {why[:200]}") from error


_NAMES = ("number", "rounding", "method", "algorithm")


def _version_1(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a job that 0.1 wrote: an upright view, and a word whether it is smooth."""
    if {"method", "planes"} & set(values):
        raise TypeError("version 1 has neither a method nor planes")
    view: Mapping[str, Any] = values.pop("view")
    names = {"anchor_re", "anchor_im", "pitch", "width", "height", "anchor_column", "anchor_row"}
    if set(view) | {"anchor_column", "anchor_row"} != names:
        raise TypeError(f"the view has not {', '.join(sorted(names))}")
    if values["formula"] != MANDELBROT.name:
        raise InvalidInputError(f"unknown formula {_shown(values['formula'])}; version 1 has mandelbrot")
    smooth = values.pop("smooth")
    if not isinstance(smooth, bool):
        raise TypeError(f"smooth is {_shown(smooth)}")
    values.setdefault("strict", False)  # from before there was a choice
    re, im, pitch = (_fraction(view[name]) for name in ("anchor_re", "anchor_im", "pitch"))
    width, height = (_integer(view[name]) for name in ("width", "height"))
    column, row = (_integer(view.get(name, 0)) for name in ("anchor_column", "anchor_row"))
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
        raise InvalidInputError(f"unknown map {_shown(chart['kind'])}; there is affine")
    re, im = _numbers(chart["anchor"], 2)
    a, b, c, d = _numbers(chart["matrix"], 4)
    column, row = (_integer(value) for value in _items(chart["pixel"], 2))
    lattice = Lattice(re, im, (a, b, c, d), column, row)
    kept = values["planes"]
    if not isinstance(kept, list) or not all(isinstance(name, str) for name in kept):
        raise TypeError(f"planes are {_shown(kept)}")
    return values | {
        "view": View(lattice, _integer(view["width"]), _integer(view["height"])),
        "formula": formula_from_json(values["formula"], _fraction),
        "planes": tuple(kept),
    }


_READERS = {1: _version_1, 2: _version_2}


def _require_radius(formula: Formula, radius_squared: Fraction) -> None:
    least = formula.least_radius_squared()
    if least <= 4:
        if radius_squared < LEAST_RADIUS_SQUARED:
            raise InvalidInputError(
                "the escape radius must be at least 2: from less, an orbit of most formulas may come back"
            )
    elif radius_squared < least:
        raise InvalidInputError(
            f"the escape radius must be at least {float(least) ** 0.5:.6g} for {formula.name} with this constant: "
            "below it an escaped orbit may come back"
        )


def _require_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise InvalidInputError(f"unknown {what} {_shown(name)}; there is {', '.join(known)}")


def _whole(value: Exact) -> int:
    """Return a whole number that may be written as a float or a text."""
    number = exact(value, "the iteration cap")
    if number.denominator != 1:
        raise InvalidInputError(f"the iteration cap must be a whole number, not {value}")
    return number.numerator


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_SHOWN else text[: _MOST_SHOWN - 3] + "..."


def _items(value: object, number: int) -> Sequence[object]:
    if not isinstance(value, list) or len(value) != number:
        raise TypeError(f"{_shown(value)} is not a list of {number}")
    return value


def _numbers(value: object, number: int) -> list[Fraction]:
    return [_fraction(item) for item in _items(value, number)]


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{_shown(value)} is not a whole number")
    return value


def _text(value: Fraction) -> str:
    """Return `p/q`; in hexadecimal where Python refuses to write that many decimal digits."""
    parts = (value.numerator,) if value.denominator == 1 else (value.numerator, value.denominator)
    return "/".join(str(part) if part.bit_length() <= _DECIMAL_BITS else hex(part) for part in parts)


def _fraction(text: object) -> Fraction:
    """Return the value of what `_text` wrote."""
    match = _RATIO.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise TypeError(f"{_shown(text)} is not a ratio of whole numbers")
    return Fraction(*(int(part, 16 if "0x" in part else 10) for part in match.groups("1")))
