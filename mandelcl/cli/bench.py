"""`mandelcl bench`."""

from fractions import Fraction

import click

from mandelcl.cli import bench_run, bench_tables
from mandelcl.cli.options import device_option, trace_option
from mandelcl.cli.trace import recorded
from mandelcl.errors import CancelledError, InvalidInputError
from mandelcl.exact import parse_number
from mandelcl.studies import STUDIES, document, find_study
from mandelcl.studies.bench import PATIENCE_S, Bench


@click.command(
    "bench",
    epilog="""\b
Examples:
  mandelcl bench --list
  mandelcl bench devices
  mandelcl bench hybridizer --scale 1/16 --repeat 3 --json then.json --csv then.csv --markdown then.md
""",
)
@click.argument("study", required=False)
@click.option("--list", "listing", is_flag=True, help="List the studies.")
@device_option
@click.option("--repeat", type=click.IntRange(min=1), default=10, metavar="N", help="Timed runs per row. [default: 10]")
@click.option("--scale", default="1", metavar="S", help="Scale the sides of all pictures, as 1/8. [default: 1]")
@click.option("--cap", type=click.IntRange(min=2), metavar="N", help="Limit all iteration caps to N.")
@click.option(
    "--patience",
    type=click.FloatRange(min=0, min_open=True),
    default=PATIENCE_S,
    metavar="S",
    help="Seconds a row may take: longer runs are skipped, and repeats stop in time. [default: 30]",
)
@click.option("--json", "json_path", metavar="FILE", help="Write the table as JSON.")
@click.option("--csv", "csv_path", metavar="FILE", help="Write the table as CSV.")
@click.option("--markdown", "markdown_path", metavar="FILE", help="Write a page in Markdown.")
@click.option("--plot", "plot_path", metavar="FILE", help="Draw the study: .png, .svg or .pdf. [needs the extra plot]")
@trace_option
@click.option("--compare", "old_path", metavar="OLD.json", help="Compare with an older table.")
def command(
    study: str | None,
    listing: bool,
    devices: tuple[str, ...],
    repeat: int,
    scale: str,
    cap: int | None,
    patience: float,
    json_path: str | None,
    csv_path: str | None,
    markdown_path: str | None,
    plot_path: str | None,
    trace: str | None,
    old_path: str | None,
) -> None:
    """Time the devices, and repeat published experiments.

    Each row is one case on one device; all devices are timed unless --device names some. Counts are validated before
    anything is timed, and the first run is discarded. A device that fails, or cannot do a case, gets a row that says
    why. Files are updated row by row, so an interrupt loses nothing that was measured.

    With --compare the exit code is 1 if anything is worse than in the older table. --trace records what the devices and
    the host did when, which takes a little time itself.
    """
    if listing:
        for name, summary in STUDIES.items():
            click.echo(f"{name:11} {summary}")
        return
    if study is None:
        raise click.UsageError("name a STUDY; `mandelcl bench --list` lists them")
    chosen = find_study(study)
    factor = parse_number(scale, "scale")
    if not 0 < factor <= 16:
        raise InvalidInputError(f"the scale must be above 0 and at most 16, not {scale}")
    files = bench_tables.Files(json_path, csv_path, markdown_path, plot_path)
    files.check(trace)
    old = document.read(old_path) if old_path is not None else None
    if old is not None and old.get("study") != study:
        raise InvalidInputError(f"{old_path} is a table of study {old.get('study')!r}, not {study!r}")
    bench = Bench((), repeat, Fraction(factor), cap, patience)
    with recorded(trace, f"bench {study}"):
        final = bench_run.measured(chosen, bench, devices, files)
    if old is not None:
        bench_tables.compare(old, final)
    if not final.complete:
        raise CancelledError(f"stopped; {len(final.rows)} rows were measured")
