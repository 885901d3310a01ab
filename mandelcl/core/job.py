"""A job: everything that decides the bytes of a result, and nothing else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from mandelcl.base.errors import InvalidInputError, require_type
from mandelcl.base.exact import Exact, about, exact, just_below_4, require_bounded, root_above
from mandelcl.base.names import ALGORITHMS, INNER_METHODS, METHODS, PERTURBED_NUMBERS, ROUNDINGS
from mandelcl.base.view import View
from mandelcl.core.counts import MAX_ITERATIONS, CountFormat, count_format
from mandelcl.core.job_text import (
    READERS,
    VERSION,
    VERSION_WIDE,
    VERSION_WITH_REFERENCE,
    fraction,
    integer,
    lattice_json,
    reference_json,
    shown,
    text,
)
from mandelcl.core.planes import CERTIFIED, DISTANCE, LAST, SMOOTH, Facts, first_words, ordered, trails, words_of
from mandelcl.core.reference import EXACT_VERSION, Reference
from mandelcl.formulas import MANDELBROT, Formula

# Smooth colouring carries an escaped orbit on to |z| > 128; a job's own radius may not lie beyond that.
SMOOTH_RADIUS_SQUARED = Fraction(128 * 128)
# "The number just below 4" in float is as low as R² may go: under 2 an orbit can leave the disc and come back,
# and a count would depend on how often one looks.
LEAST_RADIUS_SQUARED = just_below_4(22)


@dataclass(frozen=True, slots=True)
class Job:
    """A view and the exact arithmetic to run on it: equal jobs give equal bytes on every device.

    `planes` are the names of the values that are kept of each pixel; `counts` are always among them. `number` and
    `rounding` are names (`"float"`, `"double"`; `"fused"`, `"separate"`), or `"auto"` until they are resolved for the
    devices. `method` and `algorithm` may be `"auto"`, too. A resolved job by perturbation has a `reference`, which
    decides its counts. Border tracing is guaranteed to give the bytes of escape time only if it is `strict`. An orbit
    has escaped if |z|² > `radius_squared`. With `auto_iterations` a survey of the view decides the iteration limit,
    which is at least `iterations`. Raises InvalidInputError for invalid values, and for numbers of more than 48,000
    digits.
    """

    view: View
    iterations: int = 1000
    radius_squared: Fraction = Fraction(4)
    formula: Formula = MANDELBROT
    number: str = "auto"
    rounding: str = "auto"
    method: str = "auto"
    algorithm: str = "escape"
    planes: tuple[str, ...] = ("counts",)
    strict: bool = False
    reference: Reference | None = None
    auto_iterations: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "planes", ordered(self.planes))
        object.__setattr__(self, "radius_squared", exact(self.radius_squared, "the square of the escape radius"))
        object.__setattr__(self, "iterations", _whole(self.iterations))
        if not isinstance(self.view, View):
            raise InvalidInputError(f"a job's view must be a View, not {type(self.view).__name__}")
        if not isinstance(self.formula, Formula):
            raise InvalidInputError(f"a job's formula must be a Formula, not {type(self.formula).__name__}")
        if not isinstance(self.reference, Reference | None):
            raise InvalidInputError(f"a job's reference must be a Reference, not {type(self.reference).__name__}")
        lattice, reference = self.view.lattice, self.reference
        points = () if reference is None else (reference.re, reference.im, reference.radius)
        parameters = (part for pair in self.formula.parameters for part in pair)
        require_bounded(lattice.re, lattice.im, *lattice.matrix, self.radius_squared, *points, *parameters)
        require_type(self.strict, bool, "strict")
        require_type(self.auto_iterations, bool, "auto_iterations")
        for name in _NAMES:
            require_type(getattr(self, name), str, f"a job's {name}")
        if not 1 <= self.iterations <= MAX_ITERATIONS:
            raise InvalidInputError(
                f"the iteration limit must be from 1 to {MAX_ITERATIONS}, not {shown(self.iterations)}"
            )
        _require_radius(self.formula, self.radius_squared)
        if self.radius_squared > SMOOTH_RADIUS_SQUARED:
            _require_near(self.planes)
        _require_known("rounding", self.rounding, ("auto", *ROUNDINGS))
        _require_known("method", self.method, ("auto", *METHODS, *INNER_METHODS))
        _require_known("algorithm", self.algorithm, ALGORITHMS)
        if self.algorithm == "border" and not self.formula.traceable:
            raise InvalidInputError(f"border tracing is not valid for {self.formula.name}; use --algorithm escape")
        if self.method == "perturbation":
            _require_perturbable(self)
        elif self.method == "bounded":
            _require_boundable(self)
        elif self.reference is not None and self.method == "direct":
            raise InvalidInputError("only perturbation has a reference; use --method perturbation")
        if CERTIFIED.name in self.planes:
            _require_certifiable(self)
        if DISTANCE.name in self.planes and (self.algorithm == "border" or self.strict):
            raise InvalidInputError("what is filled has no distances; use --algorithm escape")

    @property
    def smooth(self) -> bool:
        """Whether smooth fractions are kept."""
        return SMOOTH.name in self.planes

    @property
    def words(self) -> int:
        """Words of 32 bits that a pixel has in the results: those of all planes."""
        return len(words_of(self.planes, self.counts))

    @property
    def counts(self) -> CountFormat:
        """How its counts are kept, which the iteration limit alone decides."""
        return count_format(self.iterations)

    @property
    def first_words(self) -> dict[str, int]:
        """Where each plane's words begin among those of a pixel."""
        return first_words(self.planes, self.counts)

    @property
    def facts(self) -> Facts:
        """What the values of planes depend on."""
        lattice = self.view.lattice
        a, b, c, d = (float(entry * Fraction(2) ** lattice.scale) for entry in lattice.matrix)
        return Facts(self.iterations, self.formula.degrees, (a, b, c, d))

    def resolved(self, number: str, rounding: str) -> Self:
        """Return the same job with its number and rounding resolved."""
        return replace(self, number=number, rounding=rounding)

    @property
    def is_resolved(self) -> bool:
        """Whether number, rounding, method and algorithm are decided, and the iteration limit is, too."""
        return not self.auto_iterations and "auto" not in (getattr(self, name) for name in _NAMES)

    def resolved_like(self, other: Self) -> Self:
        """Return the same job with what it leaves open taken from another, resolved job."""
        taken = {name: getattr(other, name) for name in _NAMES if getattr(self, name) == "auto"}
        if self.auto_iterations:
            taken |= {"iterations": other.iterations, "auto_iterations": False}
        return replace(self, reference=self.reference or other.reference, **taken)

    def at(self, view: View) -> Self:
        """Return the same job for another view: of one lattice, resolved alike, with the same bits where they meet."""
        return replace(self, view=view)

    def to_json(self) -> str:
        """Return the job as one line of JSON, every number exact (`"p/q"` strings), with a `version`."""
        view = {"map": lattice_json(self.view.lattice), "width": self.view.width, "height": self.view.height}
        values: dict[str, Any] = {
            "version": VERSION,
            "view": view,
            "iterations": self.iterations,
            "radius_squared": text(self.radius_squared),
            "formula": self.formula.as_json(text),
            "planes": list(self.planes),
            "strict": self.strict,
        }
        if self.auto_iterations:  # no file has it: what is computed has its limit decided
            values["auto_iterations"] = True
        if self.reference is not None:
            values |= {"version": VERSION_WITH_REFERENCE, "reference": reference_json(self.reference)}
        if self.counts.words > 1:
            values["version"] = VERSION_WIDE
        values |= {name: getattr(self, name) for name in _NAMES}
        return json.dumps(values, sort_keys=True)

    @classmethod
    def from_json(cls, written: str) -> Self:
        """Return the job that `to_json` wrote, now or in version 0.1; raises InvalidInputError for anything else."""
        try:
            values: dict[str, Any] = json.loads(written)
            version = values.pop("version")
            if version not in READERS:
                raise InvalidInputError(
                    f"the job has version {shown(version)}; this mandelcl reads versions up to {max(READERS)}"
                )
            values = READERS[version](values)
            for name in _NAMES:
                if not isinstance(values[name], str):
                    raise TypeError(f"{name} is {shown(values[name])}")
            if not isinstance(values["strict"], bool):
                raise TypeError(f"strict is {shown(values['strict'])}")
            if not isinstance(values.get("auto_iterations", False), bool):
                raise TypeError(f"auto_iterations is {shown(values['auto_iterations'])}")
            values["iterations"] = integer(values["iterations"])
            values["radius_squared"] = fraction(values["radius_squared"])
            return cls(**values)
        except InvalidInputError:
            raise
        except (ArithmeticError, AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise InvalidInputError(f"not a mandelcl job: {why[:200]}") from error


def _require_perturbable(job: Job) -> None:
    """Raise InvalidInputError for a job that differences from a reference cannot do."""
    if not job.formula.perturbable:
        raise InvalidInputError(f"perturbation does not have {job.formula.name}; use --method direct")
    if job.reference is not None and not _defines(job.reference, job.formula):
        raise InvalidInputError(
            f"references of version {job.reference.version} are those of z² + c; leave the reference out"
        )
    if job.reference is not None and job.reference.may_have_map:
        _require_mapped(job, job.reference.version)
    if job.number not in ("auto", *PERTURBED_NUMBERS):
        raise InvalidInputError(
            f"perturbation computes in {' or '.join(PERTURBED_NUMBERS)}, not in {job.number}; choose another --number, "
            "or --method direct"
        )
    if job.rounding not in ("auto", "fused"):
        raise InvalidInputError(f"perturbation rounds fused, not {job.rounding}; leave --rounding out")
    if job.strict:
        raise InvalidInputError(
            "nothing is filled by proof with perturbation; leave --strict out, or use --method direct"
        )


def _require_mapped(job: Job, version: int) -> None:
    """Raise InvalidInputError for a job that the return map of a reference cannot serve."""
    if job.number == "float":
        raise InvalidInputError(
            f"references of version {version} have return maps, which take double; use --number double"
        )
    if DISTANCE.name in job.planes or trails(job.planes) or job.radius_squared < 4:
        raise InvalidInputError(
            f"references of version {version} give counts, certified ones too, smooth fractions and last values, with "
            "an escape radius of 2 and more; leave the reference out"
        )


def _defines(reference: Reference, formula: Formula) -> bool:
    """Return whether a reference's version says what its orbit under a formula is."""
    return formula.knows_inside or reference.version == EXACT_VERSION


def _require_boundable(job: Job) -> None:
    """Raise InvalidInputError for a job in which no bound on errors is kept."""
    if CERTIFIED.name not in job.planes or not job.number.startswith("fixed:"):
        raise InvalidInputError("bounded orbits are certified, and in fixed point")


def _require_certifiable(job: Job) -> None:
    """Raise InvalidInputError for a job whose counts nothing can prove."""
    if not job.formula.perturbable:
        raise InvalidInputError(
            f"counts are certified by perturbation, which does not have {job.formula.name}; leave --certify out"
        )
    if job.method == "direct":
        raise InvalidInputError("counts are certified by perturbation; leave --method direct out")
    if job.algorithm == "border":
        raise InvalidInputError("what is filled is not certified; use --algorithm escape")
    further = _followed(job.planes)
    if further:
        raise InvalidInputError(f"--certify keeps counts and smooth fractions alone, not {', '.join(further)}")


def _require_near(planes: Sequence[str]) -> None:
    """Raise InvalidInputError for planes that are taken where orbits leave a smaller radius than that of escape."""
    if SMOOTH.name in planes:
        raise InvalidInputError("smooth colouring needs an escape radius of at most 128")
    followed = _followed(planes)
    if followed:
        raise InvalidInputError(f"the plane {followed[0]} needs an escape radius of at most 128")


def _followed(planes: Sequence[str]) -> list[str]:
    """Return those of some planes, but smooth fractions, for which orbits are followed to the smooth radius."""
    return [name for name in planes if name in (DISTANCE.name, LAST.name) or trails([name])]


_NAMES = ("number", "rounding", "method", "algorithm")


def _require_radius(formula: Formula, radius_squared: Fraction) -> None:
    least = formula.least_radius_squared()
    if radius_squared >= (LEAST_RADIUS_SQUARED if least == 4 else least):
        return
    given = "" if formula.constant is None else " with this constant"
    raise InvalidInputError(
        f"the escape radius must be at least {about(root_above(least))} for {formula.name}{given}: "
        "below it an escaped orbit may come back"
    )


def _require_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise InvalidInputError(f"unknown {what} {shown(name)}; there is {', '.join(known)}")


def _whole(value: Exact) -> int:
    """Return a whole number that may be written as a float or a text."""
    number = exact(value, "the iteration limit")
    if number.denominator != 1:
        raise InvalidInputError(f"the iteration limit must be a whole number, not {about(number)}")
    return number.numerator
