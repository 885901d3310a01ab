"""`mandelcl locate`: a table, JSON, a command that draws it, and one line where there is nothing."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run, refused
from tests.interruptible import STOPPED, Interruptible


def test_a_table_and_the_command_that_draws_it(run: Run, folder: Path, request: pytest.FixtureRequest) -> None:
    result = run("locate", "--in", "-1.8", "-1.7", "-0.05", "0.05")
    assert result.code == 0
    table, command = result.out.split("\n\n")
    assert [line.split() for line in table.splitlines()] == [
        ["period", "3"],
        ["re", "-1.75487766624669"],
        ["im", "0.00000000000000"],
        ["size", "0.0190355"],
        ["degrees", "0.0"],
        ["zoom", "46.6"],
        ["iterations", "1000"],
    ]
    program, *arguments = shlex.split(command)
    assert program == "mandelcl"
    request.getfixturevalue("usable")
    drawn = run(*arguments, "--size", "64x36", "-o", "island.npz", "--json")
    assert drawn.code == 0
    import numpy as np

    with np.load(folder / "island.npz") as archive:
        inside = archive["counts"] == 1000
    assert inside[18, 30:34].all()  # the nucleus is in the middle,
    assert not inside[[0, -1]].any()  # and the island ends before the edges
    assert 0.02 < inside.mean() < 0.2


def test_json_and_pictures(run: Run) -> None:
    at = json.loads(run("locate", "--at", "thorn-star", "--json").out)
    assert at["period"] == 26
    around = run("locate", "--center", "-1.15412664822215", "0.30877492767139", "--zoom", "230000", "--json")
    assert json.loads(around.out) == at
    assert " ".join(at) == "formula period re im size degrees stretch zoom iterations digits command"
    assert (at["formula"], at["stretch"]) == ("mandelbrot", 1)


def test_deep_numbers_keep_all_their_digits(run: Run) -> None:
    found = json.loads(run("locate", "--center", "0", "1", "--zoom", "1e100", "--json").out)
    assert found["digits"] > 200
    assert len(found["re"].partition(".")[2]) == found["digits"]
    assert float(found["zoom"]) > 1e190
    again = json.loads(
        run(
            "locate",
            "--center",
            found["re"],
            found["im"],
            "--zoom",
            found["zoom"],
            "--period",
            str(found["period"]),
            "--json",
        ).out
    )
    assert again["period"] == found["period"]
    assert again["re"].startswith(found["re"][:-1])


def test_every_formula_is_searched(run: Run) -> None:
    result = run("locate", "--formula", "ship", "--in", "-1.77", "-1.75", "-0.04", "-0.02")
    assert result.code == 0
    table, command = result.out.split("\n\n")
    facts = dict(line.split() for line in table.splitlines())
    assert list(facts) == ["formula", "period", "re", "im", "size", "stretch", "zoom", "iterations"]
    assert (facts["formula"], facts["period"]) == ("burning-ship", "10")
    assert command.startswith(f"mandelcl render --formula burning-ship --center {facts['re']} {facts['im']} --zoom")
    hybrid = json.loads(
        run("locate", "--formula", "sqr add / absx sqr add", "--in", "-1.81", "-1.71", "-0.03", "0.07", "--json").out
    )
    assert hybrid["period"] % 2 == 0
    assert "--formula 'sqr add / absx sqr add' " in hybrid["command"]


def test_misiurewicz_points_and_embedded_julia_sets(run: Run, folder: Path) -> None:
    given = ("locate", "--misiurewicz", "--in", "-0.12", "-0.08", "0.94", "0.98")
    table, command = run(*given).out.split("\n\n")
    facts = dict(line.split() for line in table.splitlines())
    assert list(facts) == ["preperiod", "period", "re", "im", "multiplier", "zoom"]
    assert (facts["preperiod"], facts["period"], facts["zoom"]) == ("4", "1", "100")
    assert command == f"mandelcl render --center {facts['re']} {facts['im']} --zoom 100\n"
    assert json.loads(run(*given, "--json").out)["re"] == facts["re"]
    assert "leave --misiurewicz or --embedded out" in refused(run, folder, *given, "--embedded", code=2)
    found = run("locate", "--in", "-1.75", "-1.748", "0.012", "0.014", "--embedded")
    assert "inside the set of period 1\n" in found.out


@pytest.mark.usefixtures("usable")
def test_like_a_picture(run: Run) -> None:
    assert run("render", "--at", "thorn-star", "--size", "32x18", "-o", "a.png", "--quiet").code == 0
    assert json.loads(run("locate", "--like", "a.png", "--json").out)["period"] == 26


def test_bad_input_is_one_line(run: Run, folder: Path) -> None:
    assert "no region to search" in refused(run, folder, "locate", code=2)
    assert "each define the region" in refused(run, folder, "locate", "--at", "frost", "--like", "a.png", code=2)
    assert "--center needs --zoom" in refused(run, folder, "locate", "--center", "0", "1", code=2)
    assert "leave --size out" in refused(run, folder, "locate", "--in", *"0101", "--size", "8x8", code=2)
    assert "the box is empty" in refused(run, folder, "locate", "--in", *"1001")
    assert "box edge 'x' is not a number" in refused(run, folder, "locate", "--in", *"x001")
    assert "no nucleus is in the box" in refused(run, folder, "locate", "--in", "1.1", "2", "1", "2")
    ship = ("locate", "--formula", "sqr add / absx sqr add", "--in", "-2", "2", "-2", "2")
    assert "a multiple of 2, not 3" in refused(run, folder, *ship, "--period", "3")
    assert "unknown formula" in refused(run, folder, "locate", "--formula", "shp", "--in", *"0101")
    cusp = ("locate", "--center", "0.25", "0", "--zoom", "1e10")
    assert "raise --iterations" in refused(run, folder, *cusp, "--iterations", "20")


CHILD = """
from mandelcl.__main__ import main
from mandelcl.perturbation import locate as module
locate = module.locate
def told(*arguments, **settings):
    print("looking", flush=True)
    return locate(*arguments, **settings)
module.locate = told
main()
"""


def test_interrupt_ends_it_immediately() -> None:
    place = ("--center", "0.25", "0", "--zoom", "1e3000", "--iterations", "1000000000")
    process = Interruptible("-c", CHILD, "locate", *place, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == "looking\n"
    process.interrupt()
    try:
        out, err = process.communicate(timeout=600)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert (process.returncode, out, err) == (STOPPED, "", "mandelcl: stopped\n")


@pytest.mark.usefixtures("usable")
def test_printed_command_undoes_the_stretch(run: Run, folder: Path) -> None:
    found = json.loads(run("locate", "--formula", "tricorn", "--in", "-1.8", "-1.7", "-.05", ".05", "--json").out)
    assert found["command"].endswith(" --auto-skew")
    picture = ("--size", "64x64", "-o", "a.npz", "-o", "a.png")
    drawn = run(*shlex.split(found["command"])[1:], *picture)
    assert "a stretch by 1.938 is undone" in drawn.err
    import numpy as np

    with np.load(folder / "a.npz") as archive:
        inside = archive["counts"] == found["iterations"]
    rows, columns = (np.flatnonzero(inside.any(axis)) for axis in (1, 0))
    # The whole tricorn is a little higher than wide. This one is wider than high where its stretch is left.
    assert 1.05 < np.ptp(rows) / np.ptp(columns) < 1.5
    again = run("render", "--like", "a.png", "-o", "b.png", "--json")
    assert json.loads(again.out)["width"] == 64
    assert "--like takes the view from its file" in refused(
        run, folder, "render", "--like", "a.png", "--auto-skew", "-o", "c.png", code=2
    )
