"""`mandelcl convert`, and `render --like` of other programs' files."""

from pathlib import Path

import pytest

from mandelcl.files.loading import read_job
from tests.cli.conftest import Run, refused
from tests.host.test_places import F3, KFR, put_into


def test_a_place_goes_from_program_to_program(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kfr").write_text(KFR)
    assert run("convert", str(tmp_path / "a.kfr"), str(tmp_path / "b.f3.toml")).code == 0
    assert run("convert", str(tmp_path / "b.f3.toml"), str(tmp_path / "c.kfr")).code == 0
    lines = (tmp_path / "c.kfr").read_text().splitlines()
    assert {"Re: -0.75", "Im: 0.1", "Zoom: 1.5E3", "Iterations: 2000", "ImagPointsUp: 0"} <= set(lines)


@pytest.mark.parametrize("name", ["a.kfr", "a.toml", "a.jpg"])
def test_a_render_takes_a_place(run: Run, tmp_path: Path, name: str) -> None:
    path, out = tmp_path / name, tmp_path / "out.png"
    path.write_bytes(put_into("JPEG", KFR) if name == "a.jpg" else (KFR if name == "a.kfr" else F3).encode())
    assert run("render", "--like", str(path), "--size", "8x6", "-o", str(out)).code == 0
    job = read_job(out)
    assert (job.view.width, job.view.height, job.iterations) == (8, 6, 2000)
    assert job.view.lattice.is_upright == (name == "a.toml")
    again = tmp_path / "again.kfr"
    assert run("convert", str(out), str(again)).code == 0
    assert f"ImagPointsUp: {int(name == 'a.toml')}" in again.read_text()


def test_what_is_left_out_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.kfr").write_text(KFR + "Ratio: 381\n")
    result = run("convert", str(tmp_path / "a.kfr"), str(tmp_path / "b.toml"))
    assert result.code == 0
    assert "ratio: 381" in result.line


@pytest.mark.parametrize(
    ("name", "text", "result"),
    [
        ("a.kfr", "Re: 1\n", "b.toml"),
        ("a.kfr", KFR + "FractalType: 4\n", "b.toml"),
        ("a.toml", F3 + "transform.exponential_map = true\n", "b.kfr"),
        ("a.kfr", KFR, "b.json"),
        ("a.kfr", KFR, "b.kfr/c.kfr"),
        ("a.png", "no picture", "b.kfr"),
    ],
)
def test_what_cannot_be_converted_ends_in_one_line(run: Run, tmp_path: Path, name: str, text: str, result: str) -> None:
    (tmp_path / name).write_text(text)
    assert "mandelcl: cannot" in refused(run, tmp_path, "convert", str(tmp_path / name), str(tmp_path / result))


def test_the_size_of_a_job_stays(run: Run, tmp_path: Path) -> None:
    out = str(tmp_path / "a.png")
    assert run("render", "--size", "8x6", "-o", out).code == 0
    line = refused(run, tmp_path, "render", "--like", out, "--size", "9x9", "-o", str(tmp_path / "b.png"), code=2)
    assert "leave --size out" in line
