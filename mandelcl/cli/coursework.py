"""`mandelcl coursework`."""

import click

from mandelcl import choose, output, rendering
from mandelcl.cli.options import device_option
from mandelcl.colour import Colouring, find_palette
from mandelcl.published import coursework_job


@click.command(
    "coursework",
    epilog="""\b
Examples:
  mandelcl coursework
  mandelcl coursework 512 512 -o small.ppm --device cpu
""",
)
@click.argument("width", type=int, default=4096)
@click.argument("height", type=int, default=4096)
@click.option("-o", "--output", "path", default="coursework.ppm", metavar="FILE.ppm", help="[default: coursework.ppm]")
@device_option
def command(width: int, height: int, path: str, devices: tuple[str, ...]) -> None:
    """Write the picture of the published CUDA coursework's sequential program, byte for byte.

    It needs a device with double. There is no kernel for it: only a view, an escape radius and a palette.
    """
    job = coursework_job(width, height)
    output.check_writable(path)
    choice = choose.fastest(job, choose.matching(devices))
    field, report = rendering.render(choice.job, choice.device)
    output.write(path, field, Colouring(find_palette("coursework")).picture(field))
    click.echo(f"{path}: {width}x{height} in {report.wall_s:.3f} s on {report.device} ({report.platform})", err=True)
