"""Files are refused before the work where they cannot be written, and nothing half-written ever stays."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.errors import FileError
from mandelcl.files.loading import read_field
from mandelcl.files.output import check_writable, write
from tests import posix
from tests.host.files import ICE, a_field, assert_same, names, refused

# Before the work


@pytest.mark.parametrize("name", ["a.png", "a.PNG", "b.ppm", "c.npz", "with space é.png"])
def test_good_paths_are_accepted_and_untouched(name: str, tmp_path: Path) -> None:
    check_writable(tmp_path / name)
    assert names(tmp_path) == []
    (tmp_path / name).write_bytes(b"before")
    check_writable(str(tmp_path / name))
    assert (tmp_path / name).read_bytes() == b"before"


@pytest.mark.parametrize("name", ["a.bmp", "a", "png", ".png", "", "a.png.gz"])
def test_unknown_suffixes(name: str, tmp_path: Path) -> None:
    for call in (check_writable, lambda path: write(path, a_field())):
        with pytest.raises(
            FileError,
            match=r"the suffix must be one of \.png, \.ppm, \.npz, \.exr, \.tif, \.tiff, \.dzi, \.jpg, \.jpeg, \.webp$",
        ):
            call(tmp_path / name)
    assert names(tmp_path) == []


def test_paths_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "file").write_bytes(b"")
    cases = {
        "folder.png": "it is a folder",
        "none/a.png": f"there is no folder|{refused(tmp_path / 'none' / 'a.png')}",
        "file/a.png": f"there is no folder|{refused(tmp_path / 'file' / 'a.png')}",
        "x" * 300 + ".png": "File name too long",
        "nul\0.png": "is not a path",
    }
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe.png")
        (tmp_path / "loop.png").symlink_to("loop.png")
        cases |= {"pipe.png": "a device or a pipe", "loop.png": refused(tmp_path / "loop.png")}
    before = names(tmp_path)
    for name, message in cases.items():
        for call in (check_writable, lambda path: write(path, a_field(), ICE.picture(a_field()))):
            with pytest.raises(FileError, match=message) as caught:
                call(tmp_path / name)
            assert "\n" not in str(caught.value)
    assert names(tmp_path) == before


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder that even root cannot write to")
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


def test_the_same_file_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_writable(tmp_path / "a.png", tmp_path / "a.ppm", tmp_path / "b.png")
    monkeypatch.chdir(tmp_path)
    for twin in (tmp_path / "a.png", f"{tmp_path}/./a.png", "a.png"):
        with pytest.raises(FileError, match="are the same file"):
            check_writable(tmp_path / "a.png", tmp_path / "b.npz", twin)


@pytest.mark.usefixtures("links")
def test_a_link_and_its_target_are_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "link.png").symlink_to("a.png")
    for paths in (("a.png", "link.png"), ("link.png", "b.npz", "a.png")):
        with pytest.raises(FileError, match="are the same file"):
            check_writable(*(tmp_path / path for path in paths))


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
def test_no_partial_output_remains(
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
        monkeypatch.setattr("mandelcl.files.output.flush_to_disk", break_)
    elif where == "replace":
        monkeypatch.setattr(Path, "replace", break_)
    elif suffix == "npz":
        monkeypatch.setattr(np.lib.format, "write_array_header_1_0", break_)
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"before")
    with pytest.raises(expected, match=message):
        write(path, field, replace(picture, paint=paint) if where == "paint" else picture)
    assert path.read_bytes() == b"before"
    assert names(tmp_path) == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
@pytest.mark.parametrize("suffix", ["png", "ppm", "npz"])
def test_a_real_limit_on_file_size(suffix: str, tmp_path: Path) -> None:
    field = a_field(300, 300)
    too_large = pytest.raises(FileError, match=r"^cannot write .*: File too large$")
    with posix.limited(posix.resource.RLIMIT_FSIZE, 20_000), too_large:
        write(tmp_path / f"a.{suffix}", field, ICE.picture(field))
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


@pytest.mark.usefixtures("links")
def test_symlink_is_kept_and_its_target_replaced(tmp_path: Path) -> None:
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
