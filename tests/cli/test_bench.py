"""`mandelcl bench`: tables, files, comparison, bad input, an interrupt."""

import csv
import io
import json
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mandelcl.base.extras import how_to_install
from mandelcl.lab.studies import STUDIES, find_study, native
from mandelcl.lab.studies.row import Row, Times
from tests.cli.conftest import Run, best_device, start, wait_for
from tests.interruptible import STOPPED

TINY = ("--scale", "1/256", "--cap", "30", "--repeat", "1")
pytestmark = pytest.mark.usefixtures("usable")


def bench(run: Run, *arguments: str, code: int = 0) -> Any:
    result = run("bench", *arguments)
    assert result.code == code, result.err
    return result


def test_list_names_every_study(run: Run) -> None:
    lines = bench(run, "--list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(STUDIES)


def test_the_list_fits_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from mandelcl.cli.bench import _list

    _list()
    assert len(capsys.readouterr().out.splitlines()) == len(STUDIES)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    _list()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) > len(STUDIES)


@pytest.mark.full
def test_table_and_files(run: Run, folder: Path) -> None:
    files = ("--json", "t.json", "--csv", "t.csv", "--markdown", "t.md")
    result = bench(run, "hybridizer", *TINY, *files)
    found = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert (found["schema"], found["study"], found["complete"]) == (1, "hybridizer", True)
    assert found["command"] == "mandelcl bench hybridizer " + " ".join((*TINY, *files))
    devices = {(row["device"], row["spec"]) for row in found["rows"]} - {(native.processor(), native.SPEC)}
    assert len(found["rows"]) == 2 + 8 * len(devices)
    lines = result.out.splitlines()
    assert len(lines) == 2 + len(found["rows"])
    for row, line in zip(found["rows"], lines[2:], strict=True):  # nothing is cut off in a pipe
        assert all(row[key] in line for key in ("case", "device", "platform", "driver", "error", "validation"))
    text = io.StringIO((folder / "t.csv").read_text(encoding="utf-8"))
    assert len(list(csv.DictReader(text))) == len(found["rows"])
    assert "GTX 1080 Ti" in (folder / "t.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["t.csv", "t.json", "t.md"]
    reported = [line for line in result.err.splitlines() if line.startswith("mandelcl: ")]  # drivers may chat, too
    assert len(reported) == len(found["rows"])


@pytest.mark.full
def test_plot(run: Run, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    bench(run, "hybridizer", *TINY, *best_device(), "--plot", "t.svg", "--markdown", "t.md")
    assert "<svg" in (folder / "t.svg").read_text(encoding="utf-8")
    assert "](t.svg)" in (folder / "t.md").read_text(encoding="utf-8")


@pytest.mark.full
def test_difference_pictures(run: Run, folder: Path) -> None:
    (folder / "p").mkdir()
    bench(run, "precision", *best_device(), "--scale", "1/256", "--repeat", "1", "--json", "t.json", "--pictures", "p")
    rows = json.loads((folder / "t.json").read_text(encoding="utf-8"))["rows"]
    smallest = min(row["extra"]["resolution"] for row in rows)
    expected = {
        f"precision-R{smallest}-{row['extra']['order']}-{row['spec'].replace(':', '.')}.png": row["extra"]
        for row in rows
        if row["extra"]["resolution"] == smallest and "float_differs" in row["extra"]
    }
    assert sorted(path.name for path in (folder / "p").iterdir()) == sorted(expected)
    for name, extra in expected.items():
        with Image.open(folder / "p" / name) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        assert pixels.shape == (2 * smallest, 3 * smallest, 3)
        assert np.count_nonzero(pixels.min(axis=2) == 255) == extra["float_differs"]
        assert np.count_nonzero(pixels.max(axis=2)) == extra["float_differs"]
    assert any(extra["float_differs"] for extra in expected.values())


FOUND = {"variation": "dust", "rule": "border alone", "size": 8, "cap": 9, "wrong_pixels": 3, "speed_up": 2.0}


@pytest.fixture
def right(run: Run, folder: Path) -> Row:
    """A row that was measured, right in all."""
    bench(run, "hybridizer", *TINY, *best_device(), "--json", "right.json")
    found = json.loads((folder / "right.json").read_text(encoding="utf-8"))["rows"]
    (folder / "right.json").unlink()
    values = next(row for row in found if not row["error"])
    times = {key: values[key] and Times(**values[key]) for key in ("kernel_s", "wall_s", "compute_s")}
    return Row(**{field.name: values[field.name] for field in fields(Row)} | times)


@pytest.mark.full
@pytest.mark.parametrize(
    ("changes", "code", "reported"),
    [
        ({"validation": "WRONG", "differing_pixels": 3}, 1, "mandelcl: wrong counts in 1 of 2 rows"),
        ({"extra": FOUND}, 0, None),
    ],
    ids=["a device that is wrong", "a rule that is wrong"],
)
def test_wrong_counts_fail_and_wrong_rules_are_reported(
    run: Run,
    folder: Path,
    right: Row,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    code: int,
    reported: str | None,
) -> None:
    study = replace(find_study("variations"), run=lambda _bench: iter([right, replace(right, **changes)]))
    monkeypatch.setattr("mandelcl.cli.bench.find_study", lambda _name: study)
    result = bench(run, "variations", *TINY, "--json", "t.json", code=code)
    assert len(json.loads((folder / "t.json").read_text(encoding="utf-8"))["rows"]) == 2
    assert (result.err.splitlines()[-1] == reported) == (reported is not None)
    heading = result.out.splitlines()[0]
    assert ("Wrong pixels" in heading) == (reported is None)
    assert ("`border alone` has wrong pixels in dust (up to 3)" in result.out) == (reported is None)


def _changed(path: Path, factor: float) -> None:
    """Make the times of a table so many times as long."""
    found = json.loads(path.read_text(encoding="utf-8"))
    for row in found["rows"]:
        for key in ("kernel_s", "wall_s"):
            row[key] = row[key] and {name: seconds * factor for name, seconds in row[key].items()}
    path.write_text(json.dumps(found), encoding="utf-8")


@pytest.mark.full
def test_compare_finds_a_planted_slowdown(run: Run, folder: Path) -> None:
    study = ("hybridizer", *TINY, *best_device())
    bench(run, *study, "--json", "old.json")
    _changed(folder / "old.json", 1e-3)
    result = bench(run, *study, "--compare", "old.json", code=1)
    measured = sum(not row["error"] for row in json.loads((folder / "old.json").read_text(encoding="utf-8"))["rows"])
    assert result.err.count("mandelcl: worse: ") == measured
    assert "times as long" in result.out
    _changed(folder / "old.json", 1e6)
    assert "nothing got worse" in bench(run, *study, "--compare", "old.json").err


@pytest.mark.parametrize(
    ("arguments", "why", "code"),
    [
        (("nothing",), "unknown study 'nothing'; there is devices", 2),
        (("hybridizer", "--scale", "0"), "scale", 2),
        (("hybridizer", "--scale", "1e9"), "scale", 2),
        (("hybridizer", "--scale", "x"), "scale", 2),
        (("hybridizer", "--device", "nothing-like-it"), "no device matches", 1),
        (("hybridizer", "--json", "no/such/folder.json"), "no folder", 1),
        (("hybridizer", "--json", "a", "--csv", "a"), "the same file", 1),
        (("hybridizer", "--markdown", "."), "folder", 1),
        (("hybridizer", "--plot", "a.gif"), "suffix", 2),
        (("hybridizer", "--compare", "none.json"), "cannot read none.json", 1),
        (("precision", "--pictures", "none"), "no folder", 1),
        (("hybridizer", "--pictures", "."), "the study hybridizer draws no pictures of its own", 2),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_file(
    run: Run, folder: Path, arguments: tuple[str, ...], why: str, code: int
) -> None:
    result = bench(run, *arguments, *(() if "--scale" in arguments else TINY), code=code)
    assert why in result.line
    assert result.out == ""
    assert list(folder.iterdir()) == []


def test_missing_study_and_bad_numbers_are_usage_errors(run: Run) -> None:
    for arguments in ((), ("hybridizer", "--repeat", "0"), ("hybridizer", "--patience", "0")):
        assert bench(run, *arguments, code=2).line


def test_a_table_of_another_study_is_refused_before_anything_runs(run: Run, folder: Path) -> None:
    (folder / "old.json").write_text('{"schema": 1, "study": "sizes", "rows": []}', encoding="utf-8")
    assert "of study 'sizes'" in bench(run, "hybridizer", *TINY, "--compare", "old.json", code=1).line


def test_a_missing_matplotlib_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    line = bench(run, "hybridizer", *TINY, "--plot", "a.png", code=2).line
    assert line == f"mandelcl: --plot needs matplotlib: {how_to_install('plot')}"


@pytest.mark.full
def test_interrupt_keeps_measured_rows(folder: Path) -> None:
    process = start("bench", "border", "--scale", "1/32", "--json", "t.json", "--markdown", "t.md", cwd=folder)
    wait_for(folder / "t.md", process)
    process.interrupt()
    _, err = process.communicate(timeout=600)
    assert process.returncode == STOPPED, err
    assert "Traceback" not in err
    assert "mandelcl: stopped" in err.splitlines()[-1]
    found = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert found["complete"] is False
    assert found["rows"]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]
