"""Files that are no good: whatever is wrong with one is told in one line."""

import io
import os
import re
import struct
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.errors import FileError
from mandelcl.core.job import Job
from mandelcl.files import archive, png
from mandelcl.files.comparison import compare
from mandelcl.files.loading import read_colouring, read_field, read_job
from mandelcl.files.output import write
from tests import posix
from tests.host.files import ICE, a_field, assert_same, refused


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
        (a_png(), "without a mandelcl job"),
        (a_png(chunk(b"tEXt", b"Software\0x")), "without a mandelcl job"),
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


def test_foreign_png_texts_are_not_decompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = a_field().job
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(1 << 20)))
    own = chunk(b"zTXt", b"mandelcl\0\0" + zlib.compress(job.to_json().encode()))
    (tmp_path / "a.png").write_bytes(a_png(*[bomb] * 5, own, *[bomb] * 5, chunk(b"zTXt", b"Other\0\0junk")))
    unpacked: list[int] = []
    inflate = png._inflate

    def counting(data: bytes) -> bytes:
        text = inflate(data)
        unpacked.append(len(text))
        return text

    monkeypatch.setattr(png, "_inflate", counting)
    assert read_job(tmp_path / "a.png") == job
    assert read_colouring(tmp_path / "a.png") is None
    assert unpacked == [len(job.to_json())] * 2


def test_pictures_with_only_text_or_other_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = chunk(b"zTXt", b"mandelcl\0\0" + zlib.compress(bytes(1 << 20)))
    (tmp_path / "a.png").write_bytes(a_png(*[text] * 5))
    with pytest.raises(FileError, match="with texts of more than 4194304 bytes"):
        read_job(tmp_path / "a.png")
    monkeypatch.setattr(png, "_MOST_CHUNKS", 100)
    (tmp_path / "b.png").write_bytes(a_png(*[chunk(b"IDAT", b"")] * 99))
    with pytest.raises(FileError, match="of more than 100 chunks"):
        read_job(tmp_path / "b.png")
    (tmp_path / "b.png").write_bytes(a_png(*[chunk(b"IDAT", b"")] * 98))
    with pytest.raises(FileError, match="without a mandelcl job"):
        read_job(tmp_path / "b.png")


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


@pytest.mark.full
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
    plain = np.array(replace(field.job, planes=("counts",)).to_json())
    nan = np.full_like(field.counts, np.nan, dtype=np.float32)
    return {
        "no job": ({"counts": field.counts}, "job.npy"),
        "no counts": ({"job": plain}, "has no plane, but its job has counts"),
        "no smooth": ({"job": good["job"], "counts": field.counts}, "has counts, but its job has counts, smooth"),
        "smooth too many": ({**good, "job": plain}, "has counts, smooth, but its job has counts"),
        "dtype": ({**good, "counts": field.counts.astype(np.int64)}, "counts is <i8"),
        "endian": ({**good, "counts": field.counts.astype(">u4")}, "counts is >u4"),
        "shape": ({**good, "counts": field.counts.T.copy()}, r"counts is <u4 \(4, 3\), but its job needs <u4 \(3, 4\)"),
        "flat": ({**good, "counts": field.counts.ravel()}, "counts is"),
        "order": ({**good, "counts": np.asfortranarray(field.counts)}, "not a plain array"),
        "zero": ({**good, "counts": field.counts * np.uint32(0)}, "outside 1 to 50"),
        "above the iteration limit": ({**good, "counts": field.counts + np.uint32(50)}, "outside 1 to 50"),
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
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as packed:
        packed.writestr(*member("job.npy", np.array(job.to_json())))
        packed.writestr(name, padded)
    with pytest.raises(FileError, match="counts is"):
        read_field(tmp_path / "a.npz")


def test_field_larger_than_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field = a_field(100, 100, smooth=False)
    write(tmp_path / "a.npz", field)
    monkeypatch.setattr(archive, "available_bytes", lambda: 39_999)
    with pytest.raises(FileError, match=r"^cannot read .*a\.npz: not enough memory"):
        read_field(tmp_path / "a.npz")
    monkeypatch.setattr(archive, "available_bytes", lambda: 40_000)
    assert_same(read_field(tmp_path / "a.npz"), field)


def test_invalid_field_is_rejected_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_BLOCK_VALUES", 1000)
    field = a_field(100, 100, smooth=False)
    field.counts[20, 0] = 0
    write(tmp_path / "a.npz", field)
    looked_at: list[int] = []
    check = archive._check

    def counting(name: str, values: npt.NDArray[Any], job: Job) -> None:
        looked_at.append(values.size)
        check(name, values, job)

    monkeypatch.setattr(archive, "_check", counting)
    with pytest.raises(FileError, match="counts outside 1 to 50"):
        read_field(tmp_path / "a.npz")
    assert looked_at == [1000] * 3


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("damaged", [False, True])
def test_unsupported_zip_compression(method: int, damaged: bool, tmp_path: Path) -> None:
    """Their decoders have errors of their own."""
    field = a_field(300, 200, smooth=False)
    with zipfile.ZipFile(tmp_path / "a.npz", "w", method) as packed:
        packed.writestr(*member("job.npy", np.array(field.job.to_json())))
        packed.writestr(*member("counts.npy", field.counts))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    if damaged:
        for place in range(60, 200):
            data[place] ^= 0xFF
    (tmp_path / "a.npz").write_bytes(data)
    for read in (read_field, read_job):
        with pytest.raises(FileError, match=r"^cannot read .*job has a compression method that .npz files do not use"):
            read(tmp_path / "a.npz")


@pytest.mark.parametrize("descr", ["<U0", "<U0,<U0", "<U3,<U4", "<U", "<U-1"])
def test_malformed_png_texts(descr: str, tmp_path: Path) -> None:
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ()}}".ljust(117).encode() + b"\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as packed:
        packed.writestr("job.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(FileError, match=r"^cannot read .*job is not a text"):
        read_job(tmp_path / "a.npz")


def test_png_texts_with_invalid_characters(tmp_path: Path) -> None:
    """Of such numbers numpy makes texts at which Python itself fails."""
    for number in (0x110000, 0xFFFFFFFF, 0xD800):
        text = np.array([ord("{"), number], "<u4").view("<U2")[0:1].reshape(())
        with zipfile.ZipFile(tmp_path / "a.npz", "w") as packed:
            packed.writestr(*member("job.npy", text))
        with pytest.raises(FileError, match=r"^cannot read .*a damaged field"):
            read_job(tmp_path / "a.npz")


def test_tifffile_warnings_are_not_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tifffile")
    (tmp_path / "a.tif").write_bytes(b"II\x2a\0\x08\0\0\0\x01\0\x01\x04\0\x7f" + bytes(40))
    with pytest.raises(FileError, match="without a mandelcl job"):
        read_job(tmp_path / "a.tif")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "head",
    [
        b"{'descr': '<u4', 'fortran_order': 0x, 'shape': (3, 4), }",
        b"{'descr': '<u4', 'fortran_order': False, 'shape': (1if 1else 3, 4), }",
        b"{'descr': nothing, 'fortran_order': False, 'shape': (3, 4), }",
        b"{'descr': '<u4', 'fortran_order': False, 'shape': (" + 900 * b"1" + b", }",
        b"(" * 900,
    ],
)
def test_invalid_npy_headers_are_one_line(
    head: bytes, tmp_path: Path, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    """Python's own reader of such values warns on standard error, or names its objects."""
    head = head.ljust(117) + b"\n"
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as packed:
        packed.writestr(*member("job.npy", np.array(a_field(smooth=False).job.to_json())))
        packed.writestr("counts.npy", b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(FileError, match="a member of the field is not a plain array"):
        read_field(tmp_path / "a.npz")
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


def test_oversized_zip_member(tmp_path: Path) -> None:
    name, data = member("counts.npy", np.ones((3, 4), dtype=np.uint32))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(*member("job.npy", np.array(a_field(smooth=False).job.to_json())))
        packed.writestr(name, data + bytes(1 << 24))
    with pytest.raises(FileError, match="longer than its job's size"):
        read_field(tmp_path / "a.npz")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
def test_pipes_and_devices_are_not_opened(tmp_path: Path) -> None:
    posix.os.mkfifo(tmp_path / "a.png")
    (tmp_path / "b.png").symlink_to("/dev/zero")
    for name in ("a.png", "b.png"):
        for read in (read_field, read_job, read_colouring, lambda path: compare(path, path)):
            with pytest.raises(FileError, match="is a device or a pipe, not a file"):
                read(tmp_path / name)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for read in (read_field, read_job, read_colouring):
        with pytest.raises(FileError, match=rf"^cannot read .*none.npz: ({refused(tmp_path / 'none.npz')})"):
            read(tmp_path / "none.npz")
        with pytest.raises(FileError, match=r"^cannot read .*: Is a directory|Permission denied"):
            read(tmp_path)
        with pytest.raises(FileError, match="is not a path"):
            read("a\0b.npz")
