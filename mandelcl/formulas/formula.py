"""A formula: a cycle of lines of elementary operations, and the properties that follow from them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from mandelcl.base.arithmetic import Arithmetic, Complex
from mandelcl.base.errors import InvalidInputError, require_type
from mandelcl.base.exact import Exact, exact, root_above
from mandelcl.base.names import matching, unknown
from mandelcl.base.text import quoted
from mandelcl.formulas import critical, growth, reading
from mandelcl.formulas.line import Line
from mandelcl.formulas.named import ALIASES, BY_LINES, NAMED, Named

# How a job writes a number: to a text, exactly, and back; the latter raises TypeError.
ToText: TypeAlias = Callable[[Fraction], str]
FromText: TypeAlias = Callable[[object], Fraction]

MOST_LINES = 8  # each stands in the text of a kernel, and a stride of steps is a multiple of them
JULIA = "julia"  # the name of a Julia set of z² + c
PROGRAM = "program"  # the name in a job of what has none
_HOME = ("0", "0", "1.25")


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """The steps of an orbit: `lines`, taken in turn.

    With a `constant` c, re and im, orbits begin at the pixel's point: a Julia set. Without one they begin at 0, and c
    is the point. Raises InvalidInputError for lines that make no picture.
    """

    lines: tuple[Line, ...]
    constant: tuple[Fraction, Fraction] | None = None

    def __post_init__(self) -> None:
        lines: object = self.lines
        if not isinstance(lines, tuple | list) or not all(isinstance(line, Line) for line in lines):
            raise InvalidInputError(f"a formula is made of lines, not {quoted(lines)}; Formula.parse reads a text")
        object.__setattr__(self, "lines", tuple(lines))
        if len(self.lines) > MOST_LINES:
            raise InvalidInputError(f"a formula has at most {MOST_LINES} lines, not {len(self.lines)}")
        if not any(line.adds for line in self.lines):
            raise InvalidInputError("a formula adds c in one of its lines: without that all orbits are alike")
        if self.degree == 1:
            raise InvalidInputError("a formula has a line with sqr or mul: orbits of lines of degree 1 do not escape")

    @classmethod
    def parse(cls, text: str) -> "Formula":
        """Return the formula of a text: a name, operations, or the notation of mathematics.

        `burning-ship`, `absx absy sqr add` and `(|x| + i|y|)^2 + c` are the same. Each part of a hybrid, between ` / `,
        may be any of them. Raises InvalidInputError for anything else. Names are taken in any case, and some by what
        other programs call them.
        """
        require_type(text, str, "a formula's text")
        if (named := _named(text)) is not None:
            return Formula(named.lines)
        from mandelcl.formulas.notation import operations_of  # few need it, and its expressions take time to compile

        between = f" {reading.BETWEEN_LINES} "
        named_or_written = ((_named(part), part) for part in text.split(between))
        spelled = between.join(part if named is None else named.text for named, part in named_or_written)
        return Formula(reading.lines(operations_of(spelled)))

    def julia(self, re: Exact, im: Exact) -> "Formula":
        """Return the formula of the Julia set for c = re + im·i; each may be anything that `exact` takes."""
        return Formula(self.lines, (exact(re, "the Julia set's constant"), exact(im, "the Julia set's constant")))

    @property
    def text(self) -> str:
        """The operations, which `parse` reads."""
        return " / ".join(map(str, self.lines))

    @property
    def name(self) -> str:
        """The name, or the operations of what has none; that of a Julia set of z² + c is `julia`."""
        named = BY_LINES.get(self.lines)
        return self.text if named is None else JULIA if self._is_julia_of_square else named.name

    @property
    def summary(self) -> str:
        """What a step is, in short."""
        named = BY_LINES.get(self.lines)
        return self.text if named is None else named.summary

    @property
    def home(self) -> tuple[str, str, str]:
        """Centre and zoom of a view that shows all of the set, or of most sets."""
        named = BY_LINES.get(self.lines)
        return _HOME if named is None or self.constant is not None else named.home

    @property
    def parameters(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The complex parameters that kernels are given, exactly."""
        return () if self.constant is None else (self.constant,)

    @property
    def begins_inside(self) -> bool:
        """Whether each orbit begins inside every escape radius, so that no count is 0."""
        return self.constant is None

    @property
    def degrees(self) -> tuple[int, ...]:
        """The power of |z| with which each line grows."""
        return tuple(line.degree for line in self.lines)

    @property
    def degree(self) -> int:
        """The largest of them."""
        return max(self.degrees)

    @property
    def products(self) -> int:
        """How many roundings of complex products a step is off by at most, as shares of |z|^degree."""
        return max(line.products for line in self.lines)

    @property
    def analytic(self) -> bool:
        """Whether a derivative by the point is one complex number; else it is two, by its real and imaginary part."""
        return all(line.analytic for line in self.lines)

    @property
    def adds_last(self) -> bool:
        """Whether every step ends with c, so that no orbit is smaller than c's last places make it."""
        return all(line.adds and str(line.operations[-1]) == "add" for line in self.lines)

    @property
    def power(self) -> int:
        """The d of z^d + c, from 0 or its Julia sets; 0 where the formula is another."""
        return self.lines[0].power if len(self.lines) == 1 else 0

    @property
    def knows_inside(self) -> bool:
        """Whether closed forms prove that some orbits never escape: the formula is z² + c from 0."""
        return self.lines == NAMED["mandelbrot"].lines and self.constant is None

    @property
    def perturbable(self) -> bool:
        """Whether its orbits can be computed as differences from a reference orbit.

        Each line adds c once, last, and none multiplies z by a z of which it has turned a sign since. A place names one
        of MOST_LINES references.
        """
        fits = self.references <= MOST_LINES
        return fits and self.grows and self.adds_last and all(line.conformal for line in self.lines)

    @property
    def references(self) -> int:
        """How many reference orbits there are: those of 0 from each line on, and behind them a Julia set's own."""
        return len(self.lines) + len(self.parameters)

    @property
    def folds(self) -> bool:
        """Whether it is another map on other sides of an axis."""
        return any(operation.folds for line in self.lines for operation in line)

    @property
    def traceable(self) -> bool:
        """Whether borders can be traced: there are bounds for the spread of neighbouring orbits, as for z^d + c."""
        return self.power > 0

    def least_radius_squared(self) -> Fraction:
        """Return the least R² beyond which no orbit ever comes back, in exact arithmetic; 4 where there is none."""
        if not self.grows:
            return Fraction(4)
        return max(growth.growing_from(degree, self._constant()) for degree in self.degrees)

    def sufficient_radius_squared(self) -> Fraction:
        """Return a plain R² beyond which no orbit comes back: R is a multiple of 1/16."""
        return Fraction(math.ceil(16 * root_above(self.least_radius_squared())), 16) ** 2

    def largest_constant(self, radius_squared: Fraction) -> Fraction:
        """Return a bound of |c| of all orbits that are inside when c is added to 0: R, or that of the Julia set."""
        constant = self._constant()
        return root_above(radius_squared) if constant is None else constant

    def largest_step(self, radius_squared: Fraction, farthest: Fraction = Fraction(0)) -> Fraction:
        """Return a bound of all that a step from |z| ≤ R makes; `farthest` bounds the |c| of all pixels."""
        constant = self.largest_constant(radius_squared) if self.grows else self._constant()
        bound = farthest if constant is None else constant
        return max(line.largest(root_above(radius_squared), bound) for line in self.lines)

    def stays_outside(self, radius_squared: Fraction, unit: Fraction) -> bool:
        """Return whether in a number no orbit that has left the disc comes back, so a test once a stride is exact.

        `unit` bounds the error of a step by unit·(|z|^degree + |c|). For z² + c from 0 it is shown for R² from just
        below 4 on, in each number (docs/exactness.md); for others where they outgrow the error.
        """
        if self.knows_inside:
            return True
        constant = self.largest_constant(radius_squared)
        return self.grows and all(growth.outgrows(radius_squared, degree, constant, unit) for degree in self.degrees)

    def connected_below(self, constant: Sequence[Fraction], radius_squared: Fraction, max_iterations: int) -> int:
        """Return the least n, at most `max_iterations`, for which {count > n} may fall into pieces; for z^d + c alone.

        Of a Julia set {count > n} is connected while its critical orbit, that of 0, is in it. `constant` is c as a
        number holds it, and `radius_squared` one beyond which no orbit comes back.
        """
        if self.constant is None:
            return max_iterations
        re, im = constant
        return critical.iterations_inside(self.power, (re, im), radius_squared, max_iterations)

    def start(self, arithmetic: Arithmetic, point: Complex, parameters: Sequence[Complex]) -> tuple[Complex, Complex]:
        """Return z₀ and the constant c of the orbit of a point."""
        if self.constant is not None:
            return point, parameters[0]
        zero = arithmetic.encode(Fraction(0))
        return (zero, zero), point

    def step(self, arithmetic: Arithmetic, z: Complex, c: Complex, n: int = 0) -> Complex:
        """Return the z that follows z, the n-th of its orbit."""
        return self.lines[n % len(self.lines)].value(arithmetic, z, c)

    def as_json(self, text: ToText) -> dict[str, str]:
        """Return the name, the operations of what has none, and the constant of a Julia set."""
        named = BY_LINES.get(self.lines)
        values = {"name": PROGRAM, "operations": self.text} if named is None else {"name": named.name}
        if self.constant is not None:
            if self._is_julia_of_square:
                values["name"] = JULIA
            values |= {name: text(part) for name, part in zip(("re", "im"), self.constant, strict=True)}
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, object], number: FromText) -> "Formula":
        """Return what `as_json` wrote; raises InvalidInputError, TypeError or KeyError for anything else."""
        given = dict(values)
        name = given.pop("name")
        if not isinstance(name, str):
            raise TypeError("the formula's name is no text")
        operations = given.pop("operations") if name == PROGRAM else None
        if name == PROGRAM:
            if not isinstance(operations, str):
                raise TypeError("the formula's operations are no text")
            formula = Formula(reading.lines(operations))
        else:
            formula = formula_named(name)
        if not given and name != JULIA:
            return formula
        if set(given) != {"re", "im"}:
            raise TypeError("a formula has the parameters re and im, or none")
        return formula.julia(number(given["re"]), number(given["im"]))

    @property
    def grows(self) -> bool:
        """Whether |z′| ≥ |z|^d − |c| for each line, with its degree d of 2 or more."""
        return all(line.grows for line in self.lines)

    @property
    def _is_julia_of_square(self) -> bool:
        return self.constant is not None and self.lines == NAMED["mandelbrot"].lines

    def _constant(self) -> Fraction | None:
        """Return |c|, rounded up; None where it is the pixel's."""
        return None if self.constant is None else root_above(self.constant[0] ** 2 + self.constant[1] ** 2)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Formula) and (self.lines, self.constant) == (other.lines, other.constant)

    def __hash__(self) -> int:
        return hash((self.lines, self.constant))

    def __str__(self) -> str:
        name = self.name
        if self.constant is not None and name != JULIA:
            name += " julia"
        return " ".join([name, *map(str, self.constant or ())])


def formula_named(name: str) -> Formula:
    """Return the formula of that name, of `julia` that with a constant of 0.

    Raises InvalidInputError, listing the known ones, if there is none.
    """
    if name == JULIA:
        return formula_named("mandelbrot").julia(0, 0)
    if name not in NAMED:
        raise unknown("formula", name, NAMED)
    return Formula(NAMED[name].lines)


def _named(text: str) -> Named | None:
    """Return the named formula that a text names, in any case or by another program's name."""
    name = matching(text, (*NAMED, *ALIASES))
    return None if name is None else NAMED[ALIASES.get(name, name)]
