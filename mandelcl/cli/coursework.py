"""`mandelcl coursework`."""

import click

from mandelcl.cli import completion
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.options import device_option
from mandelcl.cli.progress import print_line


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
@click.option(
    "-o",
    "--output",
    "path",
    type=completion.FILE,
    default="coursework.ppm",
    metavar="FILE.ppm",
    help="[default: coursework.ppm]",
)
@device_option
@click.option("--resume", is_flag=True, help="Continue a stopped run, if there is one.")
def command(width: int, height: int, path: str, devices: tuple[str, ...], resume: bool) -> None:
    """Write the published coursework's picture, byte for byte.

    The picture is that of the CUDA coursework's sequential program. The command needs a device with double precision.
    It uses the ordinary kernels, with a fixed view, escape radius and palette.
    """
    from mandelcl.base.errors import DeviceError
    from mandelcl.colour.colour import Colouring, find_palette
    from mandelcl.lab.studies.jobs import coursework_job
    from mandelcl.rendering.streaming import render_to

    job = coursework_job(width, height)
    colouring = Colouring(find_palette("coursework"))
    try:
        report = interruptible(
            lambda cancel: render_to([path], job, colouring, devices, resume=resume, cancel=cancel, single_use=True)
        )
    except DeviceError as error:
        from mandelcl.engine import choose

        found = choose.matching(devices)
        if any(device.fp64 for device in found):
            raise
        # The error advises another number, and this picture has one alone.
        labels = ", ".join(device.label for device in found)
        advice = "no double precision, which this picture needs; `mandelcl render` draws the whole set without it"
        raise DeviceError(f"{labels}: {advice}", error.device) from error
    print_line(f"{path}: {width}x{height} in {report.wall_s:.3f} s on {report.devices_text}")
