"""What users' paths point to is replaced whole or not at all; `test_output` tests the rest, through the formats."""

import os
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base import processes
from mandelcl.base.errors import FileError
from mandelcl.files import leftovers, paths
from mandelcl.files.paths import flush_to_disk, replacing, require_writable, tempfile_for
from tests import posix
from tests.host.files import names


def replace_by(write: Callable[[Path], object], path: str | Path) -> None:
    with replacing(path) as tempfile:
        write(tempfile)


def test_tempfile_is_beside_its_target_until_renamed(tmp_path: Path) -> None:
    found = set()
    for content in (b"first", b"second"):
        with tempfile_for(tmp_path / "a") as tempfile:
            assert tempfile.parent == tmp_path
            assert not tempfile.exists()
            tempfile.write_bytes(content)
            found.add(tempfile)
        assert (tmp_path / "a").read_bytes() == content
        assert names(tmp_path) == ["a"]
    assert len(found) == 2


def test_tempfile_may_be_a_folder_with_its_own_rename(tmp_path: Path) -> None:
    def unpack(tempfile: Path, place: Path) -> None:
        (tempfile / "inner").replace(place)

    with tempfile_for(tmp_path / "a", unpack) as tempfile:
        tempfile.mkdir()
        (tempfile / "inner").write_bytes(b"x")
        (tempfile / "rest").write_bytes(b"y")
    assert (tmp_path / "a").read_bytes() == b"x"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("kind", ["file", "folder", "nothing"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), ZeroDivisionError("bug"), OSError(28, "full")])
def test_discarded_tempfile_is_removed(kind: str, error: BaseException, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"before")

    def write(tempfile: Path) -> None:
        if kind == "folder":
            tempfile.mkdir()
            (tempfile / "inner").write_bytes(b"x")
        elif kind == "file":
            tempfile.write_bytes(b"x")
        raise error

    with pytest.raises(FileError if isinstance(error, OSError) else type(error)):
        replace_by(write, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"before"
    assert names(tmp_path) == ["a"]


def test_file_created_meanwhile_is_reported_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError, match=r"^cannot write a: it is a folder$"):
        replace_by(lambda _tempfile: Path("a").mkdir(), "a")
    assert names(tmp_path) == ["a"]
    if hasattr(os, "mkfifo"):
        with pytest.raises(FileError, match=r"^cannot write b: it is a device or a pipe"):
            replace_by(lambda tempfile: posix.os.mkfifo(tempfile.with_name("b")), "b")
        assert names(tmp_path) == ["a", "b"]


def test_checks_run_in_path_order(tmp_path: Path) -> None:
    asked: list[str] = []

    def check(place: Path) -> None:
        asked.append(place.name)
        if place.name == "c":
            raise FileError("no c here")

    paths = [tmp_path / name for name in "abcd"]
    with pytest.raises(FileError, match=r"^cannot write .*c: no c here$"):
        require_writable(*paths, check_of=lambda _path: check)
    assert asked == ["a", "b", "c"]
    require_writable(*paths)
    assert names(tmp_path) == []


LEAVING = """
import os, signal, sys
from pathlib import Path
from mandelcl.files.paths import tempfile_for
with tempfile_for(Path(sys.argv[1])) as draft:
    if sys.argv[2] == "folder":
        draft.mkdir()
        draft = draft / "inner"
    draft.write_bytes(b"half")
    print("written", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not processes.own_name(), reason="a system that does not name its processes")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_tempfiles_of_a_dead_process_are_removed(kind: str, tmp_path: Path) -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    command = [sys.executable, "-c", LEAVING, str(tmp_path / "a"), kind]
    with subprocess.Popen(command, **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split() == [b"written"]
        (left,) = tmp_path.iterdir()
        replace_by(lambda tempfile: tempfile.write_bytes(b"while it runs"), tmp_path / "a")
        assert left.exists(), "its process runs"
        process.kill()
    replace_by(lambda tempfile: tempfile.write_bytes(b"other"), tmp_path / "b")
    assert left.exists(), "it is the draft of another file"
    foreign = left.with_name(left.name.replace("tmp", "tmp2"))
    foreign.write_bytes(b"")
    replace_by(lambda tempfile: tempfile.write_bytes(b"whole"), tmp_path / "a")
    assert names(tmp_path) == sorted([foreign.name, "a", "b"])
    assert (tmp_path / "a").read_bytes() == b"whole"


@pytest.mark.skipif(not processes.own_name(), reason="a system that does not name its processes")
@pytest.mark.parametrize("process", ["9" * 10, "9" * 20, "1" + "0" * 40, "٩" * 9, "0"])
def test_tempfile_name_without_a_valid_pid_is_kept(process: str, tmp_path: Path) -> None:
    tempfile = leftovers.new_name(tmp_path / "a")
    foreign = tempfile.with_name(tempfile.name.replace(f"-{os.getpid()}", f"-{process}"))
    foreign.write_bytes(b"")
    replace_by(lambda tempfile: tempfile.write_bytes(b"whole"), tmp_path / "a")
    assert names(tmp_path) == sorted([foreign.name, "a"])


def ignore_case(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have files of a folder found as APFS and NTFS do: in upper or lower case, and composed or not."""
    exists = os.path.lexists

    def folded(name: str) -> str:
        return unicodedata.normalize("NFD", name.casefold())

    def found(path: Any) -> Any:
        if not isinstance(path, str | Path) or exists(path) or folder not in Path(path).parents:
            return path
        place = folder
        for part in Path(path).relative_to(folder).parts:
            place /= next((name for name in names(place) if folded(name) == folded(part)), part)
        return place

    for name in ("stat", "open"):
        own = getattr(os, name)
        monkeypatch.setattr(os, name, lambda path, *rest, own=own, **more: own(found(path), *rest, **more))


@pytest.mark.parametrize("twin", ["A.PNG", "sub/../A.png", "SUB/ä.png"])
def test_names_that_differ_in_case_follow_the_file_system(
    twin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sub").mkdir()
    ignores = (tmp_path / "SUB").exists()
    letter = "Ä" if ignores else "A\u0308"  # composed or not: to Windows these differ
    paths = [tmp_path / "a.png", tmp_path / "b.png", tmp_path / "sub" / f"{letter}.png"]
    if not ignores:
        require_writable(*paths, tmp_path / twin.replace("SUB", "sub"))
        ignore_case(tmp_path, monkeypatch)
    with pytest.raises(FileError, match="are the same file"):
        require_writable(*paths, tmp_path / twin)
    require_writable(*paths, tmp_path / "c.png")
    assert names(tmp_path) == ["sub"]
    assert names(tmp_path / "sub") == []


def test_bytes_reach_the_disk_where_fsync_leaves_them_in_its_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl", reason="Windows' fsync reaches the disk")
    done: list[str] = []

    def control(_descriptor: int, command: int) -> int:
        done.append(f"control {command}")
        if len(done) > 1:
            raise OSError(45, "Operation not supported")
        return 0

    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", control)
    monkeypatch.setattr(os, "fsync", lambda _descriptor: done.append("fsync"))
    with (tmp_path / "a").open("wb") as file:
        file.write(b"x")
        flush_to_disk(file)
        assert (tmp_path / "a").read_bytes() == b"x"
        assert done == ["control 51"]
        flush_to_disk(file)
    assert done == ["control 51", "control 51", "fsync"]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("CON.png", "Windows reserves CON for a device"),
        ("lpt1.png", "Windows reserves lpt1 for a device"),
        ("sub/Nul.tar.png", "Windows reserves Nul for a device"),
        ("C:\\aux\\a.png", "Windows reserves aux for a device"),
        ("COM².png", "Windows reserves COM² for a device"),
        ("what?.png", "Windows does not allow ? in names"),
        ("a<b.png", "Windows does not allow < in names"),
        ("C:\\a:b.png", "Windows does not allow : in names"),
    ],
)
def test_names_that_windows_does_not_take(path: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(FileError) as caught:
        require_writable(path)
    assert str(caught.value) == f"cannot write {path}: {path} cannot be the name of a file: {why}"


@pytest.mark.skipif(sys.platform != "win32", reason="only Windows has drives with letters")
def test_a_drive_that_does_not_exist_is_named() -> None:
    missing = next(letter for letter in "abqwxy" if not Path(f"{letter}:\\").exists())
    for path in (f"{missing}:b.png", f"{missing}:\\some\\b.png"):
        with pytest.raises(FileError, match=rf"there is no drive {missing}:; a colon stands after the letter"):
            require_writable(path)


@pytest.mark.parametrize("name", ["x" * 300, "𝕞" * 128])
def test_a_name_that_is_too_long_for_windows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(FileError, match="File name too long"):
        require_writable(f"{name}.png")


@pytest.mark.parametrize("name", ["console.png", "com10.png", "nul_.png", "a.con", "LPT.png", "ä ö.png"])
def test_names_that_windows_takes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    require_writable(tmp_path / name)
    paths.target("\\\\?\\C:\\run\\con.png")
