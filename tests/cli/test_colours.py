"""Colours on the command line: palettes, and what pictures remember of them."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mandelcl.base.names import PALETTES
from tests.cli.conftest import Run, refused


def test_palettes_are_listed_and_drawn(run: Run, folder: Path) -> None:
    listed = run("palettes").out.splitlines()
    assert [line.split()[0] for line in listed] == list(PALETTES)
    (folder / "two.map").write_text("255 0 0\n0 0 255\n")
    shown = run("palettes", "two.map", "ice", "-o", "two.png")
    assert (shown.code, shown.err) == (0, "two.png: 2 palettes\n")
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
    assert line.startswith("mandelcl: cannot read two.map: ")  # and the system's own words


@pytest.mark.usefixtures("usable_double")
@pytest.mark.parametrize("palette", ["classic", "coursework"])
def test_equalised_picture_is_the_same_by_any_path(run: Run, folder: Path, palette: str) -> None:
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


def test_invalid_strength_or_transfer(run: Run) -> None:
    assert "--equalise" in run("render", "--equalise", "1.5").line
    assert "--transfer" in run("render", "--transfer", "cube").line


@pytest.mark.usefixtures("usable_double")
def test_depth_dither_and_height_are_remembered_and_repeated(run: Run, folder: Path) -> None:
    view = ("--at", "lightning", "--size", "96x54", "--palette", "ice", "--quiet")
    variants = {
        "deep": ("--depth", "16", "--transparent-inside"),
        "dithered": ("--dither", "--offset", "0.3"),
        "high": ("--height-map", "smooth", "--transfer", "log"),
    }
    assert run("render", *view, "--planes", "smooth", "--palette", "coursework", "-o", "field.npz").code == 0
    for name, options in variants.items():
        assert run("render", *view, *options, "-o", f"{name}.png", "--blocks", "3x5").code == 0
        assert run("render", "--like", f"{name}.png", "-o", "again.png", "--quiet").code == 0
        data = (folder / f"{name}.png").read_bytes()
        assert (folder / "again.png").read_bytes() == data
        assert run("recolour", "field.npz", "--palette", "ice", *options, "-o", "other.png").code == 0
        assert (folder / "other.png").read_bytes() == data
    with Image.open("high.png") as picture:
        assert picture.mode == "I;16"


@pytest.mark.usefixtures("usable_double")
def test_continuous_palettes_are_dithered_by_default(run: Run, folder: Path) -> None:
    def pixels(*options: str) -> bytes:
        assert run("render", "--size", "96x54", "--samples", "1", *options, "-o", "a.png").code == 0
        with Image.open(folder / "a.png") as picture:
            return picture.tobytes()

    assert pixels() == pixels("--dither") != pixels("--no-dither")
    assert pixels("--palette", "coursework") == pixels("--palette", "coursework", "--no-dither")
    assert pixels("--depth", "16") == pixels("--depth", "16", "--no-dither")
    assert run("render", "--size", "96x54", "--palette", "classic", "-o", "a.npz").code == 0
    assert run("recolour", "a.npz", "--palette", "classic", "-o", "b.png").code == 0
    with Image.open(folder / "b.png") as picture:
        assert picture.tobytes() == pixels()


def test_unsupported_depth_or_transparency_is_refused(run: Run, folder: Path) -> None:
    for options, reason in (
        (
            ("-o", "a.jpg", "--depth", "16"),
            "a.jpg can only have 8 bits per channel; choose another format, such as .png or .tif",
        ),
        (("-o", "a.ppm", "--transparent-inside"), "a.ppm cannot have transparent pixels; choose another format"),
        (("-o", "a.webp", "--size", "16384x2"), "a.webp can have at most 16383 pixels per side, not 16384"),
        (("-o", "a.png", "--height-map", "depth"), "unknown plane 'depth'; there is counts"),
        (("-o", "a.npz", "--planes", "smooth,depth"), "unknown plane 'depth'; there is counts"),
    ):
        assert reason in refused(run, folder, "render", *options)


def test_several_samples_have_no_counts(run: Run, folder: Path) -> None:
    for options, reason in (
        (("--samples", "4", "-o", "a.npz"), "no single count; leave out a.npz or --samples"),
        (("--samples", "4", "--digest"), "leave out --confirm or a digest or --samples"),
        (("--samples", "0"), "the number of samples must be from 1 to 256, or auto, not 0"),
        (("--samples", "4", "--height-map", "counts"), "a height map has one sample per pixel"),
    ):
        assert reason in refused(run, folder, "render", *options)
    assert "--samples must be a number or auto" in run("render", "--samples", "many").line
