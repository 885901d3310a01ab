"""`mandelcl locate`."""

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mandelcl.base.exact import parse_number, parse_size
from mandelcl.base.view import View
from mandelcl.cli import completion
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.job_options import DEFAULT_SIZE, job_like
from mandelcl.cli.options import number_of_iterations
from mandelcl.cli.progress import phases_bar, print_line
from mandelcl.core.locations import find_location
from mandelcl.formulas import MANDELBROT, Formula

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mandelcl.base.errors import Token
    from mandelcl.perturbation.locate import Box, Minibrot

_MOST_PERIOD = 1_000_000
_MOST_PREPERIODIC = 50_000  # of a preperiod and period together, since all pairs are compared


@click.command(
    "locate",
    epilog="""\b
Examples:
  mandelcl locate --in -1.8 -1.7 -0.05 0.05
  mandelcl locate --at thorn-star
  mandelcl locate --center 0.001 1.001 --zoom 1000 --json
  mandelcl locate --center 0 1 --zoom 1e100
  mandelcl locate --formula burning-ship --in -1.77 -1.75 -0.04 -0.02
  mandelcl locate --at thorn-star --embedded
  mandelcl locate --misiurewicz --in -0.12 -0.08 0.94 0.98
""",
)
@click.option("--in", "edges", nargs=4, metavar="XMIN XMAX YMIN YMAX", help="The box to search.")
@click.option("--at", metavar="NAME", shell_complete=completion.places, help="Search the view of a named location.")
@click.option("--center", nargs=2, metavar="RE IM", help="Search the view around this point.")
@click.option("--zoom", metavar="Z", help="That view is 4/Z high. [with --center or --at]")
@click.option("--like", type=completion.FILE, metavar="FILE", help="Search the view of a file; see `render --like`.")
@click.option(
    "--formula",
    metavar="FORMULA",
    shell_complete=completion.formulas,
    help="The formula, as for `render`. [default: that of --like or --at, or mandelbrot]",
)
@click.option(
    "--size", metavar="WxH", help=f"The view's size in pixels; only its aspect ratio matters. [default: {DEFAULT_SIZE}]"
)
@click.option(
    "--iterations",
    callback=number_of_iterations,
    default=str(_MOST_PERIOD),
    show_default=True,
    metavar="N",
    help="The longest period to search for.",
)
@click.option("--period", type=click.IntRange(min=1), metavar="P", help="Use this period; do not search for one.")
@click.option("--misiurewicz", is_flag=True, help="Find a Misiurewicz point instead of a minibrot.")
@click.option("--embedded", is_flag=True, help="Also print the zooms at which embedded Julia sets appear about it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(
    edges: tuple[str, str, str, str] | None,
    at: str | None,
    center: tuple[str, str] | None,
    zoom: str | None,
    like: str | None,
    formula: str | None,
    size: str | None,
    iterations: int,
    period: int | None,
    misiurewicz: bool,
    embedded: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the largest minibrot in a region of the plane.

    This works at any depth, for every formula. The largest minibrot has the lowest period: the number of steps
    after which the orbit of its nucleus returns to 0. The command searches for that period and finds the nucleus by
    Newton's method. It prints the location, with as many digits as you need to see it, the size (that of the whole
    set is 1), the angle in degrees by which the minibrot is rotated counter-clockwise, and a command that draws all
    of it. Under formulas with folds or mirrors a minibrot is stretched as well: the factor takes the place of the
    angle.
    """
    if misiurewicz and embedded:
        raise click.UsageError("--embedded is about a minibrot; leave --misiurewicz or --embedded out")
    chosen = None if formula is None else Formula.parse(formula)
    box, of_file = _box(edges, at, center, zoom, like, size)
    iterated = chosen or of_file
    if misiurewicz:
        _print_misiurewicz(box, iterated, iterations, period, as_json, quiet)
        return
    found = _locate(box, iterated, iterations, period, quiet)
    facts = found.as_dict()
    if embedded:
        facts["embedded"] = interruptible(lambda cancel: _embedded(found, cancel))
    if as_json:
        click.echo(json.dumps(facts))
        return
    shown = ["period", "re", "im", "size", "degrees", "zoom", "iterations"]
    if found.formula != MANDELBROT:
        shown.insert(0, "formula")
    if not found.formula.analytic:
        shown[shown.index("degrees")] = "stretch"
    _print_table(facts, shown)
    for julia in facts.get("embedded", ()):
        click.echo(f"embedded    zoom {julia['zoom']}, inside the set of period {julia['parent']}")
    click.echo(f"\n{found.command}")


def _print_table(facts: "Mapping[str, object]", names: "Sequence[str]") -> None:
    for name in names:
        click.echo(f"{name:10}  {facts[name]}")


def _embedded(found: "Minibrot", cancel: "Token") -> list[dict[str, object]]:
    """Return the embedded Julia sets about a minibrot: the period of the set around each, and the zoom."""
    from mandelcl.perturbation.embedded import embedded_julia_sets
    from mandelcl.perturbation.locate import zoom_text

    sets = embedded_julia_sets(found.nucleus, found.formula, cancel)
    return [{"parent": julia.parent, "zoom": zoom_text(julia.size)} for julia in sets]


def _print_misiurewicz(box: "Box", formula: Formula, most: int, period: int | None, as_json: bool, quiet: bool) -> None:
    """Find a Misiurewicz point in a box and print it, with a command that draws the box about it."""
    from mandelcl.perturbation.locate import decimal_text, render_command, short_text
    from mandelcl.perturbation.misiurewicz import find_misiurewicz

    most = min(most, _MOST_PREPERIODIC)
    with phases_bar(quiet) as show:
        found = interruptible(
            lambda cancel: find_misiurewicz(box, most, period, formula=formula, cancel=cancel, progress=show)
        )
    digits = math.ceil(found.bits * math.log10(2))
    facts: dict[str, object] = {
        "formula": formula.name,
        "preperiod": found.preperiod,
        "period": found.period,
        "re": decimal_text(found.re, digits),
        "im": decimal_text(found.im, digits),
        "multiplier": round(found.multiplier, 6),
        "zoom": short_text(4 / (box.ymax - box.ymin), 3),
    }
    command = render_command(formula, f"--center {facts['re']} {facts['im']} --zoom {facts['zoom']}")
    if as_json:
        click.echo(json.dumps(facts | {"command": command}))
        return
    _print_table(facts, list(facts) if formula != MANDELBROT else list(facts)[1:])
    click.echo(f"\n{command}")


def _locate(box: "Box", formula: Formula, most: int, period: int | None, quiet: bool) -> "Minibrot":
    from mandelcl.perturbation.locate import locate

    with phases_bar(quiet) as show:
        return interruptible(lambda cancel: locate(box, most, period, formula=formula, cancel=cancel, progress=show))


def _box(
    edges: tuple[str, str, str, str] | None,
    at: str | None,
    center: tuple[str, str] | None,
    zoom: str | None,
    like: str | None,
    size: str | None,
) -> tuple["Box", Formula]:
    """Return the box to search, and the formula of the file or place.

    Raises InvalidInputError or click.UsageError if the options do not define a box.
    """
    from mandelcl.perturbation.locate import Box

    given = {"--in": edges, "--at": at, "--center": center, "--like": like}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        several = f"{' and '.join(named)} each define the region; give only one of them"
        raise click.UsageError(several if named else f"no region to search; give one of {', '.join(given)}")
    if zoom is None and center is not None:
        raise click.UsageError("--center needs --zoom; the picture is 4/zoom high")
    if zoom is not None and center is None and at is None:
        raise click.UsageError(f"{named[0]} already defines the size; leave --zoom out")
    if size is not None and (edges is not None or like is not None):
        raise click.UsageError(f"{named[0]} already defines the aspect ratio; leave --size out")
    if edges is not None:
        return Box(*(parse_number(text, "box edge") for text in edges)), MANDELBROT
    if like is not None:
        job = job_like(like, None, print_line)
        return Box.around(job.view), job.formula
    width, height = parse_size(DEFAULT_SIZE if size is None else size)
    if at is not None:
        place = find_location(at)
        return Box.around((place if zoom is None else replace(place, zoom=zoom)).view(width, height)), place.iterated
    assert center is not None
    assert zoom is not None
    centre = parse_number(center[0], "center"), parse_number(center[1], "center")
    return Box.around(View.centred(*centre, parse_number(zoom, "zoom"), width, height)), MANDELBROT
