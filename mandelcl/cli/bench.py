"""`mandelcl bench`."""

import shutil
import sys
import textwrap
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.exact import parse_number
from mandelcl.base.names import PATIENCE_S
from mandelcl.cli import bench_kernel, completion
from mandelcl.cli.options import device_option, recorded, trace_option
from mandelcl.cli.progress import print_line
from mandelcl.lab.studies import STUDIES, find_study

if TYPE_CHECKING:
    from mandelcl.lab.studies.study import Study


_LARGEST_LIMIT = (1 << 32) - 2  # the kernels of studies count in 32 bits


@click.command(
    "bench",
    epilog="""\b
Examples:
  mandelcl bench --list
  mandelcl bench devices --versus --json laptop.json
  mandelcl bench devices --share rtx-4090.json
  mandelcl bench --merge laptop.json server.json --markdown both.md --plot both.png
  mandelcl bench hybridizer --scale 1/16 --repeat 3 --json then.json --csv then.csv --markdown then.md
  mandelcl bench --example naive > mine.cl
  mandelcl bench --kernel mine.cl
  mandelcl bench --kernel naive --kernel strides --kernel vectors --number double --at seahorse-valley
""",
)
@click.argument("names", nargs=-1, shell_complete=completion.studies, metavar="[STUDY | TABLE.json ...]")
@click.option("--list", "listing", is_flag=True, help="List the studies.")
@device_option
@click.option("--repeat", type=click.IntRange(min=1), default=10, metavar="N", help="Timed runs per row. [default: 10]")
@click.option(
    "--scale", default="1", metavar="S", help="Scale the sides of all pictures, for example 1/8. [default: 1]"
)
@click.option(
    "--cap",
    "max_iterations",
    type=click.IntRange(min=2, max=_LARGEST_LIMIT),
    metavar="N",
    help="Lower all iteration limits to N. [with --kernel: the limit]",
)
@click.option(
    "--patience",
    type=click.FloatRange(min=0, min_open=True),
    default=PATIENCE_S,
    metavar="S",
    help="Seconds per row: longer runs are skipped, and repeats end early. [default: 30]",
)
@click.option("--json", "json_path", type=completion.FILE, metavar="FILE", help="Write the table as JSON.")
@click.option("--csv", "csv_path", type=completion.FILE, metavar="FILE", help="Write the table as CSV.")
@click.option(
    "--markdown", "markdown_path", type=completion.FILE, metavar="FILE", help="Write the table as a Markdown page."
)
@click.option(
    "--plot",
    "plot_path",
    type=completion.FILE,
    metavar="FILE",
    help="Draw the study: .png, .svg or .pdf. [needs the extra plot]",
)
@click.option(
    "--share",
    "share_path",
    is_flag=False,
    flag_value="share.json",
    type=completion.FILE,
    metavar="[FILE.json]",
    help="Write a small table to give away, without names, folders or addresses. [only for devices]",
)
@click.option("--pictures", "folder", metavar="FOLDER", help="Save the study's pictures here. [only for precision]")
@trace_option
@click.option("--compare", "old_path", type=completion.FILE, metavar="OLD.json", help="Compare with an older table.")
@click.option("--merge", "merging", is_flag=True, help="Merge tables written by --json. Nothing is measured.")
@click.option("--versus", is_flag=True, help="Compare the devices with published measurements.")
@click.option("--wide", is_flag=True, help="Show all columns, even if they do not fit the terminal.")
@click.option("--quiet", is_flag=True, help="Print the table, but no line for each row as it is measured.")
@bench_kernel.kernel_options
def command(
    names: tuple[str, ...],
    listing: bool,
    devices: tuple[str, ...],
    repeat: int,
    scale: str,
    max_iterations: int | None,
    patience: float,
    json_path: str | None,
    csv_path: str | None,
    markdown_path: str | None,
    plot_path: str | None,
    share_path: str | None,
    folder: str | None,
    trace: str | None,
    old_path: str | None,
    merging: bool,
    versus: bool,
    wide: bool,
    quiet: bool,
    **own: Any,
) -> None:
    """Time the devices, and repeat published experiments.

    Each row is one case on one device. All devices are timed unless you name some with --device. Counts are validated
    before anything is timed, and the first run is discarded. If a device fails or cannot run a case, its row says why.
    Files are updated after each row, so an interrupt loses no measurement.

    --share writes the speeds and the devices' own names to a file that you can post; docs/sharing-speeds.md says where.

    --merge combines tables of one study from several machines. Each device of each machine gets a row, with its time
    relative to the best of the case. Machines are named after the files.

    The exit code is 1 if a device has wrong counts or, with --compare, if anything is slower than in the older table.
    Rows that only one table has are listed but do not count as slower. --trace records what the devices and the host
    did over time, which adds a small overhead.

    --kernel runs a kernel of your own in a separate process and compares it with mandelcl's: every pixel is checked,
    the first difference and known mistakes are explained, and the kernel is timed. docs/studies/your-kernel.md
    describes its arguments and what it must compute. The exit code is 1 if its counts are wrong or it fails.
    """
    kernels = bench_kernel.KernelOptions.of(**own)
    if kernels.example is not None:
        kernels.print_example()
        return
    kernels.require_sense(names)
    if listing:
        _list()
        return
    from mandelcl.cli import bench_tables
    from mandelcl.lab.studies import reading
    from mandelcl.lab.studies.bench import Bench
    from mandelcl.lab.studies.versus import baseline

    files = bench_tables.Files(json_path, csv_path, markdown_path, plot_path)
    if merging:
        _refuse_measuring()
        if len(names) < 2:
            raise click.UsageError("--merge needs at least two tables, as in `mandelcl bench --merge A.json B.json`")
        files.check(None)
        bench_tables.merge(names, files, old_path, wide)
        return
    factor = parse_number(scale, "scale")
    if not 0 < factor <= 16:
        raise InvalidInputError(f"the scale must be above 0 and at most 16, not {scale}")
    chosen = kernels.study(factor, max_iterations) if kernels.kernel else _study(names)
    if share_path is not None:
        bench_tables.require_shareable(chosen, share_path, factor, max_iterations)
    files.check(trace)
    pictures = bench_tables.checked_folder(chosen, folder)
    old = reading.read(old_path, chosen) if old_path is not None else None
    base = baseline(chosen) if versus else None
    with recorded(trace, f"bench {chosen.name}"):
        bench = Bench((), repeat, Fraction(factor), max_iterations, patience, pictures=pictures)
        final = bench_tables.measured(chosen, bench, devices, files, wide, quiet)
    if share_path is not None:
        bench_tables.share(final, share_path)
    failed = bench_kernel.explain(final.rows) if kernels.kernel else False
    if base is not None:
        bench_tables.place(final, base, wide)
    if old is not None:
        bench_tables.compare(old, final, wide)
    if not final.complete:
        raise CancelledError(f"stopped; {len(final.rows)} rows were measured")
    wrong = sum(row.validation == "WRONG" for row in final.rows)
    if wrong and not kernels.kernel:
        print_line(f"mandelcl: wrong counts in {wrong} of {len(final.rows)} rows")
    if wrong or failed:
        sys.exit(1)


def _list() -> None:
    """Print the studies, one line each, cut to the width of a terminal."""
    width = max(map(len, STUDIES))
    for name, summary in STUDIES.items():
        line = f"{name:{width}}  {summary}"
        if sys.stdout.isatty():
            columns = shutil.get_terminal_size().columns
            line = textwrap.fill(line, max(columns, 2 * width), subsequent_indent=" " * (width + 2))
        click.echo(line)


def _study(names: tuple[str, ...]) -> "Study":
    """Return the study to run."""
    if not names:
        raise click.UsageError("name a STUDY, or a kernel with --kernel; `mandelcl bench --list` lists the studies")
    if len(names) > 1:
        raise click.UsageError("give one STUDY at a time; to merge several tables, add --merge")
    return find_study(names[0])


def _refuse_measuring() -> None:
    """Raise click.UsageError if an option that controls measuring is given."""
    context = click.get_current_context()
    for name in ("devices", "repeat", "scale", "cap", "patience", "folder", "trace", "versus", "share_path"):
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = {"devices": "device", "folder": "pictures", "share_path": "share"}.get(name, name)
            raise click.UsageError(f"--merge measures nothing; leave --{option} out")
