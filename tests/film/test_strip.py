"""Exponential maps: their points, what of them files have, and what is left after a stop."""

import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from mandelcl import render
from mandelcl.base.errors import CancelledError, FileError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.cli import cli
from mandelcl.core.job import Job
from mandelcl.files.exr.channels import channels_of
from mandelcl.film.path import Stop
from mandelcl.film.strip import Strip, StripFolder, compute, held
from mandelcl.rendering.session import Session

OpenEXR = pytest.importorskip("OpenEXR", reason="the extra `exr` is not installed")
pytestmark = pytest.mark.usefixtures("usable")

WIDTH, HEIGHT = 127, 14
VALLEY = Stop.of("-0.7452", "0.1275", "0.01")  # the deepest keyframe is 1024 times as deep
COMMAND = ("zoom", "--strip", "--center", "-0.75", "0.1", "--to-zoom", "2", "--size", "127x14", "--iterations", "60")


def strip(end: Stop = VALLEY, widest: str = "0.01", iterations: int = 200, **changes: Any) -> Strip:
    job = Job(View.centred(0, 0, 1, 8, 8), iterations=iterations, number="float", rounding="separate", **changes)
    return Strip(end, Fraction(widest), WIDTH, HEIGHT, job)


def channels(path: Path) -> dict[str, np.ndarray]:
    return {name: channel.pixels for name, channel in OpenEXR.File(str(path)).channels().items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("strip") / "strip"
    with held(path, strip()) as opened, Session() as session:
        compute(opened, session)
    return path


def test_every_keyframe_is_there_and_nothing_else(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == [f"{k:08d}.exr" for k in range(9)]
    assert strip().keyframes == 9


def test_decoded_pixels_are_those_of_their_points(folder: Path) -> None:
    """Of a render of the very lattice point, which is near the point that the map means."""
    rng, plan = np.random.default_rng(1), strip()
    for number in (0, 4, 8):
        found, job = channels(folder / f"{number:08d}.exr"), plan.lattice_job(number)
        assert set(found) == {"N", "NF", "DEX", "DEY", "T"}
        for v, u in zip(rng.integers(0, HEIGHT, 12), rng.integers(0, WIDTH, 12), strict=True):
            zoom = Fraction("0.01") * 1024 / 2**number
            outer = np.hypot(WIDTH, HEIGHT) / 2 * float(4 / zoom) / HEIGHT
            radius, angle = outer * 2 ** -((v + 0.5) / HEIGHT), 2 * np.pi * (u + 0.5) / WIDTH
            meant = radius * np.exp(1j * angle)
            right, up = (int(offset[v, u]) for offset in plan.offsets)
            pitch = float(job.view.lattice.pitch)
            assert abs(complex(right, up) * pitch - meant) < 0.18 * 2 * np.pi * radius / WIDTH
            middle = job.view.lattice.column
            field, _ = render(job.at(job.view.part(middle + right, middle - up, 1, 1)))
            wanted = channels_of(job, field.planes)
            for name in ("N", "NF", "T"):
                assert found[name][v, u] == wanted[name][0, 0]
            size = np.hypot(wanted["DEX"], wanted["DEY"])[0, 0] * pitch / (2 * np.pi * radius / WIDTH)
            assert np.hypot(found["DEX"][v, u], found["DEY"][v, u]) == pytest.approx(size, rel=0.05)


def test_counts_of_64_bits_have_the_channels_of_those_of_32(tmp_path: Path) -> None:
    outside = Stop.of("0.6", "0.6", "0.2")
    for name, iterations in (("narrow", (1 << 32) - 2), ("wide", 1 << 33)):
        with held(tmp_path / name, strip(outside, "0.1", iterations)) as opened, Session() as session:
            compute(opened, session)
    for path in sorted((tmp_path / "narrow").iterdir()):
        found, expected = channels(tmp_path / "wide" / path.name), channels(path)
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[name], expected[name]) for name in expected)


def test_distances_point_to_where_counts_fall(folder: Path) -> None:
    """To the right and down, as the neighbours of a pixel have it."""
    found = channels(folder / "00000006.exr")
    counts = found["N"].astype(np.float64) + found["NF"]
    inside = found["N"] == 0xFFFFFFFF
    near = slice(1, -1)
    right = counts[near, 2:] - counts[near, :-2]
    down = counts[2:, near] - counts[:-2, near]
    calm = np.abs(right) + np.abs(down) < 2
    for shift in (np.s_[1:-1, 1:-1], np.s_[1:-1, 2:], np.s_[1:-1, :-2], np.s_[2:, 1:-1], np.s_[:-2, 1:-1]):
        calm &= ~inside[shift]
    assert calm.sum() > 100
    outward = -(found["DEX"][near, near] * right + found["DEY"][near, near] * down)[calm]
    assert np.mean(outward > 0) > 0.95


def test_keyframes_go_on_where_the_next_ends(folder: Path) -> None:
    outer, inner = (channels(folder / f"{k:08d}.exr") for k in (8, 7))
    counts = [np.where(part["N"] == 0xFFFFFFFF, 0, part["N"] + part["NF"].astype(float)) for part in (outer, inner)]
    across = np.abs(counts[0][-1] - counts[1][0])
    within = np.abs(counts[0][-2] - counts[0][-1])
    assert np.median(across) <= 3 * np.median(within) + 1e-3


def test_a_stopped_strip_goes_on_with_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    class Soon:
        def is_set(self) -> bool:
            return len(list(tmp_path.glob("again/*.exr"))) >= 3

    path = tmp_path / "again"
    with Session() as session:
        with pytest.raises(CancelledError), held(path, strip()) as opened:
            compute(opened, session, cancel=Soon())
        assert len(list(path.iterdir())) == 3
        first = path / "00000000.exr"
        before = first.stat().st_mtime_ns
        with held(path, strip()) as opened:
            assert compute(opened, session) == 6
    assert first.stat().st_mtime_ns == before
    for one in folder.iterdir():
        assert (path / one.name).read_bytes() == one.read_bytes()


def test_another_strips_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not a keyframe of this strip"):
        StripFolder(folder, strip(Stop.of(0, 0, "0.01"))).missing()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileError, match=r"notes\.txt is not a keyframe of this strip"), held(tmp_path, strip()):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_full_disk_is_refused_before_the_first_keyframe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "valley"
    with held(place, strip()) as opened:
        needed = opened.bytes_of(strip().keyframes)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage._replace(free=needed - 1))
    with (
        held(place, strip()) as opened,
        pytest.raises(FileError, match=f"KiB free, but {strip().keyframes} keyframes may need"),
    ):
        opened.bytes_of(strip().keyframes)
    refused = run("-o", str(place))
    assert isinstance(refused.exception, FileError)
    assert not place.exists()


def test_pixels_are_square_and_the_end_lies_deeper() -> None:
    with pytest.raises(InvalidInputError, match=r"a strip is 9\.06 times as wide as high"):
        Strip(VALLEY, Fraction(1, 100), 1920, 1080, strip().job)
    with pytest.raises(InvalidInputError, match="a strip goes outward"):
        strip(widest="1")
    with pytest.raises(InvalidInputError, match="a strip is not rotated"):
        strip(Stop.of(0, 0, 1, 30))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, [*COMMAND, *arguments])


def test_the_command_writes_the_folder_and_keeps_it(tmp_path: Path) -> None:
    place = tmp_path / "valley"
    result = run("-o", str(place))
    assert (result.exit_code, result.exception) == (0, None)
    assert "zoomasm opens the folder" in result.stderr
    assert " keyframes take up to " in result.stderr
    assert f"{len(list(place.iterdir()))} exponential maps of 127x14" in result.stderr
    assert ", 0 of them new" in run("-o", str(place)).stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-o", "a.mp4"), "give -o a name without a suffix"),
        (("--palette", "ice"), "leave --palette out"),
        (("--audio", "a.wav", "--fps", "60"), "leave --audio, --fps out"),
    ],
)
def test_options_of_films_are_refused(arguments: tuple[str, ...], why: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert why in result.stderr
