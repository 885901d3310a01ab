"""What `mandelcl bench` makes of its tables: files, text on the terminal, one table beside an older one."""

import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from mandelcl.files.paths import require_writable
from mandelcl.studies import changes, document, plots
from mandelcl.studies.document import Document


class Files:
    """The files that the user asked for."""

    def __init__(self, *paths: str | None) -> None:
        self._json, self._csv, self._markdown, self._plot = paths

    def check(self, trace: str | None) -> None:
        """Raise FileError if one of them, or the trace, cannot be written; leaves nothing behind."""
        files = (self._json, self._csv, self._markdown, self._plot, trace)
        require_writable(*(path for path in files if path is not None))
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


def show(headings: list[str], lines: list[list[str]]) -> None:
    """Print a table; lines with wrong counts are red."""
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


def compare(old: dict[str, Any], new: Document) -> None:
    """Print the ratios; exit with code 1 if anything got worse."""
    differences = changes.between(old, new.as_dict())
    click.echo("")
    show(changes.HEADINGS, [change.cells() for change in differences])
    worse = [change for change in differences if change.worse]
    for change in worse:
        click.echo(f"mandelcl: worse: {change.case}, {change.device}: {change.worse}", err=True)
    if worse:
        sys.exit(1)
    click.echo(f"mandelcl: nothing got worse than on {old.get('date', 'an unknown day')}", err=True)
