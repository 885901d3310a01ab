"""Files that cannot be written or are not what they should be: one clear line, and nothing left behind."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.view import View
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.files.output import write
from tests.cli.conftest import SMALL, Run, refused


def test_outputs(run: Run, folder: Path) -> None:
    (folder / "folder.png").mkdir()
    for path, why in {
        "folder.png": "it is a folder",
        "missing/x.png": "there is no folder",
        "new.png/": "is the name of a folder",
        "x.gif": "suffix must be one of .png, .ppm, .npz",
        "x": "suffix must be one of",
        ".": "suffix must be one of",
        "": "suffix must be one of",
        f"{'x' * 300}.png": "File name too long",
    }.items():
        code = 2 if "suffix" in why else 1
        assert why in refused(run, folder, "render", *SMALL, "-o", path, code=code)
        assert why in refused(run, folder, "recolour", "none.npz", "-o", path, code=code)
        assert why in refused(run, folder, "coursework", "8", "8", "-o", path, code=code)
        assert why in refused(run, folder, "compare", "a.npz", "b.npz", "-o", path, code=2)


def test_arguments_without_a_name(run: Run, folder: Path) -> None:
    """No operating system hands a NUL over, but programs that call this in their own process can."""
    for words in (["render", "-o"], ["devices", "--report"], ["explore", "--save-dir"], ["zoom", "--keys"]):
        assert "contains a NUL character" in refused(run, folder, *words, "a\0", code=2)


def test_outputs_are_checked_before_devices(run: Run, folder: Path) -> None:
    for command in (["render", *SMALL], ["coursework", "8", "8"]):
        assert "no folder" in refused(run, folder, *command, "--device", "nonsense", "-o", "missing/x.ppm", code=1)


def test_rectangles_picture_is_checked_like_an_output(run: Run, folder: Path) -> None:
    traced = ("render", *SMALL, "--algorithm", "border", "--rectangles")
    assert "no folder" in refused(run, folder, *traced, "missing/how.png", code=1)
    assert "the same file" in refused(run, folder, *traced, "a.png", "-o", "a.png", code=1)


@pytest.mark.usefixtures("links")
def test_an_output_given_twice(run: Run, folder: Path) -> None:
    (folder / "link.png").symlink_to(folder / "a.png")
    for twin in ("a.png", "./a.png", "link.png"):
        assert "the same file" in refused(run, folder, "render", *SMALL, "-o", "a.png", "-o", twin, code=1)


def test_output_inside_the_tile_folder_of_another(run: Run, folder: Path) -> None:
    """They are replaced as a whole."""
    pytest.importorskip("pyvips")
    (folder / "w.dzi").write_text("older")
    (folder / "w_files" / "0").mkdir(parents=True)
    for path in ("w_files/p.png", "w_files/0/p.png"):
        assert "among the tiles of w.dzi" in refused(run, folder, "render", *SMALL, "-o", "w.dzi", "-o", path, code=1)
        assert "among the tiles of w.dzi" in refused(run, folder, "render", *SMALL, "-o", path, "-o", "w.dzi", code=1)


@pytest.mark.usefixtures("links")
def test_difference_picture_does_not_overwrite_an_input(run: Run, folder: Path) -> None:
    for name in ("a.ppm", "b.ppm"):
        (folder / name).write_bytes(b"P6 1 1 255\n" + name.encode()[:3])
    (folder / "link.ppm").symlink_to("b.ppm")
    for path in ("a.ppm", "./b.ppm", "link.ppm"):
        assert "one of the files to compare" in refused(run, folder, "compare", "a.ppm", "b.ppm", "-o", path, code=2)
    assert (folder / "a.ppm").read_bytes().endswith(b"a.p")


def test_compare_distinguishes_other_jobs_from_other_results(run: Run, folder: Path) -> None:
    job = Job(View.centred(0, 0, 2, 2, 2), 9, number="float", rounding="fused", method="direct")
    for name, rounding, count in (("a", "fused", 1), ("b", "separate", 2), ("c", "fused", 2), ("d", "separate", 1)):
        field = Field(replace(job, rounding=rounding), {"counts": np.full((2, 2), count, np.uint32)})
        write(folder / f"{name}.npz", field)
    found = run("compare", "a.npz", "b.npz")
    assert found.code == 2
    assert found.out.startswith("different: 4 of 4 pixels")
    assert "the jobs differ: rounding fused, separate;" in found.err
    assert found.err.rstrip().endswith("mandelcl render --like a.npz -o b.npz")
    assert json.loads(run("compare", "a.npz", "b.npz", "--json").out)["jobs"] == {"rounding": ["fused", "separate"]}
    different = run("compare", "a.npz", "c.npz")
    assert (different.code, different.err) == (1, "")
    assert run("compare", "a.npz", "d.npz").out == "the same: 4 pixels\n"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder(run: Run, folder: Path) -> None:
    locked = folder / "locked"
    locked.mkdir(mode=0o555)
    assert "Permission denied" in refused(run, folder, "render", *SMALL, "-o", "locked/x.png")


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_unwritable_home_folder(folder: Path) -> None:
    """Other libraries keep caches there, too."""
    (folder / "home").write_text("a file")
    environment = {name: value for name, value in os.environ.items() if name != "POCL_CACHE_DIR"}
    environment |= {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home")}
    command = [sys.executable, "-m", "mandelcl", "render", *SMALL, "-o", "a.png"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (folder / "a.png").exists()


@pytest.mark.full
@pytest.mark.skipif(os.name == "nt", reason="there a user's folders are closed to others")
def test_cache_writable_by_others_is_ignored_with_one_warning(
    draw: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    monkeypatch.setenv("MANDELCL_CACHE", str(shared))
    warning, summary = draw("render", *SMALL, "-o", "a.png").err.splitlines()
    assert warning.startswith(f"mandelcl: the cache folder {shared} is ignored: other users can write to it")
    assert summary.startswith("a.png: ")
    assert list(shared.iterdir()) == []


@pytest.fixture
def picture(draw: Run, folder: Path) -> Path:
    draw("render", "--size", "32x18", "-o", "good.png", "-o", "good.npz")
    return folder / "good.png"


def test_like_refuses_files_without_a_job(run: Run, folder: Path, picture: Path) -> None:
    from PIL import Image

    Image.new("RGB", (4, 4)).save(folder / "stranger.png")
    (folder / "junk.png").write_bytes(bytes(range(256)) * 8)
    (folder / "empty.png").touch()
    (folder / "cut.png").write_bytes(picture.read_bytes()[:100])
    (folder / "cut.npz").write_bytes(picture.with_suffix(".npz").read_bytes()[:-40])
    (folder / "folder").mkdir()
    for name in ("stranger.png", "junk.png", "empty.png", "cut.png", "cut.npz", "folder", "missing.png", ""):
        line = refused(run, folder, "render", "--like", name, "-o", "new.png", code=1)
        assert line.startswith(f"mandelcl: cannot read {name}")


def test_like_refuses_invalid_jobs(run: Run, folder: Path, picture: Path) -> None:
    from PIL import Image, PngImagePlugin

    with Image.open(picture) as image:
        job = json.loads(image.info["mandelcl"])
    view = job["view"]
    changes: list[dict[str, object]] = [
        {"version": 99},
        {"iterations": 0},
        {"iterations": "many"},
        {"radius_squared": "1"},
        {"formula": "nonsense"},
        {"number": 7},
        {"number": "n" * 9000},
        {"planes": ["p" * 9000]},
        {"formula": {"name": "\x1b[31mf" * 1000}},
        {"view": view | {"pitch": "nan"}},
        {"view": view | {"width": 0}},
        {"view": view | {"height": 10**12}},
        {"view": []},
        {"more": 1},
    ]
    for change in changes:
        info = PngImagePlugin.PngInfo()
        info.add_text("mandelcl", json.dumps(job | change))
        Image.new("RGB", (4, 4)).save(folder / "odd.png", pnginfo=info)
        refused(run, folder, "render", "--like", "odd.png", "-o", "new.png", code=1)


def test_like_takes_no_size(run: Run, folder: Path, picture: Path) -> None:
    refused(run, folder, "render", "--like", picture.name, *SMALL, code=2)


def test_recolour_refuses_files_that_are_not_fields(run: Run, folder: Path, picture: Path) -> None:
    field = picture.with_suffix(".npz").read_bytes()
    (folder / "junk.npz").write_bytes(bytes(range(256)) * 8)
    (folder / "cut.npz").write_bytes(field[: len(field) // 2])
    (folder / "empty.npz").touch()
    damaged = bytearray(field)
    damaged[len(field) // 2] ^= 0xFF
    (folder / "damaged.npz").write_bytes(damaged)
    for name in ("junk.npz", "cut.npz", "empty.npz", "damaged.npz", "missing.npz", "good.png", "."):
        assert "cannot read" in refused(run, folder, "recolour", name, "-o", "new.png", code=1)
