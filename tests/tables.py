"""Tables of studies that nobody measured: rows with planted times, and what `mandelcl bench --json` writes of them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from mandelcl.lab.studies.document import Document
from mandelcl.lab.studies.row import Row, Times
from mandelcl.lab.studies.study import Column, Study


def planted(case: str = "a", kernel: float = 1.0, **changes: Any) -> Row:
    """Return a row whose median kernel and wall time are so many seconds."""
    times = Times(kernel * 0.99, kernel, kernel * 1.02, kernel)
    names = ("0:0", "Thing", "Platform", "1.0", "OpenCL 3.0", "gpu")
    row = Row(case, *names, 10, times, times, giter_s=6 / kernel)
    usual: dict[str, Any] = {"build_s": 0.5, "copy_s": 0.1, "launches": 3, "longest_launch_ms": 2.0, "mpix_s": 5.0}
    usual |= {"validation": "ok", "differing_pixels": 0, "checked": "all"}
    return replace(row, **usual | changes)


def failed(case: str = "a", **changes: Any) -> Row:
    """Return a row of a device that cannot do the case."""
    nothing: dict[str, Any] = {"kernel_s": None, "wall_s": None, "validation": "", "samples": 0, "checked": ""}
    nothing |= {"mpix_s": None, "giter_s": None, "error": "no double"}
    return planted(case, **nothing | changes)


def _draw(_figure: Any, _rows: Any) -> None:
    pass


def _nothing(_bench: Any) -> Iterator[Row]:
    yield from ()


COLUMNS = (Column("n", "N", "d"), Column("good", "Good"), Column("first", "Over first", ".2f", relative=True))
STUDY = Study("test", "A test", _nothing, _draw, COLUMNS, ("old: 1",), ("note",))


def table(*rows: Row, study: Study = STUDY, date: str = "2026-01-02T03:04:05Z", **changes: Any) -> Document:
    """Return a table of a run."""
    return replace(Document(study, rows, f"mandelcl bench {study.name}", date, "0.0"), **changes)


def saved(path: Path, document: Document) -> str:
    """Write a table as `--json` does, and return its path."""
    path.write_text(document.to_json(), encoding="utf-8")
    return str(path)
