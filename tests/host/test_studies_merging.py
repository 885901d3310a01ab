"""Tables of several machines as one: whose rows, in which order, beside the best of their case, and what is said."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.lab.studies import STUDIES, changes, find_study, merging, plots, reading
from mandelcl.lab.studies.document import Document
from tests.tables import STUDY, failed, planted, saved, table

A = table(planted("x", 2.0), planted("y", 4.0, device="Slow"), failed("y"))
B = table(planted("y", 1.0), planted("x", 8.0), date="2026-02-02T00:00:00Z")


def merged(**tables: Document) -> Document:
    result, left_out = merging.merged(list(tables.items()), "mandelcl bench --merge", "2026-03-03T00:00:00Z", "9.9")
    assert left_out == []
    return result


def remarks(document: Document) -> str:
    return "\n".join(document.remarks)


def test_rows_are_ordered_by_case_and_know_their_machine() -> None:
    found = merged(a=A, b=B)
    assert [(row.case, row.machine, row.device) for row in found.rows] == [
        ("x", "a", "Thing"),
        ("x", "b", "Thing"),
        ("y", "a", "Slow"),
        ("y", "a", "Thing"),
        ("y", "b", "Thing"),
    ]
    assert [row.extra.get("kernel_over_best") for row in found.rows] == [1.0, 4.0, 4.0, None, 1.0]
    assert [row["date"] for row in found.rows_as_dicts()] == [
        A.date if row.machine == "a" else B.date for row in found.rows
    ]
    assert {row["mandelcl"] for row in found.rows_as_dicts()} == {"0.0"}
    assert (found.version, found.date) == ("9.9", "2026-03-03T00:00:00Z")


def test_every_format_of_a_merged_table_has_machines_and_ratios() -> None:
    found = merged(a=A, b=B)
    headings, lines = found.table()
    assert headings[:2] == ["Case", "Machine"]
    assert [line[headings.index("Kernel × best")] for line in lines] == ["1", "4", "4", "", "1"]
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["machine"] for row in rows] == ["a", "b", "a", "a", "b"]
    assert [row["wall_over_best"] for row in rows] == ["1.0", "4.0", "4.0", "", "1.0"]
    assert "| x | b |" in found.to_markdown()
    assert "Machine" not in A.table()[0]


def test_the_best_is_a_row_with_right_counts_in_the_same_number() -> None:
    wrong = planted("x", 0.5, validation="WRONG")
    other = planted("x", 1.0, extra={"number": "float"})
    found = merged(a=table(planted("x", 2.0, extra={"number": "double"}), wrong), b=table(other))
    assert [row.extra.get("kernel_over_best") for row in found.rows] == [1.0, None, 1.0]
    assert "The number differs in x: double on a; float on b. Rows in different numbers are not compared." in remarks(
        found
    )


def test_values_beside_another_row_of_the_run_are_left_out() -> None:
    found = merged(a=table(planted(extra={"first": 1.0, "n": 3})), b=B)
    assert "first" not in found.rows[0].extra
    assert found.rows[0].extra["n"] == 3
    assert "Over first" not in found.table()[0]


def test_a_merged_table_reads_back_and_merges_again(tmp_path: Path) -> None:
    first = merged(a=A, b=B)
    again = reading.read(saved(tmp_path / "ab.json", first), STUDY)
    assert again.as_dict() == first.as_dict()
    third = table(planted("x", 1.0), date="2026-02-03T00:00:00Z")
    both = merged(ab=again, c=third)
    assert both.as_dict()["rows"] == merged(a=A, b=B, c=third).as_dict()["rows"]
    assert [row.extra["kernel_over_best"] for row in both.rows if row.case == "x"] == [2.0, 8.0, 1.0]


def test_a_merged_table_can_be_compared() -> None:
    old, new = merged(a=A, b=B), merged(a=A, b=table(planted("x", 16.0)))
    found = changes.between(old, new)
    assert [(change.case, change.device) for change in found.worse] == [
        ("x", "Thing, Platform, b"),
        ("y", "Thing, Platform, b"),
    ]
    alone = changes.between(merged(a=A, b=table(planted("z", device="Other"))), A)  # it does not name its machine
    assert (alone.worse, alone.compared) == ([], 3)


def test_machine_already_in_table_is_merged_once() -> None:
    first = merged(a=A, b=B)
    tables = [("ab", first), ("copy", B), ("part", replace(A, rows=A.rows[:1]))]
    result, left_out = merging.merged(tables, "", "", "")
    assert result.rows == first.rows
    assert left_out == [
        "copy is left out: all its rows are there already, of machine b",
        "part is left out: all its rows are there already, of machine a",
    ]


def test_machines_are_named_after_files_and_told_apart() -> None:
    assert merging.machine_names(["x/laptop.json", "server.json"]) == ["laptop", "server"]
    assert merging.machine_names(["/x/t.json", "/y/t.json", "u.json"]) == ["x/t", "y/t", "u"]
    third = table(planted("x", 3.0), date="later")
    (result, _) = merging.merged([("a", merged(a=A, b=B)), ("a", third)], "", "", "")
    assert [source.machine for source in result.sources] == ["a", "b", "a (2)"]
    assert [row.machine for row in result.rows if row.case == "x"] == ["a", "b", "a (2)"]


def test_a_long_case_is_shortened_in_a_remark() -> None:
    other = table(planted("x", 8.0), date="2026-02-02T00:00:00Z")
    reported = remarks(merged(a=table(planted("x"), planted("y" * 500)), b=other))
    assert "Machine b lacks 1 of 2 cases: yyy" in reported
    assert "y" * 60 not in reported


def test_unmergeable_tables_are_refused() -> None:
    stopped = table(planted("x 32²"), planted("y", extra={"rounding": "fused"}), complete=False, version="0.2")
    found = merged(a=table(planted("x"), planted("y", extra={"rounding": "separate"})), b=stopped)
    assert not found.complete
    reported = remarks(found)
    assert "Machine b: mandelcl 0.2, 2026-01-02T03:04:05Z, mandelcl bench test; it stopped early" in reported
    assert "The versions of mandelcl differ: 0.0, 0.2." in reported
    assert "Machine a lacks 1 of 3 cases: x 32². Another --scale or --cap makes other cases" in reported
    assert "Machine b lacks 1 of 3 cases: x." in reported
    assert "The rounding differs in y: fused on b; separate on a." in reported
    assert found.as_dict()["notes"] == ["note", *found.remarks]
    assert "stopped early" in found.to_markdown()
    plain = remarks(merged(a=A, b=table(planted("x"), planted("y"))))
    assert not any(word in plain for word in ("stopped", "differ", "lacks"))


def test_tables_of_two_studies_are_not_merged() -> None:
    other = table(planted(), study=replace(STUDY, name="other"))
    with pytest.raises(InvalidInputError, match=r"a is of study 'test', b of 'other'; merge tables of one study"):
        merged(a=A, b=other)


# Conclusions


def test_device_summary_names_the_fastest_and_agreement() -> None:
    study = find_study("devices")
    rows = [
        planted("float 8² cap 3", 2.0, extra={"number": "float"}),
        planted("float 8² cap 3", 1.0, extra={"number": "float"}, device="Fast"),
        planted("double 8² cap 3", 2.0, extra={"number": "double"}),
        failed("double 8² cap 3", device="Fast"),
    ]
    whole = table(*rows, study=study)
    assert whole.conclusions() == [
        "Fastest: float on Fast, Platform (6 Giter/s); double on Thing, Platform (3 Giter/s).",
        "All counts agreed.",
    ]
    assert "- All counts agreed." in whole.to_markdown()
    slower = "Fastest: float on Thing, Platform (3 Giter/s)."
    assert table(rows[0], study=study).conclusions() == [slower, "All counts were right."]
    assert table(rows[0], replace(rows[1], validation="WRONG"), study=study).conclusions() == [
        slower,
        "Counts are WRONG in float 8² cap 3 on Fast, Platform: do not trust these devices.",
    ]
    assert table(rows[3], study=study).conclusions() == []
    fastest, counts = merged(a=whole, b=table(planted("float 4² cap 3", 0.1), study=study)).conclusions()
    assert "float on Fast, Platform, a" in fastest
    assert "float 4² cap 3 on Thing, Platform, b (60 Giter/s)" in fastest
    assert counts == "All counts were right."


def test_rows_without_data_for_a_conclusion_are_one_line() -> None:
    study = find_study("border")
    found = merged(a=table(planted(), study=study), b=table(planted(), study=study, date="later"))
    assert found.conclusions() == ["Nothing is concluded: the rows lack values that this study measures."]


# Plots


EXTRA = {
    "devices": {"number": "float"},
    "hybridizer": {"mpix_s_with_copies": 4.0},
    "border": {"sweep": "cap", "algorithm": "border", "size": 64, "cap": 9, "pixels": 4096},
    "fp128": {"place": "Mini Set 1"},
    "rewriting": {"place": "Mini Set 1"},
    "sizes": {"size": 16, "kind": "kernel"},
    "precision": {"resolution": 9, "order": "fused", "number": "float", "_where": "01/10", "percent": 1.0},
    "workgroup": {"resolution": 9, "columns": 1, "rows": 4},
    "norm": {"resolution": 9, "test": "norm"},
    "variations": {
        "variation": "z³ + c",
        "rule": "strict",
        "size": 64,
        "cap": 9,
        "speed_up": 1.5,
        "wrong_pixels": 2,
        "computed": 0.5,
    },
    "scaling": {"resolution": 9, "units": 2, "lanes": "one lane", "schedule": "driver", "speed_up": 1.5}
    | {"efficiency": 0.8},
    "breakdown": {
        f"{stage}_s": 0.1 for stage in ("start", "build", "allocate", "kernel", "copy", "colour", "encode", "end")
    },
}


@pytest.mark.full
@pytest.mark.parametrize("name", STUDIES)
def test_many_machines_are_drawn(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    study = find_study(name)
    case = "16x16 tiles" if name == "hybridizer" else "a, b"
    tables = {
        f"m{k}": table(planted(case, 1.0 + k, extra=EXTRA[name]), study=study, date=f"day {k}") for k in range(12)
    }
    document = merged(**tables)
    drawn = plots.coloured(document.rows_as_dicts())
    assert len({row["label"] for row in drawn}) == len({row["colour"] for row in drawn}) == 12
    path = tmp_path / "plot.svg"
    plots.save(study, document.rows_as_dicts(), path)
    assert "<svg" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [3, 30])
def test_bars_name_each_device_in_a_legend_or_beside_them(number: int) -> None:
    figures = pytest.importorskip("matplotlib.figure")
    figure = figures.Figure()
    rows = plots.coloured(table(*(planted(device=f"D{k}") for k in range(number))).rows_as_dicts())
    find_study("devices").draw(figure, rows)
    (axes,) = figure.axes
    beside = [tick.get_text() for tick in axes.get_yticklabels()]
    legend = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert (legend if number == 3 else beside) == [f"D{k}, Platform" for k in range(number)]
    assert (beside if number == 3 else [text.get_text() for text in axes.texts]) == ["a"]
    assert not (number == 30 and legend)


def test_labels_are_distinct_even_where_long_names_are_cut() -> None:
    names = ["$x^2$", "_hidden", "é" * 400 + "1", "é" * 400 + "2", "twin", "twin"]
    rows = [planted(device=name, spec=f"0:{k}") for k, name in enumerate(names)]
    shown = [row["label"] for row in plots.coloured(table(*rows).rows_as_dicts())]
    assert len(set(shown)) == len(names)
    assert max(map(len, shown)) < 140
    assert shown[0].startswith(r"\$x^2\$")
    assert not any(label.startswith("_") for label in shown)


def test_rows_without_data_for_a_plot_are_one_line(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = json.loads(table(planted()).to_json())["rows"]
    for name in ("border", "sizes", "workgroup", "scaling", "breakdown", "hybridizer"):
        with pytest.raises(InvalidInputError, match=f"cannot draw .*{name}") as refused:
            plots.save(find_study(name), rows, tmp_path / "plot.png")
        assert "\n" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []
