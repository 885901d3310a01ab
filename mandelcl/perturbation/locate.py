"""Finding a minibrot: the lowest period in a box, its nucleus, its size, and the picture that shows it whole."""

import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Self, TypeAlias

import numpy as np

from mandelcl.base.errors import NEVER, InvalidInputError, Token
from mandelcl.base.exact import root_above
from mandelcl.base.view import View
from mandelcl.core.reference import MAP_VERSION, Reference
from mandelcl.formulas import MANDELBROT, Formula
from mandelcl.perturbation.disc import DiscSearch
from mandelcl.perturbation.exact import exact_outcome, fraction_bits
from mandelcl.perturbation.exact_orbit import exact_orbit
from mandelcl.perturbation.jacobian import stretch
from mandelcl.perturbation.map_nucleus import find_map_nucleus
from mandelcl.perturbation.newton import Nucleus, find_nucleus
from mandelcl.perturbation.orbit import AT_LIMIT, INSIDE, PERIOD, Orbit, reference_orbit

# Called with what is done, how many iterations of it, and of how many.
ShowProgress: TypeAlias = Callable[[str, int, int], None]

_RADIUS_SQUARED = Fraction(1 << 8)  # of the search for a period: what has just escaped may yet have one beside it
_HEIGHT = Fraction(9, 2)  # of the picture, in sizes: the set reaches 2 from its nucleus, in whatever direction
_FIRST_ITERATIONS, _ITERATIONS_FACTOR = 10_000, 10  # how far an orbit is followed at first
_MOST_CYCLE, _SAME = 4096, 1e-10
_ENDLESS, _TRIES = 1 << 62, 4
_MOST_PROVING = 1 << 23  # steps of all proofs that cycles attract orbits
_MOST_NEWTON = 24  # how often Newton's method is tried where folds may lead it astray
_LEVELS, _PARTS = 6, 4  # how often a box is quartered, and of how many parts of it at once
_LONG = 1 << 20  # iterations: beyond, a return map is looked for
_LEAST_ITERATIONS, _PERIODS = 1000, 20  # the iteration limit that a picture of a minibrot is given


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle of the plane. Raises InvalidInputError where it is empty."""

    xmin: Fraction
    xmax: Fraction
    ymin: Fraction
    ymax: Fraction

    def __post_init__(self) -> None:
        if self.xmin >= self.xmax or self.ymin >= self.ymax:
            raise InvalidInputError("the box is empty; give XMIN XMAX YMIN YMAX, each minimum below its maximum")

    @classmethod
    def around(cls, view: View) -> Self:
        """Return the box in which all of a view's pixels lie."""
        lattice, half = view.lattice, Fraction(1, 2)
        outer = lattice.shifted(-half, -half)
        corners = [outer.point(column, row) for column in (0, view.width) for row in (0, view.height)]
        re, im = zip(*corners, strict=True)
        return cls(min(re), max(re), min(im), max(im))

    @property
    def middle(self) -> tuple[Fraction, Fraction]:
        """Its middle."""
        return (self.xmin + self.xmax) / 2, (self.ymin + self.ymax) / 2

    @property
    def radius(self) -> Fraction:
        """How far its corners are from its middle; a little more where that is no ratio."""
        return root_above(((self.xmax - self.xmin) ** 2 + (self.ymax - self.ymin) ** 2) / 4)

    def quarters(self) -> list[Self]:
        """Return its four quarters."""
        re, im = self.middle
        columns, rows = ((self.xmin, re), (re, self.xmax)), ((self.ymin, im), (im, self.ymax))
        return [type(self)(*column, *row) for column in columns for row in rows]

    def holds(self, re: Fraction, im: Fraction) -> bool:
        """Return whether a point lies in it."""
        return self.xmin <= re <= self.xmax and self.ymin <= im <= self.ymax


@dataclass(frozen=True, slots=True)
class Minibrot:
    """A nucleus and what is said of it: decimals of as many digits as its minibrot needs to be seen."""

    nucleus: Nucleus
    formula: Formula = MANDELBROT

    @property
    def digits(self) -> int:
        """How many digits after the point of the place are good."""
        return math.ceil(self.nucleus.bits * math.log10(2))

    @property
    def re(self) -> str:
        """Real part of the nucleus."""
        return decimal_text(self.nucleus.re, self.digits)

    @property
    def im(self) -> str:
        """Imaginary part of the nucleus."""
        return decimal_text(self.nucleus.im, self.digits)

    @property
    def size(self) -> str:
        """Size, with the whole set as 1."""
        return short_text(self.nucleus.size, 6)

    @property
    def degrees(self) -> float:
        """By how many degrees it is turned counter-clockwise from the whole set, from −180 to 180."""
        return round(math.degrees(self.nucleus.turn), 6) + 0.0

    @property
    def stretch(self) -> float:
        """By how much more it is stretched one way than the other: 1 where it has the shape of the whole set."""
        return 1.0 if self.nucleus.matrix is None else round(stretch(self.nucleus.matrix), 4)

    @property
    def zoom(self) -> str:
        """The zoom that shows it whole."""
        return zoom_text(self.nucleus.size)

    @property
    def iterations(self) -> int:
        """An iteration limit that shows its outline."""
        return max(_LEAST_ITERATIONS, _PERIODS * self.nucleus.period)

    @property
    def command(self) -> str:
        """The command that draws it."""
        place = f"--center {self.re} {self.im} --zoom {self.zoom} --iterations {self.iterations}"
        return render_command(self.formula, place + ("" if self.nucleus.matrix is None else " --auto-skew"))

    def as_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        names = ("re", "im", "size", "degrees", "stretch", "zoom", "iterations", "digits", "command")
        found = {"formula": self.formula.name, "period": self.nucleus.period}
        return found | {name: getattr(self, name) for name in names}


def locate(
    box: Box,
    most: int,
    period: int | None = None,
    *,
    formula: Formula = MANDELBROT,
    cancel: Token = NEVER,
    progress: ShowProgress | None = None,
) -> Minibrot:
    """Return a minibrot whose nucleus is in a box: of the lowest period up to `most`, or of the period asked for.

    A disc about a box has a nucleus of period p, to first order, where |z_p| < radius·|dz_p/dc| in its middle; the
    first p is taken. Under formulas with folds or mirrors the derivative is a Jacobian, and the next p are tried, too.
    Where Newton's method does not lead from there to a nucleus in the box, its quarters are searched likewise, and
    theirs, the most promising first. `progress` is called with what is done, and how many iterations of how many.
    Raises InvalidInputError where no nucleus is found and for a Julia set, and CancelledError.
    """
    if formula.constant is not None:
        raise InvalidInputError("a Julia set has no nuclei; give its formula without the constant")
    if period is not None and period % len(formula.lines):
        raise InvalidInputError(f"a period of {formula.name} is a multiple of {len(formula.lines)}, not {period}")
    search = _Search(box, most, period, formula, cancel, progress or (lambda _what, _done, _total: None))
    parts = [box]
    for _ in range(_LEVELS):
        looked_at = sorted(map(search.look, parts), key=lambda part: part.rank)
        for part in looked_at:
            found = search.nucleus(part)
            if found is not None:
                return Minibrot(found, formula)
        parts = [quarter for part in looked_at[:_PARTS] for quarter in part.box.quarters()]
    raise InvalidInputError(search.failure())


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a box: the period found from its middle, if one was, and the lower its rank, the more promising.

    Further periods are looked for with `disc`, where there is one.
    """

    box: Box
    period: int | None
    rank: int
    disc: DiscSearch | None = None
    base: int | None = None  # of the return map by which the period was found


class _Search:
    """A box under search, and what was met so far."""

    def __init__(
        self, box: Box, most: int, period: int | None, formula: Formula, cancel: Token, progress: ShowProgress
    ) -> None:
        self._formula, self._tries, self._proving = formula, 0, _MOST_PROVING
        self._box, self._most, self._period = box, most, period
        self._cancel, self._progress = cancel, progress
        self._lowest, self._longest, self._attracted, self._followed = period, 0, False, False

    def look(self, box: Box) -> _Part:
        """Return a part of the box with its period."""
        if self._period is not None:
            return _Part(box, self._period, 0)
        return self._look_at_square(box) if self._formula.knows_inside else self._look_at_disc(box)

    def _look_at_disc(self, box: Box) -> _Part:
        """Return a part with its period, under any formula."""
        disc = DiscSearch(self._formula, box.middle, box.radius, self._most)
        period = disc.next_period(self._cancel, self._show("period", self._most))
        self._attracted |= disc.attracted
        self._followed |= not (period or disc.escaped or disc.attracted)
        return self._part(box, period, disc.length, disc)

    def _look_at_square(self, box: Box) -> _Part:
        """Return a part with its period for z² + c: the faster, and with a proof where a cycle attracts an orbit."""
        orbit, attracted = self._orbit(box)
        self._attracted |= attracted
        self._followed |= orbit.ended == AT_LIMIT and not attracted
        part = self._part(box, orbit.iterations if orbit.ended == PERIOD else None, orbit.iterations)
        return part if orbit.returns is None else replace(part, base=orbit.returns.period)

    def _part(self, box: Box, period: int | None, length: int, disc: DiscSearch | None = None) -> _Part:
        if period is not None:
            self._lowest = min(period, self._lowest or period)
            return _Part(box, period, period, disc)
        self._longest = max(self._longest, length)
        return _Part(box, None, 2 * self._most + 1 - length)  # the later it escapes, the nearer is the set

    def _orbit(self, box: Box) -> tuple[Orbit, bool]:
        """Return the orbit of a box's middle to its period or end, or to where it is sure that a cycle attracts it.

        And whether one does.
        """
        max_iterations = _FIRST_ITERATIONS
        while True:
            max_iterations = min(max_iterations, self._most)
            show = self._show("period", max_iterations)
            orbit = self._followed_orbit(box, max_iterations, show)
            known = orbit.ended == INSIDE or (orbit.ended == AT_LIMIT and orbit.returns is None and _recurs(orbit))
            attracted = known and self._stays(box, max_iterations)
            if orbit.ended != AT_LIMIT or max_iterations == self._most or attracted:
                return orbit, attracted
            max_iterations *= _ITERATIONS_FACTOR

    def _followed_orbit(self, box: Box, max_iterations: int, show: Callable[[int], None]) -> Orbit:
        """Return the orbit of a box's middle; a long one by a return map, if it has one."""
        if max_iterations > _LONG:
            reference = Reference(*box.middle, box.radius, version=MAP_VERSION)
            return exact_orbit(reference, MANDELBROT, 0, max_iterations, _RADIUS_SQUARED, self._cancel, show)
        reference = Reference(*box.middle, box.radius)
        return reference_orbit(reference, max_iterations, _RADIUS_SQUARED, self._cancel, show)

    def _stays(self, box: Box, steps: int) -> bool:
        """Return whether a few times so many steps prove that the orbit of a box's middle never escapes."""
        bits, most, steps_done = fraction_bits(box.radius), min(_TRIES * steps, self._proving), 0

        def keep_on(done: int) -> bool:
            nonlocal steps_done
            steps_done = done
            return done < most

        outcome = exact_outcome(box.middle, _ENDLESS, _RADIUS_SQUARED, bits, keep_on)
        self._proving -= steps_done
        return outcome is not None and outcome.z is None

    def nucleus(self, part: _Part) -> Nucleus | None:
        """Return the nucleus to which Newton's method leads from the middle of a part, if it is in the box."""
        middle, radius, period = part.box.middle, part.box.radius, part.period
        if part.base is not None and period is not None:
            return self._map_nucleus(part, part.base, period // part.base)
        while period is not None and (self._formula.analytic or self._tries < _MOST_NEWTON):
            self._tries += 1
            show = self._show(f"Newton's method, period {period}", period)
            found = find_nucleus(*middle, radius, period, cancel=self._cancel, progress=show, formula=self._formula)
            if found is not None and self._box.holds(found.re, found.im):
                return found
            further = self._show("further periods", self._most)
            period = None if part.disc is None else part.disc.next_period(self._cancel, further)
        return None

    def _map_nucleus(self, part: _Part, base: int, nodes: int) -> Nucleus | None:
        show = self._show(f"Newton's method, period {base * nodes}", base * nodes)
        found = find_map_nucleus(*part.box.middle, part.box.radius, base, nodes, cancel=self._cancel, progress=show)
        return found if found is not None and self._box.holds(found.re, found.im) else None

    def failure(self) -> str:
        """Say why there is no nucleus."""
        if self._lowest is not None:
            return f"Newton's method finds no nucleus of period {self._lowest} in the box; give a smaller one"
        if self._followed:
            return f"no nucleus with a period up to {self._most} is in the box; raise --iterations"
        if self._attracted:
            return "no nucleus is in the box: cycles attract the orbits tried there, so it lies inside the set"
        return f"no nucleus is in the box: the orbits tried there escape after at most {self._longest} iterations"

    def _show(self, what: str, total: int) -> Callable[[int], None]:
        return lambda done: self._progress(what, done, total)


def _recurs(orbit: Orbit) -> bool:
    """Return whether the last point of an orbit is one of those shortly before, as it is where a cycle attracts it.

    Near a small minibrot, too, orbits follow a cycle that closely, and leave it later.
    """
    re, im = orbit.re[-_MOST_CYCLE:], orbit.im[-_MOST_CYCLE:]
    return bool((np.abs(re[:-1] - re[-1]) + np.abs(im[:-1] - im[-1])).min() < _SAME)


def render_command(formula: Formula, place: str) -> str:
    """Return the command that draws a place given as options."""
    chosen = "" if formula == MANDELBROT else f"--formula {shlex.quote(formula.name)} "
    return f"mandelcl render {chosen}{place}"


def zoom_text(size: Fraction) -> str:
    """Return the zoom at which a set of a size is seen whole, rounded down to three digits."""
    return short_text(Fraction(4) / (_HEIGHT * size), 3)


def decimal_text(value: Fraction, digits: int) -> str:
    """Return a number rounded to so many digits after the point, of which Decimal writes as many as there are."""
    scaled = round(value * 10**digits)
    context = Context(prec=max(1, digits + 20), Emax=10**9, Emin=-(10**9))
    return f"{context.scaleb(Decimal(scaled), -digits):f}"


def short_text(value: Fraction, digits: int) -> str:
    """Return so many digits of a positive number and its exponent, like 1.25e-300, rounded down."""
    exponent = math.floor(math.log10(2) * (value.numerator.bit_length() - value.denominator.bit_length()))
    exponent += value >= Fraction(10) ** (exponent + 1)
    exponent -= value < Fraction(10) ** exponent
    leading = Decimal(math.floor(value / Fraction(10) ** (exponent + 1 - digits)))
    plain = -5 <= exponent < 6
    shown = f"{leading.scaleb((exponent if plain else 0) + 1 - digits).normalize():f}"
    return shown if plain else f"{shown}e{exponent}"
