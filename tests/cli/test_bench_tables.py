"""`mandelcl bench --merge`, `--compare` and `--versus`, on planted tables where that will do."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mandelcl.lab.studies import find_study, reading, sharing, versus
from mandelcl.lab.studies.document import Document
from tests.cli.conftest import Run, best_device, refused
from tests.tables import failed, planted, saved, table

TINY = ("--scale", "1/256", "--cap", "30", "--repeat", "1")
FLOAT, DOUBLE = ("float 8² cap 9", {"number": "float", "rounding": "fused"}), ("double 8² cap 9", {"number": "double"})


def devices(speed: float = 1.0, **changes: Any) -> Document:
    """Return a table of the study `devices` from a machine of some speed."""
    rows = [planted(case, 1 / speed, extra=extra, **changes) for case, extra in (FLOAT, DOUBLE)]
    return table(*rows, study=find_study("devices"), date=f"2026-01-0{len(str(speed))}")


@pytest.fixture
def two(folder: Path) -> tuple[str, str]:
    """Two tables: of a laptop, and of a server that is four times as fast."""
    saved(folder / "laptop.json", devices())
    saved(folder / "server.json", devices(4.0))
    return "laptop.json", "server.json"


def test_merge_makes_one_table(run: Run, folder: Path, two: tuple[str, str]) -> None:
    files = ("--json", "both.json", "--csv", "both.csv", "--markdown", "both.md")
    result = run("bench", "--merge", *two, *files)
    assert result.code == 0, result.err
    found = reading.read("both.json")
    assert [(row.case, row.machine) for row in found.rows] == [
        (case, machine) for case, _ in (FLOAT, DOUBLE) for machine in ("laptop", "server")
    ]
    lines = result.out.splitlines()
    assert [line.split("│")[1].strip() for line in lines[2:6]] == ["laptop", "server"] * 2
    assert "Kernel × best" in lines[0]
    assert lines[-2].startswith("Fastest: float on Thing, Platform, server (24 Giter/s); double on Thing")
    assert result.err.count("mandelcl: Machine ") == 2
    rows = list(csv.DictReader((folder / "both.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["kernel_over_best"] for row in rows] == ["4.0", "1.0"] * 2
    assert found.command == "mandelcl bench --merge " + " ".join((*two, *files))
    assert "Machine laptop: mandelcl 0.0" in (folder / "both.md").read_text(encoding="utf-8")


def test_merging_into_a_table_keeps_its_place(run: Run, folder: Path, two: tuple[str, str]) -> None:
    saved(folder / "third.json", devices(2.0))
    assert run("bench", "--merge", *two, "--json", "all.json").code == 0
    assert run("bench", "--merge", "all.json", "third.json", "--json", "all.json").code == 0
    assert [source.machine for source in reading.read("all.json").sources] == ["laptop", "server", "third"]
    result = run("bench", "--merge", "all.json", "third.json", "--json", "all.json")
    assert "third is left out: all its rows are there already, of machine third" in result.err
    assert len(reading.read("all.json").sources) == 3


def test_merge_draws_all_machines(run: Run, folder: Path, two: tuple[str, str]) -> None:
    pytest.importorskip("matplotlib")
    assert run("bench", "--merge", *two, "--plot", "both.svg").code == 0
    assert "<svg" in (folder / "both.svg").read_text(encoding="utf-8")


def test_merged_tables_are_compared(run: Run, folder: Path, two: tuple[str, str]) -> None:
    run("bench", "--merge", *two, "--json", "then.json")
    assert "nothing got worse" in run("bench", "--merge", *two, "--compare", "then.json").err
    saved(folder / "server.json", devices(3.0))
    result = run("bench", "--merge", *two, "--compare", "then.json")
    assert result.code == 1
    assert "mandelcl: worse: float 8² cap 9, Thing, Platform, server: kernel 1.33 times as long" in result.err


@pytest.mark.parametrize(
    ("old", "code", "reported"),
    [
        (devices(), 0, "nothing got worse than on 2026-01-03"),
        (devices(device="Other"), 0, "no device is in both tables"),
        (devices(100.0), 1, "mandelcl: worse: "),
        (table(planted("else"), study=find_study("devices")), 1, "no case is in both tables; a different --scale"),
        (table(planted("else", device="X"), study=find_study("devices")), 0, "neither a case nor a device is in both"),
    ],
)
def test_the_exit_code_is_1_only_where_a_device_of_both_got_worse(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, old: Document, code: int, reported: str
) -> None:
    new = devices()
    monkeypatch.setattr("mandelcl.cli.bench_tables.measured", lambda *_arguments: new)
    saved(folder / "old.json", old)
    result = run("bench", "devices", "--compare", "old.json")
    assert (result.code, reported in result.err) == (code, True), result.err
    assert ("worse: " in result.err) == bool(code)


def test_merge_takes_two_tables_and_measures_nothing(run: Run, folder: Path, two: tuple[str, str]) -> None:
    assert "--merge needs at least two tables" in refused(run, folder, "bench", "--merge", code=2)
    assert "--merge needs at least two tables" in refused(run, folder, "bench", "--merge", two[0], code=2)
    for option in (("--device", "gpu"), ("--repeat", "10"), ("--scale", "1"), ("--versus",), ("--patience", "9")):
        why = refused(run, folder, "bench", "--merge", *two, *option, code=2)
        assert f"--merge measures nothing; leave {option[0]} out" in why
    assert "add --merge" in refused(run, folder, "bench", *two, code=2)


def _damage(**changes: Any) -> Callable[[Path], object]:
    def damage(path: Path) -> None:
        values = json.loads(path.read_text(encoding="utf-8"))
        values["rows"][0] |= changes
        path.write_text(json.dumps(values), encoding="utf-8")

    return damage


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda path: path.unlink(), "cannot read server.json: "),  # and the system's own words
        (lambda path: path.write_text("{}"), "cannot read server.json: not a table"),
        (lambda path: saved(path, table(planted(), study=find_study("border"))), "merge tables of one study"),
        (lambda path: path.write_text('{"schema": 1, "study": "\\u001b[31m", "rows": []}'), "unknown study '�[31m'"),
        (_damage(wall_s={"min": 0, "median": float("nan"), "max": 1, "mean": 1}), "NaN is not a number"),
        (_damage(kernel_s={"min": -1, "median": 0, "max": 1, "mean": 0}), "row 1: min is not a number from 0"),
    ],
)
def test_file_that_is_not_a_table_of_the_study_is_refused_in_one_line(
    run: Run, folder: Path, two: tuple[str, str], damage: Callable[[Path], object], why: str
) -> None:
    damage(folder / "server.json")
    outputs = ("--json", "both.json", "--markdown", "both.md")
    code = 2 if why == "merge tables of one study" else 1  # two good files that do not belong together are wrong usage
    assert why in refused(run, folder, "bench", "--merge", *two, *outputs, code=code)


def test_rows_that_cannot_be_drawn_leave_no_file(run: Run, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    for name in ("a", "b"):
        saved(folder / f"{name}.json", table(planted(name), study=find_study("border"), date=name))
    outputs = ("--json", "both.json", "--plot", "both.png")
    assert "cannot draw both.png" in refused(run, folder, "bench", "--merge", "a.json", "b.json", *outputs)
    assert run("bench", "--merge", "a.json", "b.json", *outputs[:2]).code == 0


# --versus


def test_the_baseline_is_shipped_and_whole() -> None:
    study = find_study("devices")
    base = versus.baseline(study)
    from mandelcl.lab.studies.devices import CASES

    assert base.complete
    assert {row.case for row in base.rows} == {
        f"{number} {size}² cap {max_iterations}" for number, size, max_iterations in CASES
    }
    assert any(row.giter_s for row in base.rows)
    assert all(row.validation == "ok" for row in base.rows if not row.error)
    assert all(source.date and source.version for source in base.origins().values())


def _placed(run: Run, monkeypatch: pytest.MonkeyPatch, own: Document, base: Document) -> Any:
    monkeypatch.setattr("mandelcl.cli.bench_tables.measured", lambda *_arguments: own)
    monkeypatch.setattr("mandelcl.lab.studies.versus.baseline", lambda _study: base)
    result = run("bench", "devices", "--versus")
    assert (result.code, result.err) == (0, "")
    return [line for line in result.out.splitlines() if line]


def test_versus_places_each_device(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    case, extra = FLOAT
    others = [planted(case, speed, extra=extra, device=f"D{speed}") for speed in (0.5, 2.0, 4.0)]
    others.append(planted(case, 0.1, extra=extra, device="Wrong", validation="WRONG"))
    own = [planted(case, 1.0, extra={**extra, "rounding": "separate"}), failed(DOUBLE[0]), failed(case, device="Y")]
    lines = _placed(run, monkeypatch, table(*own), table(*others, date="2025-05-05T00:00:00Z"))
    cells = [[cell.strip() for cell in line.split("│")] for line in lines[2:6]]
    assert [cell[1:4] for cell in cells] == [
        ["1", "baseline", "D0.5"],
        ["2", "here", "Thing"],
        ["3", "baseline", "D2.0"],
        ["4", "baseline", "D4.0"],
    ]
    assert [cell[5:] for cell in cells[:2]] == [
        ["1.0", "2025-05-05", "fused", "12"],
        ["1.0", "2026-01-02", "separate", "6"],
    ]
    assert lines[6:] == [
        "float 8² cap 9: Thing, Platform takes place 2 of 4 with 6 Giter/s; 0.5 times the speed of D0.5, Platform, "
        "baseline, next above (in fused rounding); 2 times the speed of D2.0, Platform, baseline, next below (in fused "
        "rounding).",
        "float 8² cap 9: Y, Platform has no place: no double.",
        "The baseline has float 8² cap 9, but not double 8² cap 9: speeds depend on the size and the limit, so only "
        "the same cases are compared; leave --scale and --cap out.",
    ]


def test_each_cluster_device_is_placed_in_versus() -> None:
    """Their machines have names, as those of the baseline have, and are not taken for these."""
    base = table(planted("x", 2.0, device="Base", machine="b"), study=find_study("devices"), date="2020-01-01")
    own = [planted("x", 1.0 + number, machine=name) for number, name in enumerate(("n", "n (2)"), 2)]
    found = versus.standing(table(*own, study=find_study("devices"), date="2026-01-01"), base)
    assert [(line[2], line[6]) for line in found.lines] == [
        ("b", "2020-01-01"),
        ("n", "2026-01-01"),
        ("n (2)", "2026-01-01"),
    ]
    assert "n (2) takes place 3 of 3" in found.sentences[1]
    assert "of Base, Platform, b, next above" in found.sentences[1]


def test_versus_needs_a_baseline(run: Run, folder: Path) -> None:
    why = refused(run, folder, "bench", "border", "--versus")
    assert "there is no baseline for the study 'border'; there is one for devices" in why


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_cases_missing_from_the_baseline_are_not_placed(run: Run) -> None:
    result = run("bench", "devices", *TINY, *best_device(), "--versus")
    assert result.code == 0, result.err
    last = result.out.splitlines()[-1]
    assert last.startswith("The baseline has float 4096² cap 5000")
    assert "but not float 16² cap 30" in last
    assert "Fastest: float on " in result.out
    assert "All counts " in result.out


# --share


def _private() -> Document:
    """Return a run's table with all that is nobody else's business."""
    case, extra = FLOAT
    message = "cannot build /home/ada/secret.cl"
    rows = [
        planted(case, 1.23456789, extra={**extra, "host": "ada-laptop"}),
        failed(DOUBLE[0], error=message),
        planted(case, 2.0, device="Wrong", validation="WRONG"),
    ]
    command = "mandelcl bench devices --json /home/ada/a.json --cluster tcp://10.1.2.3:8786"
    return table(*rows, study=find_study("devices"), command=command)


def _is_anonymous(read: Document) -> bool:
    """Return whether a table has no more than `--share` leaves."""
    return not read.sources and sharing.shared(read).to_json() == read.to_json()


def test_shared_tables_have_speeds_and_nothing_of_whose_they_are(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mandelcl.cli.bench_tables.measured", lambda *_arguments: _private())
    result = run("bench", "devices", "--share", "thing.json")
    assert (result.code, result.err) == (1, "mandelcl: wrong counts in 1 of 3 rows\n")
    assert "thing.json: 1 rows of Thing, " in result.out
    text = (folder / "thing.json").read_text(encoding="utf-8")
    assert len(text) < 3000
    for secret in ("ada", "home", "10.1.2", "secret", "03:04", "1.23456789"):
        assert secret not in text
    read = reading.read(folder / "thing.json", find_study("devices"))
    (row,) = read.rows
    assert (row.device, row.giter_s, read.date) == ("Thing", 4.86, "2026-01-02")
    assert row.kernel_s is not None
    assert row.kernel_s.median == 1.235
    assert _is_anonymous(read)
    assert not _is_anonymous(_private())


def test_versus_takes_shared_tables(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = find_study("devices")
    monkeypatch.setattr(versus, "FOLDER", folder)
    (folder / "devices").mkdir()
    saved(folder / "devices.json", table(planted("x", 1.0), study=study))
    saved(folder / "devices" / "rtx-4090.json", sharing.shared(table(planted("x", 0.5), study=study)))
    base = versus.baseline(study)
    assert {row.machine for row in base.rows} == {"unnamed", "rtx-4090"}
    found = versus.standing(table(planted("x", 0.7), study=study), base)
    assert [line[2] for line in found.lines] == ["rtx-4090", "here", "unnamed"]


def test_every_shared_table_in_the_box_is_anonymous() -> None:
    study = find_study("devices")
    for path in (versus.FOLDER / study.name).glob("*.json"):
        assert _is_anonymous(reading.read(path, study)), path


def test_only_comparable_runs_are_shared(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "leave --scale and --cap out" in refused(run, folder, "bench", "devices", "--share", "--scale", "1/8")
    assert "the study border has no baseline" in refused(run, folder, "bench", "border", "--share")
    assert "name the file after the device" in refused(run, folder, "bench", "devices", "--share", "mine")
    wrong = table(planted(validation="WRONG"), study=find_study("devices"))
    monkeypatch.setattr("mandelcl.cli.bench_tables.measured", lambda *_arguments: wrong)
    assert "nothing to share" in refused(run, folder, "bench", "devices", "--share")
