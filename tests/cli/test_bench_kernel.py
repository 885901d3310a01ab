"""`mandelcl bench --kernel`: right and wrong kernels, faults, files, bad input."""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from mandelcl.lab import own_kernel
from mandelcl.opencl import oclgrind
from tests.cli.conftest import Run, refused, start, wait_for

NAIVE = own_kernel.example("naive")
WRITE = "counts[row * width + column] = n;"
TINY = ("--size", "45x31", "--cap", "30", "--repeat", "1")
pytestmark = pytest.mark.usefixtures("usable")


@pytest.fixture
def spec() -> str:
    """The SPEC of the last device with double, or of the last: one that compiles quickly here."""
    from mandelcl.opencl.device import discover

    return max(discover(), key=lambda found: (found.fp64, found.spec)).spec


def bench(run: Run, spec: str, *arguments: str, code: int = 0) -> Any:
    result = run("bench", *arguments, "--device", spec, *TINY)
    assert result.code == code, result
    return result


def test_examples_are_printed(run: Run) -> None:
    for name in own_kernel.EXAMPLES:
        result = run("bench", "--example", name)
        assert (result.code, result.out, result.err) == (0, own_kernel.example(name), "")


def test_correct_kernel(run: Run, spec: str, folder: Path) -> None:
    (folder / "mine.cl").write_text(NAIVE, encoding="utf-8")
    files = ("--json", "t.json", "--csv", "t.csv", "--markdown", "t.md")
    result = bench(run, spec, "--kernel", "mine.cl", *files)
    table = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert (table["study"], table["title"]) == ("kernel", "mine.cl beside ours: 45x31, limit 30")
    ours, mine = table["rows"]
    assert (ours["case"], mine["case"]) == ("ours", "mine.cl")
    assert ours["validation"] == mine["validation"] == "ok"
    assert mine["extra"]["speed"] > 0
    assert (mine["extra"]["number"], mine["extra"]["rounding"]) == ("float", "separate")
    assert mine["extra"]["local"] in ("8x8", "8x4")  # of what the device can do for this kernel
    assert len(result.out.splitlines()) == 2 + 2
    assert "## Explained" not in (folder / "t.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["mine.cl", "t.csv", "t.json", "t.md"]


@pytest.mark.full
def test_wrong_kernel_fails(run: Run, spec: str, folder: Path) -> None:
    wrong = NAIVE.replace(WRITE, "counts[row * width + width - 1 - column] = n;")
    (folder / "wrong.cl").write_text(wrong, encoding="utf-8")
    result = bench(run, spec, "--kernel", "naive", "--kernel", "wrong.cl", "--markdown", "t.md", code=1)
    assert "WRONG: " in result.out
    reported = result.out.partition("\nwrong.cl on ")[2]
    assert " has wrong counts\n" in reported
    assert "pixels are wrong; the first is column " in reported
    assert re.search(r"z_\d+ = .*\|z_\d+\|² = ", reported)
    assert "The picture is mirrored" in reported
    assert "This gives every pixel just as your kernel has it." in reported
    assert "naive.cl on" not in result.out
    assert "The picture is mirrored" in (folder / "t.md").read_text(encoding="utf-8")


def test_a_kernel_that_does_not_build(run: Run, spec: str, folder: Path) -> None:
    (folder / "mine.cl").write_text("kernel void mandelbrot(global uint *counts) { counts[0] = nothing; }\n")
    result = bench(run, spec, "--kernel", "mine.cl", "--json", "t.json", code=1)
    assert "mine.cl on " in result.out
    assert "does not build: " in result.out
    assert "nothing" in result.out.partition("does not build: ")[2]
    ours, mine = json.loads((folder / "t.json").read_text(encoding="utf-8"))["rows"]
    assert ours["validation"] == "ok"
    assert (mine["extra"]["fault"], mine["validation"], mine["kernel_s"]) == ("build", "", None)


@pytest.mark.full
def test_views_numbers_and_groups(run: Run, spec: str, folder: Path) -> None:
    for arguments, number, local in (
        (("--at", "seahorse-valley", "--rounding", "separate", "--local", "2x2"), "float", "2x2"),
        (("--center", "-0.75", "0.1", "--zoom", "1e9", "--local", "4x4"), "double", "4x4"),
        (("--region", "-2", "1", "-1", "1", "--size", "48x32", "--local", "4x2", "--items", "48x32"), "float", "4x2"),
        (("--number", "double", "--scale", "1/3", "--local", "8x1"), "double", "8x1"),
    ):
        result = run("bench", "--kernel", "naive", "--device", spec, *TINY, *arguments, "--json", "t.json")
        if number == "double" and re.search("no double|float does not resolve", result.err):
            continue
        assert result.code == 0, result
        mine = json.loads((folder / "t.json").read_text(encoding="utf-8"))["rows"][1]
        assert (mine["extra"]["number"], mine["extra"]["local"]) == (number, local)


def test_bad_input(run: Run, folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder / "binary.cl").write_bytes(b"\x7fELF\0\0")
    (folder / "latin.cl").write_bytes(b"// \xe9\n")
    (folder / "huge.cl").write_text("// long\n" * 100_000, encoding="utf-8")
    naive = ("--kernel", "naive")
    for arguments, why in {
        ("--kernel", "none.cl"): "cannot read the kernel none.cl: ",
        ("--kernel", "folder"): "cannot read the kernel folder: ",
        ("--kernel", ""): "cannot read the kernel",
        ("--kernel", "binary.cl"): "it is not a text",
        ("--kernel", "latin.cl"): "not a text in UTF-8",
        ("--kernel", "huge.cl"): "more than 256 KiB",
        (*naive, "--device", "nothing-like-it"): "no device matches",
        (*naive, "--json", "no/such.json"): "no folder",
    }.items():
        assert why in refused(run, folder, "bench", *arguments, code=1)


def test_wrong_usage(run: Run, folder: Path) -> None:
    (folder / "folder").mkdir()
    (folder / "a.cl").write_text(NAIVE, encoding="utf-8")
    (folder / "folder" / "a.cl").write_text(NAIVE, encoding="utf-8")
    naive = ("--kernel", "naive")
    for arguments, why in {
        (*naive, "--size", "wide"): "size 'wide' is not WIDTHxHEIGHT",
        (*naive, "--size", "0x7"): "size 0x7 has no pixels",
        (*naive, "--local", "8"): "work-group '8' is not COLUMNSxROWS",
        (*naive, "--local", "0x8"): "--local 0x8 cannot be launched",
        (*naive, "--items", "99999x99999"): "--items 99999x99999 cannot be launched",
        (*naive, "--at", "nowhere"): "unknown location 'nowhere'",
        (*naive, "--center", "x", "0", "--zoom", "1"): "center 'x' is not a number",
        (*naive, "--region", "-2", "1", "-1", "1"): "does not fill 1001x751",
        (*naive, "--size", "9000x9000"): "8192x4096",
        (*naive, "--cap", "1000001"): "the iteration limit may be at most 1000000",
        (*naive, "--center", "0", "0", "--zoom", "1e30"): "this view. Choose another, or name a --number",
        ("devices", "--kernel", "naive"): "leave 'devices' out",
        ("devices", "--size", "8x8"): "--size needs --kernel",
        ("devices", "--check"): "--check needs --kernel",
        ("--local", "8x8"): "--local needs --kernel",
        ("--kernel", "a.cl", "--kernel", "folder/a.cl"): "two kernels are called a.cl",
        ("--kernel", "naive", "--number", "fp128"): "'fp128' is not one of",
        ("--kernel", "naive", "--cap", "0"): "--cap",
        ("--kernel", "naive", "--center", "0", "0"): "--center needs --zoom",
        ("--kernel", "naive", "--at", "fern", "--center", "0", "0"): "--at and --center",
        ("--example", "best"): "'best' is not one of",
    }.items():
        assert why in refused(run, folder, "bench", *arguments, code=2)


def test_without_oclgrind_check_says_what_to_install(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oclgrind, "library", lambda: None)
    line = refused(run, folder, "bench", "--kernel", "naive", "--check", code=2)
    assert "--check needs Oclgrind, which is not installed: on Debian and Ubuntu `apt install oclgrind`" in line


@pytest.mark.full
def test_check_runs_oclgrind(run: Run, spec: str, folder: Path) -> None:
    if oclgrind.library() is None:
        pytest.skip("Oclgrind is not installed")
    (folder / "mine.cl").write_text(NAIVE.replace(WRITE, "counts[row * width + column + 1] = n;"), encoding="utf-8")
    result = bench(run, spec, "--kernel", "mine.cl", "--check", code=1)
    assert "writes out of bounds: 1 word beside the counts, first counts[1395]" in result.out
    assert "mine.cl, checked on Oclgrind Simulator (Oclgrind): Oclgrind: mine.cl:15: `counts[" in result.out
    assert "at counts[1073], 1 beyond the last" in result.out


@pytest.mark.full
def test_an_interrupt_ends_a_hanging_kernel_and_keeps_what_was_measured(spec: str, folder: Path) -> None:
    hanging = NAIVE.replace("    n++;\n", "").replace("n < cap && ", "")
    (folder / "mine.cl").write_text(hanging, encoding="utf-8")
    arguments = ("--kernel", "mine.cl", "--device", spec, *TINY, "--json", "t.json")
    process = start("bench", *arguments, cwd=folder)
    wait_for(folder / "t.json", process)
    time.sleep(1)
    process.interrupt()
    _, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    found = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert (found["complete"], found["rows"][0]["case"]) == (False, "ours")
    assert sorted(path.name for path in folder.iterdir()) == ["mine.cl", "t.json"]
