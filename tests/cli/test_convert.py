"""`mandelcl convert`, and `render --like` of other programs' files."""

import threading
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError, FileError
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.files.loading import read_colouring, read_field, read_foreign, read_job
from mandelcl.files.output import write
from mandelcl.formulas import Formula
from mandelcl.perturbation.counting import CountTask, exact_counts
from mandelcl.rendering.streaming import render_to
from tests.cli.conftest import Run, refused
from tests.host import test_kfb as kfb
from tests.host.files import ICE, a_field
from tests.host.test_places import F3, KFR, put_into
from tests.places import FORMULA_NUCLEI, load


def test_place_survives_conversion_between_programs(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kfr").write_text(KFR)
    assert run("convert", str(tmp_path / "a.kfr"), str(tmp_path / "b.f3.toml")).code == 0
    assert run("convert", str(tmp_path / "b.f3.toml"), str(tmp_path / "c.kfr")).code == 0
    lines = (tmp_path / "c.kfr").read_text().splitlines()
    assert {"Re: -0.75", "Im: 0.1", "Zoom: 1.5E3", "Iterations: 2000", "ImagPointsUp: 0"} <= set(lines)


@pytest.mark.parametrize("name", ["a.kfr", "a.toml", "a.jpg"])
def test_render_accepts_a_converted_place(run: Run, tmp_path: Path, name: str) -> None:
    path, out = tmp_path / name, tmp_path / "out.png"
    path.write_bytes(put_into("JPEG", KFR) if name == "a.jpg" else (KFR if name == "a.kfr" else F3).encode())
    assert run("render", "--like", str(path), "--size", "8x6", "-o", str(out)).code == 0
    job = read_job(out)
    assert (job.view.width, job.view.height, job.iterations) == (8, 6, 2000)
    assert job.view.lattice.is_upright == (name == "a.toml")
    again = tmp_path / "again.kfr"
    assert run("convert", str(out), str(again)).code == 0
    assert f"ImagPointsUp: {int(name == 'a.toml')}" in again.read_text()


@pytest.mark.full
def test_a_deep_kfr_of_another_formula_is_drawn(run: Run, tmp_path: Path) -> None:
    place = load(FORMULA_NUCLEI)["burning-ship"]
    text = f"Re: {place.re}\nIm: {place.im}\nZoom: 1E20\nIterations: {place.iterations}\nImagPointsUp: 1\n"
    path, out = tmp_path / "a.kfr", tmp_path / "out.npz"
    path.write_text(f"{text}FractalType: 1\nPower: 2\n")
    assert run("render", "--like", str(path), "--size", "8x6", "--certify", "-o", str(out)).code == 0
    field = read_field(out)
    assert (field.job.method, field.job.formula) == ("perturbation", Formula.parse("burning-ship"))
    points = [field.job.view.point(column, row) for row in range(6) for column in range(8)]
    assert field.counts.ravel().tolist() == exact_counts(CountTask.of(field.job), points)
    assert len(set(field.counts.ravel().tolist())) > 1


def test_conversion_keeps_colours(run: Run, tmp_path: Path) -> None:
    colours = "IterDiv: 0.5\nColorMethod: 1\nColorOffset: 77\nColors: 1,2,3,250,100,50,\nSlopes: 1\n"
    (tmp_path / "a.kfr").write_text(KFR.replace("Colors: 1,2,3,\r\n", colours))
    out, other = tmp_path / "out.png", tmp_path / "b.kfr"
    done = run("render", "--like", str(tmp_path / "a.kfr"), "--size", "8x6", "-o", str(out))
    assert done.code == 0
    assert "slopes: 1" in done.err
    drawn = Colouring.from_json(read_colouring(out) or "")
    assert (drawn.transfer, drawn.cycle, drawn.palette.colours) == ("root2", 512, ("#030201", "#3264fa"))
    assert run("convert", str(out), str(other)).code == 0
    assert {"IterDiv: 0.5", "ColorMethod: 1", "ColorOffset: 77", "Colors: 1,2,3,250,100,50,"} <= set(
        other.read_text().splitlines()
    )
    done = run("convert", str(out), str(tmp_path / "b.toml"))
    assert "the colours are left out" in done.err
    done = run("render", "--like", str(other), "--size", "8x6", "--palette", "ice", "-o", str(out), "--quiet")
    assert (done.code, done.err) == (0, "")


def test_conversion_reports_what_it_drops(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kfr").write_text(KFR + "Ratio: 381\n")
    result = run("convert", str(tmp_path / "a.kfr"), str(tmp_path / "b.toml"))
    assert result.code == 0
    written, left_out, colours = result.err.splitlines()
    assert ": the location of " in written
    assert "ratio: 381" in left_out
    assert "the colours are left out" in colours


@pytest.mark.parametrize(
    ("name", "text", "result"),
    [
        ("a.kfr", "Re: 1\n", "b.toml"),
        ("a.kfr", KFR + "FractalType: 44\n", "b.toml"),
        ("a.toml", F3 + "transform.exponential_map = true\n", "b.kfr"),
        ("a.kfr", KFR, "b.json"),
        ("a.kfr", KFR, "b.kfr/c.kfr"),
        ("a.png", "no picture", "b.kfr"),
    ],
)
def test_unconvertible_file_is_refused_in_one_line(run: Run, tmp_path: Path, name: str, text: str, result: str) -> None:
    (tmp_path / name).write_text(text)
    assert "mandelcl: cannot" in refused(run, tmp_path, "convert", str(tmp_path / name), str(tmp_path / result), code=1)


def test_conversion_keeps_the_size(run: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "a.png")
    assert run("render", "--size", "8x6", "-o", out).code == 0
    line = refused(run, tmp_path, "render", "--like", out, "--size", "9x9", "-o", str(tmp_path / "b.png"), code=2)
    assert "leave --size out" in line


def test_an_exr_is_drawn_again(run: Run, tmp_path: Path) -> None:
    field = a_field()
    write(tmp_path / "a.exr", field, ICE.picture(field))
    for name in ("b.png", "c.exr"):
        done = run("recolour", str(tmp_path / "a.exr"), "-o", str(tmp_path / name), "--palette", "ember")
        assert done.code == 0
        assert len(done.err.splitlines()) == 1  # what was written
        assert read_job(tmp_path / name) == field.job
    (tmp_path / "bad.exr").write_bytes((tmp_path / "a.exr").read_bytes()[:-9])
    assert "cannot read" in refused(
        run, tmp_path, "recolour", str(tmp_path / "bad.exr"), "-o", str(tmp_path / "d.png"), code=1
    )
    assert run("convert", str(tmp_path / "a.exr"), str(tmp_path / "a.kfr")).code == 0
    assert "Zoom: 1.6E0" in (tmp_path / "a.kfr").read_text()


def test_a_render_writes_an_exr_beside_others(run: Run, tmp_path: Path) -> None:
    exr, npz = tmp_path / "a.exr", tmp_path / "a.npz"
    view = ("--size", "24x16", "--planes", "distance,last", "--palette", "coursework")
    assert run("render", *view, "-o", str(exr), "-o", str(npz)).code == 0
    ours, theirs = read_field(npz), read_foreign(exr).field
    assert ours.job == theirs.job == read_job(exr)
    assert ours.job.planes == ("counts", "smooth", "distance", "last")
    assert (ours.inside == theirs.inside).all()
    assert ours.distance is not None
    assert (ours.distance == theirs.distance).all()
    again = tmp_path / "again.npz"
    assert run("render", "--like", str(exr), "-o", str(again)).code == 0
    assert (read_field(again).counts == ours.counts).all()


def test_kfb_map_is_rendered_and_converted(run: Run, tmp_path: Path) -> None:
    path = kfb.put(tmp_path, kfb.a_map(), None)
    done = run("recolour", str(path), "-o", str(tmp_path / "a.png"), "--palette", "ice")
    assert done.code == 0
    assert "its location is left out" in done.err
    with pytest.raises(FileError):
        read_job(tmp_path / "a.png")
    refused = run("convert", str(path), str(tmp_path / "a.npz"))
    assert refused.code == 1
    assert "put its .kfr beside it" in refused.err
    kfb.put(tmp_path, kfb.a_map())
    assert run("recolour", str(path), "-o", str(tmp_path / "a.png")).code == 0
    assert run("convert", str(path), str(tmp_path / "a.npz")).code == 0
    field = read_field(tmp_path / "a.npz")
    assert field.job.view == read_job(tmp_path / "a.png").view
    np.testing.assert_array_equal(field.counts, read_foreign(path).field.counts)


@pytest.mark.usefixtures("usable")
def test_resumed_exr_has_the_same_bytes(tmp_path: Path) -> None:
    job = Job(View.centred("-0.7436", "0.1318", "20000", 96, 80), 300, planes=("counts", "smooth", "distance"))
    render_to(tmp_path / "a.exr", job, ICE)
    stop = threading.Event()
    with pytest.raises(CancelledError):
        render_to(
            tmp_path / "b.exr",
            job,
            ICE,
            settings=Settings(blocks=(1, 10)),
            progress=lambda made: stop.set() if 2 * made.pixels > made.pixels_total else None,
            cancel=stop,
            store_after=0.0,
        )
    assert [path.name for path in tmp_path.glob("b*")] == ["b.exr.part"]
    lines: list[str] = []
    render_to(tmp_path / "b.exr", job, ICE, resume=True, on_message=lines.append)
    assert any(line.startswith("resuming with") for line in lines)
    assert (tmp_path / "a.exr").read_bytes() == (tmp_path / "b.exr").read_bytes()
