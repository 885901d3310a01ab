"""Several samples a pixel: the mean of shifted pictures, the same in parts, continued, and by several devices."""

import hashlib
import json
import threading
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from mandelcl.base.errors import NEVER, CancelledError, DeviceError, InvalidInputError, Token
from mandelcl.base.names import DEFAULT_PALETTE
from mandelcl.base.srgb import decode, encode
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, colourise, find_palette
from mandelcl.colour.samples import shifts
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine import antialiasing
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Progress, Settings
from mandelcl.engine.computing.work import Place, Results, Room, anywhere, boundless
from mandelcl.files import output
from mandelcl.formulas import MANDELBROT
from mandelcl.opencl.device import Device
from mandelcl.rendering import sampling
from mandelcl.rendering.render import render
from mandelcl.rendering.streaming import render_to
from tests.device import views
from tests.device.part_files import wait_for_a_band

WIDTH, HEIGHT = 61, 47
JOB = Job(views.seahorses(WIDTH, HEIGHT), 300, number="float", rounding="separate", planes=("smooth",))
FOUR = Colouring(find_palette("ember"), samples=4)
FIRST_RELEASE = "1a61c35a128272653b71eda9119886643e7d6cde28c73a6e1f2e6aa83c5f12ea"
BLOCKS = Settings(block_pixels=7 * WIDTH)


@pytest.fixture(autouse=True)
def small_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_BAND_PIXELS", 10 * WIDTH)


def drawn(path: Path, job: Job, colouring: Colouring, device: Device, **options: Any) -> npt.NDArray[np.uint8]:
    render_to(path, job, colouring, device, BLOCKS, **options)
    with Image.open(path) as picture:
        return np.asarray(picture)


def light_of_samples(device: Device, colouring: Colouring, samples: int) -> npt.NDArray[np.float64]:
    """The mean light of fields that are rendered one by one."""
    plain = replace(colouring, samples=1, transparent=False)
    pictures = [
        colourise(render(JOB.at(JOB.view.shifted(*shift)), device)[0], plain) / 255 for shift in shifts(samples)
    ]
    return np.asarray(np.mean([decode(picture) for picture in pictures], axis=0))


@pytest.mark.parametrize("palette", ["ember", "coursework"])
def test_a_pixel_is_the_mean_light_of_its_samples(device: Device, palette: str, tmp_path: Path) -> None:
    colouring = Colouring(find_palette(palette), samples=8)
    pixels = drawn(tmp_path / "a.png", JOB, colouring, device)
    expected = encode(light_of_samples(device, colouring, 8)) * 255
    assert np.abs(pixels - expected).max() < 0.6
    report = render_to(tmp_path / "b.ppm", JOB, colouring, device, BLOCKS)
    assert report.samples == 8
    assert report.iterations_total == sum(
        int(render(JOB.at(JOB.view.shifted(*shift)), device)[0].counts.sum(dtype=np.uint64)) for shift in shifts(8)
    )


def test_a_transparent_set_is_as_opaque_as_its_samples_are_outside(device: Device, tmp_path: Path) -> None:
    pixels = drawn(tmp_path / "a.png", JOB, replace(FOUR, transparent=True), device)
    outside = np.mean([~render(JOB.at(JOB.view.shifted(*shift)), device)[0].inside for shift in shifts(4)], axis=0)
    np.testing.assert_array_equal(pixels[..., 3], np.rint(outside * 255))
    opaque = drawn(tmp_path / "b.png", JOB, FOUR, device)
    np.testing.assert_array_equal(pixels[outside == 1][:, :3], opaque[outside == 1])
    assert 0 < (outside % 1 > 0).sum() < outside.size / 2


@pytest.mark.parametrize("samples", [4, "auto"])
def test_a_part_of_a_picture_is_the_same(device: Device, tmp_path: Path, samples: int | str) -> None:
    colouring = replace(FOUR, samples=samples)
    whole = drawn(tmp_path / "a.png", JOB, colouring, device)
    part = drawn(tmp_path / "b.png", JOB.at(JOB.view.part(9, 13, 40, 20)), colouring, device)
    np.testing.assert_array_equal(part, whole[13:33, 9:49])


@pytest.mark.full
@pytest.mark.parametrize("samples", [4, "auto"])
def test_sampled_resume_has_the_same_bytes(device: Device, tmp_path: Path, samples: int | str) -> None:
    colouring = replace(FOUR, samples=samples, depth=16)
    render_to(tmp_path / "a.png", JOB, colouring, device, BLOCKS)
    path, cancel = tmp_path / "b.png", threading.Event()

    def stop(progress: Progress) -> None:
        if progress.pixels > WIDTH * HEIGHT // 2:
            wait_for_a_band(path)  # an interrupt waits for it a moment, which may be too short on a busy machine
            cancel.set()

    with pytest.raises(CancelledError):
        render_to(path, JOB, colouring, device, BLOCKS, store_after=0, progress=stop, cancel=cancel)
    lines: list[str] = []
    render_to(path, JOB, colouring, device, BLOCKS, resume=True, on_message=lines.append)
    assert any(line.startswith("resuming with") for line in lines)
    assert path.read_bytes() == (tmp_path / "a.png").read_bytes()


@pytest.mark.full
@pytest.mark.parametrize("samples", [4, "auto"])
def test_several_devices_share_samples(device: Device, tmp_path: Path, samples: int | str) -> None:
    colouring = replace(FOUR, samples=samples)
    alone = drawn(tmp_path / "a.png", JOB, colouring, device)
    render_to(tmp_path / "b.png", JOB, colouring, [device, device])
    with Image.open(tmp_path / "b.png") as picture:
        np.testing.assert_array_equal(np.asarray(picture), alone)


class Liar(Computation):
    """A device that stands for a crew: one of its workers is found wrong in run `found`, and was wrong in run `wrong`.

    Blocks of run `found` come once more, corrected. Those of earlier runs do not: they are jobs of their own.
    """

    runs = wrong = found = 0

    def run(
        self, bands: Iterable[Block], room: Room = boundless, *, place: Place = anywhere, cancel: Token = NEVER
    ) -> Results:
        Liar.runs += 1
        lies, confesses = Liar.runs == Liar.wrong, Liar.runs == Liar.found
        for finished in super().run(bands, room, place=place, cancel=cancel):
            right = finished.values.copy()
            yield finished._replace(values=right + np.uint32(lies))
            if lies and confesses:
                yield finished._replace(values=right, revision=1)
        self.log.workers_excluded += confesses


@pytest.mark.full
@pytest.mark.one_device
@pytest.mark.parametrize(
    ("samples", "wrong", "found", "stale"),
    [(4, 3, 3, 0), (4, 0, 3, 0), (4, 1, 3, 0), (4, 1, 6, 1), (4, 0, 6, 0), ("auto", 3, 3, 0), ("auto", 1, 3, 1)],
)
def test_samples_of_a_wrong_worker_are_recomputed(
    device: Device,
    samples: int | str,
    wrong: int,
    found: int,
    stale: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A band that was written before and has changed is dropped, and computed again by the next render."""
    colouring, path = replace(FOUR, samples=samples), tmp_path / "b.png"
    render_to(tmp_path / "a.png", JOB, colouring, device, BLOCKS)
    with monkeypatch.context() as lying, ExitStack() as failing:
        lying.setattr("mandelcl.rendering.session.Computation", Liar)
        lying.setattr(Liar, "runs", 0)
        lying.setattr(Liar, "wrong", wrong)
        lying.setattr(Liar, "found", found)
        if stale:
            line = rf"^a worker returned wrong results for {stale} of 5 bands"
            failing.enter_context(pytest.raises(DeviceError, match=line))
        render_to(path, JOB, colouring, device, BLOCKS, store_after=0)
    if stale:
        lines: list[str] = []
        render_to(path, JOB, colouring, device, BLOCKS, resume=True, on_message=lines.append)
        assert lines[0].startswith("resuming with 4 of 5 bands")
    assert path.read_bytes() == (tmp_path / "a.png").read_bytes()


def test_number_resolves_samples(device: Device, tmp_path: Path) -> None:
    if not device.fp64:
        pytest.skip("there is only float")
    view = View.upright("-0.75", "0.1", 2.0**-18, 16, 12)
    job = Job(view, 200, planes=("smooth",), radius_squared=Fraction(4))
    assert render(job, device)[1].number == "float"
    report = render_to(tmp_path / "a.png", job, replace(FOUR, samples=64), device)
    assert report.number == "double"


def test_deep_samples_share_one_reference(device: Device, tmp_path: Path) -> None:
    view = View.centred("-1.7400623825793399052208441670658256382966417204361718668798624184611829", 0, "1e40", 32, 18)
    pixels = drawn(tmp_path / "a.png", Job(view, 3000, planes=("smooth",)), FOUR, device)
    assert pixels.shape == (18, 32, 3)


def test_a_field_has_one_sample_a_pixel(device: Device) -> None:
    field, _ = render(JOB, device)
    for call in (lambda: colourise(field, FOUR), lambda: FOUR.picture(field)):
        with pytest.raises(InvalidInputError, match=r"^a field has one sample per pixel; use render_to for several$"):
            call()


def samples_in(path: Path) -> int | str:
    with Image.open(path) as picture:
        samples: int | str = json.loads(picture.info[output.COLOURING_KEY]).get("samples", 1)
    return samples


def test_samples_are_automatic_where_they_are_cheap(
    device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(FOUR, samples=1)
    cheap = drawn(tmp_path / "a.png", JOB, one, device, auto_samples=True)
    np.testing.assert_array_equal(cheap, drawn(tmp_path / "b.png", JOB, replace(FOUR, samples="auto"), device))
    assert samples_in(tmp_path / "a.png") == "auto"
    monkeypatch.setattr(antialiasing, "MOST_ITERATIONS", 1000)
    dear = drawn(tmp_path / "c.png", JOB, one, device, auto_samples=True)
    np.testing.assert_array_equal(dear, drawn(tmp_path / "d.png", JOB, one, device))
    assert samples_in(tmp_path / "c.png") == 1


@pytest.mark.one_device
@pytest.mark.parametrize("samples", [1, "auto"])
def test_automatic_samples_go_on_as_they_were(
    device: Device, tmp_path: Path, samples: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever would be decided now: the unfinished render has its number of samples."""
    path, cancel = tmp_path / "a.png", threading.Event()

    def stop(progress: Progress) -> None:
        if progress.pixels > WIDTH * HEIGHT // 2:
            wait_for_a_band(path)
            cancel.set()

    monkeypatch.setattr(antialiasing, "MOST_ITERATIONS", 0 if samples == 1 else 1e99)
    one = replace(FOUR, samples=1)
    with pytest.raises(CancelledError):
        render_to(path, JOB, one, device, BLOCKS, store_after=0, progress=stop, cancel=cancel, auto_samples=True)
    monkeypatch.setattr(antialiasing, "MOST_ITERATIONS", 1e99 if samples == 1 else 0)
    report = render_to(path, JOB, one, device, BLOCKS, resume=True, auto_samples=True)
    assert samples_in(path) == samples
    assert (report.width, report.height) == (WIDTH, HEIGHT)


def test_one_sample_has_the_bytes_of_the_first_release(device: Device, tmp_path: Path) -> None:
    """Of commit b273e4d, before there were samples, dithering and an automatic limit."""
    path = tmp_path / "a.ppm"
    colouring, (re, im, zoom) = Colouring(find_palette(DEFAULT_PALETTE)), MANDELBROT.home
    view = View.centred(re, im, zoom, 160, 120)
    job = Job(view, 1000, number="float", rounding="fused", planes=colouring.planes)
    render_to(path, job, colouring, device)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == FIRST_RELEASE
