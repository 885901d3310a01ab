"""Pictures whose counts stay on the device: the same files, continued or not, and refusals where counts are needed."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base.errors import CancelledError, FileError
from mandelcl.colour.colour import PALETTES, Colouring
from mandelcl.colour.palettes import Palette
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.report import Report
from mandelcl.engine import shading
from mandelcl.engine.computing.settings import Progress, Settings
from mandelcl.opencl.device import Device
from mandelcl.rendering.band_layout import PIXELS
from mandelcl.rendering.store import BandStore
from mandelcl.rendering.streaming import render_to
from tests.device import views

WIDTH, HEIGHT, ITERATIONS = 61, 47, 300
ICE, COURSEWORK = Colouring(PALETTES["ice"], offset=0.2), Colouring(PALETTES["coursework"])
DITHERED = replace(ICE, dither=True)
ROWS_OF_FIVE = Settings(block_pixels=5 * WIDTH)
JOB = Job(
    views.seahorses(WIDTH, HEIGHT),
    ITERATIONS,
    number="float",
    rounding="separate",
    algorithm="escape",
    planes=("smooth",),
)


@dataclass
class Pictures:
    """A picture, rendered without a digest."""

    folder: Path
    colouring: Colouring = ICE
    job: Job = JOB

    @property
    def path(self) -> Path:
        return self.folder / "a.png"

    @property
    def part(self) -> Path:
        return self.folder / "a.png.part"

    def render(self, *devices: Device, **options: Any) -> Report:
        options = {"store_after": 0, "digest": False} | options
        return render_to(self.path, self.job, self.colouring, devices, ROWS_OF_FIVE, **options)

    def stop(self, device: Device, **options: Any) -> str:
        """Render, and stop it in the middle; return what it holds of a pixel then."""
        cancel = threading.Event()

        def progress(done: Progress) -> None:
            finished, limit = done.pixels // (5 * WIDTH), time.monotonic() + 60
            if done.pixels > WIDTH * HEIGHT // 2:  # the first may be read before the store begins; wait for the others
                while len(list(self.part.glob("band-???????"))) < finished - 1 and time.monotonic() < limit:
                    time.sleep(0.01)
                cancel.set()

        with pytest.raises(CancelledError):
            self.render(device, progress=progress, cancel=cancel, **options)
        manifest = BandStore(self.part).read_manifest()
        assert manifest is not None
        return manifest.form.kind

    def expected(self, device: Device) -> tuple[bytes, Report]:
        """Return the file as the host colours it, and its report."""
        other = replace(self, folder=self.folder / "host")
        other.folder.mkdir()
        report = other.render(device, digest=True)
        return other.path.read_bytes(), report


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have devices shade them, too."""
    monkeypatch.setattr(shading, "_LEAST_PIXELS_GPU", 1)
    monkeypatch.setattr(shading, "_LEAST_PIXELS_CPU", 1)


@pytest.fixture
def shaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the number of pixels is added whenever a device shades some."""
    seen: list[int] = []
    start: Callable[..., Any] = shading.Shader.start

    def noted(shader: shading.Shader, results: Any, block: Block, pixels: Any) -> Any:
        seen.append(block.pixels)
        return start(shader, results, block, pixels)

    monkeypatch.setattr(shading.Shader, "start", noted)
    return seen


@pytest.mark.parametrize("colouring", [ICE, COURSEWORK, DITHERED], ids=["colours", "places", "dithered"])
@pytest.mark.parametrize("suffix", ["png", "ppm"])
def test_files_are_the_same(
    device: Device, tmp_path: Path, colouring: Colouring, suffix: str, shaded: list[int]
) -> None:
    pictures = Pictures(tmp_path, colouring)
    expected, truth = pictures.expected(device)
    shading.shader_of(device, JOB, colouring)
    shaded.clear()
    report = pictures.render(device)
    assert sum(shaded) == WIDTH * HEIGHT
    assert pictures.path.read_bytes() == expected
    assert report.counts_sha256 is None
    assert report.iterations_total == truth.iterations_total
    if suffix == "ppm":
        paths = [tmp_path / "b.ppm", tmp_path / "host" / "b.ppm"]
        for path, digest in zip(paths, (False, True), strict=True):
            render_to(path, JOB, colouring, device, ROWS_OF_FIVE, digest=digest)
        assert paths[0].read_bytes() == paths[1].read_bytes()


def test_several_pictures_share_the_pixels(device: Device, tmp_path: Path, shaded: list[int]) -> None:
    expected, _ = Pictures(tmp_path).expected(device)
    shading.shader_of(device, JOB, ICE)
    shaded.clear()
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    render_to(paths, JOB, ICE, device, ROWS_OF_FIVE)
    assert [path.read_bytes() for path in paths] == [expected, expected]
    assert sum(shaded) == WIDTH * HEIGHT


def test_counts_are_returned_on_request(device: Device, tmp_path: Path, shaded: list[int]) -> None:
    rows: list[int] = []
    paths = [tmp_path / "a.png", tmp_path / "a.npz"]
    render_to(paths, JOB, ICE, device)
    assert render_to(paths[0], JOB, ICE, device, digest=True).counts_sha256
    render_to(paths[0], JOB, ICE, device, on_counts=lambda top, counts: rows.extend(range(top, top + len(counts))))
    assert rows == list(range(HEIGHT))
    assert not shaded


def test_resume_continues_from_part_file_of_pixels(device: Device, tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    expected, truth = pictures.expected(device)
    assert pictures.stop(device) == PIXELS
    reported: list[str] = []
    report = pictures.render(device, resume=True, on_message=reported.append)
    assert any("resuming with" in line for line in reported)
    assert report.pixels_computed < WIDTH * HEIGHT
    assert report.iterations_total == truth.iterations_total, "of all bands"
    assert pictures.path.read_bytes() == expected


def test_resume_shades_on_the_host_if_the_device_cannot(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = Pictures(tmp_path)
    expected, truth = pictures.expected(device)
    assert pictures.stop(device) == PIXELS
    monkeypatch.setattr(shading, "shader_of", lambda *_: None)
    report = pictures.render(device, resume=True)
    assert pictures.path.read_bytes() == expected
    assert report.iterations_total == truth.iterations_total
    ticks = time.get_clock_info("thread_time").resolution > 1e-3  # those of Windows, by which it may take no time
    assert report.stages_s["colour"] > (-1 if ticks else 0)


def test_store_of_counts_resumes_as_counts(device: Device, tmp_path: Path) -> None:
    pictures = Pictures(tmp_path)
    expected, _ = pictures.expected(device)
    assert pictures.stop(device, digest=True) != PIXELS
    pictures.render(device, resume=True)
    assert pictures.path.read_bytes() == expected


def test_outputs_that_need_counts_refuse_pixels(device: Device, tmp_path: Path) -> None:
    """In one line that says what to do; nothing is lost by it."""
    pictures = Pictures(tmp_path)
    expected, _ = pictures.expected(device)
    pictures.stop(device)
    other = Palette("ice", "of the same name", ("#000000", "#ffffff"), cycle=1.6)
    for colouring in (Colouring(PALETTES["ember"], offset=0.2), replace(ICE, offset=0.0), Colouring(other, offset=0.2)):
        with pytest.raises(
            FileError, match=r"holds pixels in other colours \(palette ice, offset 0.2\); give the same ones"
        ):
            replace(pictures, colouring=colouring).render(device, resume=True)
    with pytest.raises(
        FileError, match=r"but not the counts that --json, --confirm and the digest need; leave that out"
    ):
        pictures.render(device, resume=True, digest=True)
    paths = [pictures.path, tmp_path / "b.npz"]
    with pytest.raises(FileError, match=r"but not the counts that .*b.npz needs; leave that out, or delete the folder"):
        render_to(paths, JOB, ICE, device, resume=True)
    pictures.render(device, resume=True)
    assert pictures.path.read_bytes() == expected


@pytest.mark.parametrize("facts", [{}, {"iterations": 1}, {"iterations": "1", "inside": 0, "certified": 0}])
def test_pixels_without_totals_are_damaged(device: Device, tmp_path: Path, facts: dict[str, Any]) -> None:
    """Whatever their checksum: the band is computed again."""
    pictures = Pictures(tmp_path)
    expected, truth = pictures.expected(device)
    pictures.stop(device)
    store, lines = BandStore(pictures.part), list[str]()
    manifest = store.read_manifest()
    assert manifest is not None
    store.begin(manifest)
    band = next(band for band, _ in store.verified())
    store.write(band, store.read(band).values, facts)
    report = pictures.render(device, resume=True, on_message=lines.append)
    assert any("1 damaged bands are computed again" in line for line in lines)
    assert pictures.path.read_bytes() == expected
    assert report.iterations_total == truth.iterations_total
