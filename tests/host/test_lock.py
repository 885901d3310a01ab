"""The lock on a file."""

import os
from pathlib import Path

import pytest

from mandelcl.files import lock
from mandelcl.files.lock import FileLock


def test_one_holds_it_at_a_time(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.acquire()
    assert first.is_held
    assert not first.acquire(), "it is held already"
    assert not second.acquire()
    assert not second.is_held
    first.release()
    first.release()
    assert (tmp_path / "lock").exists()
    assert second.acquire()
    second.release()


def test_a_file_that_is_removed_before_it_is_locked_is_no_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, take = tmp_path / "lock", lock._take
    taken: list[int] = []

    def slow(descriptor: int) -> None:
        if not taken:
            path.unlink()
        taken.append(descriptor)
        take(descriptor)

    monkeypatch.setattr(lock, "_take", slow)
    held = FileLock(path)
    assert held.acquire()
    assert len(taken) == 2
    assert path.exists()
    assert not FileLock(path).acquire(), "others meet at the file that is there"
    held.release()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="lock"):
        FileLock(tmp_path / "lock").acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_a_disk_without_locks_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_descriptor: int) -> None:
        raise OSError(38, os.strerror(38))

    monkeypatch.setattr(lock, "_take", refuse)
    held = FileLock(tmp_path / "lock")
    with pytest.raises(OSError, match=os.strerror(38)):
        held.acquire()
    assert not held.is_held
