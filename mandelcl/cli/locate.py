"""`mandelcl locate`."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from mandelcl.base.exact import parse_number, parse_size
from mandelcl.base.view import View
from mandelcl.cli import completion
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.job_options import DEFAULT_SIZE, job_like
from mandelcl.cli.options import number_of_iterations
from mandelcl.cli.progress import phases_bar, say
from mandelcl.core.locations import find_location

if TYPE_CHECKING:
    from mandelcl.base.errors import Token
    from mandelcl.perturbation.locate import Box, Minibrot

_MOST_PERIOD = 1_000_000


@click.command(
    "locate",
    epilog="""\b
Examples:
  mandelcl locate --in -1.8 -1.7 -0.05 0.05
  mandelcl locate --at thorn-star
  mandelcl locate --center 0.001 1.001 --zoom 1000 --json
  mandelcl locate --center 0 1 --zoom 1e100
""",
)
@click.option("--in", "edges", nargs=4, metavar="XMIN XMAX YMIN YMAX", help="The box to look in.")
@click.option("--at", metavar="NAME", shell_complete=completion.places, help="Look in the picture of a named place.")
@click.option("--center", nargs=2, metavar="RE IM", help="Look in the picture around this point.")
@click.option("--zoom", metavar="Z", help="That picture is 4/Z high. [with --center or --at]")
@click.option("--like", type=completion.FILE, metavar="FILE", help="Look in what a file shows, as `render` takes it.")
@click.option("--size", metavar="WxH", help=f"The shape of the picture. [default: {DEFAULT_SIZE}]")
@click.option(
    "--iterations",
    callback=number_of_iterations,
    default=str(_MOST_PERIOD),
    show_default=True,
    metavar="N",
    help="The longest period to look for.",
)
@click.option("--period", type=click.IntRange(min=1), metavar="P", help="Take this period; look for none.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(
    edges: tuple[str, str, str, str] | None,
    at: str | None,
    center: tuple[str, str] | None,
    zoom: str | None,
    like: str | None,
    size: str | None,
    iterations: int,
    period: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find the largest minibrot in a part of the plane.

    At any depth. It is taken to be that of the lowest period, after which the orbit of its nucleus comes back to 0.
    Newton's method leads there. Printed are its place, with as many digits as it takes to see it, its size (that of the
    whole set is 1), by how many degrees it is turned counter-clockwise, and the command that draws it whole.
    """
    box = _box(edges, at, center, zoom, like, size)
    found = interruptible(lambda cancel: _locate(box, iterations, period, quiet, cancel))
    facts = found.as_dict()
    if as_json:
        click.echo(json.dumps(facts))
        return
    for name in ("period", "re", "im", "size", "degrees", "zoom", "iterations"):
        click.echo(f"{name:10}  {facts[name]}")
    click.echo(f"\n{found.command}")


def _locate(box: "Box", most: int, period: int | None, quiet: bool, cancel: "Token") -> "Minibrot":
    from mandelcl.perturbation.locate import locate

    with phases_bar(quiet) as show:
        return locate(box, most, period, cancel=cancel, progress=show)


def _box(
    edges: tuple[str, str, str, str] | None,
    at: str | None,
    center: tuple[str, str] | None,
    zoom: str | None,
    like: str | None,
    size: str | None,
) -> "Box":
    """Return where to look; raises InvalidInputError or click.UsageError where the options do not say."""
    from mandelcl.perturbation.locate import Box

    given = {"--in": edges, "--at": at, "--center": center, "--like": like}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        several = f"{' and '.join(named)} each say where to look; give one of them"
        raise click.UsageError(several if named else f"say where to look: one of {', '.join(given)}")
    if zoom is None and center is not None:
        raise click.UsageError("--center needs --zoom; the picture is 4/zoom high")
    if zoom is not None and center is None and at is None:
        raise click.UsageError(f"{named[0]} says how large a part it is; leave --zoom out")
    if size is not None and (edges is not None or like is not None):
        raise click.UsageError(f"{named[0]} has its own shape; leave --size out")
    if edges is not None:
        return Box(*(parse_number(text, "box edge") for text in edges))
    if like is not None:
        return Box.around(job_like(like, None, say).view)
    width, height = parse_size(DEFAULT_SIZE if size is None else size)
    if at is not None:
        place = find_location(at)
        return Box.around((place if zoom is None else replace(place, zoom=zoom)).view(width, height))
    assert center is not None
    assert zoom is not None
    centre = parse_number(center[0], "center"), parse_number(center[1], "center")
    return Box.around(View.centred(*centre, parse_number(zoom, "zoom"), width, height))
