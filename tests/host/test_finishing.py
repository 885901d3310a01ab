"""Depth, dither, transparency, height maps, and the formats that hold them."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, colourise, find_palette, paint
from mandelcl.colour.quantising import quantised, thresholds
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.files import loading, output, pillow

CLASSIC = find_palette("classic")


def a_field(width: int = 96, height: int = 64, max_iterations: int = 3000) -> Field:
    y, x = np.mgrid[:height, :width]
    depth = 10 + 400 / (1 + np.hypot(x - 50, y - 30))
    counts = depth.astype(np.uint32)
    counts[np.hypot(x - 50, y - 30) < 9] = max_iterations
    planes: dict[str, npt.NDArray[np.generic]] = {"counts": counts, "smooth": (depth % 1).astype(np.float32)}
    return Field(Job(View.centred(0, 0, 1, width, height), max_iterations, planes=("counts", "smooth")), planes)


def test_depth_16_refines_depth_8() -> None:
    field = a_field()
    coarse, fine = colourise(field, CLASSIC), colourise(field, CLASSIC, depth=16)
    assert fine.dtype == np.uint16
    assert np.abs(coarse.astype(int) - np.rint(fine / 257)).max() <= 1
    assert len(np.unique(fine.reshape(-1, 3), axis=0)) > len(np.unique(coarse.reshape(-1, 3), axis=0))
    np.testing.assert_array_equal(
        colourise(field, "coursework", depth=16), 257 * colourise(field, "coursework").astype(int)
    )


def test_dither_keeps_the_mean_and_depends_on_the_lattice_alone() -> None:
    field = a_field()
    fine, dithered = colourise(field, CLASSIC, depth=16), colourise(field, CLASSIC, dither=True)
    apart = dithered - fine / 257
    assert np.abs(apart).max() <= 1.01
    assert abs(apart.mean()) < 0.02
    assert not np.array_equal(dithered, colourise(field, CLASSIC))
    colouring = Colouring(CLASSIC, dither=True)
    strips = [colouring.picture(field).paint(*rows) for rows in ((0, 5), (5, 64))]
    np.testing.assert_array_equal(np.vstack(strips), dithered)
    part = {name: values[7:40, 13:60] for name, values in field.planes.items()}
    job = field.job.at(field.job.view.part(13, 7, 47, 33))
    np.testing.assert_array_equal(paint(job, part, colouring), dithered[7:40, 13:60])


def test_dither_thresholds_are_a_permutation_of_equal_steps() -> None:
    lattice = View.centred(0, 0, 1, 8, 8).lattice
    values = thresholds(lattice, 0, 0, 8, 8)
    np.testing.assert_allclose(np.sort(values, axis=None), (np.arange(64) + 0.5) / 64 - 0.5)
    grey = np.full((8, 8, 1), 100.25 / 255, np.float32)
    assert np.bincount(quantised(grey, 8, values).reshape(-1)).tolist()[100:] == [48, 16]


@pytest.mark.parametrize("depth", [8, 16])
def test_transparent_inside(depth: int) -> None:
    field = a_field()
    pixels = colourise(field, CLASSIC, transparent=True, depth=depth)
    np.testing.assert_array_equal(pixels[..., :3], colourise(field, CLASSIC, depth=depth))
    np.testing.assert_array_equal(pixels[..., 3], np.where(field.inside, 0, (1 << depth) - 1))


def test_height_map_scales_the_plane() -> None:
    field = a_field()
    colouring = Colouring(CLASSIC, height="smooth", depth=16).fitted_to(field)
    assert colouring.planes == ("smooth",)
    heights = paint(field.job, field.planes, colouring)
    assert heights.shape == (64, 96, 1)
    assert heights.dtype == np.uint16
    assert (heights[field.inside] == 65535).all()
    bent = (7 + field.counts + field.planes["smooth"].astype(float)) ** 0.25
    low, high = colouring.span
    expected = np.rint(np.clip((bent - low) / (high - low), 0, 1) * 65535)
    assert np.abs(heights[~field.inside, 0] - expected[~field.inside]).max() <= 1
    assert heights[~field.inside].min() < 3000
    assert Colouring.from_json(colouring.to_json()) == colouring
    plain = Colouring(CLASSIC, height="counts", transfer="linear").fitted_to(field)
    assert paint(field.job, field.planes, plain).dtype == np.uint8
    with pytest.raises(InvalidInputError, match="unknown plane 'depth'"):
        Colouring(CLASSIC, height="depth")
    with pytest.raises(InvalidInputError, match=r"^the height map needs the plane smooth, .* --planes smooth$"):
        colouring.check_planes(("counts",))
    with pytest.raises(InvalidInputError, match="effects or equalisation"):
        Colouring(CLASSIC, height="counts", equalise=1)


VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "indexed": {"palette": find_palette("coursework")},
    "deep": {"depth": 16},
    "clear": {"transparent": True},
    "deep and clear": {"depth": 16, "transparent": True, "dither": True},
    "grey": {"height": "smooth", "depth": 16},
    "grey and clear": {"height": "counts", "transparent": True},
}


def read(path: Path) -> npt.NDArray[np.generic]:
    """The pixels of a file, by a reader of others."""
    if path.suffix == ".tif":
        tifffile = pytest.importorskip("tifffile")
        with tifffile.TiffFile(path) as tiff:
            page = tiff.pages.first
            pixels = np.asarray(page.asarray())
            return pixels if page.colormap is None else np.moveaxis(page.colormap[:, pixels] // 257, 0, -1)
    if path.suffix == ".png" and path.read_bytes()[24] == 16 and path.read_bytes()[25] != 0:
        pyvips = pytest.importorskip("pyvips")  # Pillow reads 16 bits of colour as 8
        return np.asarray(pyvips.Image.new_from_file(str(path)).numpy())
    if path.suffix == ".ppm":
        data = path.read_bytes()
        magic, width, height, most = data.split(maxsplit=4)[:4]
        header = len(b" ".join([magic, width, height, most])) + 1
        values = np.frombuffer(data[header:], ">u2" if most == b"65535" else "u1")
        return values.reshape((int(height), int(width)) if magic == b"P5" else (int(height), int(width), 3))
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB") if image.mode == "P" else image)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("suffix", [".png", ".ppm", ".tif", ".jpg", ".webp"])
def test_each_format_holds_what_it_can(suffix: str, variant: str, tmp_path: Path) -> None:
    field = a_field()
    options: dict[str, Any] = {"palette": CLASSIC} | VARIANTS[variant]
    colouring = Colouring(**options).fitted_to(field)
    path = tmp_path / f"a{suffix}"
    kind = output.FORMATS[suffix]
    if (colouring.depth == 16 and not kind.deep) or (colouring.transparent and not kind.clear):
        with pytest.raises(
            InvalidInputError, match=r"a\.\w+ (can only have 8 bits|cannot have transparent pixels).*; choose"
        ):
            output.write(path, field, colouring.picture(field))
        assert not path.exists()
        return
    for compression in ("fast", "small"):
        output.write(path, field, colouring.picture(field), compression)
        expected = colourise(field, colouring)
        pixels = read(path)
        if pixels.ndim == 2:
            expected = expected[..., 0]
        elif suffix == ".webp" and colouring.height:
            expected = np.dstack([expected[..., :1]] * 3 + [expected[..., 1:]])
        if suffix == ".jpg":
            assert np.abs(pixels.astype(int) - expected).mean() < 3
        else:
            np.testing.assert_array_equal(pixels, expected)
    if suffix != ".ppm":
        assert loading.read_job(path) == field.job
        assert Colouring.from_json(loading.read_colouring(path) or "") == colouring


@pytest.mark.parametrize(("suffix", "side"), [(".jpg", 65500), (".webp", 16383)])
def test_picture_sides_have_a_limit(suffix: str, side: int) -> None:
    output.check_drawable(f"a{suffix}", width=side, height=1)
    with pytest.raises(
        InvalidInputError, match=f"can have at most {side} pixels per side, not {side + 1}; choose another format"
    ):
        output.check_drawable(f"a{suffix}", width=1, height=side + 1)


def test_picture_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pillow, "available_bytes", lambda: 1000)
    field = a_field()
    with pytest.raises(Exception, match=r"cannot write .*a\.jpg: a JPEG picture of this size does not fit into memory"):
        output.write(tmp_path / "a.jpg", field, Colouring(CLASSIC).picture(field))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["JPEG", "WEBP"])
def test_pictures_of_others_and_damaged_ones(kind: str, tmp_path: Path) -> None:
    plain = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(plain, kind)
    field = a_field()
    own = tmp_path / ("own.jpg" if kind == "JPEG" else "own.webp")
    output.write(own, field, Colouring(CLASSIC).picture(field))
    data = own.read_bytes()
    place = data.index(b"Exif") if kind == "JPEG" else data.index(b"EXIF")
    damaged = [data[:cut] for cut in (3, 12, place + 3, place + 40)]
    damaged += [data[: place + k] + bytes([255 - data[place + k]]) + data[place + k + 1 :] for k in range(60)]
    path = tmp_path / f"other{own.suffix}"
    refused = 0
    for junk in [plain.getvalue(), *damaged]:
        path.write_bytes(junk)
        line = ""
        try:
            loading.read_job(path)
        except FileError as error:
            line = str(error)
        assert not line or (line.startswith(f"cannot read {path}: ") and line.isprintable())
        refused += bool(line)
    assert refused > 4


def test_old_colourings_are_read() -> None:
    old = '{"palette": "ice", "cycle": null, "offset": 0.25}'
    assert Colouring.from_json(old) == Colouring(find_palette("ice"), offset=0.25)
    for changes in ({"depth": 12}, {"dither": 1}, {"transparent": "yes"}, {"height": "depth"}, {"span": [2, 1]}):
        with pytest.raises(InvalidInputError):
            Colouring.from_json(json.dumps(json.loads(old) | changes))
