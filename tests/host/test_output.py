"""Files: what is written is read back, byte layouts are as promised, and nothing half-written ever stays."""

import io
import os
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from mandelcl.colour import PALETTES, Colouring, colourise
from mandelcl.errors import FileError
from mandelcl.field import Field
from mandelcl.job import Job
from mandelcl.loading import read_colouring, read_field, read_job
from mandelcl.output import check_writable, write
from mandelcl.strips import Picture
from mandelcl.view import View

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
ICE = Colouring(PALETTES["ice"])


@st.composite
def fields(draw: st.DrawFn) -> Field:
    width, height = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    view = View(
        draw(st.fractions()), draw(st.fractions()), draw(st.fractions(Fraction(1, 10**30), 4)), width, height,
        draw(st.integers(-9, 9)), draw(st.integers(-9, 9)),
    )  # fmt: skip
    cap = draw(st.sampled_from([1, 2, 255, 1000, (1 << 32) - 2]))
    smooth = draw(st.booleans())
    job = Job(view, cap, number=draw(st.sampled_from(["float", "double", "auto"])), rounding="fused", smooth=smooth)
    random = np.random.default_rng(draw(st.integers(0, 1000)))
    counts = random.integers(1, cap, (height, width), endpoint=True, dtype=np.uint32)
    return Field(job, counts, random.random((height, width), dtype=np.float32) if smooth else None)


def a_field(width: int = 4, height: int = 3, smooth: bool = True, cap: int = 50) -> Field:
    view = View.centred(Fraction(-3, 4), Fraction(0), Fraction(8, 5), width, height)
    random = np.random.default_rng(7)
    counts = random.integers(1, cap, (height, width), endpoint=True, dtype=np.uint32)
    return Field(
        Job(view, cap, smooth=smooth), counts, random.random(counts.shape, dtype=np.float32) if smooth else None
    )


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_same(a: Field, b: Field) -> None:
    assert a.job == b.job
    assert b.counts.dtype == np.uint32
    np.testing.assert_array_equal(a.counts, b.counts)
    assert (a.smooth is None) == (b.smooth is None)
    if a.smooth is not None and b.smooth is not None:
        assert b.smooth.dtype == np.float32
        np.testing.assert_array_equal(a.smooth, b.smooth)


# What comes back


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
    write(tmp_path / "c.ppm", a_field(cap=255), Colouring(PALETTES["coursework"]).picture(a_field(cap=255)))
    assert (tmp_path / "c.ppm").read_bytes().startswith(b"P6\n4 3\n255\n")


def test_png_layout(tmp_path: Path) -> None:
    field = a_field()
    write(tmp_path / "a.png", field, ICE.picture(field))
    with Image.open(tmp_path / "a.png") as image:
        assert image.size == (4, 3)
        assert Job.from_json(image.info["mandelcl"]) == field.job
        assert image.info["mandelcl-colouring"] == ICE.to_json()
        image.verify()


def test_a_drawing_without_a_job(tmp_path: Path) -> None:
    pixels = np.full((5, 6, 3), 9, dtype=np.uint8)
    write(tmp_path / "diff.png", None, Picture.from_pixels(pixels))
    with Image.open(tmp_path / "diff.png") as image:
        np.testing.assert_array_equal(np.asarray(image), pixels)
    with pytest.raises(FileError, match=r"^cannot read .*diff.png: a picture that carries no mandelcl job$"):
        read_job(tmp_path / "diff.png")
    with pytest.raises(FileError, match="needs a field"):
        write(tmp_path / "diff.npz", None, Picture.from_pixels(pixels))
    with pytest.raises(FileError, match="needs colours"):
        write(tmp_path / "diff2.png", a_field())
    assert names(tmp_path) == ["diff.png"]


def test_npz_is_plain_numpy_and_deterministic(tmp_path: Path) -> None:
    field = a_field()
    write(tmp_path / "a.npz", field)
    write(tmp_path / "b.npz", replace(field, counts=np.asfortranarray(field.counts)))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {"counts", "smooth", "job"}
        assert arrays["counts"].dtype == "<u4"
        np.testing.assert_array_equal(arrays["smooth"], field.smooth)
        assert Job.from_json(str(arrays["job"])) == field.job
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {(info.create_system, info.external_attr) for info in archive.infolist()} == {(3, 0o644 << 16)}


def test_what_numpy_writes_is_read(tmp_path: Path) -> None:
    field = a_field()
    assert field.smooth is not None
    np.savez(tmp_path / "a.npz", counts=field.counts, smooth=field.smooth, job=np.array(field.job.to_json()))
    assert_same(field, read_field(tmp_path / "a.npz"))


def test_a_job_of_thousands_of_digits_is_packed(tmp_path: Path) -> None:
    field = a_field()
    view = replace(field.job.view, anchor_re=Fraction(1, 10**3000 + 7))
    field = replace(field, job=replace(field.job, view=view))
    for suffix in ("png", "npz"):
        write(tmp_path / f"a.{suffix}", field, ICE.picture(field))
        assert read_job(tmp_path / f"a.{suffix}") == field.job
    assert b"zTXtmandelcl\0" in (tmp_path / "a.png").read_bytes()


@pytest.mark.parametrize("how", ["tEXt", "zTXt", "iTXt", "packed iTXt"])
def test_texts_that_another_program_rewrote(how: str, tmp_path: Path) -> None:
    text, info = a_field().job.to_json(), PngImagePlugin.PngInfo()
    if "iTXt" in how:
        info.add_itxt("mandelcl", text, "en", "mandelcl", zip=how != "iTXt")
    else:
        info.add_text("mandelcl", text, zip=how == "zTXt")
    Image.new("RGB", (9, 9)).save(tmp_path / "a.png", pnginfo=info)
    assert read_job(tmp_path / "a.png") == a_field().job


# Junk


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def a_png(*chunks: bytes, side: int = 1) -> bytes:
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + chunk(b"IEND", b"")


def test_a_picture_of_any_size_tells_its_job_without_being_decoded(tmp_path: Path) -> None:
    job = a_field().job
    (tmp_path / "a.png").write_bytes(a_png(chunk(b"tEXt", b"mandelcl\0" + job.to_json().encode()), side=(1 << 31) - 1))
    assert read_job(tmp_path / "a.png") == job


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "neither a PNG picture nor a mandelcl field"),
        (b"P6\n1 1\n255\nabc", "neither a PNG picture nor a mandelcl field"),
        (a_png(), "carries no mandelcl job"),
        (a_png(chunk(b"tEXt", b"Software\0x")), "carries no mandelcl job"),
        (a_png(chunk(b"tEXt", b"mandelcl\0{}")), "not a mandelcl job"),
        (a_png(chunk(b"tEXt", b"mandelcl\0" + b"[" * 100_000)), "not a mandelcl job"),
        (a_png(chunk(b"tEXt", b"mandelcl\0{}")[:-1] + b"!"), "checksum"),
        (a_png(chunk(b"zTXt", b"mandelcl\0\0junk")), "cannot be unpacked"),
        (a_png(chunk(b"zTXt", b"mandelcl\0\0" + zlib.compress(bytes(1 << 24)))), "longer than"),
        (a_png(chunk(b"iTXt", b"mandelcl")), "not a mandelcl job"),
        (a_png(chunk(b"zTXt", b"mandelcl\0")), "cut off"),
        (a_png(b"\xff\xff\xff\xffIDAT"), "cut off"),
    ],
)
def test_junk_pictures(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(data)
    with pytest.raises(FileError, match=f"^cannot read {re.escape(str(path))}: .*{message}") as caught:
        read_job(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["png", "npz"])
def test_every_truncation_is_noticed(suffix: str, tmp_path: Path) -> None:
    path, field = tmp_path / f"a.{suffix}", a_field()
    write(path, field, ICE.picture(field))
    data = path.read_bytes()
    for size in (*range(0, len(data), 5), *range(len(data) - 50, len(data))):
        path.write_bytes(data[:size])
        with pytest.raises(FileError, match=r"^cannot read "):
            read_job(path)
        if suffix == "npz":
            with pytest.raises(FileError, match=r"^cannot read "):
                read_field(path)


@pytest.mark.parametrize("suffix", ["png", "npz"])
def test_flipped_bits_give_one_line_or_a_good_answer(suffix: str, tmp_path: Path) -> None:
    path, field = tmp_path / f"a.{suffix}", a_field(2, 2)
    write(path, field, ICE.picture(field))
    data = path.read_bytes()
    for k in range(len(data)):
        path.write_bytes(data[:k] + bytes([data[k] ^ 1 << k % 8]) + data[k + 1 :])
        try:
            job = read_field(path).job if suffix == "npz" else read_job(path)
        except FileError as error:
            message = str(error)
        else:
            message = "" if job == field.job else f"another job at byte {k}"
        assert "\n" not in message
        assert message.startswith("cannot read") or not message


def bad_arrays() -> dict[str, tuple[dict[str, Any], str]]:
    field = a_field()
    good: dict[str, Any] = {"counts": field.counts, "smooth": field.smooth, "job": np.array(field.job.to_json())}
    plain = np.array(replace(field.job, smooth=False).to_json())
    nan = np.full_like(field.counts, np.nan, dtype=np.float32)
    return {
        "no job": ({"counts": field.counts}, "job.npy"),
        "no counts": ({"job": plain}, "counts.npy"),
        "no smooth": ({"job": good["job"], "counts": field.counts}, "disagree about the smooth"),
        "smooth too many": ({**good, "job": plain}, "disagree about the smooth"),
        "dtype": ({**good, "counts": field.counts.astype(np.int64)}, "counts is <i8"),
        "endian": ({**good, "counts": field.counts.astype(">u4")}, "counts is >u4"),
        "shape": ({**good, "counts": field.counts.T.copy()}, r"counts is <u4 \(4, 3\); its job says <u4 \(3, 4\)"),
        "flat": ({**good, "counts": field.counts.ravel()}, "counts is"),
        "order": ({**good, "counts": np.asfortranarray(field.counts)}, "not a plain array"),
        "zero": ({**good, "counts": field.counts * np.uint32(0)}, "outside 1 to 50"),
        "above the cap": ({**good, "counts": field.counts + np.uint32(50)}, "outside 1 to 50"),
        "nan": ({**good, "smooth": nan}, "not finite"),
        "job is a number": ({**good, "job": np.array(3)}, "job is not a text"),
        "job is many": ({**good, "job": np.array(["a", "b"])}, "job is not a text"),
        "job is junk": ({**good, "job": np.array("junk")}, "not a mandelcl job"),
        "job is huge": ({**good, "job": np.array(" " * (1 << 19))}, "job is not a text"),
        "pickle": ({**good, "counts": np.array([[object()]])}, "."),
        "pickled job": ({**good, "job": np.array({"a": 1}, dtype=object)}, "job is not a text"),
        "record": ({**good, "counts": np.zeros((3, 4), dtype=[("a", "<u4")])}, "not a plain array"),
    }


@pytest.mark.parametrize("name", bad_arrays())
def test_fields_that_contradict_themselves(name: str, tmp_path: Path) -> None:
    arrays, message = bad_arrays()[name]
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FileError, match=f"^cannot read .*{message}"):
        read_field(tmp_path / "a.npz")


def member(name: str, array: npt.NDArray[Any]) -> tuple[str, bytes]:
    data = io.BytesIO()
    np.lib.format.write_array(data, array, version=(1, 0))
    return name, data.getvalue()


@pytest.mark.parametrize("side", [1 << 14, (1 << 31) - 1])
def test_a_small_file_cannot_claim_much_memory(side: int, tmp_path: Path) -> None:
    job = replace(a_field(smooth=False).job, view=replace(a_field().job.view, width=side, height=side))
    name, data = member("counts.npy", np.ones((3, 4), dtype=np.uint32))
    padded = data.replace(b"(3, 4), }", f"({side}, {side}), }}".encode())[:127] + b"\n" + data[128:]
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr(*member("job.npy", np.array(job.to_json())))
        archive.writestr(name, padded)
    with pytest.raises(FileError, match="counts is"):
        read_field(tmp_path / "a.npz")


def test_a_member_that_is_too_long(tmp_path: Path) -> None:
    name, data = member("counts.npy", np.ones((3, 4), dtype=np.uint32))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(*member("job.npy", np.array(a_field(smooth=False).job.to_json())))
        archive.writestr(name, data + bytes(1 << 24))
    with pytest.raises(FileError, match="longer than its job says"):
        read_field(tmp_path / "a.npz")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for read in (read_field, read_job, read_colouring):
        with pytest.raises(FileError, match=r"^cannot read .*none.npz: No such file"):
            read(tmp_path / "none.npz")
        with pytest.raises(FileError, match=r"^cannot read .*: Is a directory|Permission denied"):
            read(tmp_path)
        with pytest.raises(FileError, match="is not a path"):
            read("a\0b.npz")


# Before the work


@pytest.mark.parametrize("name", ["a.png", "a.PNG", "b.ppm", "c.npz", "with space é.png"])
def test_good_paths_are_accepted_and_untouched(name: str, tmp_path: Path) -> None:
    check_writable(tmp_path / name)
    assert names(tmp_path) == []
    (tmp_path / name).write_bytes(b"before")
    check_writable(str(tmp_path / name))
    assert (tmp_path / name).read_bytes() == b"before"


@pytest.mark.parametrize("name", ["a.jpg", "a", "png", ".png", "", "a.png.gz"])
def test_unknown_suffixes(name: str, tmp_path: Path) -> None:
    for call in (check_writable, lambda path: write(path, a_field())):
        with pytest.raises(FileError, match=r"the suffix must be one of \.png, \.ppm, \.npz, \.tif, \.tiff, \.dzi$"):
            call(tmp_path / name)
    assert names(tmp_path) == []


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").write_bytes(b"")
    cases = {
        "folder.png": "it is a folder",
        "none/a.png": "there is no folder|No such file",
        "file/a.png": "Not a directory|there is no folder",
        "x" * 300 + ".png": "File name too long",
        "nul\0.png": "is not a path",
    }
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
        (tmp_path / "loop.png").symlink_to("loop.png")
        cases |= {"pipe.png": "a device or a pipe", "loop.png": "symbolic links"}
    before = names(tmp_path)
    for name, message in cases.items():
        for call in (check_writable, lambda path: write(path, a_field(), ICE.picture(a_field()))):
            with pytest.raises(FileError, match=message) as caught:
                call(tmp_path / name)
            assert "\n" not in str(caught.value)
    assert names(tmp_path) == before


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs a folder that even root cannot write to")
def test_unwritable_folders() -> None:
    with pytest.raises(FileError, match=r"^cannot write /proc/a.png: "):
        check_writable("/proc/a.png")
    with pytest.raises(FileError, match=r"^cannot write /proc/a.npz: "):
        write("/proc/a.npz", a_field())


def test_folders_without_permission(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write anywhere")
    with pytest.raises(FileError, match="Permission denied"):
        check_writable(folder / "a.png")


def test_the_same_file_twice(tmp_path: Path) -> None:
    check_writable(tmp_path / "a.png", tmp_path / "a.ppm", tmp_path / "b.png")
    (tmp_path / "link.png").symlink_to("a.png")
    for twin in (tmp_path / "a.png", f"{tmp_path}/./a.png", tmp_path / "link.png", os.path.relpath(tmp_path / "a.png")):
        with pytest.raises(FileError, match="are the same file"):
            check_writable(tmp_path / "a.png", tmp_path / "b.npz", twin)


# While writing

BREAKERS: dict[str, tuple[BaseException, type[BaseException], str]] = {
    "disk full": (OSError(28, "No space left on device"), FileError, "^cannot write .*: No space left on device$"),
    "interrupt": (KeyboardInterrupt(), KeyboardInterrupt, "^$"),
    "memory": (MemoryError(), FileError, "not enough memory"),
    "bug": (ZeroDivisionError("bug"), ZeroDivisionError, "bug"),
}


@pytest.mark.parametrize("name", BREAKERS)
@pytest.mark.parametrize("suffix", ["png", "ppm", "npz"])
@pytest.mark.parametrize("where", ["paint", "flush", "replace"])
def test_nothing_half_written_stays(
    name: str, suffix: str, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error, expected, message = BREAKERS[name]
    field = a_field(400, 900)
    picture = ICE.picture(field)

    def break_(*_: Any, **__: Any) -> Any:
        raise error

    def paint(top: int, bottom: int) -> npt.NDArray[np.uint8]:
        return picture.paint(top, bottom) if top == 0 else break_()

    if where == "flush":
        monkeypatch.setattr(os, "fsync", break_)
    elif where == "replace":
        monkeypatch.setattr(Path, "replace", break_)
    elif suffix == "npz":
        monkeypatch.setattr(np.lib.format, "write_array", break_)
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"before")
    with pytest.raises(expected, match=message):
        write(path, field, replace(picture, paint=paint) if where == "paint" else picture)
    assert path.read_bytes() == b"before"
    assert names(tmp_path) == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize("suffix", ["png", "ppm", "npz"])
def test_a_real_limit_on_file_size(suffix: str, tmp_path: Path) -> None:
    import resource

    field = a_field(300, 300)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, old[1]))
    try:
        with pytest.raises(FileError, match=r"^cannot write .*: File too large$"):
            write(tmp_path / f"a.{suffix}", field, ICE.picture(field))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_umask_decides_permissions(umask: int, mode: int, tmp_path: Path) -> None:
    old = os.umask(umask)
    try:
        write(tmp_path / "a.npz", a_field())
    finally:
        os.umask(old)
    assert (tmp_path / "a.npz").stat().st_mode & 0o777 == mode


def test_a_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target.npz", tmp_path / "link.npz"
    link.symlink_to(target)
    for _ in ("the target is made", "the target is replaced"):
        check_writable(link)
        write(link, a_field())
        assert link.is_symlink()
        assert not target.is_symlink()
        assert_same(read_field(target), a_field())
        assert names(tmp_path / "there") == ["target.npz"]


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_writable("a.npz")
    write("a.npz", a_field())
    assert_same(read_field("a.npz"), a_field())


def in_a_new_python(code: str) -> str:
    command: Callable[..., Any] = subprocess.run
    return str(command([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True, text=True).stdout)


def test_writing_and_reading_need_no_pillow(tmp_path: Path) -> None:
    path, field = tmp_path / "a.png", a_field()
    write(path, field, ICE.picture(field))
    code = f"import sys; from mandelcl.loading import read_job; read_job({str(path)!r}); print('PIL' in sys.modules)"
    assert in_a_new_python(code).strip() == "False"
