"""A run of a study for `mandelcl bench`: row by row into the user's files, then a table."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias

from mandelcl.base.errors import CancelledError
from mandelcl.cli.bench_tables import Files, origin, present
from mandelcl.cli.interruptible import interruptible
from mandelcl.cli.progress import say
from mandelcl.engine import choose
from mandelcl.studies import merging
from mandelcl.studies.bench import Bench
from mandelcl.studies.document import Document, Source
from mandelcl.studies.row import Row
from mandelcl.studies.study import Study
from mandelcl.version import __version__

Rows: TypeAlias = Callable[[Bench], Iterator[Row]]
MakeTable: TypeAlias = Callable[[Sequence[Row], bool], Document]


def measured(study: Study, options: Bench, specs: Sequence[str], files: Files, wide: bool) -> Document:
    """Run a study on the devices that `specs` names, write its files, print its table, and return it.

    `options` is a Bench without devices. Ctrl-C ends the run early: what was measured is written and returned, not
    `complete`.
    """
    line, began = origin()

    def rows(bench: Bench) -> Iterator[Row]:
        return study.run(replace(bench, devices=choose.matching(specs)))

    def table(rows: Sequence[Row], complete: bool) -> Document:
        return Document(study, rows, line, began, __version__, complete)

    return _shown(rows, table, options, files, wide)


def measured_on_cluster(
    study: Study, options: Bench, cluster: str, wait: float, specs: Sequence[str], files: Files, wide: bool
) -> Document:
    """Run a study on the workers of a cluster, as `measured` does here; its rows name their machines.

    `wait` is for how many seconds the cluster may be without a worker; the devices are for workers of this machine.
    """
    from mandelcl.crew.dask.connection import Connection
    from mandelcl.studies.on_cluster import ClusterRun

    line, began = origin()
    machines: dict[str, bool] = {}

    def rows(bench: Bench) -> Iterator[Row]:
        with closing(Connection.to(cluster, specs, wait)) as connection:
            run = ClusterRun(connection, study.name, bench, lambda said: say(f"mandelcl: {said}"))
            nonlocal machines
            machines = run.complete
            yield from run.rows()

    def table(rows: Sequence[Row], complete: bool) -> Document:
        known = [Source(name, line, began, __version__, complete and whole) for name, whole in dict(machines).items()]
        if not known:
            return Document(study, rows, line, began, __version__, complete=False)
        return merging.assembled(study, known, rows, line, began, __version__)

    return _shown(rows, table, options, files, wide)


def _shown(rows_of: Rows, table: MakeTable, options: Bench, files: Files, wide: bool) -> Document:
    """Collect rows, write the table of those so far to the files after each, then print and return it."""
    rows: list[Row] = []

    def work(cancel: threading.Event) -> bool:
        try:
            for row in rows_of(replace(options, cancel=cancel)):
                rows.append(row)
                say(f"mandelcl: {_summary(row)}")
                files.write(table(rows, False))
        except CancelledError:
            return False
        return True

    complete = interruptible(work)
    final = table(rows, complete)
    files.write(final)
    present(final, wide)
    files.draw(final)
    return final


def _summary(row: Row) -> str:
    where = f"{row.case}, {row.device} ({row.platform})" + (f" at {row.machine}" if row.machine else "")
    if row.error:
        return f"{where}: {row.error}"
    kernel, wall = (f"{times.median * 1e3:.4g} ms" if times else "?" for times in (row.kernel_s, row.wall_s))
    return f"{where}: kernel {kernel}, wall {wall}, counts {row.validation}"
