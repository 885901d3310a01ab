"""Renders that go to files: the same bytes as a render in memory, whatever is interrupted, damaged or in the way."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import LONGEST_LINE, BuildError, CancelledError, FileError
from mandelcl.base.text import printable
from mandelcl.colour.colour import PALETTES, Colouring
from mandelcl.colour.light import Light
from mandelcl.core.job import Job
from mandelcl.core.report import Report
from mandelcl.engine.computing.settings import Progress, Settings
from mandelcl.files import archive, output, png
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.bands import MEMORY_BYTES
from mandelcl.rendering.render import render
from mandelcl.rendering.store import BandStore
from mandelcl.rendering.streaming import render_to
from tests.device import views
from tests.device.targets import Target, devices

WIDTH, HEIGHT, ITERATIONS = 61, 47, 300
ICE, COURSEWORK = Colouring(PALETTES["ice"]), Colouring(PALETTES["coursework"])
ROWS_OF_FIVE = Settings(block_pixels=5 * WIDTH)


def a_job(number: str = "float", rounding: str = "separate", **settings: Any) -> Job:
    return Job(views.seahorses(WIDTH, HEIGHT), ITERATIONS, number=number, rounding=rounding, **settings)


@dataclass
class Files:
    """A picture and a field file, and what they should be."""

    folder: Path
    job: Job
    colouring: Colouring = ICE

    @property
    def paths(self) -> list[Path]:
        return [self.folder / "a.png", self.folder / "a.npz"]

    @property
    def part(self) -> Path:
        return self.folder / "a.png.part"

    def render(self, device: Device, settings: Settings = ROWS_OF_FIVE, **options: Any) -> Report:
        return render_to(
            self.paths, self.job, self.colouring, [device], settings, store_after=0, digest=True, **options
        )

    def stop(self, device: Device, pixels: int, **options: Any) -> None:
        """Render, and stop it once so many pixels are done."""
        cancel = threading.Event()

        def progress(done: Progress) -> None:
            finished, limit = done.pixels // (5 * WIDTH), time.monotonic() + 60
            if done.pixels >= pixels:  # the first may be read before the store begins; wait for the others
                while len(self.bands()) < finished - 1 and time.monotonic() < limit:
                    time.sleep(0.01)
                cancel.set()

        with pytest.raises(CancelledError, match=r"kept in .*; to continue, add --resume"):
            self.render(device, cancel=cancel, progress=progress, **options)
        assert [path.name for path in self.folder.iterdir()] == ["a.png.part"]
        assert not [path for path in self.part.iterdir() if path.name.startswith("draft") or path.suffix == ".new"]

    def bands(self) -> list[Path]:
        return sorted(path for path in self.part.iterdir() if path.name.startswith("band-"))

    def rows_kept(self) -> int:
        """Return the rows of the bands in the store; how many a band has follows from the device and the planes."""
        manifest = BandStore(self.part).read_manifest()
        assert manifest is not None
        return sum(manifest.rows(int(path.name.removeprefix("band-"))) for path in self.bands())

    def check(self, device: Device) -> None:
        """Compare with what render and output.write make of the same job; nothing else is left behind."""
        field, _ = render(self.job, device)
        with_write = self.folder.parent / "written"
        with_write.mkdir(exist_ok=True)
        for path in self.paths:
            output.write(with_write / path.name, field, self.colouring.picture(field))
            assert path.read_bytes() == (with_write / path.name).read_bytes(), path.name
        assert sorted(path.name for path in self.folder.iterdir()) == ["a.npz", "a.png"]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    folder = tmp_path / "here"
    folder.mkdir()
    return Files(folder, a_job(planes=("counts", "smooth")))


@pytest.mark.full
def test_files_are_those_of_a_render_in_memory(target: Target, tmp_path: Path) -> None:
    """For any bound of memory, block and budget."""
    ways = [
        (Settings(), MEMORY_BYTES, True),
        (Settings(block_pixels=2 * WIDTH, budget=0.002), 50 * 12 * WIDTH, False),
        (Settings(block_pixels=WIDTH - 20), 50 * 12 * WIDTH, True),
        (Settings(blocks=(3, 4)), MEMORY_BYTES, False),
    ]
    for number, (settings, memory, smooth) in enumerate(ways):
        folder = tmp_path / str(number) / "here"
        folder.mkdir(parents=True)
        job = a_job(target.number.name, target.rounding, planes=("counts", "smooth")[: 1 + smooth])
        files = Files(folder, job, ICE if smooth else COURSEWORK)
        report = render_to(files.paths, job, files.colouring, [target.device], settings, memory=memory, digest=True)
        files.check(target.device)
        assert report.counts_sha256 == render(job, target.device)[0].counts_sha256()


def test_streaming_report(device: Device, files: Files) -> None:
    report = files.render(device)
    counts = np.load(files.paths[1])["counts"]
    assert report.iterations_total == counts.sum(dtype=np.uint64)
    assert report.pixels_computed == WIDTH * HEIGHT
    assert report.launches >= -(-HEIGHT // 5)
    assert 0 <= report.median_launch_ms <= report.p99_launch_ms <= report.longest_launch_ms
    assert report.longest_launch_ms / 1e3 <= report.kernel_s * 1.001
    assert {"colour", "encode", "hash"} <= set(report.stages_s)
    assert all(seconds >= 0 for seconds in report.stages_s.values())


@pytest.mark.parametrize("share", [0.4, 0.8])
def test_resume_continues_from_part_file(device: Device, files: Files, share: float) -> None:
    files.stop(device, int(share * WIDTH * HEIGHT))
    stored = [int(path.name.removeprefix("band-")) for path in files.bands()]
    kept = len(stored)
    assert kept
    reported: list[str] = []
    seen: list[Progress] = []
    report = files.render(device, resume=True, on_message=reported.append, progress=seen.append)
    files.check(device)
    assert report.pixels_computed == WIDTH * (HEIGHT - 5 * kept)
    counts = np.load(files.paths[1])["counts"]
    earlier = sum(int(counts[5 * band : 5 * band + 5].sum(dtype=np.uint64)) for band in stored)
    assert report.iterations_total == counts.sum(dtype=np.uint64), "of all bands"
    assert report.iterations_run == report.iterations_total - earlier, "what the speed is for"
    assert any(f"resuming with {kept} of 10 bands" in line for line in reported)
    assert seen[-1].pixels == seen[-1].pixels_total
    assert seen[0].pixels > 5 * kept * WIDTH, "it begins with what is done"


def test_damaged_bands_are_computed_again(device: Device, files: Files) -> None:
    files.stop(device, int(0.8 * WIDTH * HEIGHT))
    kept = files.bands()
    assert len(kept) >= 3
    kept[0].write_bytes(kept[0].read_bytes()[:-1])
    flipped = bytearray(kept[1].read_bytes())
    flipped[len(flipped) // 2] ^= 16
    kept[1].write_bytes(flipped)
    (files.part / "draft").write_text("half a picture")
    reported: list[str] = []
    report = files.render(device, resume=True, on_message=reported.append)
    files.check(device)
    assert report.pixels_computed == WIDTH * (HEIGHT - 5 * (len(kept) - 2))
    assert any("2 damaged bands are computed again" in line for line in reported)


def test_refused_resume_keeps_the_part_file(device: Device, files: Files) -> None:
    """Another job's store, an unasked one, a manifest cut short, a render that runs: one line, and all stays."""
    files.stop(device, WIDTH * HEIGHT // 2)
    before = {path.name: path.read_bytes() for path in files.part.iterdir() if path.name != "lock"}
    with pytest.raises(FileError, match="holds an unfinished render; to continue it, add --resume"):
        files.render(device)
    for other, why in (
        (replace(files.job, iterations=ITERATIONS + 1), "iterations"),
        (replace(files.job, planes=("counts",)), "planes"),
    ):
        with pytest.raises(FileError, match=f"the unfinished render differs in {why}"):
            render_to(files.paths, other, ICE, [device], resume=True)
    lock = BandStore(files.part)
    lock.lock()
    with pytest.raises(FileError, match="another mandelcl process is drawing"):
        files.render(device, resume=True)
    lock.release()
    whole = before["manifest.json"]
    (files.part / "manifest.json").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="is damaged"):
        files.render(device, resume=True)
    (files.part / "manifest.json").write_bytes(whole)
    assert {path.name: path.read_bytes() for path in files.part.iterdir() if path.name != "lock"} == before
    files.render(device, resume=True)
    files.check(device)


def test_a_second_render_of_the_same_file_is_refused(device: Device, files: Files) -> None:
    refusals: list[str] = []

    def progress(_done: Progress) -> None:
        if not refusals:
            with pytest.raises(FileError) as caught:
                files.render(device, resume=True)
            refusals.append(str(caught.value))

    files.render(device, progress=progress)
    assert "is in use" in refusals[0]
    files.check(device)


def test_other_device_continues_the_job(device: Device, files: Files) -> None:
    """The store's grid, number and rounding hold, whatever the next device would choose."""
    found: list[Any] = [parameter.values[0] for parameter in devices()]
    (first,) = [other for k, other in enumerate(found) if found[k - 1] is device]  # each follows another
    files.stop(first, WIDTH * HEIGHT // 2)
    kept = len(files.bands())
    files.job = files.job.resolved("auto", "auto")
    report = files.render(device, Settings(block_pixels=3 * WIDTH + 7), resume=True)
    assert (report.number, report.rounding) == ("float", "separate")
    assert report.pixels_computed == WIDTH * (HEIGHT - 5 * kept)
    files.job = files.job.resolved("float", "separate")
    files.check(first)


def test_resume_keeps_planes(tmp_path: Path) -> None:
    """Distances, smooth fractions and last z of bands that were kept are those of a render without a pause."""
    device, folder = discover()[0], tmp_path / "here"
    folder.mkdir()
    files = Files(folder, a_job(planes=("smooth", "distance", "last")), replace(ICE, effects=(Light(135),)))
    files.stop(device, WIDTH * HEIGHT // 2)
    kept = files.rows_kept()
    assert files.render(device, resume=True).pixels_computed == WIDTH * (HEIGHT - kept)
    files.check(device)


def test_resume_keeps_the_resolved_algorithm(device: Device, files: Files) -> None:
    """Strict, too, which means nothing once the algorithm is escape time."""
    files.job = replace(files.job, algorithm="auto", strict=True)
    files.stop(device, WIDTH * HEIGHT // 2)
    kept = len(files.bands())
    report = files.render(device, resume=True)
    assert report.algorithm == "escape", "so small a picture is not worth tracing"
    assert report.pixels_computed == WIDTH * (HEIGHT - 5 * kept)
    files.check(device)


def test_resume_without_a_stored_part_starts_afresh(device: Device, files: Files) -> None:
    assert files.render(device, resume=True).pixels_computed == WIDTH * HEIGHT
    files.check(device)


def test_outputs_are_replaced_all_or_none(device: Device, files: Files) -> None:
    """A folder that has come into the place of the last: the first is not replaced, and nothing finished is lost."""
    first, last = files.paths
    first.write_text("older")
    with pytest.raises(FileError) as caught:
        render_to(files.paths, files.job, ICE, device, progress=lambda _done: last.mkdir(exist_ok=True))
    tempfiles = [files.folder / f"{path.name}.part" / "draft" for path in files.paths]
    kept = f"finished, but kept under temporary names until the next render: {tempfiles[0]}, {tempfiles[1]}"
    assert str(caught.value) == printable(f"cannot write {last}: it is a folder; {kept}", LONGEST_LINE)
    assert first.read_text() == "older"
    finished = tempfiles[0].read_bytes()
    last.rmdir()
    render_to(files.paths, files.job, ICE, device)
    assert finished == first.read_bytes()
    files.check(device)


def test_output_that_cannot_be_renamed_is_kept(device: Device, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk refuses the last of two: the first is in place, the other kept, and the line says so."""
    first, last = files.paths
    replace = Path.replace

    def refuse(self: Path, place: Path) -> Path:
        if place == last:
            raise PermissionError(1, "Operation not permitted", str(self), None, str(place))
        return replace(self, place)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(FileError) as caught:
        files.render(device)
    monkeypatch.undo()
    tempfile = files.folder / "a.npz.part" / "draft"
    kept = f"finished, but kept under temporary names until the next render: {tempfile}"
    assert str(caught.value) == printable(f"cannot write {last}: Operation not permitted; {kept}", LONGEST_LINE)
    assert first.exists()
    finished = tempfile.read_bytes()
    files.render(device, resume=True)
    assert finished == last.read_bytes()
    files.check(device)


def test_failure_keeps_its_message(device: Device, files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a word on what is kept, but with its own kind, data, cause and stack."""

    def refuse(*_arguments: Any) -> None:
        limit = time.monotonic() + 600
        while not (files.part / "manifest.json").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        raise BuildError("it refuses", "line 7: error", "0:0") from ValueError("the cause")

    monkeypatch.setattr(png, "_pack_lines", refuse)
    with pytest.raises(
        BuildError, match=r"^it refuses; \d+ of 10 bands are kept in .*; to continue, add --resume$"
    ) as caught:
        files.render(device)
    assert (caught.value.log, caught.value.device) == ("line 7: error", "0:0")
    assert isinstance(caught.value.__cause__, ValueError)
    assert "refuse" in [entry.name for entry in caught.traceback]


Fail = Callable[..., None]


@pytest.mark.parametrize("what", ["write_archive", "Store.write", "paint"])
def test_a_writer_that_fails_stops_the_render(
    device: Device, files: Files, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first error is told, what is finished is kept, no draft stays; once it is cured, it goes on."""

    def fail(*_arguments: Any) -> None:
        raise OSError(28, "No space left on device")

    places: dict[str, tuple[Any, str]] = {
        "write_archive": (archive, "write_archive"),
        "Store.write": (BandStore, "write"),
        "paint": (png, "_pack_lines"),
    }
    monkeypatch.setattr(*places[what], fail)
    with pytest.raises(FileError, match=r"cannot write .*: No space left on device"):
        files.render(device)
    left = [path.name for path in files.folder.rglob("*")]
    assert not [name for name in left if name.startswith("draft") or name.endswith((".new", ".png", ".npz"))], left
    monkeypatch.undo()
    files.render(device, resume=True)
    files.check(device)
