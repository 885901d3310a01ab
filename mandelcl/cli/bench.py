"""`mandelcl bench`."""

import datetime
import shlex
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from mandelcl import __version__
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.options import device_option
from mandelcl.engine import choose
from mandelcl.errors import CancelledError, InvalidInputError
from mandelcl.exact import parse_number
from mandelcl.files.paths import require_writable
from mandelcl.studies import STUDIES, changes, document, find_study, plots
from mandelcl.studies.bench import PATIENCE_S, Bench
from mandelcl.studies.document import Document
from mandelcl.studies.row import Row


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
    old_path: str | None,
) -> None:
    """Time the devices, and repeat published experiments.

    Each row is one case on one device; all devices are timed unless --device names some. Counts are validated before
    anything is timed, and the first run is discarded. A device that fails, or cannot do a case, gets a row that says
    why. Files are updated row by row, so an interrupt loses nothing that was measured.

    With --compare the exit code is 1 if anything is worse than in the older table.
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
    files = _Files(json_path, csv_path, markdown_path, plot_path)
    files.check()
    old = document.read(old_path) if old_path is not None else None
    if old is not None and old.get("study") != study:
        raise InvalidInputError(f"{old_path} is a table of study {old.get('study')!r}, not {study!r}")
    line = shlex.join(["mandelcl", *sys.argv[1:]])
    today = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rows: list[Row] = []

    def work(cancel: threading.Event) -> bool:
        bench = Bench(choose.matching(devices), repeat, Fraction(factor), cap, patience, cancel)
        try:
            for row in chosen.run(bench):
                rows.append(row)
                click.echo(f"mandelcl: {_summary(row)}", err=True)
                files.write(Document(chosen, rows, line, today, __version__, complete=False))
        except CancelledError:
            return False
        return True

    complete = interruptible(work)
    final = Document(chosen, rows, line, today, __version__, complete)
    files.write(final)
    _show(*final.table())
    files.draw(final)
    if old is not None:
        _compare(old, final)
    if not complete:
        raise CancelledError(f"stopped; {len(rows)} rows were measured")


class _Files:
    """The files that the user asked for."""

    def __init__(self, *paths: str | None) -> None:
        self._json, self._csv, self._markdown, self._plot = paths

    def check(self) -> None:
        """Raise FileError if one of them cannot be written; leaves nothing behind."""
        texts = [path for path in (self._json, self._csv, self._markdown) if path is not None]
        require_writable(*texts, *([self._plot] if self._plot is not None else []))
        if self._plot is not None:
            plots.require(self._plot)

    def write(self, result: Document) -> None:
        """Write the tables as they are now."""
        if self._json is not None:
            document.write(self._json, result.to_json())
        if self._csv is not None:
            document.write(self._csv, result.to_csv())
        if self._markdown is not None:
            document.write(self._markdown, result.to_markdown(Path(self._plot).name if self._plot else ""))

    def draw(self, result: Document) -> None:
        """Draw the plot."""
        if self._plot is not None:
            plots.save(result.study, result.as_dict()["rows"], self._plot)


def _summary(row: Row) -> str:
    if row.error:
        return f"{row.case}, {row.device} ({row.platform}): {row.error}"
    kernel, wall = (f"{times.median * 1e3:.4g} ms" if times else "?" for times in (row.kernel_s, row.wall_s))
    return f"{row.case}, {row.device} ({row.platform}): kernel {kernel}, wall {wall}, counts {row.validation}"


def _show(headings: list[str], lines: list[list[str]]) -> None:
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console.width = 100_000  # never truncate what a program may read
    table = Table(show_edge=False, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    for cells in lines:
        wrong: dict[str, Any] = {"style": "red"} if any(cell.startswith("WRONG") for cell in cells) else {}
        table.add_row(*cells, **wrong)
    console.print(table)


def _compare(old: dict[str, Any], new: Document) -> None:
    """Print the ratios; exit with code 1 if anything got worse."""
    differences = changes.between(old, new.as_dict())
    click.echo("")
    _show(changes.HEADINGS, [change.cells() for change in differences])
    worse = [change for change in differences if change.worse]
    for change in worse:
        click.echo(f"mandelcl: worse: {change.case}, {change.device}: {change.worse}", err=True)
    if worse:
        sys.exit(1)
    click.echo(f"mandelcl: nothing got worse than on {old.get('date', 'an unknown day')}", err=True)
