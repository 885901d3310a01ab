"""One process at a time holds the lock of a folder, and what is somebody else's is left alone."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path

import filelock
import pytest

from mandelcl.base.errors import FileError
from mandelcl.files.folder_lock import FolderLock
from mandelcl.film.folder import held
from mandelcl.rendering.resuming import locked
from mandelcl.rendering.store import BandStore
from tests import posix
from tests.film.conftest import film
from tests.host.files import names

Hold = Callable[[Path], AbstractContextManager[object]]
removes_open_files = pytest.mark.skipif(os.name == "nt", reason="Windows does not remove a file that is open")


@contextmanager
def a_store(path: Path) -> Iterator[None]:
    with locked([BandStore(path)]):
        yield


@contextmanager
def a_film(path: Path) -> Iterator[None]:
    with held(path, film()):
        yield


@removes_open_files
@pytest.mark.parametrize("hold", [a_store, a_film])
def test_lock_created_while_another_is_released_is_held(
    hold: Hold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second process makes its lock while the first has removed its own, and not yet released it."""
    release = filelock.FileLock.release

    with ExitStack() as second:

        def release_late(lock: filelock.BaseFileLock, force: bool = False) -> None:
            monkeypatch.undo()
            second.enter_context(hold(tmp_path / "folder"))
            release(lock, force)

        with hold(tmp_path / "folder"):
            monkeypatch.setattr(filelock.FileLock, "release", release_late)
        for _ in range(2):
            with pytest.raises(FileError, match="is in use: another mandelcl"), hold(tmp_path / "folder"):
                pytest.fail("two hold the lock")
    with hold(tmp_path / "folder"):
        pass


@removes_open_files
@pytest.mark.parametrize("hold", [a_store, a_film])
def test_lock_removed_between_open_and_lock_is_recreated(
    hold: Hold, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when its holder leaves at that moment: nobody else would find the removed file."""
    real_open = os.open
    opened: list[Path] = []

    def open_and_lose(path: str, *arguments: int, **options: int) -> int:
        descriptor = real_open(path, *arguments, **options)
        if str(path).endswith("lock") and not opened:
            opened.append(Path(path))
            opened[0].unlink()
        return descriptor

    monkeypatch.setattr(os, "open", open_and_lose)
    with hold(tmp_path / "folder"):
        assert opened
        assert "lock" in names(tmp_path / "folder")
        with pytest.raises(FileError, match="is in use"), hold(tmp_path / "folder"):
            pytest.fail("two hold the lock")


def _fifo(path: Path) -> None:
    posix.os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(posix.socket.AF_UNIX) as one:
        one.bind(os.path.relpath(path))  # the names of sockets are short


def _link(path: Path) -> None:
    path.symlink_to("/dev/null")


def _folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX")
@pytest.mark.parametrize("make", [_fifo, _socket, _link, _folder])
@pytest.mark.parametrize("hold", [a_store, a_film])
def test_file_that_is_not_a_lock_is_refused_and_kept(hold: Hold, make: Callable[[Path], None], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    make(tmp_path / "folder" / "lock")
    before = (tmp_path / "folder" / "lock").lstat()
    refused = pytest.raises(FileError, match=r"lock was not made by mandelcl; move it away, or choose another")
    with refused, hold(tmp_path / "folder"):
        pytest.fail("it was locked")
    assert (tmp_path / "folder" / "lock").lstat() == before
    assert names(tmp_path / "folder") == ["lock"]


@pytest.mark.parametrize("hold", [a_store, a_film])
def test_nonempty_lock_file_is_kept(hold: Hold, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "lock").write_text("somebody's")
    with hold(tmp_path / "folder"):
        pass
    assert (tmp_path / "folder" / "lock").read_text() == "somebody's"


TAKE_TURNS = """
import os, sys
from pathlib import Path
from mandelcl.base.errors import FileError
from mandelcl.rendering.store import BandStore
folder, marker = Path(sys.argv[1]), Path(sys.argv[2])
held = 0
while held < 100:
    store = BandStore(folder)
    try:
        store.lock()
    except FileError as error:
        assert "is in use" in str(error), error
        continue
    os.close(os.open(marker, os.O_CREAT | os.O_EXCL))  # fails where another holds the lock, too
    held += 1
    marker.unlink()
    store.release()
"""


@pytest.mark.parametrize("times", [1, 9])
def test_lock_refused_during_removal_on_windows_is_retried(
    times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check() -> None:
        tried.append(None)
        if len(tried) <= times:
            raise PermissionError(13, "Access is denied", str(tmp_path))

    tried: list[None] = []
    monkeypatch.setattr("mandelcl.files.folder_lock._REFUSES_FOR_A_WHILE", True)
    monkeypatch.setattr("mandelcl.files.folder_lock._PAUSE_S", 0)
    refused = times > 1
    with pytest.raises(PermissionError) if refused else nullcontext():
        FolderLock.acquire(tmp_path / "folder", check, "in use", "").remove()
    assert len(tried) == (6 if refused else 2)


@pytest.mark.full
def test_processes_that_contend_take_turns(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TAKE_TURNS, str(tmp_path / "folder"), str(tmp_path / "marker")]
    processes = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    reported = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 3, reported
    assert names(tmp_path) == []
