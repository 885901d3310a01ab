"""Pictures that are streamed, from sizes that fit nothing: independent readers see the pixels of `colourise`."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from mandelcl.base.errors import FileError
from mandelcl.colour.colour import PALETTES, Colouring, colourise
from mandelcl.core.field import Field
from mandelcl.files import loading, output
from tests.host.files import a_field, names

SIZES = [(1, 1), (1, 700), (700, 1), (256, 256), (257, 513), (600, 255)]
EXTRA = {"tif": "tifffile", "tiff": "tifffile", "dzi": "pyvips"}


def pixels_of(path: Path) -> npt.NDArray[Any]:
    """Read a picture with somebody else's library, as RGB."""
    if path.suffix in (".png", ".ppm"):
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    if path.suffix == ".tif":
        tifffile = pytest.importorskip("tifffile")
        with tifffile.TiffFile(path) as tiff:
            assert tiff.is_bigtiff
            page = tiff.pages.first
            assert page.is_tiled
            data: npt.NDArray[Any] = page.asarray()
            return data if data.ndim == 3 else np.asarray(page.colormap[:, data] >> 8, np.uint8).transpose(1, 2, 0)
    return tiles_of(path)


def tiles_of(path: Path) -> npt.NDArray[Any]:
    """Put the tiles of the largest level of a Deep Zoom picture together again."""
    import xml.etree.ElementTree as Xml

    root = Xml.parse(path).getroot()
    size, side = root[0].attrib, int(root.attrib["TileSize"])
    height, width = int(size["Height"]), int(size["Width"])
    folders = [each for each in (path.parent / f"{path.stem}_files").iterdir() if each.is_dir()]
    levels = sorted(folders, key=lambda level: int(level.name))
    assert [int(level.name) for level in levels] == list(range((max(width, height) - 1).bit_length() + 1))
    whole = np.zeros((height, width, 3), np.uint8)
    for tile in levels[-1].iterdir():
        column, row = map(int, tile.stem.split("_"))
        with Image.open(tile) as image:
            part = np.asarray(image.convert("RGB"))
        whole[row * side : row * side + part.shape[0], column * side : column * side + part.shape[1]] = part
    return whole


def write(path: Path, field: Field, palette: str) -> None:
    output.write(path, field, Colouring(PALETTES[palette]).picture(field))


@pytest.mark.parametrize("suffix", ["png", "ppm", "tif", "dzi"])
@pytest.mark.parametrize("palette", ["classic", "coursework"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_other_programs_read_the_same_pixels(
    tmp_path: Path, suffix: str, palette: str, width: int, height: int
) -> None:
    if suffix in EXTRA:
        pytest.importorskip(EXTRA[suffix])
    field = a_field(width, height, smooth=palette == "classic")
    path = tmp_path / f"a.{suffix}"
    write(path, field, palette)
    np.testing.assert_array_equal(pixels_of(path), colourise(field, palette))
    assert names(tmp_path) == sorted([path.name, *(["a_files"] if suffix == "dzi" else [])])


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_numpy_reads_a_field(tmp_path: Path, width: int, height: int) -> None:
    field = a_field(width, height)
    output.write(tmp_path / "a.npz", field)
    with np.load(tmp_path / "a.npz") as arrays:
        np.testing.assert_array_equal(arrays["counts"], field.counts)
        np.testing.assert_array_equal(arrays["smooth"], field.smooth)


def test_a_tiff_carries_its_job_and_colours(tmp_path: Path) -> None:
    pytest.importorskip("tifffile")
    field = a_field(5, 4)
    write(tmp_path / "a.tif", field, "ember")
    assert loading.read_job(tmp_path / "a.tif") == field.job
    text = loading.read_colouring(tmp_path / "a.tif")
    assert text is not None
    assert Colouring.from_json(text).palette.name == "ember"
    whole = (tmp_path / "a.tif").read_bytes()
    for length in range(8, len(whole) - 1, 37):  # cut short: its own error, whatever tifffile raises
        (tmp_path / "b.tif").write_bytes(whole[:length])
        reported = ""
        try:
            assert loading.read_job(tmp_path / "b.tif") == field.job
        except FileError as error:
            reported = str(error)
        assert "\n" not in reported


def test_equal_pictures_have_equal_bytes(tmp_path: Path) -> None:
    """Wherever and whenever they are made: nothing of a clock is in them."""
    pytest.importorskip("pyvips")
    made = []
    for name in ("a", "b"):
        write(tmp_path / f"{name}.dzi", a_field(700, 600), "ice")
        (tmp_path / f"{name}.dzi").rename(tmp_path / f"{name}_files/dzi")
        tiles = tmp_path / f"{name}_files"
        made.append({path.relative_to(tiles): path.read_bytes() for path in tiles.rglob("*") if path.is_file()})
    assert made[0] == made[1]
    assert b"\r" not in made[0][Path("index.html")], "a system's own ends of lines"
    assert {path.suffix for path in made[0]} == {".png", ".html", ""}, "a description of libvips's has a date"


def test_a_deep_zoom_picture_is_replaced_with_all_its_tiles(tmp_path: Path) -> None:
    pytest.importorskip("pyvips")
    write(tmp_path / "a.dzi", a_field(700, 600), "ice")
    small = a_field(20, 30)
    write(tmp_path / "a.dzi", small, "ice")
    np.testing.assert_array_equal(pixels_of(tmp_path / "a.dzi"), colourise(small, "ice"))
    assert names(tmp_path) == ["a.dzi", "a_files"]


def test_foreign_folder_is_not_replaced(tmp_path: Path) -> None:
    pytest.importorskip("pyvips")
    (tmp_path / "a_files").mkdir()
    (tmp_path / "a_files" / "letter").write_text("dear")
    with pytest.raises(FileError, match="already exists"):
        output.check_writable(tmp_path / "a.dzi")
    with pytest.raises(FileError, match="already exists"):
        write(tmp_path / "a.dzi", a_field(), "ice")
    assert (tmp_path / "a_files" / "letter").read_text() == "dear"
    assert names(tmp_path) == ["a_files"]


@pytest.mark.parametrize("suffix", list(EXTRA))
def test_a_missing_extra_is_named(tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, EXTRA[suffix], None)
    with pytest.raises(FileError, match=rf"needs {EXTRA[suffix]}: .* install .*\[large\]") as caught:
        output.check_writable(tmp_path / f"a.{suffix}")
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == []
