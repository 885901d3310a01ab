"""The studies' tables as JSON, CSV and Markdown, and one set beside an older one."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mandelcl.errors import FileError, InvalidInputError
from mandelcl.studies import changes, document
from mandelcl.studies.document import Document
from mandelcl.studies.row import Row, Times
from mandelcl.studies.study import Column, Study

ROOT = Path(__file__).parents[2]

# Tables


def _row(case: str = "a", kernel: float = 1.0, **changes: Any) -> Row:
    times = Times(kernel * 0.99, kernel, kernel * 1.02, kernel)
    row = Row(
        case, "0:0", "Thing", "Platform", "1.0", "OpenCL 3.0", "gpu", 10, times, times, None, 0.5, 0.1, 3, 2.0, 5.0, 6.0
    )
    usual: dict[str, Any] = {"validation": "ok", "differing_pixels": 0, "checked": "all"}
    return replace(row, **usual | changes)


def _draw(_figure: Any, _rows: Any) -> None:
    pass


def _nothing(_bench: Any) -> Iterator[Row]:
    yield from ()


STUDY = Study(
    "test", "A test", _nothing, _draw, (Column("n", "N", "d"), Column("good", "Good")), ("old: 1",), ("note",)
)
FAILED = _row("b", kernel_s=None, wall_s=None, validation="", samples=0, error="no double", checked="", mpix_s=None)


def _document(*rows: Row) -> Document:
    return Document(STUDY, rows, "mandelcl bench test", "2026-01-02T03:04:05Z", "0.0")


def test_json_has_the_keys_of_the_documented_schema(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "studies" / "README.md").read_text(encoding="utf-8")
    tables = [
        re.findall(r"^\| (`[^|]*) \|", part, re.MULTILINE)
        for part in page.split("## The JSON schema")[1].split("A row:")
    ]
    top, row = ({name for line in table for name in re.findall(r"`(\w+)`", line)} for table in tables)
    found = _document(_row(extra={"n": 3}), FAILED).as_dict()
    assert set(found) == top
    assert all(set(entry) == row for entry in found["rows"])
    assert found["schema"] == document.SCHEMA == 1
    assert set(found["rows"][0]["kernel_s"]) == {"min", "median", "max", "mean"}
    path = tmp_path / "table.json"
    path.write_text(_document(_row(extra={"n": 3}), FAILED).to_json(), encoding="utf-8")
    assert document.read(path) == json.loads(json.dumps(found))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("[1]", "not a table"),
        ("{}", "not a table"),
        ('{"schema": 99}', "schema 99"),
        ('{"schema": 1}', "its rows"),
        ('{"schema": 1, "rows": [{"case": "a"}]}', "its rows"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=why) as refused:
        document.read(path)
    assert "\n" not in str(refused.value)


def test_csv_has_a_line_a_row_and_a_column_a_value() -> None:
    rows = list(csv.DictReader(io.StringIO(_document(_row(extra={"n": 3, "_map": "01/10"}), FAILED).to_csv())))
    assert [row["case"] for row in rows] == ["a", "b"]
    assert (rows[0]["kernel_median_s"], rows[0]["n"], rows[0]["validation"]) == ("1.0", "3", "ok")
    assert (rows[1]["kernel_median_s"], rows[1]["error"]) == ("", "no double")
    assert "_map" not in rows[0]
    assert {"device", "platform", "driver", "command", "date", "wall_max_s", "build_s", "copy_s", "launches"} <= set(
        rows[0]
    )


def test_markdown_shows_failures_and_marks_what_is_wrong() -> None:
    wrong = _row("c", validation="WRONG", differing_pixels=7, checked="by eye", extra={"good": False, "n": 5})
    page = _document(_row(extra={"good": True}), FAILED, wrong).to_markdown("plot.png")
    lines = [line for line in page.splitlines() if line.startswith("| ")]
    assert len(lines) == 5
    assert len({line.count("|") for line in lines}) == 1
    assert "no double" in lines[3]
    assert "WRONG: 7 pixels (by eye)" in lines[4]
    assert "| NO |" in lines[4]
    assert "![A test](plot.png)" in page
    assert "- old: 1" in page
    assert "`mandelcl bench test`, 2026-01-02" in page


# Comparison


def _changes(old: Document, new: Document) -> list[changes.Change]:
    return changes.between(old.as_dict(), new.as_dict())


def test_a_planted_slowdown_is_found() -> None:
    old = _document(_row("a"), _row("b", 2.0), _row("c", 3.0))
    new = _document(_row("a"), _row("b", 2.6), _row("c", 1.5))
    found = _changes(old, new)
    assert [bool(change.worse) for change in found] == [False, True, False]
    assert found[1].worse == "kernel 1.30 times as long, wall 1.30 times as long"
    assert [change.kernel for change in found] == [1.0, 1.3, 0.5]


def test_noise_is_not_a_slowdown() -> None:
    wide = Times(0.95, 1.3, 2.0, 1.4)
    assert not _changes(_document(_row()), _document(_row(kernel_s=wide, wall_s=wide)))[0].worse
    assert not _changes(_document(_row()), _document(_row(kernel=1.09)))[0].worse


def test_failures_wrong_counts_and_missing_rows_are_worse() -> None:
    old = _document(_row("a"), _row("b"), _row("c"), replace(FAILED, case="d"))
    new = _document(
        _row("a", kernel_s=None, wall_s=None, error="out of memory"), _row("b", validation="WRONG"), _row("e")
    )
    assert [change.worse for change in _changes(old, new)] == ["fails: out of memory", "wrong counts", "missing", ""]


def test_tables_of_two_studies_are_not_compared() -> None:
    other = replace(_document(_row()), study=replace(STUDY, name="other"))
    with pytest.raises(InvalidInputError, match="'other'"):
        _changes(_document(_row()), other)
