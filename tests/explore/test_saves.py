"""Files: saved, stopped and gone on with, taken from the server, opened again."""

import json
import shlex
import struct
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import mandelcl
from mandelcl.core.job import Job
from mandelcl.files.loading import read_colouring, read_field, read_job
from mandelcl.files.places import read_place
from mandelcl.formulas import Formula
from tests.explore.page import HEADER, HOME, Page, Server, serving, wait_until

CLASSIC = {"palette": "classic", "cycle": None, "offset": 0.25}


def open_file(page: Page, path: Path, name: str = "") -> dict[str, Any]:
    """Return what the server says of a file that is sent to it."""
    data = path.read_bytes()
    page.send("open", id=77, name=name or path.name, size=len(data))
    for start in range(0, len(data) if len(data) <= 1 << 20 else 0, 40_000):
        page.socket.send(struct.pack("<II", 0x554C434D, 77) + data[start : start + 40_000])
    while True:
        message = page.receive()
        if isinstance(message, dict) and message.get("id") == 77:
            return dict(message)


@pytest.mark.full
@pytest.mark.parametrize("suffix", [".png", ".ppm", ".npz", ".tif", ".dzi"])
def test_save_equals_the_view(page: Page, folder: Path, suffix: str) -> None:
    if suffix in (".tif", ".dzi"):
        pytest.importorskip("tifffile" if suffix == ".tif" else "pyvips")
    picture = page.view(HOME)
    saved, before = page.ask("save", "saved", pane=0, colouring=CLASSIC, format=suffix)
    path = Path(saved["path"])
    assert path.parent == folder
    assert path.name == saved["name"]
    assert saved["bytes"] == path.stat().st_size
    assert saved["sha256"] == picture.sha256
    assert all(message["say"] == "saving" for message in before if isinstance(message, dict) and "id" in message)
    if suffix == ".npz":
        assert np.array_equal(read_field(path).counts, picture.counts)
    if suffix == ".dzi":
        assert (folder / f"{path.stem}_files" / "0").is_dir()


def test_a_save_has_the_colours_that_the_page_is_painted(page: Page) -> None:
    picture = page.view(HOME)
    painted, before = page.ask("paint", "painted", pane=0, colouring=CLASSIC)
    assert painted["generation"] == page.generation
    pixels = np.zeros((90, 160, 3), np.uint8)
    for frame in before:
        if isinstance(frame, bytes):
            _, kind, _, _, _, _, column, row, width, height = HEADER.unpack_from(frame)
            assert kind == 2
            colours = np.frombuffer(frame, np.uint8, offset=HEADER.size).reshape(height, width, 3)
            pixels[row + 45 : row + 45 + height, column + 80 : column + 80 + width] = colours
    saved, _ = page.ask("save", "saved", pane=0, colouring=CLASSIC)
    with Image.open(saved["path"]) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), pixels)
    assert picture.came.all()


def test_a_save_may_have_samples_and_sixteen_bits(page: Page) -> None:
    page.view(HOME)
    saved, _ = page.ask("save", "saved", pane=0, colouring={**CLASSIC, "samples": 4, "depth": 16})
    assert saved["sha256"] is None  # a mean of samples has no count
    assert Path(saved["path"]).read_bytes()[24] == 16  # the depth in a PNG's header
    assert json.loads(read_colouring(Path(saved["path"])) or "{}")["samples"] == 4


def test_larger_save_is_the_same_job_with_more_pixels(page: Page) -> None:
    page.view(HOME)
    saved, _ = page.ask("save", "saved", pane=0, colouring=CLASSIC, scale=2)
    job = read_job(saved["path"])
    assert (job.view.width, job.view.height) == (320, 180)
    own = Job.from_json(page.view(HOME).of("settled")["job"])
    assert job.view == own.view.finer(2)
    wide, _ = page.ask("save", "saved", pane=0, colouring=CLASSIC, size=[300, 100])
    again = read_job(wide["path"]).view
    assert (again.width, again.height) == (300, 100)
    assert again.pitch * 100 == own.view.pitch * 90


@pytest.mark.full
def test_a_formula_without_a_name_is_saved_and_copied(page: Page) -> None:
    formula = Formula.parse("sqr add / absx absy sqr add")
    picture = page.view(HOME, formula=formula.as_json(str))
    saved, _ = page.ask("save", "saved", pane=0, colouring=CLASSIC)
    assert saved["name"].startswith("sqr-add-absx-absy-sqr-add-")
    assert read_job(saved["path"]).formula == formula
    assert saved["sha256"] == picture.sha256
    copied, _ = page.ask("copy", "copied", pane=0, colouring=CLASSIC)
    assert shlex.split(copied["command"])[shlex.split(copied["command"]).index("--formula") + 1] == formula.text


def test_saved_file_can_be_downloaded(page: Page, server: Server) -> None:
    page.view(HOME)
    saved, _ = page.ask("save", "saved", pane=0, colouring=CLASSIC)
    assert saved["download"] is True

    def ticket() -> str:
        return str(page.ask("ticket", "ticket", name=saved["name"])[0]["path"])

    path = ticket()
    with urllib.request.urlopen(f"http://{server.host}{path}") as answer:
        assert answer.read() == Path(saved["path"]).read_bytes()
    good = ticket().partition("?")[2]
    for wrong in (path, f"/saved/nothing.png?{good}", f"/saved/{saved['name']}?{good}", f"/saved/{saved['name']}"):
        with pytest.raises(urllib.error.HTTPError, match="403"):  # used, for another file, used up by that, and none
            urllib.request.urlopen(f"http://{server.host}{wrong}")
    page.send("ticket", id=900, name="nothing.png")
    assert "has that name" in page.wait_for("problem")["line"]


@pytest.mark.parametrize("do", ["save", "copy"])
def test_requests_wait_until_the_view_is_resolved(page: Page, do: str) -> None:
    reported = {"save": "saved", "copy": "copied"}[do]
    page.begin(HOME, iterations=77)
    answer, _ = page.ask(do, reported, pane=0, colouring=CLASSIC)  # at once
    if do == "save":
        assert read_job(answer["path"]).iterations == 77
    else:
        assert "--iterations 77" in answer["command"]
    page.send("close", pane=0)
    page.send(do, id=700, pane=0, colouring=CLASSIC)
    assert "pane 0 has no view" in page.wait_for("problem")["line"]


def test_a_save_does_not_wait_for_a_view_that_fails(page: Page) -> None:
    page.begin(HOME, devices=["no such device"])
    page.send("save", id=701, pane=0, colouring=CLASSIC)
    assert page.wait_for("problem")["id"] == 701


def test_stopped_save_is_resumed(page: Page) -> None:
    page.begin(HOME, iterations=30_000, number="fixed:4", size=[1600, 900], origin=[-800, -450])
    page.wait_for("settled")
    page.send("cancel", pane=0)
    page.send("save", id=500, pane=0, colouring=CLASSIC)
    page.wait_for("saving")
    page.send("stop", id=500)
    stopped = page.wait_for("stopped", "saved")
    if stopped["say"] == "saved":
        pytest.skip("this device has saved the picture before it can be stopped")
    page.send("save", id=501, resume=True, name="another.png")
    assert "has that name" in page.wait_for("problem")["line"]
    page.send("save", id=502, resume=True, name=stopped["name"])
    going_on = page.wait_for("saving")
    assert (going_on["id"], going_on["name"]) == (502, stopped["name"])
    page.send("stop", id=502)
    assert page.wait_for("stopped", "saved")["id"] == 502


@pytest.mark.full
@pytest.mark.usefixtures("usable")
@pytest.mark.parametrize("end", ["Ctrl-C", "kill", "leave"])
def test_abandoned_save_leaves_no_tempfile(tmp_path: Path, end: str) -> None:
    with serving(tmp_path) as server, server.page() as page:
        page.begin(HOME, iterations=2_000_000, number="fixed:4", size=[2000, 2000], origin=[-1000, -1000])
        page.wait_for("settled")
        page.send("cancel", pane=0)
        page.send("save", id=500, pane=0, colouring=CLASSIC)
        (part,) = wait_until(lambda: [one.parent for one in tmp_path.glob("*.part/draft")])
        if end == "Ctrl-C":
            assert server.end() == (0, "")
        elif end == "kill":
            server.process.kill()
            server.process.wait(600)
        else:
            page.close()
        wait_until(lambda: not any(part.glob("draft")))
        wait_until(lambda: not part.exists() or any(part.glob("band-*")))


@pytest.mark.parametrize("suffix", [".png", ".npz"])
def test_opened_file_returns_its_view(page: Page, tmp_path: Path, suffix: str) -> None:
    view = mandelcl.View.centred("-0.7436", "0.1318", 5000, 128, 72, rotation=30)
    job = mandelcl.Job(view, iterations=2000, planes=("counts", "smooth"))
    path = tmp_path / f"drawn{suffix}"
    report = mandelcl.render_to(path, job, mandelcl.Colouring(mandelcl.find_palette("ice")), digest=True)
    opened = open_file(page, path)
    assert opened["say"] == "opened"
    names = ("lattice", "origin", "size", "iterations", "formula", "number", "rounding", "method", "radius_squared")
    picture = page.view({name: opened[name] for name in names})
    assert picture.sha256 == report.counts_sha256
    assert opened["colouring"] == (None if suffix == ".npz" else {"palette": "ice", "cycle": None, "offset": 0.0})


def test_film_leads_from_the_whole_set_to_the_view(page: Page, folder: Path) -> None:
    av = pytest.importorskip("av", reason="PyAV is not installed")
    page.view(HOME, lattice={"re": "-0.76", "im": "0.1", "pitch": "1/1000"})
    saved, _ = page.ask("film", "saved", pane=0, colouring=CLASSIC, format=".mp4", size=[64, 36], speed=16)
    assert Path(saved["path"]).parent == folder
    assert not list(folder.glob("*.keys"))
    with av.open(saved["path"]) as film:
        (stream,) = film.streams.video
        assert (stream.width, stream.height) == (64, 36)
        assert sum(1 for _ in film.decode(stream)) > 60  # a second of rest at each end
    page.send("film", id=900, pane=0, colouring=CLASSIC, format=".exe", size=[64, 36])
    assert "video" in page.wait_for("problem")["line"]


def test_location_of_another_program_is_opened(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "a.kfr"
    path.write_text("Re: -0.75\nIm: 0.1\nZoom: 1.5E3\nIterations: 200\nColors: 1,2,3,250,0,90,\nIterDiv: 2.5\n")
    opened = open_file(page, path)
    assert (opened["say"], opened["iterations"], opened["auto_iterations"]) == ("opened", 200, False)
    assert opened["colouring"]["palette"]["colours"] == ["#030201", "#5a00fa"]
    foreign = read_place(path).view(1280, 720)  # with the imaginary axis downward
    upright = Job.from_json(opened["job"]).view
    for pixel in ((0, 0), (1279, 3), (640, 719)):
        (re, im), (own_re, own_im) = foreign.point(*pixel), upright.point(*pixel)
        assert (own_re, own_im) == (re, -im)


def test_palettes_of_another_program_are_opened(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "sunset.map"
    path.write_text("0 0 0\n255 128 0\n9 99 199\n")
    (palette,) = open_file(page, path)["palettes"]
    assert (palette["name"], palette["colours"]) == ("sunset", ["#000000", "#ff8000", "#0963c7"])


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.kfr", b"x" * ((1 << 20) + 1), "too large"),
        ("../../a.toml", b"nothing", "location"),
        ("a.map", b"no colours", "palette"),
        ("a.png", b"\x89PNG\r\n\x1a\n\x00\x01\x00\x01tEXt", "more than 64 KiB"),
    ],
)
def test_invalid_file_of_another_program_is_refused(
    page: Page, tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    path = tmp_path / Path(name).name
    path.write_bytes(data)
    refused = open_file(page, path, name)
    assert refused["say"] == "problem"
    assert reason in refused["line"]
    assert "mandelcl-" not in refused["line"]


def test_foreign_file_is_refused_in_one_line(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "other.png"
    Image.new("RGB", (8, 8)).save(path)
    refused = open_file(page, path)
    assert refused["say"] == "problem"
    assert "without a mandelcl job" in refused["line"]
    assert "/tmp" not in refused["line"]


@pytest.mark.full
def test_copied_command_renders_the_view(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mandelcl.cli import cli

    picture = page.view(HOME, origin=[-33, -21], iterations=777)
    copied, _ = page.ask("copy", "copied", pane=0, colouring=CLASSIC)
    words = shlex.split(copied["command"])
    assert words[:2] == ["mandelcl", "render"]
    assert "--anchor" in words
    monkeypatch.chdir(tmp_path)
    cli([*words[1:], "--quiet", "--digest"], standalone_mode=False)
    assert Job.from_json(json.loads(json.dumps(picture.of("settled")["job"]))).view == read_job("mandelbrot.png").view
    field, _ = mandelcl.render(read_job("mandelbrot.png"))
    assert field.counts_sha256() == picture.sha256
    namespace: dict[str, object] = {}
    exec(copied["python"].replace("mandelbrot.png", "again.png"), namespace)
    assert read_job("again.png").view == read_job("mandelbrot.png").view
