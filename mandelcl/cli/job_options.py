"""The options that describe a job, and the job made from them."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import click

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.exact import about, parse_number, parse_size, root_above
from mandelcl.base.names import ALGORITHMS, METHODS, NUMBERS, ROUNDINGS
from mandelcl.base.view import View
from mandelcl.cli import completion
from mandelcl.cli.options import AUTO, number_or_auto, with_options
from mandelcl.cli.progress import PrintLine, print_line
from mandelcl.core.locations import Location, find_location
from mandelcl.core.reference import Reference
from mandelcl.formulas import MANDELBROT, Formula

if TYPE_CHECKING:  # modules that need numpy are imported where they are used, never for --help
    from mandelcl.core.job import Job
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mandelcl.core.job import Job


DEFAULT_SIZE = "1920x1080"
DEFAULT_ITERATIONS = 1000  # the survey of an automatic limit begins here


def job_like(path: str, size: str | None, on_message: PrintLine) -> "Job":
    """Return the job of a file. `size` is for locations of other programs only, since they may have none.

    Raises FileError or InvalidInputError if the file has neither a job nor a location, and click.UsageError if a size
    is given for a job. For each part of a location that cannot be converted, a line goes to `on_message`.
    """
    from mandelcl.core.job import Job
    from mandelcl.files.foreign import job_of
    from mandelcl.files.loading import read_job_or_place

    found = read_job_or_place(path)
    if isinstance(found, Job):
        if size is not None:
            raise click.UsageError("--like takes the size from its file; leave --size out")
        return found
    for note in found.notes:
        on_message(f"mandelcl: {path}: {note}")
    width, height = parse_size(size) if size is not None else found.size or parse_size(DEFAULT_SIZE)
    if found.iterations is None:
        return replace(job_of(found, width, height, DEFAULT_ITERATIONS), auto_iterations=True)
    return job_of(found, width, height, found.iterations)


_F = TypeVar("_F", bound=Callable[..., Any])

_VIEW_OPTIONS = (
    click.option(
        "--at", metavar="NAME", shell_complete=completion.places, help="A named location; see `mandelcl locations`."
    ),
    click.option("--center", nargs=2, metavar="RE IM", help="The centre of the picture, exactly as written."),
    click.option("--zoom", metavar="Z", help="The picture is 4/Z high. [with --center or --at]"),
    click.option("--region", nargs=4, metavar="XMIN XMAX YMIN YMAX", help="The outer edges of the picture."),
    click.option("--rotate", metavar="DEGREES", help="Rotate the picture counter-clockwise about its centre."),
    click.option(
        "--anchor",
        nargs=2,
        type=int,
        metavar="COLUMN ROW",
        help="The pixel from which the other points are computed. [default: 0 0]",
    ),
    click.option(
        "--like",
        metavar="FILE",
        type=completion.FILE,
        help="Use the job of a .png, .npz, … written by mandelcl, or another program's location.",
    ),
    click.option("--size", metavar="WxH", help=f"Width and height in pixels. [default: {DEFAULT_SIZE}]"),
)
_ITERATION_OPTIONS = (
    click.option(
        "--formula",
        metavar="FORMULA",
        shell_complete=completion.formulas,
        help='The formula to iterate: "z^5 + c", a name, or operations like "absx sqr add". [default: that of --at, '
        "or mandelbrot]",
    ),
    click.option(
        "--julia", nargs=2, metavar="RE IM", help="The formula's Julia set for this c: orbits begin at the pixel."
    ),
    click.option(
        "--iterations",
        callback=number_or_auto,
        metavar="N|auto",
        help="Iteration limit, like 20000 or 1e6, at most 1e15. auto chooses one for the view. [default: the file's or "
        "location's, or auto]",
    ),
    click.option("--escape-radius", metavar="R", help="An orbit has escaped when |z| > R. [default: 2]"),
    click.option(
        "--number",
        shell_complete=completion.numbers,
        metavar=f"[auto|{'|'.join(NUMBERS)}|fixed:WORDS]",
        help="Number format. [default: auto]",
    ),
    click.option(
        "--rounding", type=click.Choice(["auto", *ROUNDINGS]), help="Use fused multiply-add or not. [default: auto]"
    ),
    click.option(
        "--method",
        type=click.Choice(["auto", *METHODS]),
        help="Iterate each pixel directly, or relative to a reference orbit. [default: auto]",
    ),
)
_PICTURE_OPTIONS = (
    click.option(
        "--reference",
        nargs=3,
        metavar="RE IM RADIUS",
        help="The point whose orbit is the reference. [default: the view's centre]",
    ),
    click.option(
        "--algorithm",
        type=click.Choice(ALGORITHMS),
        help="Compute every pixel, or trace borders and fill areas. [default: escape]",
    ),
    click.option(
        "--strict",
        is_flag=True,
        help="Fill only areas that are proved to be uniform. [with --algorithm border or auto]",
    ),
)


def job_options(function: _F) -> _F:
    """Add the options that describe a job."""
    return with_options((*_VIEW_OPTIONS, *_ITERATION_OPTIONS, *_PICTURE_OPTIONS), function)


def iteration_options(function: _F) -> _F:
    """Add the options for the formula, the iteration limit and the arithmetic: all except those of a single view."""
    return with_options(_ITERATION_OPTIONS, function)


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The options of a job as given. An option that was left out is None."""

    at: str | None
    center: tuple[str, str] | None
    zoom: str | None
    region: tuple[str, str, str, str] | None
    rotate: str | None
    anchor: tuple[int, int] | None
    like: str | None
    size: str | None
    iterations: int | str | None
    escape_radius: str | None
    number: str | None
    rounding: str | None
    method: str | None
    reference: tuple[str, str, str] | None
    algorithm: str | None
    strict: bool
    formula: str | None
    julia: tuple[str, str] | None

    def job(self, planes: Collection[str], certify: bool = False, on_message: PrintLine = print_line) -> "Job":
        """Return the job, with the given planes beside the counts, and with certificates if `certify` is set.

        For each part of another program's location that cannot be converted, a line goes to `on_message`. Raises
        InvalidInputError or click.UsageError if the options do not describe a job.
        """
        from mandelcl.core.job import Job
        from mandelcl.core.planes import CERTIFIED, ordered

        self.check()
        base = (
            job_like(self.like, self.size, on_message)
            if self.like is not None
            else Job(self._view(), **self._default_limit())
        )
        certify = certify or CERTIFIED.name in base.planes
        changes: dict[str, Any] = {"planes": ordered([*planes, *([CERTIFIED.name] if certify else [])])}
        formula = self.chosen_formula()
        if formula is not None:
            changes["formula"] = formula
            changes["radius_squared"] = max(base.radius_squared, formula.sufficient_radius_squared())
        changes |= self._arithmetic()
        if self.algorithm is not None:
            changes["algorithm"] = self.algorithm
        changes |= self._limit()
        if self.algorithm is not None or self.strict:
            changes["strict"] = self.strict
        if self.escape_radius is not None:
            changes["radius_squared"] = self._radius_squared(changes.get("formula", base.formula))
        return replace(base, **changes)

    def _radius_squared(self, formula: Formula) -> Fraction:
        """Return R² for the given R. Only programs can choose the number just below 4, which no R expresses."""
        radius = parse_number(self.escape_radius or "", "escape radius")
        least = formula.least_radius_squared()
        if radius < 0 or radius * radius < least:
            raise InvalidInputError(
                f"the escape radius must be at least {about(root_above(least))} for {formula.name}, not "
                f"{self.escape_radius}: below that, an escaped orbit may return"
            )
        return radius * radius

    def _arithmetic(self) -> dict[str, Any]:
        """Return the options' changes to method, number and rounding. What they leave open is resolved again."""
        given = {name: getattr(self, name) for name in ("method", "number", "rounding")}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if self.number is not None:
            changes.setdefault("rounding", "auto")
        if self.method is not None:
            changes = {"number": "auto", "rounding": "auto"} | changes
        if self.reference is not None:
            changes = {"number": "auto", "rounding": "auto", "method": "perturbation"} | changes
            re, im, radius = (parse_number(text, "--reference") for text in self.reference)
            changes["reference"] = Reference(re, im, radius)
        elif self.number is not None or self.method is not None:
            changes = {"method": "auto", "reference": None} | changes
        return changes

    def kind(self) -> tuple[str, ...]:
        """Return the options, besides the view, on which the choice of a device depends."""
        return (f"{self.number} {self.rounding} {self.method} {self.formula}", *(["julia"] if self.julia else []))

    def location(self) -> Location | None:
        """Return the location named with --at."""
        return find_location(self.at) if self.at is not None else None

    def check(self) -> None:
        """Raise click.UsageError for options that contradict each other, or that need another option."""
        views = [f"--{name}" for name in ("at", "center", "region", "like") if getattr(self, name) is not None]
        if len(views) > 1:
            raise click.UsageError(f"{' and '.join(views)} each define the view; give only one of them")
        if self.center is not None and self.zoom is None:
            raise click.UsageError("--center needs --zoom; the picture is 4/zoom high")
        if self.zoom is not None and self.center is None and self.at is None:
            raise click.UsageError("--zoom needs a centre; add --center RE IM or --at NAME")
        for name in ("rotate", "anchor"):
            if getattr(self, name) is not None and self.like is not None:
                raise click.UsageError(f"--like takes the view from its file; leave --{name} out")
        if self.strict and self.algorithm not in ("border", "auto"):
            raise click.UsageError("--strict only affects border tracing; add --algorithm border or auto")

    def chosen_formula(self) -> Formula | None:
        """Return the formula of the options or of the named location, or None if there is neither."""
        location = self.location()
        if self.formula is not None:
            formula = Formula.parse(self.formula)
        elif location is not None:
            formula = location.iterated
        elif self.julia is None:
            return None
        else:
            formula = MANDELBROT
        if self.julia is None:
            return formula
        re, im = (parse_number(text, "--julia") for text in self.julia)
        return formula.julia(re, im)

    @property
    def limits_iterations(self) -> bool:
        """Whether --iterations gives a number."""
        return isinstance(self.iterations, int)

    def _limit(self) -> dict[str, Any]:
        """Return the job's fields that --iterations sets."""
        if self.iterations is None:
            return {}
        if self.iterations == AUTO:
            return {"iterations": DEFAULT_ITERATIONS, "auto_iterations": True}
        return {"iterations": self.iterations, "auto_iterations": False}

    def _default_limit(self) -> dict[str, Any]:
        """Return a view's iteration limit: the location's own up to its zoom; beyond that, it is the minimum."""
        location = self.location()
        if location is None:
            return {"iterations": DEFAULT_ITERATIONS, "auto_iterations": True}
        deeper = self.zoom is not None and parse_number(self.zoom, "zoom") > parse_number(location.zoom, "zoom")
        return {"iterations": location.iterations, "auto_iterations": deeper}

    def _view(self) -> View:
        view = self._picture()
        return view if self.anchor is None else replace(view, lattice=view.lattice.anchored(*self.anchor))

    def _picture(self) -> View:
        width, height = parse_size(DEFAULT_SIZE if self.size is None else self.size)
        rotation = Fraction(0) if self.rotate is None else parse_number(self.rotate, "rotation")
        location = self.location()
        if location:
            place = location if self.zoom is None else replace(location, zoom=self.zoom)
            return place.view(width, height, rotation)
        if self.region:
            edges = [parse_number(text, "region edge") for text in self.region]
            return View.region(edges[0], edges[1], edges[2], edges[3], width, height, rotation)
        home = (self.chosen_formula() or MANDELBROT).home
        re, im, zoom = home if self.center is None or self.zoom is None else (*self.center, self.zoom)
        centre = parse_number(re, "center"), parse_number(im, "center")
        return View.centred(*centre, parse_number(zoom, "zoom"), width, height, rotation)
