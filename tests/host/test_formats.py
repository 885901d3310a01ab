"""File formats: what is written is read back, and byte layouts are as promised."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from mandelcl.base.errors import FileError
from mandelcl.colour.colour import PALETTES, Colouring, colourise
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.files.loading import read_colouring, read_field, read_job
from mandelcl.files.output import write
from mandelcl.files.strips import Picture
from tests.host.files import ICE, a_field, assert_same, fields, names, same_folder


@given(field=fields())
@same_folder
def test_a_field_survives_npz(field: Field, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    write(path, field)
    assert_same(field, read_field(path))
    assert read_job(path) == field.job
    assert read_colouring(path) is None


@given(field=fields(), palette=st.sampled_from(list(PALETTES)), offset=st.floats(-2, 2))
@same_folder
def test_a_picture_carries_its_job_and_colours(field: Field, palette: str, offset: float, tmp_path: Path) -> None:
    colouring = Colouring(PALETTES[palette], None, offset)
    expected = colourise(field, palette, offset=offset)
    for suffix in ("png", "ppm"):
        path = tmp_path / f"a.{suffix}"
        write(path, field, colouring.picture(field))
        with Image.open(path) as image:
            np.testing.assert_array_equal(np.asarray(image.convert("RGB")), expected)
    assert read_job(tmp_path / "a.png") == field.job
    text = read_colouring(tmp_path / "a.png")
    assert text is not None
    assert Colouring.from_json(text) == colouring


@pytest.mark.parametrize("palette", ["classic", "coursework"])
@pytest.mark.parametrize("cores", [1, 2, 5, None])
def test_a_picture_of_many_strips(
    palette: str, cores: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    field = a_field(1201, 1103)
    write(tmp_path / "a.png", field, Colouring(PALETTES[palette]).picture(field))
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    write(tmp_path / "b.png", field, Colouring(PALETTES[palette]).picture(field))
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    with Image.open(tmp_path / "b.png") as image:
        assert image.mode == ("P" if palette == "coursework" else "RGB")
        np.testing.assert_array_equal(np.asarray(image.convert("RGB")), colourise(field, palette))
    write(tmp_path / "a.ppm", field, Colouring(PALETTES[palette]).picture(field))
    with Image.open(tmp_path / "a.ppm") as image:
        np.testing.assert_array_equal(np.asarray(image), colourise(field, palette))


def test_ppm_bytes(tmp_path: Path) -> None:
    pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    write(tmp_path / "a.PPM", None, Picture.from_pixels(pixels))
    assert (tmp_path / "a.PPM").read_bytes() == b"P6\n3 2\n255\n" + bytes(range(18))
    write(
        tmp_path / "c.ppm",
        a_field(max_iterations=255),
        Colouring(PALETTES["coursework"]).picture(a_field(max_iterations=255)),
    )
    assert (tmp_path / "c.ppm").read_bytes().startswith(b"P6\n4 3\n255\n")


def test_png_layout(tmp_path: Path) -> None:
    field = a_field()
    write(tmp_path / "a.png", field, ICE.picture(field))
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (4, 3)
        assert Job.from_json(image.info["mandelcl"]) == field.job
        assert image.info["mandelcl-colouring"] == ICE.to_json()
        image.verify()


def test_picture_without_a_job(tmp_path: Path) -> None:
    pixels = np.full((5, 6, 3), 9, dtype=np.uint8)
    write(tmp_path / "diff.png", None, Picture.from_pixels(pixels))
    with Image.open(tmp_path / "diff.png") as image:
        np.testing.assert_array_equal(np.asarray(image), pixels)
    with pytest.raises(FileError, match=r"^cannot read .*diff.png: a picture without a mandelcl job$"):
        read_job(tmp_path / "diff.png")
    with pytest.raises(FileError, match="needs a field"):
        write(tmp_path / "diff.npz", None, Picture.from_pixels(pixels))
    with pytest.raises(FileError, match="needs colours"):
        write(tmp_path / "diff2.png", a_field())
    assert names(tmp_path) == ["diff.png"]


def test_npz_is_plain_numpy_and_deterministic(tmp_path: Path) -> None:
    field = a_field()
    write(tmp_path / "a.npz", field)
    write(tmp_path / "b.npz", replace(field, planes={**field.planes, "counts": np.asfortranarray(field.counts)}))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"counts", "smooth", "job"}
        assert arrays["counts"].dtype == "<u4"
        np.testing.assert_array_equal(arrays["smooth"], field.smooth)
        assert Job.from_json(str(arrays["job"])) == field.job
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {(info.create_system, info.external_attr) for info in archive.infolist()} == {(3, 0o644 << 16)}


def test_npz_written_by_numpy_is_read(tmp_path: Path) -> None:
    field = a_field()
    assert field.smooth is not None
    np.savez(tmp_path / "a.npz", counts=field.counts, smooth=field.smooth, job=np.array(field.job.to_json()))
    assert_same(field, read_field(tmp_path / "a.npz"))


def test_a_job_of_thousands_of_digits_is_packed(tmp_path: Path) -> None:
    field = a_field()
    view = replace(field.job.view, lattice=replace(field.job.view.lattice, re=Fraction(1, 10**3000 + 7)))
    field = replace(field, job=replace(field.job, view=view))
    for suffix in ("png", "npz"):
        write(tmp_path / f"a.{suffix}", field, ICE.picture(field))
        assert read_job(tmp_path / f"a.{suffix}") == field.job
    assert b"zTXtmandelcl\0" in (tmp_path / "a.png").read_bytes()


@pytest.mark.parametrize("how", ["tEXt", "zTXt", "iTXt", "packed iTXt"])
def test_png_texts_rewritten_by_another_program(how: str, tmp_path: Path) -> None:
    text, info = a_field().job.to_json(), PngImagePlugin.PngInfo()
    if "iTXt" in how:
        info.add_itxt("mandelcl", text, "en", "mandelcl", zip=how != "iTXt")
    else:
        info.add_text("mandelcl", text, zip=how == "zTXt")
    Image.new("RGB", (9, 9)).save(tmp_path / "a.png", pnginfo=info)
    assert read_job(tmp_path / "a.png") == a_field().job


def in_a_new_python(code: str) -> str:
    command: Callable[..., Any] = subprocess.run
    return str(command([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True).stdout)


def test_writing_and_reading_need_no_pillow(tmp_path: Path) -> None:
    path, field = tmp_path / "a.png", a_field()
    write(path, field, ICE.picture(field))
    code = (
        f"import sys; from mandelcl.files.loading import read_job; read_job({str(path)!r}); print('PIL' in sys.modules)"
    )
    assert in_a_new_python(code).strip() == "False"
