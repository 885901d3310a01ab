"""`mandelcl source`."""

import sys
from typing import Any

import click

from mandelcl.cli import options
from mandelcl.cli.job_options import JobOptions, job_options
from mandelcl.engine import source


@click.command(
    "source",
    epilog="""\b
Examples:
  mandelcl source > loop.cl
  mandelcl source --number double --orbits survivors --device gpu
  mandelcl source --formula "negy sqr add"
""",
)
@job_options
@options.device_option
@options.self_test_option
@click.option("--orbits", type=click.Choice(source.ORBITS), default="block", help="Which pixels the kernel computes.")
@click.option("--smooth", is_flag=True, help="Include the parts for smooth colouring.")
@options.planes_option
def command(
    devices: tuple[str, ...],
    no_self_test: bool,
    orbits: str,
    smooth: bool,
    planes: tuple[str, ...],
    **given: Any,
) -> None:
    """Print the kernel source of a job.

    The output is the source for one device, as a single text without includes.
    """
    from mandelcl.engine import choose
    from mandelcl.engine.job_text import loop_text
    from mandelcl.engine.kernels import shaped

    job = JobOptions(**given).job((*planes, *(("smooth",) if smooth else ())))
    choice = choose.fastest(job, choose.matching(devices), not no_self_test)
    text = loop_text(choice.job, shaped(choice.variant, choice.job), orbits)
    # A file must get the exact bytes of the kernels, whatever the encoding of standard output is.
    click.echo(text if sys.stdout.isatty() else text.encode())
