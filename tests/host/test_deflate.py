"""Packed by either library, fast or small, in any number of threads: other programs read the same pixels and counts."""

import os
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mandelcl.base.errors import InvalidInputError
from mandelcl.colour.colour import PALETTES, Colouring, colourise
from mandelcl.files import deflate, output
from mandelcl.files.zip_writer import Unpacked, ZipWriter
from mandelcl.rendering.streaming import render_to
from tests.host.files import a_field, field_of

EXTRA = {"tif": "tifffile", "dzi": "pyvips"}


@pytest.fixture(params=["isal", "zlib"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Each of the libraries in turn: one of them installed, or not."""
    if request.param == "zlib":
        monkeypatch.setitem(sys.modules, "isal", None)
    else:
        pytest.importorskip("isal")
    deflate._library.cache_clear()
    yield request.param
    deflate._library.cache_clear()


def test_fastest_installed_deflate_is_used(library: str) -> None:
    assert (deflate._library() is zlib) == (library == "zlib")


@pytest.mark.parametrize("compress", deflate.COMPRESSIONS)
@pytest.mark.parametrize("palette", ["classic", "coursework"])
@pytest.mark.usefixtures("library")
def test_other_libraries_read_the_pixels(compress: str, palette: str, tmp_path: Path) -> None:
    field = a_field(1201, 600, smooth=palette == "classic")  # several strips
    output.write(tmp_path / "a.png", field, Colouring(PALETTES[palette]).picture(field), compress)
    with Image.open(tmp_path / "a.png") as image:
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), colourise(field, palette))


@pytest.mark.parametrize("compress", deflate.COMPRESSIONS)
@pytest.mark.usefixtures("library")
def test_other_libraries_read_the_planes(compress: str, tmp_path: Path) -> None:
    field = a_field(1201, 300)
    output.write(tmp_path / "a.npz", field, None, compress)
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["job.npy", "counts.npy", "smooth.npy"]
    with np.load(tmp_path / "a.npz") as arrays:
        np.testing.assert_array_equal(arrays["counts"], field.counts)
        np.testing.assert_array_equal(arrays["smooth"], field.smooth)
        assert str(arrays["job"]) == field.job.to_json()


@pytest.mark.parametrize("suffix", ["png", "npz"])
@pytest.mark.usefixtures("library")
def test_threads_change_no_byte(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field = a_field(1201, 600)
    for cores in (1, 3):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        output.write(tmp_path / f"{cores}.{suffix}", field, Colouring(PALETTES["classic"]).picture(field))
    assert (tmp_path / f"1.{suffix}").read_bytes() == (tmp_path / f"3.{suffix}").read_bytes()


@pytest.mark.parametrize("suffix", ["png", "npz", "tif", "dzi"])
@pytest.mark.parametrize("palette", ["classic", "coursework"])
def test_compress_small_is_smaller(suffix: str, palette: str, tmp_path: Path) -> None:
    if suffix in EXTRA:
        pytest.importorskip(EXTRA[suffix])
    column, row = np.meshgrid(np.arange(900), np.arange(800))
    counts = (1 + np.hypot(column - 300, row - 200) ** 2 / 999 % 50).astype(np.uint32)
    field = field_of(a_field(900, 800, smooth=False).job, counts)
    sizes = []
    for compress in deflate.COMPRESSIONS:
        folder = tmp_path / compress
        folder.mkdir()
        output.write(folder / f"a.{suffix}", field, Colouring(PALETTES[palette]).picture(field), compress)
        sizes.append(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))
    assert sizes[1] < 0.97 * sizes[0]


@pytest.mark.parametrize("compress", ["best", "stored", ""])
def test_other_compressions_are_refused(compress: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="use fast or small"):
        render_to(tmp_path / "a.npz", a_field().job, compress=compress)
    assert list(tmp_path.iterdir()) == []


def test_places_and_sizes_of_more_than_32_bits(tmp_path: Path) -> None:
    """Members that lie beyond 4 GiB of holes; one says that it is larger than that itself."""
    members = {"first.npy": b"one" * 1000, "second.npy": os.urandom(4000), "third.npy": b""}
    with (tmp_path / "a.zip").open("w+b") as file:
        file.seek(5 << 30)
        with ZipWriter(file) as archive:
            for name, data in members.items():
                counted, stream = Unpacked(), deflate.of_words(deflate.FAST)
                with archive.member(name, counted):
                    counted.add(data)
                    archive.put(stream.compress(data))
                    archive.put(stream.flush(zlib.Z_FINISH))
            with archive.member("huge.npy", Unpacked(6 << 30, 1)):
                archive.put(b"")
        with zipfile.ZipFile(file) as read:
            assert {name: read.read(name) for name in members} == members
            assert read.getinfo("huge.npy").file_size == 6 << 30
            assert read.getinfo("huge.npy").compress_size == 0
