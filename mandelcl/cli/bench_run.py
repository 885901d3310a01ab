"""A run of a study for `mandelcl bench`: row by row into the user's files, then a table."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from mandelcl.base.errors import CancelledError
from mandelcl.cli.bench_tables import Files, origin, present
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.progress import say
from mandelcl.engine import choose
from mandelcl.studies.bench import Bench
from mandelcl.studies.document import Document
from mandelcl.studies.row import Row
from mandelcl.studies.study import Study
from mandelcl.version import __version__


def measured(study: Study, options: Bench, specs: Sequence[str], files: Files, wide: bool) -> Document:
    """Run a study on the devices that `specs` names, write its files, print its table, and return it.

    `options` is a Bench without devices. Ctrl-C ends the run early: what was measured is written and returned, not
    `complete`.
    """
    line, began = origin()
    rows: list[Row] = []

    def table(complete: bool) -> Document:
        return Document(study, rows, line, began, __version__, complete)

    def work(cancel: threading.Event) -> bool:
        try:
            for row in study.run(replace(options, devices=choose.matching(specs), cancel=cancel)):
                rows.append(row)
                say(f"mandelcl: {_summary(row)}")
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
