"""What is to be computed: everything that decides the bytes of the result, and nothing else."""

import json
import re
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Self

from mandelcl.errors import InvalidInputError
from mandelcl.view import View

MAX_ITERATIONS = (1 << 32) - 2
# Smooth colouring carries an escaped orbit on to |z| > 128; a job's own radius may not lie beyond that.
SMOOTH_RADIUS_SQUARED = Fraction(128 * 128)
# "The number just below 4" in float is as low as R² may go: under 2 an orbit can leave the disc and come back,
# and a count would depend on how often one looks.
LEAST_RADIUS_SQUARED = Fraction(4) - Fraction(1, 1 << 22)
_VERSION = 1
_DECIMAL_BITS = 13_000  # Python writes and reads 4 300 decimal digits, some 14 280 bits, and no more
_FRACTIONS = ("anchor_re", "anchor_im", "pitch")
_KINDS = {"formula": str, "number": str, "rounding": str, "algorithm": str, "smooth": bool, "strict": bool}
_WHOLE = r"-?(?:\d+|0x[0-9a-f]+)"
_RATIO = re.compile(f"({_WHOLE})(?:/({_WHOLE}))?", re.ASCII)

FORMULAS = ("mandelbrot",)
ROUNDINGS = ("fused", "separate", "fixed")
ALGORITHMS = ("escape", "border", "auto")
# Sets of which {count ≥ n} is connected and full, so that a border says what is inside.
TRACEABLE = ("mandelbrot",)


@dataclass(frozen=True, slots=True)
class Job:
    """A view and the exact arithmetic to run on it: equal jobs give equal bytes on every device.

    `number` and `rounding` are names (`"float"`, `"double"`; `"fused"`, `"separate"`), or `"auto"` until
    `choose.resolve` has settled them for the chosen devices; so may `algorithm` be. Border tracing gives the bytes of
    escape time for certain only where it is `strict`.
    """

    view: View
    iterations: int = 1000
    radius_squared: Fraction = Fraction(4)
    formula: str = "mandelbrot"
    number: str = "auto"
    rounding: str = "auto"
    algorithm: str = "escape"
    smooth: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.iterations <= MAX_ITERATIONS:
            raise InvalidInputError(f"the iteration cap must be from 1 to {MAX_ITERATIONS}, not {self.iterations}")
        if self.radius_squared < LEAST_RADIUS_SQUARED:
            raise InvalidInputError("the escape radius must be at least 2: below it an escaped orbit may come back")
        if self.smooth and self.radius_squared > SMOOTH_RADIUS_SQUARED:
            raise InvalidInputError("smooth colouring needs an escape radius of at most 128")
        _require_known("formula", self.formula, FORMULAS)
        _require_known("rounding", self.rounding, ("auto", *ROUNDINGS))
        _require_known("algorithm", self.algorithm, ALGORITHMS)
        if self.algorithm == "border" and self.formula not in TRACEABLE:
            raise InvalidInputError(f"borders say nothing of what is inside for {self.formula}; use --algorithm escape")

    @property
    def planes(self) -> int:
        """Words that a pixel has in the results.

        Its count and, for smooth colouring, the step and |z|² (float bits) at which it left the smooth radius.
        """
        return 3 if self.smooth else 1

    def resolved(self, number: str, rounding: str) -> Self:
        """Return the same job with its number and rounding settled."""
        return replace(self, number=number, rounding=rounding)

    def to_json(self) -> str:
        """Return the job as one line of JSON, every number exact (`"p/q"` strings), with a `version`."""
        view = {k: _text(v) if isinstance(v, Fraction) else v for k, v in asdict(self.view).items()}
        values = asdict(self) | {"view": view, "radius_squared": _text(self.radius_squared), "version": _VERSION}
        return json.dumps(values, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the job that `to_json` wrote; raises InvalidInputError for anything else."""
        try:
            values: dict[str, Any] = json.loads(text)
            version = values.pop("version")
            if version != _VERSION:
                raise InvalidInputError(f"the job has version {version!r}; this mandelcl reads version {_VERSION}")
            view: dict[str, Any] = values.pop("view")
            view = {k: _fraction(v) if k in _FRACTIONS else _integer(v) for k, v in view.items()}
            values["iterations"] = _integer(values["iterations"])
            values["radius_squared"] = _fraction(values["radius_squared"])
            values.setdefault("strict", False)  # from before there was a choice
            for name, kind in _KINDS.items():
                if not isinstance(values[name], kind):
                    raise TypeError(f"{name} is {values[name]!r}")
            return cls(view=View(**view), **values)
        except InvalidInputError:
            raise
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise InvalidInputError(f"not a mandelcl job: {why[:200]}") from error


def _require_known(what: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise InvalidInputError(f"unknown {what} {name!r}; there is {', '.join(known)}")


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not a whole number")
    return value


def _text(value: Fraction) -> str:
    """Return `p/q`; in hexadecimal where Python refuses to write that many decimal digits."""
    parts = (value.numerator,) if value.denominator == 1 else (value.numerator, value.denominator)
    return "/".join(str(part) if part.bit_length() <= _DECIMAL_BITS else hex(part) for part in parts)


def _fraction(text: object) -> Fraction:
    """Return the value of what `_text` wrote."""
    match = _RATIO.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise TypeError(f"{text!r} is not a ratio of whole numbers")
    return Fraction(*(int(part, 16 if "0x" in part else 10) for part in match.groups("1")))
