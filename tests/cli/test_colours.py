"""Colours on the command line: palettes, and what pictures remember of them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mandelcl.names import PALETTES
from tests.cli.conftest import Run


def test_palettes_are_listed_and_drawn(run: Run, folder: Path) -> None:
    listed = run("palettes").out.splitlines()
    assert [line.split()[0] for line in listed] == list(PALETTES)
    (folder / "two.map").write_text("255 0 0\n0 0 255\n")
    shown = run("palettes", "two.map", "ice", "-o", "two.png")
    assert (shown.code, shown.err) == (0, "")
    assert [line.split()[0] for line in shown.out.splitlines()] == ["two.map", "ice"]
    with Image.open("two.png") as picture:
        pixels = np.asarray(picture)
    assert [pixels[50, 100].tolist(), pixels[50, 900].tolist()] == [[255, 0, 0], [0, 0, 255]]


@pytest.mark.usefixtures("usable_double")
def test_a_picture_is_drawn_again_without_the_file_of_its_palette(run: Run, folder: Path) -> None:
    (folder / "two.map").write_text("255 0 0\n0 0 255\n")
    assert run("render", "--size", "32x18", "--palette", "two.map", "-o", "a.png", "--quiet").code == 0
    (folder / "two.map").unlink()
    assert run("render", "--like", "a.png", "-o", "b.png", "--quiet").code == 0
    assert (folder / "a.png").read_bytes() == (folder / "b.png").read_bytes()
    line = run("render", "--palette", "two.map", "-o", "c.png").line
    assert line == "mandelcl: cannot read two.map: No such file or directory"


@pytest.mark.usefixtures("usable_double")
@pytest.mark.parametrize("palette", ["classic", "coursework"])
def test_an_equalised_picture_is_the_same_however_it_is_made(run: Run, folder: Path, palette: str) -> None:
    options = ("--equalise", "0.8", "--transfer", "log", "--palette", palette)
    view = ("--at", "lightning", "--size", "160x90", "--quiet")
    assert run("render", *view, *options, "-o", "a.png", "-o", "a.npz").code == 0
    assert run("recolour", "a.npz", *options, "-o", "b.png").code == 0
    assert run("render", "--like", "a.png", "-o", "c.png", "--quiet").code == 0
    assert run("render", *view, *options, "--blocks", "3x7", "-o", "d.png").code == 0
    data = (folder / "a.png").read_bytes()
    assert [(folder / name).read_bytes() == data for name in ("b.png", "c.png", "d.png")] == [True] * 3
    assert run("render", "--like", "a.png", "--equalise", "0", "-o", "e.png", "--quiet").code == 0
    assert run("recolour", "a.npz", "--transfer", "log", "--palette", palette, "-o", "f.png").code == 0
    assert (folder / "e.png").read_bytes() == (folder / "f.png").read_bytes() != data


def test_a_strength_that_is_none(run: Run) -> None:
    assert "--equalise" in run("render", "--equalise", "1.5").line
    assert "--transfer" in run("render", "--transfer", "cube").line
