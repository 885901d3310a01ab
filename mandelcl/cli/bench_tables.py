"""Run a study for `mandelcl bench`: write each row to the user's files, and print tables of the results."""

import datetime
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import click

from mandelcl.base.errors import CancelledError, InvalidInputError
from mandelcl.base.text import command_line
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.progress import print_line
from mandelcl.cli.terminal_table import show
from mandelcl.engine import choose
from mandelcl.files.paths import require_writable
from mandelcl.lab.studies import changes, document, merging, plots, reading, sharing, versus
from mandelcl.lab.studies.bench import Bench
from mandelcl.lab.studies.cells import cleaned
from mandelcl.lab.studies.document import Document
from mandelcl.lab.studies.row import Row
from mandelcl.lab.studies.study import Study
from mandelcl.version import __version__


class Files:
    """The output files that the user named."""

    def __init__(self, *paths: str | None) -> None:
        self._json, self._csv, self._markdown, self._plot = paths

    def check(self, trace: str | None) -> None:
        """Raise FileError if one of them, or the trace, cannot be written. Leaves no file behind."""
        files = (self._json, self._csv, self._markdown, self._plot, trace)
        require_writable(*(path for path in files if path is not None))
        if self._plot is not None:
            plots.require(self._plot)

    def write(self, result: Document) -> None:
        """Write the current tables."""
        if self._json is not None:
            document.write(self._json, result.to_json())
        if self._csv is not None:
            document.write(self._csv, result.to_csv())
        if self._markdown is not None:
            document.write(self._markdown, result.to_markdown(Path(self._plot).name if self._plot else ""))

    def draw(self, result: Document) -> None:
        """Draw the plot."""
        if self._plot is not None:
            plots.save(result.study, result.rows_as_dicts(), self._plot)


def checked_folder(study: Study, folder: str | None) -> Path | None:
    """Return the folder for a study's pictures, or None if --pictures is not given.

    Raises InvalidInputError if the study draws no pictures, and FileError if the folder cannot be written to.
    """
    if folder is None:
        return None
    if not study.pictures:
        raise InvalidInputError(f"the study {study.name} draws no pictures of its own; --plot draws its table")
    require_writable(Path(folder) / "picture.png")
    return Path(folder)


def present(result: Document, wide: bool) -> None:
    """Print a table and its summary in words; notes on the parts of a merged table go to standard error."""
    show(*result.table(), wide)
    if conclusions := result.conclusions():
        click.echo("\n" + "\n".join(conclusions))
    for remark in result.remarks:
        print_line(f"mandelcl: {remark}")


def compare(old: Document, new: Document, wide: bool) -> None:
    """Print the ratios; exit with code 1 if anything got slower."""
    found = changes.between(old, new)
    click.echo("")
    show(*changes.table(found.changes), wide)
    for change in found.worse:
        print_line(f"mandelcl: worse: {change.case}, {change.device}: {change.worse}")
    date = old.date or "an unknown day"
    if not found.compared:
        common = "no case is in both tables" if found.shared else "neither a case nor a device is in both tables"
        print_line(f"mandelcl: {common}; a different --scale or --cap makes different cases")
    elif not found.shared:
        print_line(
            "mandelcl: no device is in both tables, so each case's best row is compared with the best of "
            f"{date}; nothing is reported as worse"
        )
    elif not found.worse:
        print_line(f"mandelcl: nothing got worse than on {date}")
    if found.worse:
        sys.exit(1)


def place(run: Document, base: Document, wide: bool) -> None:
    """Print how the devices of a run compare with those of a baseline."""
    found = versus.standing(run, base)
    click.echo("")
    if found.lines:
        show(versus.HEADINGS, found.lines, wide)
        click.echo("")
    for sentence in found.sentences:
        click.echo(sentence)


def require_shareable(study: Study, path: str, scale: Fraction, max_iterations: int | None) -> None:
    """Raise InvalidInputError unless the run can be compared with others, and FileError if it cannot be written."""
    if not (versus.FOLDER / f"{study.name}.json").is_file():
        raise InvalidInputError(f"--share is for `mandelcl bench devices`; the study {study.name} has no baseline")
    if scale != 1 or max_iterations is not None:
        raise InvalidInputError("--share compares the same cases everywhere; leave --scale and --cap out")
    if Path(path).suffix != ".json":
        raise InvalidInputError(f"--share writes JSON; name the file after the device, like rtx-4090.json, not {path}")
    require_writable(path)


def share(result: Document, path: str) -> None:
    """Write what of a table can be shared, and say what is in it and where it goes."""
    table = sharing.shared(result)
    document.write(path, table.to_json())
    size = Path(path).stat().st_size / 1000
    names = ", ".join(sharing.devices_of(table.rows))
    click.echo(
        f"\n{path}: {len(table.rows)} rows of {names}, {size:.1f} kB, without names, folders or addresses of yours. "
        "docs/sharing-speeds.md says where it goes."
    )


def merge(paths: Sequence[str], files: Files, old_path: str | None, wide: bool) -> None:
    """Merge tables into one, write it to the files, print it, and compare it with an older table."""
    tables = list(zip(merging.machine_names(paths), map(reading.read, paths), strict=True))
    result, left_out = merging.merged(tables, *origin(), __version__)
    old = reading.read(old_path, result.study) if old_path is not None else None
    files.draw(result)
    files.write(result)
    present(result, wide)
    for line in left_out:
        print_line(f"mandelcl: {line}")
    if old is not None:
        compare(old, result, wide)


def origin() -> tuple[str, str]:
    """Return the command line as the user wrote it, and the UTC time in ISO 8601."""
    time = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return cleaned(command_line(["mandelcl", *sys.argv[1:]]), 2000), time


def measured(
    study: Study, options: Bench, specs: Sequence[str], files: Files, wide: bool, quiet: bool = False
) -> Document:
    """Run a study on the devices that `specs` names, write its files, print its table, and return it.

    Unless it is to be `quiet`, it prints a line for each row.
    `options` is a Bench without devices. Ctrl-C ends the run early: the rows measured so far are written and returned,
    and the table is not marked `complete`.
    """
    line, began = origin()
    rows: list[Row] = []

    def table(complete: bool) -> Document:
        return Document(study, rows, line, began, __version__, complete)

    def work(cancel: threading.Event) -> bool:
        try:
            for row in study.run(replace(options, devices=choose.matching(specs), cancel=cancel)):
                rows.append(row)
                if not quiet:
                    print_line(f"mandelcl: {_summary(row)}")
                files.write(table(False))
        except CancelledError:
            return False
        return True

    complete = interruptible(work)
    final = table(complete)
    files.write(final)
    present(final, wide)
    files.draw(final)
    return final


def _summary(row: Row) -> str:
    where = f"{row.case}, {row.device} ({row.platform})"
    if row.error:
        return f"{where}: {row.error}"
    kernel, wall = (f"{times.median * 1e3:.4g} ms" if times else "?" for times in (row.kernel_s, row.wall_s))
    return f"{where}: kernel {kernel}, wall {wall}, counts {row.validation}"
