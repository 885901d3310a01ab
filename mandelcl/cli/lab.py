"""`mandelcl lab`: write a kernel, run it, learn what is wrong with it, and rank those of a class."""

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mandelcl.base.errors import CancelledError, FileError, InvalidInputError
from mandelcl.base.names import PATIENCE_S
from mandelcl.cli import bench_kernel, completion
from mandelcl.cli.options import device_option
from mandelcl.lab import own_kernel

if TYPE_CHECKING:
    from mandelcl.lab.own_kernel.ranking import Ranking

_STEPS = """\
The kernel lab: write a kernel for the Mandelbrot set in OpenCL C. Every pixel of it is checked on every device.

  1. mandelcl lab --example naive -o mine.cl     begin with an example: naive, strides or vectors
  2. mandelcl lab mine.cl                        run it: is it right, what is wrong, how fast is it
  3. edit mine.cl, and go to 2
  4. mandelcl lab class/                         run all kernels of a folder, and rank them

docs/lesson.md is a lesson with exercises, docs/studies/your-kernel.md the contract. `mandelcl lab --help` has options.
"""


@click.command(
    "lab",
    epilog="""\b
Examples:
  mandelcl lab
  mandelcl lab --example naive -o mine.cl
  mandelcl lab mine.cl
  mandelcl lab naive strides vectors --at seahorse-valley --number double
  mandelcl lab mine.cl --check --json mine.json --markdown mine.md
""",
)
@click.argument("files", nargs=-1, type=completion.FILE, metavar="[FILE.cl | FOLDER | EXAMPLE ...]")
@click.option("--example", type=click.Choice(own_kernel.EXAMPLES), help="Write an example kernel to -o, or print it.")
@click.option("-o", "--output", type=completion.FILE, metavar="FILE.cl", help="A new file. [with --example]")
@device_option
@click.option("--repeat", type=click.IntRange(min=1), default=10, metavar="N", help="Timed runs. [default: 10]")
@click.option("--iterations", type=click.IntRange(min=2), metavar="N", help="The iteration limit. [default: 1000]")
@click.option(
    "--patience",
    type=click.FloatRange(min=0, min_open=True),
    default=PATIENCE_S,
    metavar="S",
    help="Seconds for each kernel on each device. [default: 30]",
)
@click.option("--json", "json_path", type=completion.FILE, metavar="FILE", help="Write the table as JSON.")
@click.option("--csv", "csv_path", type=completion.FILE, metavar="FILE", help="Write the table as CSV.")
@click.option("--markdown", "markdown_path", type=completion.FILE, metavar="FILE", help="Write the table as Markdown.")
@click.option("--wide", is_flag=True, help="Show all columns, even if they do not fit the terminal.")
@bench_kernel.view_options
def command(
    files: tuple[str, ...],
    example: str | None,
    output: str | None,
    devices: tuple[str, ...],
    repeat: int,
    iterations: int | None,
    patience: float,
    json_path: str | None,
    csv_path: str | None,
    markdown_path: str | None,
    wide: bool,
    **own: Any,
) -> None:
    """Write a kernel of your own, check it, time it, and rank a class.

    Without arguments, the steps are printed. With kernels, each runs on each device in a process of its own. Every
    pixel is compared with the right count. What is wrong is explained, and each kernel is timed beside mandelcl's. A
    FOLDER stands for all its .cl files: one for each student, for example. Several kernels are ranked: right ones by
    their time, then wrong ones. It is `mandelcl bench --kernel` with a ranking. A kernel runs with your rights: run
    only files that you trust.

    The exit code is 1 if a kernel is wrong or fails.
    """
    if example is not None:
        if files:
            raise click.UsageError(f"--example writes a file; leave {files[0]} out")
        _write_example(example, output)
        return
    if output is not None:
        raise click.UsageError("-o names the file for --example naive, strides or vectors")
    if not files:
        click.echo(_STEPS, nl=False)
        return
    kernels = bench_kernel.KernelOptions.of(kernel=kernels_of(files), example=None, **own)

    from mandelcl.cli import bench_tables
    from mandelcl.lab.own_kernel.ranking import rankings
    from mandelcl.lab.studies.bench import Bench

    study = kernels.study(Fraction(1), iterations)
    tables = bench_tables.Files(json_path, csv_path, markdown_path, None)
    tables.check(None)
    final = bench_tables.measured(study, Bench((), repeat, Fraction(1), iterations, patience), devices, tables, wide)
    failed = bench_kernel.explain(final.rows)
    if len(kernels.kernel) > 1:
        for ranking in rankings(final.rows):
            _show(ranking, wide)
    if not final.complete:
        raise CancelledError(f"stopped; {len(final.rows)} rows were measured")
    if failed:
        sys.exit(1)


def kernels_of(files: Sequence[str]) -> tuple[str, ...]:
    """Return the kernels that arguments name, those of a folder in alphabetical order.

    Raises InvalidInputError for a folder without kernels.
    """
    found: list[str] = []
    for file in files:
        if file in own_kernel.EXAMPLES or not Path(file).is_dir():
            found.append(file)
            continue
        inside = sorted(str(path) for path in Path(file).glob(f"*{own_kernel.SUFFIX}"))
        if not inside:
            raise InvalidInputError(f"{file} has no {own_kernel.SUFFIX} files; give a folder of kernels")
        found += inside
    return tuple(found)


def _write_example(name: str, output: str | None) -> None:
    text = own_kernel.example(name)
    if output is None:
        click.echo(text, nl=False)
        return
    if Path(output).suffix != own_kernel.SUFFIX:
        raise InvalidInputError(f"a kernel's file ends in {own_kernel.SUFFIX}, like mine.cl, not {output}")
    try:
        with Path(output).open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise FileError(f"{output} already exists; choose another name, or delete it", output) from None
    except OSError as error:
        raise FileError(f"cannot write {output}: {error.strerror}", output) from error
    click.echo(f"{output}: the example {name}; `mandelcl lab {output}` runs it")


def _show(ranking: "Ranking", wide: bool) -> None:
    from mandelcl.cli.terminal_table import show

    click.echo(f"\nRanking on {ranking.device}")
    show(ranking.HEADINGS, ranking.lines, wide)
