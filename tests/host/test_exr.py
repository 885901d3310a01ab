"""OpenEXR files: what is written is what other programs read, and what they write is read."""

import random
import struct
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import Imath
import numpy as np
import numpy.typing as npt
import OpenEXR
import pytest

from mandelcl.base.errors import FileError, InvalidInputError, MandelclError
from mandelcl.base.srgb import decode
from mandelcl.base.view import View
from mandelcl.colour.colour import PALETTES, Colouring, colourise
from mandelcl.core.field import Field
from mandelcl.core.job import Job
from mandelcl.files import loading
from mandelcl.files.exr import writing
from mandelcl.files.exr.channels import channels_of
from mandelcl.files.exr.header import read_header
from mandelcl.files.output import write
from mandelcl.formulas import Formula
from tests.host.files import ICE
from tests.host.memory import allocating

SHIFT = 1 + np.log2(np.log2(625.0))
PLANES = ("counts", "smooth", "distance", "last")
KFR = b"Re: -0.75\r\nIm: 0.1\r\nZoom: 1.5E3\r\nIterations: 90\r\n"


def a_field(
    width: int = 30, height: int = 40, planes: tuple[str, ...] = PLANES, max_iterations: int = 500, **job: Any
) -> Field:
    rng, shape = np.random.default_rng(3), (height, width)
    counts = rng.integers(max(1, max_iterations - 500), max_iterations, shape, dtype=np.uint32, endpoint=True)
    inside = counts == max_iterations
    inside[0, 0], counts[0, 0] = True, max_iterations
    values: dict[str, npt.NDArray[Any]] = {
        "smooth": (rng.random(shape) * 1.4 - 0.2).astype(np.float32),
        "distance": (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64),
        "last": (np.exp(rng.uniform(4.86, 9.7, shape) + 1j * rng.uniform(-3.1, 3.1, shape))).astype(np.complex64),
        "stripe-3": rng.random(shape, np.float32),
        "trap-cross": rng.random(shape, np.float32),
    }
    for plane in values.values():
        plane[inside] = 0
    view = View.centred("-0.75", "0.1", "1.6", width, height)
    made = Job(view, max_iterations, planes=planes, **job)
    return Field(made, {"counts": counts} | {name: values[name] for name in made.planes if name != "counts"})


def continuous(field: Field) -> npt.NDArray[np.float64]:
    assert field.smooth is not None
    return field.counts.astype(np.float64) + field.smooth.astype(np.float64)


def read(path: Path) -> dict[str, npt.NDArray[Any]]:
    return {
        name: channel.pixels for name, channel in OpenEXR.File(str(path), separate_channels=True).channels().items()
    }


def put(
    path: Path,
    channels: Mapping[str, npt.NDArray[Any]],
    place: bytes | None = KFR,
    pack: int = Imath.Compression.ZIP_COMPRESSION,
    iterations: int | None = 90,
) -> None:
    """Write channels of the types of their arrays with the library, as other programs do."""
    height, width = next(iter(channels.values())).shape
    kinds = {"u": Imath.PixelType.UINT, "e": Imath.PixelType.HALF, "f": Imath.PixelType.FLOAT}
    forms = {"I": "u", "L": "u"}
    header = OpenEXR.Header(width, height)
    header["channels"] = {
        name: Imath.Channel(Imath.PixelType(kinds[forms.get(values.dtype.char, values.dtype.char)]))
        for name, values in channels.items()
    }
    header["compression"] = Imath.Compression(pack)
    header |= {"Iterations": iterations, "IterationsBias": 1024, "KallesFraktaler2+": place}
    file = OpenEXR.OutputFile(str(path), {name: value for name, value in header.items() if value is not None})
    file.writePixels({name: np.ascontiguousarray(values).tobytes() for name, values in channels.items()}, height)
    file.close()


def of_kalles(width: int = 8, height: int = 5) -> dict[str, npt.NDArray[Any]]:
    """Return channels as Kalles Fraktaler has them: NF from above 0 to 1, colours in half floats."""
    rng, shape = np.random.default_rng(5), (height, width)
    colours = {name: rng.random(shape).astype(np.float16) for name in "RGB"}
    return {
        "N": (1024 + rng.integers(10, 80, shape)).astype(np.uint32),
        "NF": (1 - rng.random(shape)).astype(np.float32),
        **{name: rng.normal(size=shape).astype(np.float32) for name in ("DEX", "DEY")},
        "T": rng.random(shape).astype(np.float32),
        **colours,
    }


def test_channels_are_those_of_fraktaler_3(tmp_path: Path) -> None:
    field = a_field()
    write(tmp_path / "a.exr", field, ICE.picture(field))
    found, inside = read(tmp_path / "a.exr"), field.inside
    kinds = {name: values.dtype for name, values in found.items()}
    assert kinds == {
        name: np.dtype("u4" if name == "N" else "f4") for name in ["B", "DEX", "DEY", "G", "N", "NF", "R", "T"]
    }
    assert set(found["N"][inside]) == {0xFFFFFFFF}
    total = found["N"].astype(np.float64) - 1024 + found["NF"]
    np.testing.assert_allclose(total[~inside], (continuous(field) - 1 + SHIFT)[~inside], rtol=0, atol=1e-7)
    assert (found["NF"] >= 0).all()
    assert (found["NF"] < 1).all()
    assert not found["NF"][inside].any()
    assert field.distance is not None
    assert field.last is not None
    np.testing.assert_array_equal(found["DEX"], field.distance.real)
    np.testing.assert_array_equal(found["DEY"], -field.distance.imag)
    light = decode(colourise(field, ICE) / 255).astype(np.float32)
    np.testing.assert_array_equal(np.dstack([found[name] for name in "RGB"]), light)
    turns = np.where(np.abs(field.last) > 625, 1, 2) * np.angle(field.last.astype(complex)) / (2 * np.pi)
    apart = (found["T"] - turns + 0.5) % 1 - 0.5
    assert np.abs(apart[~inside]).max() < 1e-6


def test_header_has_the_attributes_other_programs_read(tmp_path: Path) -> None:
    field = a_field()
    write(tmp_path / "a.exr", field, ICE.picture(field))
    header = OpenEXR.InputFile(str(tmp_path / "a.exr")).header()
    assert (header["Iterations"], header["IterationsBias"]) == (500, 1024)
    assert header["compression"] == Imath.Compression(Imath.Compression.ZIP_COMPRESSION)
    assert b"Zoom: 1.6E0\r\n" in header["KallesFraktaler2+"]
    assert b"BailoutRadiusCustom: 625\r\n" in header["KallesFraktaler2+"]
    assert b'location.zoom = "1.6E0"\n' in header["Fraktaler3"]
    assert loading.read_job(tmp_path / "a.exr") == field.job
    assert loading.read_colouring(tmp_path / "a.exr") == ICE.to_json()


@pytest.mark.parametrize("formula", ["mandelbrot", "multibrot-3", "burning-ship"])
def test_field_survives_a_round_trip(formula: str, tmp_path: Path) -> None:
    field = a_field(formula=Formula.parse(formula))
    write(tmp_path / "a.exr", field)
    found = loading.read_foreign(tmp_path / "a.exr")
    assert found.placed
    assert not found.notes
    back = found.field
    assert back.job == field.job
    np.testing.assert_array_equal(back.inside, field.inside)
    np.testing.assert_allclose(continuous(back)[~back.inside], continuous(field)[~field.inside], rtol=0, atol=1e-7)
    np.testing.assert_array_equal(back.distance, field.distance)
    again = channels_of(back.job, back.rows(0, 40))
    for name, values in channels_of(field.job, field.rows(0, 40)).items():
        if name == "NF":
            np.testing.assert_allclose(again[name], values, rtol=0, atol=2e-7)
        elif name == "T":
            assert np.abs((again[name] - values + 0.5) % 1 - 0.5).max() < 1e-5
        else:
            np.testing.assert_array_equal(again[name], values, name)


def test_planes_of_last_iterates_come_back_exactly(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    field = a_field(planes=("counts", "smooth"))
    more = {name: np.where(field.inside, 0, rng.random(field.counts.shape)) for name in ("stripe-3", "trap-cross")}
    planes = {**field.planes, **{name: values.astype(np.float32) for name, values in more.items()}}
    field = Field(replace(field.job, planes=tuple(planes)), planes)
    write(tmp_path / "a.exr", field)
    found = loading.read_foreign(tmp_path / "a.exr").field
    assert found.job.planes == field.job.planes
    assert all(np.array_equal(found.planes[name], planes[name]) for name in more)


def test_counts_alone_come_back_exactly(tmp_path: Path) -> None:
    field = a_field(planes=("counts",))
    write(tmp_path / "a.exr", field, Colouring(PALETTES["coursework"]).picture(field))
    back = loading.read_foreign(tmp_path / "a.exr").field
    assert back.job == field.job
    np.testing.assert_array_equal(back.counts, field.counts)


@pytest.mark.parametrize("max_iterations", [(1 << 31) + 5, (1 << 32) - 2])
def test_large_iteration_limits(max_iterations: int, tmp_path: Path) -> None:
    field = a_field(planes=("counts", "smooth"), max_iterations=max_iterations)
    write(tmp_path / "a.exr", field)
    assert ("N" in read(tmp_path / "a.exr")) == (max_iterations < (1 << 32) - 2)
    assert OpenEXR.InputFile(str(tmp_path / "a.exr")).header()["Iterations"] == str(max_iterations).encode()
    back = loading.read_foreign(tmp_path / "a.exr").field
    np.testing.assert_array_equal(back.inside, field.inside)
    np.testing.assert_allclose(continuous(back), continuous(field), rtol=0, atol=2e-6)


@pytest.mark.parametrize("options", [{"depth": 16}, {"transparent": True}, {"height": "smooth"}])
def test_deep_transparent_and_grey_colours(options: dict[str, Any], tmp_path: Path) -> None:
    field = a_field(planes=("counts", "smooth"))
    colouring = Colouring(PALETTES["ice"], **options).fitted_to(field)
    write(tmp_path / "a.exr", field, colouring.picture(field))
    found, pixels = read(tmp_path / "a.exr"), colourise(field, colouring)
    most = 65535 if "depth" in options else 255
    light = decode(pixels[..., :3] / most)
    if "transparent" in options:
        np.testing.assert_array_equal(found["A"], ~field.inside)
        light *= ~field.inside[..., np.newaxis]
    for k, name in enumerate("RGB"):
        np.testing.assert_allclose(found[name], light[..., k % light.shape[-1]], rtol=1e-6, atol=0)


def test_a_file_of_kalles_fraktaler_is_read(tmp_path: Path) -> None:
    channels = of_kalles()
    channels["N"][0, :2] = 0xFFFFFFFF, 0
    channels["NF"][0, :2] = 0
    put(tmp_path / "a.exr", channels)
    found = loading.read_foreign(tmp_path / "a.exr")
    field = found.field
    assert found.placed
    assert found.notes == ("1 pixels were not computed and count as inside",)
    assert field.job.view.point(4, 2) == (Fraction(-3, 4), Fraction(1, 10))
    assert field.job.planes == PLANES
    assert field.job.iterations == 90
    assert field.inside.sum() == 2
    expected = channels["N"].astype(np.float64) - 1024 + channels["NF"] - np.log2(np.log2(10_000.0))
    np.testing.assert_allclose(continuous(field)[~field.inside], expected[~field.inside], rtol=0, atol=1e-5)
    np.testing.assert_array_equal(field.distance.real[1:], channels["DEX"][1:])  # type: ignore[union-attr]
    np.testing.assert_array_equal(field.distance.imag[1:], -channels["DEY"][1:])  # type: ignore[union-attr]


@pytest.mark.parametrize("text", [None, KFR + b"FractalType: 77\r\n"])
def test_a_file_without_a_place_is_read_and_says_so(text: bytes | None, tmp_path: Path) -> None:
    put(tmp_path / "a.exr", of_kalles(), text)
    found = loading.read_foreign(tmp_path / "a.exr")
    assert not found.placed
    assert "its location is left out" in found.notes[0]
    assert found.field.counts.shape == (5, 8)


@pytest.mark.parametrize(
    ("pack", "readable"),
    [("NO_COMPRESSION", True), ("ZIPS_COMPRESSION", True), ("PIZ_COMPRESSION", False), ("DWAA_COMPRESSION", False)],
)
def test_ways_of_packing(pack: str, readable: bool, tmp_path: Path) -> None:
    channels = of_kalles(40, 40)
    put(tmp_path / "a.exr", channels, pack=getattr(Imath.Compression, pack))
    if not readable:
        with pytest.raises(FileError, match="save it as ZIP"):
            loading.read_foreign(tmp_path / "a.exr")
        return
    put(tmp_path / "b.exr", channels)
    one, other = (loading.read_foreign(tmp_path / name).field for name in ("a.exr", "b.exr"))
    for name in PLANES:
        np.testing.assert_array_equal(one.planes[name], other.planes[name])


def test_exr_without_counts_is_refused(tmp_path: Path) -> None:
    plain = {name: values for name, values in of_kalles().items() if name in "RGB"}
    real = of_kalles() | {"N": np.ones((5, 8), np.float32)}
    nan = of_kalles() | {"NF": np.full((5, 8), np.nan, np.float32)}
    below = of_kalles() | {"N": np.full((5, 8), 9, np.uint32)}
    for channels, why in (
        (plain, "without counts"), (real, "without counts"), (nan, "not from 0 to 1"), (below, "below 0"),
    ):  # fmt: skip
        put(tmp_path / "a.exr", channels)
        with pytest.raises(FileError, match=why):
            loading.read_foreign(tmp_path / "a.exr")
    put(tmp_path / "a.exr", of_kalles(), iterations=None)
    with pytest.raises(FileError, match="no iteration limit"):
        loading.read_foreign(tmp_path / "a.exr")


def test_damaged_files_end_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    field = a_field(planes=("counts", "smooth"))
    path = tmp_path / "a.exr"
    write(path, field)
    whole, rng = path.read_bytes(), random.Random(1)
    refused: list[str] = []
    with path.open("rb") as file:
        header = read_header(file).end + 40
    for case in range(500):
        data = bytearray(whole[: rng.randrange(len(whole))] if case % 3 == 0 else whole)
        for _ in range(rng.randrange(1, 4) if case % 3 else 0):
            data[rng.randrange(header if case % 3 == 1 else len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            found = loading.read_foreign(path).field
            assert found.counts.shape == field.counts.shape
        except (FileError, InvalidInputError) as error:
            refused.append(str(error))
    assert len(refused) > 250
    assert not [line for line in refused if "\n" in line or len(line) > 300 + len(str(path))]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("width", "height"), [(1 << 30, 1), (1, 1 << 30), (50_000, 50_000), (1 << 31, 1)])
def test_a_size_that_the_file_does_not_hold_allocates_nothing(width: int, height: int, tmp_path: Path) -> None:
    path = tmp_path / "a.exr"
    put(path, of_kalles())
    data = bytearray(path.read_bytes())
    place = data.index(b"dataWindow\0box2i\0") + len(b"dataWindow\0box2i\0") + 4
    struct.pack_into("<4i", data, place, 0, 0, width - 1, height - 1)
    path.write_bytes(data)
    with allocating(1 << 22), pytest.raises(MandelclError):
        loading.read_foreign(path)


def test_rows_are_read_once_and_in_strips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "strip_rows", lambda _width: 50)
    whole = a_field(planes=("counts", "smooth"))

    class Once:
        job = replace(whole.job, view=View.centred(0, 0, 1, 30, 500))
        asked: list[tuple[int, int]] = []  # noqa: RUF012

        def rows(self, top: int, bottom: int) -> dict[str, npt.NDArray[Any]]:
            self.asked.append((top, bottom))
            return {name: np.resize(values, (bottom - top, 30)) for name, values in whole.planes.items()}

    source = Once()
    write(tmp_path / "a.exr", source, ICE.picture(source))
    assert len(source.asked) > 5
    ends = sorted(source.asked)
    assert [top for top, _ in ends[1:]] == [bottom for _, bottom in ends[:-1]]
    assert loading.read_foreign(tmp_path / "a.exr").field.counts.shape == (500, 30)


def test_pictures_need_no_openexr(tmp_path: Path) -> None:
    """Only who writes an .exr loads the library; reading takes none."""
    field = a_field()
    write(tmp_path / "a.exr", field, ICE.picture(field))
    code = (
        "import sys, mandelcl; from mandelcl.files import loading, output; from mandelcl.colour.colour import *; "
        f"field = loading.read_foreign({str(tmp_path / 'a.exr')!r}).field; "
        f"output.write({str(tmp_path / 'a.png')!r}, field, Colouring(PALETTES['ice']).picture(field)); "
        "print('OpenEXR' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"
