"""A table that can be shared: speeds and the devices' own names, without names of people or machines."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.lab.studies.document import Document
from mandelcl.lab.studies.row import Row, Times
from mandelcl.lab.studies.study import Study

_DIGITS = 4  # of each time and rate
_EXTRA = ("number", "rounding", "peak_gfma_s", "peak_share")
_DAY = 10  # characters of a date


def command_of(study: Study) -> str:
    """Return the command that a shared table names: without options, which may name files and hosts."""
    return f"mandelcl bench {study.name}"


def shared(table: Document) -> Document:
    """Return the part of a run that can be shared: its good rows, without command line, time of day and messages.

    Raises InvalidInputError if no row has right counts.
    """
    rows = [_shared(row) for row in table.rows if is_good(row)]
    if not rows:
        raise InvalidInputError("no row has right counts, so there is nothing to share")
    return Document(table.study, rows, command_of(table.study), table.date[:_DAY], table.version, table.complete)


def is_good(row: Row) -> bool:
    """Return whether a row has a rate and right counts."""
    return not row.error and row.validation == "ok" and bool(row.giter_s)


def devices_of(rows: Sequence[Row]) -> list[str]:
    """Return the names of the devices of some rows."""
    return list(dict.fromkeys(row.device for row in rows))


def _shared(row: Row) -> Row:
    clocks: dict[str, Any] = {name: _times(getattr(row, name)) for name in ("kernel_s", "wall_s", "compute_s")}
    values: dict[str, Any] = {
        name: _short(getattr(row, name)) for name in ("build_s", "copy_s", "longest_launch_ms", "mpix_s")
    }
    extra = {name: _value(row.extra[name]) for name in _EXTRA if name in row.extra}
    return replace(row, machine="", error="", extra=extra, giter_s=_short(row.giter_s), **clocks, **values)


def _times(times: Times | None) -> Times | None:
    if times is None:
        return None
    short = (_short(seconds) for seconds in (times.min, times.median, times.max, times.mean))
    return Times(*(seconds or 0.0 for seconds in short))


def _value(value: object) -> str | float | None:
    return _short(value) if isinstance(value, float) else None if value is None else str(value)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")
