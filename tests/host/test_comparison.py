"""Two results compared: by their counts, or by their colours as they are."""

import struct
import subprocess
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from mandelcl.base.errors import FileError
from mandelcl.base.exact import exact
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.files import comparison, strips
from mandelcl.files.comparison import compare
from mandelcl.files.output import write
from tests.host.files import a_field, field_of
from tests.host.memory import allocating


def grey(path: Path, side: int = 4) -> Path:
    Image.new("L", (side, side), 7).save(path)
    return path


def test_large_picture_causes_no_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow warns above a number of pixels, and refuses above twice that; warnings are errors in these tests."""
    picture = grey(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 15)
    assert compare(picture, picture).pixels == 16
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 7)
    with pytest.raises(FileError, match=r"a\.png has more than 14 pixels; compare the fields \(.npz\) instead"):
        compare(picture, picture)


def test_position_and_size_of_differences_are_reported(tmp_path: Path) -> None:
    pixels = np.zeros((3, 5, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    pixels[1, 2] = (0, 200, 0)
    pixels[2, 4] = (9, 0, 0)
    Image.fromarray(pixels).save(tmp_path / "b.ppm")
    for pair in (("a.png", "b.ppm"), ("b.ppm", "a.png")):
        found = compare(*(tmp_path / name for name in pair))
        assert found.as_dict() == {
            "pixels": 15,
            "differing": 2,
            "percent": pytest.approx(200 / 15),
            "largest_difference": 200,
            "first": [2, 1],
            "jobs": {},
        }
        assert found.drawing()[1, 2].tolist() == [255, 255, 255]


def test_reader_is_chosen_by_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For PostScript Pillow starts a program, which may never end."""

    def start(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a program is started")

    monkeypatch.setattr(subprocess, "Popen", start)
    text = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 64 36\n%%EndComments\n{ } loop\nshowpage\n"
    (tmp_path / "loop.png").write_text(text)
    Image.new("RGB", (4, 4)).save(tmp_path / "really.png", format="GIF")
    for name in ("loop.png", "really.png"):
        with pytest.raises(FileError, match="is not a readable picture"):
            compare(tmp_path / name, tmp_path / name)


def pictures() -> dict[str, tuple[Image.Image, str]]:
    """Pictures that hold more than is compared, and what."""
    deep = Image.fromarray(np.full((2, 2), 1000, np.uint16))
    palette = Image.new("P", (2, 2))
    palette.info["transparency"] = 0
    return {
        "deep.png": (deep, "with 8"),
        "deep.ppm": (Image.new("I", (2, 2), 1000), "with 8"),
        "alpha.png": (Image.new("RGBA", (2, 2)), "without alpha"),
        "grey_alpha.png": (Image.new("LA", (2, 2)), "without alpha"),
        "clear.png": (palette, "without alpha"),
    }


@pytest.mark.parametrize(("name", "what"), [(name, what) for name, (_, what) in pictures().items()])
def test_lossy_comparison_is_refused(tmp_path: Path, name: str, what: str) -> None:
    """Two pictures that differ in it alone would be called the same."""
    picture, _ = pictures()[name]
    picture.save(tmp_path / name)
    with pytest.raises(FileError, match=rf"{name} has more than .* which cannot be compared; save it {what}$"):
        compare(tmp_path / name, tmp_path / name)


@pytest.mark.parametrize("head", [b"P6 1 1 65535\n", b"P6 1 1 256\n", b"P3 1 1 300\n"])
def test_ppm_pictures_of_16_bits_are_refused(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "a.ppm").write_bytes(head + (b"1 2 3\n" if b"P3" in head else bytes(6)))
    with pytest.raises(FileError, match="8 bits per channel"):
        compare(tmp_path / "a.ppm", tmp_path / "a.ppm")


def test_png_pictures_of_16_bits_a_colour_are_refused(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 16, 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(bytes(7))) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + head + body)
    with pytest.raises(FileError, match="8 bits per channel"):
        compare(tmp_path / "a.png", tmp_path / "a.png")


@pytest.mark.parametrize(
    ("mode", "suffix"),
    [("1", "png"), ("L", "png"), ("P", "png"), ("RGB", "png"), ("1", "ppm"), ("L", "ppm"), ("RGB", "ppm")],
)
def test_plain_pictures_are_compared(tmp_path: Path, mode: str, suffix: str) -> None:
    Image.new("RGB", (3, 2), (255, 255, 255)).convert(mode).save(tmp_path / f"a.{suffix}")
    Image.new("RGB", (3, 2), (255, 255, 255)).save(tmp_path / "b.png")
    assert compare(tmp_path / f"a.{suffix}", tmp_path / "b.png").differing == 0


@pytest.mark.parametrize("head", [b"P2 2 1 7 0 7 ", b"P5 2 1 7\n\0\7", b"P5 2 1 255\n\0\xff"])
def test_other_largest_values_are_scaled(tmp_path: Path, head: bytes) -> None:
    (tmp_path / "a.ppm").write_bytes(head)
    Image.fromarray(np.array([[0, 255]], np.uint8)).save(tmp_path / "b.png")
    assert compare(tmp_path / "a.ppm", tmp_path / "b.png").differing == 0


@pytest.mark.parametrize("rows", [1, 2, 100])
def test_strips_make_up_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(strips, "STRIP_PIXELS", 5 * rows)
    field = a_field(5, 7, smooth=False)
    counts = field.counts.copy()
    counts[6, 1] = 51 - counts[6, 1]
    write(tmp_path / "a.npz", field)
    write(tmp_path / "b.npz", field_of(field.job, counts))
    found = compare(tmp_path / "a.npz", tmp_path / "b.npz")
    assert (found.differing, found.as_dict()["first"]) == (1, [1, 6])
    assert found.largest == abs(2 * int(counts[6, 1]) - 51)
    np.testing.assert_array_equal(found.different, field.counts != counts)
    pixels = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(7, 5, 3)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    Image.fromarray(pixels[::-1]).save(tmp_path / "b.png")
    np.testing.assert_array_equal(
        compare(tmp_path / "a.png", tmp_path / "b.png").different, (pixels != pixels[::-1]).any(axis=2)
    )


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, {}),
        ({"rounding": "separate"}, {"rounding": ("fused", "separate")}),
        ({"number": "double"}, {"number": ("float", "double")}),
        (
            {"number": "double", "rounding": "separate"},
            {"number": ("float", "double"), "rounding": ("fused", "separate")},
        ),
        ({"iterations": 51}, {"iterations": ("50", "51")}),
        ({"view": View.centred(0, 0, 1, 4, 3)}, {"view": ("one", "another")}),
        ({"algorithm": "border"}, {}),  # which decides no count
    ],
)
def test_job_differences_are_named(tmp_path: Path, changes: dict[str, Any], found: dict[str, tuple[str, str]]) -> None:
    job = Job(View.centred(0, 0, 2, 4, 3), 50, number="float", rounding="fused", method="direct")
    for name, own in (("a", job), ("b", replace(job, **changes))):
        write(tmp_path / f"{name}.npz", field_of(own, np.ones((3, 4), np.uint32)))
    assert dict(compare(tmp_path / "a.npz", tmp_path / "b.npz").jobs) == found


def test_jobs_by_perturbation_differ_in_their_reference(tmp_path: Path) -> None:
    job = Job(View.centred(0, 1, 100, 4, 3), 50, number="double", rounding="fused", method="perturbation")
    for name, radius in (("a", "1/4"), ("b", "1/2")):
        own = replace(job, reference=Reference(exact("0"), exact("1"), exact(radius)).resolved(22, 8))
        write(tmp_path / f"{name}.npz", field_of(own, np.ones((3, 4), np.uint32)))
    assert dict(compare(tmp_path / "a.npz", tmp_path / "b.npz").jobs) == {"reference": ("one", "another")}


def test_pictures_that_do_not_fit_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = grey(tmp_path / "a.png", 100)
    monkeypatch.setattr(comparison, "available_bytes", lambda: 9_999)
    with pytest.raises(FileError, match=r"a\.png has 100x100 pixels, which do not fit into memory"):
        compare(picture, picture)


def test_little_more_memory_than_the_pictures_take(tmp_path: Path) -> None:
    """A picture of a bit a pixel takes a byte, and so does the mask."""
    Image.new("1", (4000, 4000)).save(tmp_path / "a.png")
    compare(tmp_path / "a.png", tmp_path / "a.png")
    with allocating(2 * 4000 * 4000):
        compare(tmp_path / "a.png", tmp_path / "a.png").as_dict()


def test_incomparable_files_are_refused_in_one_line(tmp_path: Path) -> None:
    picture = grey(tmp_path / "a.png")
    (tmp_path / "junk.png").write_bytes(bytes(range(256)))
    (tmp_path / "cut.png").write_bytes(picture.read_bytes()[:40])
    for name, why in {
        "missing.png": "does not exist",
        "junk.png": "is not a readable picture",
        "cut.png": "is not a readable picture",
        "a.gif": "is neither a field",
    }.items():
        with pytest.raises(FileError, match=why) as caught:
            compare(picture, tmp_path / name)
        assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(FileError, match="one is 4x4, the other 5x5"):
        compare(picture, grey(tmp_path / "b.png", 5))
