"""`mandelcl render`."""

import json
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from mandelcl import choose, output, rendering
from mandelcl.cli import options
from mandelcl.report import Report
from mandelcl.view import parse_size

DEFAULT_OUTPUT = "mandelbrot.png"


@click.command(
    "render",
    epilog="""\b
Examples:
  mandelcl render -o set.png
  mandelcl render --at seahorse-valley --size 3840x2160 -o valley.png -o valley.npz
  mandelcl render --center -0.743643887037151 0.131825904205330 --zoom 1e9 --iterations 20000
  mandelcl render --region -2 1 -1 1 --size 1500x1000 --palette ember
  mandelcl render --like set.png --device cpu --json
""",
)
@click.option("-o", "--output", "outputs", multiple=True, metavar="FILE", help=".png, .ppm or .npz; may be repeated.")
@options.job_options
@options.device_option
@options.self_test_option
@click.option("--blocks", metavar="CxR", help="Cut the picture into C×R blocks, each one launch.")
@click.option("--no-shortcuts", is_flag=True, help="Iterate every pixel to its end, even where that is known.")
@options.colour_options
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def command(
    outputs: tuple[str, ...],
    devices: tuple[str, ...],
    no_self_test: bool,
    blocks: str | None,
    no_shortcuts: bool,
    palette: str | None,
    cycle: float | None,
    offset: float | None,
    as_json: bool,
    quiet: bool,
    **job_options: Any,
) -> None:
    """Draw a picture.

    With no view given, the whole set. FILE's suffix chooses the format: .png (carries its job, see --like), .ppm, or
    .npz (the counts themselves, see `recolour` and `compare`). Without -o the picture goes to mandelbrot.png.
    Numbers are decimals of any length, with exponents, or ratios p/q, and are never rounded on the way in.
    """
    if as_json and quiet:
        raise click.UsageError("--json and --quiet exclude each other")
    wanted = options.JobOptions(**job_options)
    wanted.check()
    paths = outputs or (DEFAULT_OUTPUT,)
    output.check_writable(*paths)
    colouring = options.colouring(palette, cycle, offset, wanted.location(), wanted.like)
    cut = parse_size(blocks, "blocks", "COLUMNSxROWS, like 16x16") if blocks is not None else None
    job = wanted.job(smooth=colouring.palette.smooth)
    choice = choose.fastest(job, choose.matching(devices), not no_self_test)
    console = Console(stderr=True)
    if not quiet:
        for warning in choice.warnings:
            console.print(f"mandelcl: {warning}", soft_wrap=True, highlight=False)
    with _progress(console, quiet) as progress:
        task = progress.add_task(choice.device.name, total=choice.job.view.pixels, rate="")

        def show(done: rendering.Progress) -> None:
            rate = f"{done.iterations / done.seconds / 1e6:,.0f} Miter/s" if done.seconds else ""
            progress.update(task, completed=done.pixels, rate=rate)

        field, report = rendering.render(
            choice.job,
            choice.device,
            progress=show,
            self_test=not no_self_test,
            blocks=cut,
            shortcuts=not no_shortcuts,
        )
        picture = colouring.picture(field)
        for path in paths:
            output.write(path, field, picture)
    if as_json:
        click.echo(json.dumps(report.as_dict()))
    elif not quiet:
        console.print(f"{', '.join(paths)}: {_summary(report)}", soft_wrap=True, highlight=False)


def _progress(console: Console, quiet: bool) -> Progress:
    """Return a progress bar that shows on a terminal only and leaves nothing behind."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )


def _summary(report: Report) -> str:
    return (
        f"{report.width}x{report.height}, {report.number} {report.rounding}, "
        f"{report.iterations_total / 1e6:,.0f} Miter in {report.kernel_s:.3f} s ({report.giter_per_s:.1f} Giter/s) "
        f"on {report.device} ({report.platform})"
    )
