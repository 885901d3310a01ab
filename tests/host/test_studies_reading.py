"""Tables from files that nobody vouches for: each is read as the schema has it, or refused in one clear line."""

import copy
import csv
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import FileError
from mandelcl.lab.studies import changes, merging, reading
from mandelcl.lab.studies.document import Document
from tests.tables import STUDY, failed, planted, saved, table

GOOD = table(planted("x", extra={"n": 3, "good": True, "_map": "01/10"}), planted("y", device="Other"), failed("y"))
MERGED, _ = merging.merged([("a", GOOD), ("b", table(planted("x"), date="later"))], "merge", "today", "1")


def read(tmp_path: Path, text: str | bytes) -> Document:
    path = tmp_path / "table.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return reading.read(path, STUDY)


def refusal(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(FileError) as refused:
        read(tmp_path, text)
    return str(refused.value)


def read_or_refusal(tmp_path: Path, text: str) -> Document | str:
    try:
        return read(tmp_path, text)
    except FileError as error:
        return str(error)


def is_line(text: str) -> bool:
    return text.isprintable() and len(text) < 700


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        (b"\xff\xfe\xff", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"schema": 1, "study": "test", "rows": [NaN]}', "not JSON: NaN is not a number"),
        ('{"schema": ' + "9" * 10_000 + "}", "not JSON"),
        ("[1]", "not a table"),
        ("{}", "not a table"),
        ('{"schema": 99}', "schema 99"),
        ('{"schema": true}', "schema True"),
        ('{"schema": "' + "x" * 10_000 + '"}', "it has schema"),
        ('{"schema": 1, "study": "other", "rows": []}', "it is a table of study 'other', not 'test'"),
        ('{"schema": 1, "study": "test"}', "its rows"),
        ('{"schema": 1, "study": "test", "rows": [{"case": "a"}]}', "its rows .* row 1: device is missing"),
    ],
)
def test_invalid_table_is_refused_in_one_line(tmp_path: Path, text: str | bytes, why: str) -> None:
    with pytest.raises(FileError, match=why) as refused:
        read(tmp_path, text)
    assert is_line(str(refused.value))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"case": 7}, "row 1: case is not a text"),
        ({"machine": "elsewhere"}, "row 1 is of machine 'elsewhere', which is not among its sources"),
        ({"validation": "fine"}, "validation is 'fine'"),
        ({"samples": 1.5}, "samples is not a whole number"),
        ({"launches": -1}, "launches is not a number from 0"),
        ({"giter_s": 1e300}, "giter_s is not a number from 0"),
        ({"mpix_s": True}, "mpix_s is not a number"),
        ({"build_s": "1"}, "build_s is not a number"),
        ({"kernel_s": {"min": 1, "median": 1, "max": 1}}, "kernel_s does not have min, median, max, mean"),
        ({"kernel_s": {"min": 1, "median": -1, "max": 1, "mean": 1}}, "median is not a number from 0"),
        ({"wall_s": {"min": 2, "median": 1, "max": 3, "mean": 2}}, "wall_s has a median that is not between"),
        ({"wall_s": {"min": 1, "median": 1, "max": 3, "mean": 4}}, "wall_s has a mean that is not between"),
        ({"extra": []}, "extra is not an object"),
        ({"extra": {"a b": 1}}, "extra has the key 'a b', which is not a name"),
        ({"extra": {"n": [1]}}, "extra has a n that is neither a text nor a number"),
        ({"extra": {f"k{k}": k for k in range(300)}}, "extra is not an object of at most 200 values"),
    ],
)
def test_rows_that_are_not_as_the_schema_has_them_are_refused(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    values = json.loads(GOOD.to_json())
    values["rows"][0] |= change
    assert why in refusal(tmp_path, json.dumps(values))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"complete": "yes"}, "complete is neither true nor false"),
        ({"date": 3}, "date is not a text"),
        ({"sources": {}}, "its sources are not a list"),
        ({"sources": [7]}, "its sources are not as the schema has them"),
        ({"sources": [{"machine": "a"}, {"machine": "a"}]}, "do not name each machine once"),
        ({"sources": [{"machine": "a"}]}, "which is not among its sources"),
    ],
)
def test_table_metadata_is_validated(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    assert why in refusal(tmp_path, json.dumps(json.loads(GOOD.to_json()) | change))


def test_a_file_that_is_too_large_or_no_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_BYTES", 100)
    assert "more than 100 bytes" in refusal(tmp_path, GOOD.to_json())
    with pytest.raises(FileError, match="cannot read"):
        reading.read(tmp_path)


def test_tables_of_older_versions_are_read(tmp_path: Path) -> None:
    values = json.loads(GOOD.to_json())
    del values["sources"]
    for row in values["rows"]:
        del row["machine"], row["mandelcl"]
    assert read(tmp_path, json.dumps(values)).as_dict() == GOOD.as_dict()


def test_names_are_printable_and_short(tmp_path: Path) -> None:
    values = json.loads(GOOD.to_json())
    values["rows"][0] |= {"device": "a\x1b[31m\n\u202eb\ud800", "case": "c" * 5000, "error": "=cmd|x\t`<b>`"}
    found = read(tmp_path, json.dumps(values))
    assert found.rows[0].device == "a�[31m �b�"
    assert len(found.rows[0].case) == 300
    assert "'=cmd|x" in found.to_csv()
    assert r"=cmd\|x \`\<b>\`" in found.to_markdown()


def test_value_of_another_type_than_its_column_is_shown(tmp_path: Path) -> None:
    values = json.loads(GOOD.to_json())
    for value, shown in ((1.5, "1.5"), (10**18, "1" + "0" * 18), (True, "yes"), ("three", "three"), (None, "")):
        values["rows"][0]["extra"]["n"] = value
        headings, lines = read(tmp_path, json.dumps(values)).table()
        assert dict(zip(headings, lines[0], strict=True)).get("N", "") == shown


# Mutations

_JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 10**30, -0.0, 1e-320, 1.5, math.nan, math.inf, -math.inf, "", "x" * 3000, "ok", "WRONG"]),
    st.sampled_from(["\x1b[2J\n", "\ud800", "\u202e$a_b$", "=1+1", "|`<script>", [], {}, [[]], {"min": 1}]),
    st.text(max_size=5),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to each value inside of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in inside for found in ((*path, key), *places(item, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Return the text of a table in which some values are replaced, deleted or doubled, or bytes are cut out."""
    values = copy.deepcopy(json.loads(draw(st.sampled_from([GOOD, MERGED])).to_json()))
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(places(values) or [("rows",)]))
        parent = values
        for key in way:
            parent = parent[key]
        action = draw(st.sampled_from(["replace", "replace", "delete", "double"]))
        if action == "replace":
            parent[last] = draw(_JUNK)
        elif action == "delete":
            del parent[last]
        elif isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
    text = json.dumps(values)
    if draw(st.booleans()):
        return text
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.text(max_size=3)) + text[start + draw(st.integers(0, 3)) :]


@pytest.mark.full
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(mutated())
def test_every_mutation_is_refused_in_a_line_or_merges_correctly(tmp_path: Path, text: str) -> None:
    found = read_or_refusal(tmp_path, text)
    if isinstance(found, str):
        assert is_line(found)
        return
    other = table(planted("x", 0.5), planted("new"), date="another day")
    result, left_out = merging.merged([("m", found), ("n", other)], "command", "today", "1")
    assert len(left_out) <= 1
    assert {row.machine for row in result.rows} <= {source.machine for source in result.sources}
    best: dict[tuple[Any, ...], float] = {}
    for row in result.rows:
        ratio = row.extra.get("kernel_over_best")
        if ratio is not None:
            assert isinstance(ratio, float)
            assert 1 <= ratio < math.inf
            key = (row.case, str(row.extra.get("number")), row.extra.get("number") is None)
            best[key] = min(ratio, best.get(key, math.inf))
    assert set(best.values()) <= {1.0}
    check_texts(result)
    assert reading.read(saved(tmp_path / "merged.json", result), STUDY).as_dict() == result.as_dict()
    for old, new in ((found, other), (other, found), (found, found), (result, found)):
        assert all(is_line(cell) for change in changes.between(old, new).changes for cell in change.cells()[:2])
    assert not changes.between(found, found).worse


def check_texts(result: Document) -> None:
    """Assert that a table is not garbled in any of its forms."""
    headings, lines = result.table()
    assert all(len(line) == len(headings) and all(cell.isprintable() for cell in line) for line in lines)
    assert len(list(csv.reader(io.StringIO(result.to_csv())))) == 1 + len(result.rows)
    page = result.to_markdown()
    assert all(line.isprintable() for line in page.split("\n"))
    rows = [line.replace("\\\\", "").replace("\\|", "") for line in page.split("\n") if line.startswith("| ")]
    assert len(rows) == 2 + len(result.rows)
    assert len({row.count("|") for row in rows}) == 1
