"""`mandelcl compare`."""

import json
import sys
from typing import TYPE_CHECKING

import click

from mandelcl.base.errors import FileError, MandelclError
from mandelcl.base.text import command_line
from mandelcl.cli import completion, standard_output
from mandelcl.cli.progress import print_line
from mandelcl.files.paths import target

if TYPE_CHECKING:
    from mandelcl.files.comparison import Comparison


@click.command(
    "compare",
    epilog="""\b
Examples:
  mandelcl compare gpu.npz cpu.npz
  mandelcl compare float.npz double.npz -o where.png --json
""",
)
@click.argument("a", type=completion.FILE)
@click.argument("b", type=completion.FILE)
@click.option(
    "-o",
    "--output",
    "path",
    type=completion.FILE,
    metavar="DIFF.png",
    help="Draw the differing pixels, white on black.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(a: str, b: str, path: str | None, as_json: bool) -> None:
    """Compare two fields or two pictures.

    Fields (.npz) are compared by their counts, pictures (.png, .ppm) by their colours.

    If the results differ and their jobs differ too, the command lists the differences of the jobs and says how to draw
    the same job twice.

    Exit code 0: the same; 1: the same job, but different results; 2: they cannot be compared, or their jobs differ.
    """
    from mandelcl.files import output
    from mandelcl.files.comparison import compare
    from mandelcl.files.strips import Picture

    try:
        if path is not None:
            output.check_writable(path)
            if target(path) in (target(a), target(b)):
                raise FileError(f"{path} is one of the files to compare; choose another name for the output", path)
        result = compare(a, b)
        if path is not None:
            output.write(path, None, Picture.from_pixels(result.drawing()))
    except MandelclError as error:
        print_line(f"mandelcl: {error}")
        sys.exit(2)
    try:
        _show(result, as_json)
    except OSError as error:  # if the verdict cannot be printed, the exit code must claim neither result
        if not standard_output.refuses(error):
            raise
        standard_output.give_up(error, 2)
    if result.differing and result.jobs:
        print_line(f"mandelcl: {_other_job(result, a, b)}")
        sys.exit(2)
    sys.exit(1 if result.differing else 0)


def _other_job(result: "Comparison", a: str, b: str) -> str:
    values = [name if one == "one" else f"{name} {one}, {other}" for name, (one, other) in result.jobs.items()]
    command = command_line(["mandelcl", "render", "--like", a, "-o", b])
    return f"the jobs differ: {'; '.join(values)}; to draw the second like the first: {command}"


def _show(result: "Comparison", as_json: bool) -> None:
    figures = result.as_dict()
    if as_json:
        click.echo(json.dumps(figures))
    elif result.differing == 0:
        click.echo(f"the same: {result.pixels} pixels")
    else:
        column, row = figures["first"]
        click.echo(
            f"different: {result.differing} of {result.pixels} pixels ({figures['percent']:.4g} %), by at most "
            f"{result.largest}, first at column {column}, row {row}"
        )
