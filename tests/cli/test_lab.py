"""`mandelcl lab`: the steps, the examples, one kernel, and the ranking of a class."""

from pathlib import Path

import pytest

from mandelcl.lab import own_kernel
from mandelcl.lab.own_kernel.ranking import rankings
from tests.cli.conftest import Run, refused
from tests.tables import planted

NAIVE = own_kernel.example("naive")
TINY = ("--size", "45x31", "--iterations", "30", "--repeat", "1")


@pytest.fixture
def spec() -> str:
    """The SPEC of the last device with double, or of the last: one that compiles quickly here."""
    from mandelcl.opencl.device import discover

    return max(discover(), key=lambda found: (found.fp64, found.spec)).spec


def test_without_arguments_the_steps_are_printed(run: Run) -> None:
    result = run("lab")
    assert (result.code, result.err) == (0, "")
    for step in ("--example naive -o mine.cl", "mandelcl lab mine.cl", "mandelcl lab class/", "docs/lesson.md"):
        assert step in result.out


def test_examples_are_written_and_never_over_a_file(run: Run, folder: Path) -> None:
    assert run("lab", "--example", "naive").out == NAIVE
    result = run("lab", "--example", "naive", "-o", "mine.cl")
    assert (result.code, result.out) == (0, "mine.cl: the example naive; `mandelcl lab mine.cl` runs it\n")
    assert (folder / "mine.cl").read_text(encoding="utf-8") == NAIVE
    (folder / "mine.cl").write_text("my work", encoding="utf-8")
    assert "mine.cl already exists; choose another name" in refused(
        run, folder, "lab", "--example", "strides", "-o", "mine.cl", code=1
    )
    assert (folder / "mine.cl").read_text(encoding="utf-8") == "my work"


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_a_class_is_ranked(run: Run, spec: str, folder: Path) -> None:
    students = folder / "class"
    students.mkdir()
    (students / "ada.cl").write_text(NAIVE, encoding="utf-8")
    (students / "bob.cl").write_text(NAIVE.replace("width + column]", "width + width - 1 - column]"), encoding="utf-8")
    (students / "eve.cl").write_text(NAIVE.replace("void mandelbrot", "void mandel"), encoding="utf-8")
    (students / "notes.txt").write_text("no kernel", encoding="utf-8")
    result = run("lab", "class", "--device", spec, *TINY, "--markdown", "t.md")
    assert result.code == 1
    assert "The picture is mirrored" in result.out
    lines = result.out.partition("\nRanking on ")[2].splitlines()
    cells = [[cell.strip() for cell in line.split("│")] for line in lines[3:]]
    assert [(cell[0], cell[1]) for cell in cells] == [("1", "ada.cl"), ("", "bob.cl"), ("", "eve.cl")]
    assert [cell[4] for cell in cells] == ["1", "", ""]
    assert cells[0][5] == "right"
    assert cells[1][5].startswith("wrong counts in ")
    assert cells[2][5] == "eve.cl has no kernel `mandelbrot`; it has `mandel`"
    assert "bob.cl" in (folder / "t.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("usable")
def test_one_kernel_has_no_ranking(run: Run, spec: str, folder: Path) -> None:
    (folder / "mine.cl").write_text(NAIVE, encoding="utf-8")
    result = run("lab", "mine.cl", "--device", spec, *TINY)
    assert result.code == 0, result.err
    assert "mine.cl" in result.out
    assert "Ranking" not in result.out


def test_places_follow_times_and_equal_times_share_one() -> None:
    times = {"a.cl": 2.0, "b.cl": 1.0, "c.cl": 2.0, "d.cl": 4.0}
    rows = [planted("ours", 0.5), *(planted(name, kernel, extra={"speed": 0.5}) for name, kernel in times.items())]
    rows += [planted("e.cl", 0.1, validation="WRONG", differing_pixels=7, extra={"fault": "counts"})]
    rows += [planted("b.cl", 1.0, device="Other", spec="1:0")]
    first, second = rankings(rows)
    assert [line[:2] for line in first.lines] == [
        ["1", "b.cl"],
        ["2", "a.cl"],
        ["2", "c.cl"],
        ["4", "d.cl"],
        ["", "e.cl"],
    ]
    assert [line[4] for line in first.lines] == ["1", "2", "2", "4", ""]
    assert [line[3] for line in first.lines[:2]] == ["2", "2"]
    assert first.lines[-1][5] == "wrong counts in 7 pixels"
    assert (second.device, second.lines[0][:2]) == ("Other (Platform)", ["1", "b.cl"])


def test_wrong_usage_is_one_line(run: Run, folder: Path) -> None:
    (folder / "empty").mkdir()
    assert "empty has no .cl files" in refused(run, folder, "lab", "empty")
    assert "cannot read the kernel" in refused(run, folder, "lab", "missing.cl", code=1)
    assert "leave mine.cl out" in refused(run, folder, "lab", "--example", "naive", "mine.cl")
    assert "-o names the file for --example" in refused(run, folder, "lab", "mine.cl", "-o", "x.cl")
    assert "a kernel's file ends in .cl" in refused(run, folder, "lab", "--example", "naive", "-o", "x.txt")
