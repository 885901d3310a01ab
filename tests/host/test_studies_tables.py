"""The studies' tables as JSON, CSV and Markdown, and one set beside an older one."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.lab.studies import changes, document, reading
from mandelcl.lab.studies.document import Document, Source
from mandelcl.lab.studies.row import Times
from tests.tables import STUDY, failed, planted, saved, table

ROOT = Path(__file__).parents[2]
FAILED = failed("b")

# Tables


def test_json_has_the_keys_of_the_documented_schema(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "studies" / "README.md").read_text(encoding="utf-8")
    schema = [
        re.findall(r"^\| (`[^|]*) \|", part, re.MULTILINE)
        for part in re.split("A source:|A row:", page.split("## The JSON schema")[1])
    ]
    top, source, row = ({name for line in part for name in re.findall(r"`(\w+)`", line)} for part in schema)
    found = table(planted(extra={"n": 3}), FAILED).as_dict()
    assert set(found) == top
    assert set(Source("a", "b", "c", "d", True).as_dict()) == source
    assert all(set(entry) == row for entry in found["rows"])
    assert found["schema"] == document.SCHEMA == 1
    assert set(found["rows"][0]["kernel_s"]) == {"min", "median", "max", "mean"}
    path = saved(tmp_path / "table.json", table(planted(extra={"n": 3}), FAILED))
    assert reading.read(path, STUDY).as_dict() == found == json.loads(Path(path).read_text(encoding="utf-8"))


def test_csv_has_a_line_a_row_and_a_column_a_value() -> None:
    rows = list(csv.DictReader(io.StringIO(table(planted(extra={"n": 3, "_map": "01/10"}), FAILED).to_csv())))
    assert [row["case"] for row in rows] == ["a", "b"]
    assert (rows[0]["kernel_median_s"], rows[0]["n"], rows[0]["validation"]) == ("1.0", "3", "ok")
    assert (rows[1]["kernel_median_s"], rows[1]["error"]) == ("", "no double")
    assert "_map" not in rows[0]
    assert {"device", "platform", "driver", "command", "date", "wall_max_s", "build_s", "copy_s", "launches"} <= set(
        rows[0]
    )


def test_markdown_shows_failures_and_marks_what_is_wrong() -> None:
    wrong = planted("c", validation="WRONG", differing_pixels=7, checked="by eye", extra={"good": False, "n": 5})
    page = table(planted(extra={"good": True}), FAILED, wrong).to_markdown("plot.png")
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
    return list(changes.between(old, new).changes)


def test_a_planted_slowdown_is_found() -> None:
    old = table(planted("a"), planted("b", 2.0), planted("c", 3.0))
    new = table(planted("a"), planted("b", 2.6), planted("c", 1.5))
    found = _changes(old, new)
    assert [bool(change.worse) for change in found] == [False, True, False]
    assert found[1].worse == "kernel 1.30 times as long, wall 1.30 times as long"
    assert [change.kernel for change in found] == [1.0, 1.3, 0.5]
    headings, lines = changes.table(found)
    assert headings[-1] == "Worse"  # nobody has a remark
    assert {len(line) for line in lines} == {len(headings)}


def test_noise_is_not_a_slowdown() -> None:
    wide = Times(0.95, 1.3, 2.0, 1.4)
    assert not _changes(table(planted()), table(planted(kernel_s=wide, wall_s=wide)))[0].worse
    assert not _changes(table(planted()), table(planted(kernel=1.09)))[0].worse


def test_failures_wrong_counts_and_missing_rows_are_worse() -> None:
    old = table(planted("a"), planted("b"), planted("c"), failed("d"))
    new = table(
        planted("a", kernel_s=None, wall_s=None, error="out of memory"), planted("b", validation="WRONG"), planted("e")
    )
    found = _changes(old, new)
    assert [change.worse for change in found] == ["fails: out of memory", "wrong counts", "missing", "", ""]
    assert [change.remark for change in found[3:]] == ["only in the older table", "only in this table"]


def test_what_a_stopped_run_did_not_reach_is_not_worse() -> None:
    found = _changes(table(planted("a"), planted("b")), table(planted("a"), complete=False))
    assert [(change.worse, change.remark) for change in found] == [("", ""), ("", "only in the older table")]


def test_tables_of_two_studies_are_not_compared() -> None:
    other = replace(table(planted()), study=replace(STUDY, name="other"))
    with pytest.raises(InvalidInputError, match="'other'"):
        _changes(table(planted()), other)


def test_devices_that_only_one_table_has_are_listed_and_not_worse() -> None:
    old = table(planted(), planted(device="Gone"))
    new = table(planted(kernel=1.01), planted(device="New", kernel=9.0))
    found = changes.between(old, new)
    assert [(change.device, change.remark) for change in found.changes] == [
        ("Thing, Platform", ""),
        ("Gone, Platform", "only in the older table"),
        ("New, Platform", "only in this table"),
    ]
    assert (found.worse, found.shared, found.compared) == ([], True, 1)
    headings, lines = changes.table(found.changes)
    assert headings[-1] == "Remark"
    assert {len(line) for line in lines} == {len(headings)}


def test_without_a_common_device_the_best_of_each_case_are_compared() -> None:
    old = table(planted("a", 2.0), planted("a", 4.0, device="Slow"), planted("b"), planted("c", validation="WRONG"))
    new = table(planted("a", 6.0, device="X"), planted("a", 3.0, device="Y"), planted("c", device="X"))
    found = changes.between(old, new)
    assert (found.worse, found.shared, found.compared) == ([], False, 1)
    assert [(change.case, change.device, change.kernel, change.remark) for change in found.changes] == [
        ("a", "Y, Platform", 1.5, "against Thing, Platform"),
        ("b", "Thing, Platform", None, "only in the older table"),
        ("c", "X, Platform", None, "right in this table only"),
    ]
    assert changes.Change("a", "", kernel=0.0123, wall=12.345).cells()[2:4] == ["0.012", "12.35"]


def test_tables_without_a_common_case_compare_nothing() -> None:
    found = changes.between(table(planted("a 64²")), table(planted("a 32²")))
    assert (found.shared, found.compared, [change.worse for change in found.changes]) == (True, 0, ["missing", ""])
    found = changes.between(table(planted("a 64²")), table(planted("a 32²", device="X")))
    assert (found.shared, found.compared, found.worse) == (False, 0, [])


def test_device_is_found_after_runtimes_are_renumbered() -> None:
    old, new = table(planted(spec="0:0")), table(planted("a", 1.3, spec="1:0"), planted(device="X", spec="0:0"))
    assert [bool(change.worse) for change in _changes(old, new)] == [True, False]


def test_identical_devices_are_numbered() -> None:
    old = table(planted(spec="0:0"), planted(spec="0:1"))
    new = table(planted(spec="0:0"), planted("a", 2.0, spec="0:1"))
    assert [(change.device, bool(change.worse)) for change in _changes(old, new)] == [
        ("Thing, Platform, 0:0", False),
        ("Thing, Platform, 0:1", True),
    ]
