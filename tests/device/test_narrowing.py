"""Counts of 16 bits are those of 32, and what was not written stays told apart."""

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mandelcl.base.errors import CancelledError
from mandelcl.base.words import NO_COUNT
from mandelcl.colour.colour import PALETTES, Colouring
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine import narrowing
from mandelcl.engine.computing.computation import fastest_computation
from mandelcl.engine.computing.settings import Progress, Settings
from mandelcl.engine.narrowing import MOST, Counts16, counts_16, narrows
from mandelcl.opencl.device import Device
from mandelcl.rendering.band_layout import BandLayout
from mandelcl.rendering.manifest import Manifest
from mandelcl.rendering.store import BandStore
from mandelcl.rendering.streaming import render_to
from tests.device.views import seahorses, whole

JOB = Job(seahorses(61, 47), 300, number="float", rounding="separate", algorithm="escape")
SETTINGS = Settings(block_pixels=5 * 61)


@pytest.mark.parametrize("pixels", [1, 3, 4, 5, 127, 512, 4099])
def test_narrowed_counts_are_the_counts(device: Device, pixels: int) -> None:
    counts = np.random.default_rng(pixels).integers(0, MOST, pixels, np.uint32, endpoint=True)
    counts[pixels // 2] = NO_COUNT
    form = Counts16(device)
    made = device.allocate(form.bytes_for(pixels) + 4)
    device.wait(device.fill(made, 0x5A5A5A5A, (form.bytes_for(pixels) + 4) // 4 * 4))
    device.wait(form.start(device.upload(counts), Block(0, 0, pixels, 1), made))
    found = np.zeros(pixels + 2, form.dtype)
    device.wait(device.fetch(made, found))
    np.testing.assert_array_equal(found[:pixels], counts & 0xFFFF)
    assert found[pixels // 2] == 0xFFFF
    assert found[pixels] == 0x5A5A, "nothing is written behind the last"


def test_jobs_with_small_limits_are_narrowed(device: Device) -> None:
    for max_iterations, planes, fits in (
        (MOST, ("counts",), True),
        (MOST + 1, ("counts",), False),
        (9, ("counts", "smooth"), False),
    ):
        job = Job(whole(2048, 2048), max_iterations, planes=planes)
        assert narrows(job) is fits
        assert (counts_16(device, job) is not None) is (fits and device.pins)


@pytest.fixture
def narrowing_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all devices narrow counts, of small pictures, too."""
    monkeypatch.setattr(narrowing, "worthwhile", lambda _device, _pixels: True)


def files(folder: Path, device: Device, **options: Any) -> tuple[list[bytes], str | None, int]:
    """Return a picture's and a field's bytes and what the report says of their counts."""
    folder.mkdir(exist_ok=True)
    paths = [folder / "a.png", folder / "a.npz"]
    seen: list[tuple[int, np.dtype[Any], int]] = []
    report = render_to(
        paths,
        JOB,
        Colouring(PALETTES["coursework"]),
        [device],
        SETTINGS,
        on_counts=lambda top, counts: seen.append((top, counts.dtype, int(counts.sum()))),
        digest=True,
        **options,
    )
    assert all(dtype == np.uint32 for _, dtype, _ in seen)
    assert sum(total for *_, total in seen) == report.iterations_total
    return [path.read_bytes() for path in paths], report.counts_sha256, report.iterations_total


def test_files_are_the_same(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = files(tmp_path / "words", device)
    taken: list[int] = []
    start = Counts16.start

    def noted(form: Counts16, results: Any, block: Block, made: Any) -> Any:
        taken.append(block.pixels)
        return start(form, results, block, made)

    with monkeypatch.context() as patch:
        patch.setattr(narrowing, "worthwhile", lambda _device, _pixels: True)
        patch.setattr(Counts16, "start", noted)
        assert files(tmp_path / "narrow", device) == expected
    assert sum(taken) == JOB.view.pixels


@pytest.mark.parametrize("first", [True, False], ids=["narrowed first", "narrowed then"])
def test_resume_is_independent_of_narrowing(
    device: Device, tmp_path: Path, first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest says what bands hold; who goes on makes the same."""
    expected = files(tmp_path / "whole", device)
    folder, cancel = tmp_path / "stopped", threading.Event()
    monkeypatch.setattr(narrowing, "worthwhile", lambda _device, _pixels: first)

    def progress(done: Progress) -> None:
        limit = time.monotonic() + 60
        while done.pixels > JOB.view.pixels // 2 and time.monotonic() < limit:
            if len(list((folder / "a.png.part").glob("band-???????"))) > 2:
                cancel.set()
                return
            time.sleep(0.01)

    with pytest.raises(CancelledError):
        files(folder, device, cancel=cancel, progress=progress, store_after=0)
    manifest = BandStore(folder / "a.png.part").read_manifest()
    assert manifest is not None
    assert manifest.form.kind == ("counts16" if first else "words")
    monkeypatch.setattr(narrowing, "worthwhile", lambda _device, _pixels: not first)
    reported: list[str] = []
    assert files(folder, device, resume=True, on_message=reported.append) == expected
    assert any("resuming with" in line for line in reported)


def test_blocks_are_narrowed_until_the_job_changes(device: Device, narrowing_everywhere: None) -> None:  # noqa: ARG001
    work = fastest_computation(JOB, [device], SETTINGS)
    assert work.set_output(counts_16)
    whole_view = [Block(0, 0, 61, 47)]
    narrow = {block: counts.copy() for block, counts, _ in work.run(whole_view)}
    assert {counts.dtype for counts in narrow.values()} == {np.dtype(np.uint16)}
    work.reset(work.job)
    for block, counts, _ in work.run(whole_view):
        assert counts.dtype == np.uint32
        np.testing.assert_array_equal(narrow[block], counts)
    assert not fastest_computation(JOB, [device], Settings(guarded=True)).set_output(counts_16)


def test_manifest_with_too_large_counts_is_damaged() -> None:
    text = Manifest(JOB, 5, BandLayout.counts_16()).text()
    assert Manifest.parse(text).form == BandLayout.counts_16()
    with pytest.raises(ValueError, match="16 bits cannot hold"):
        Manifest.parse(Manifest(replace(JOB, iterations=MOST + 1), 5, BandLayout.counts_16()).text())
