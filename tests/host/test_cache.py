"""The cache remembers, and is never trusted."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from mandelcl.files import cache
from tests import posix


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some" / "cache"
    monkeypatch.setenv("MANDELCL_CACHE", str(folder))
    return folder


@pytest.mark.parametrize("payload", [b"", b"x", bytes(range(256)) * 1000])
def test_written_entry_is_read(root: Path, payload: bytes) -> None:
    assert cache.read("kind", "key") is None
    assert not root.exists(), "reading makes no folder"
    cache.write("kind", "key", payload)
    assert cache.read("kind", "key") == payload
    assert cache.read("kind", "other") is None
    assert cache.read("other", "key") is None
    cache.write("kind", "key", b"newer")
    assert cache.read("kind", "key") == b"newer"
    assert [path.name for path in (root / "kind").iterdir()] == ["key"], "nothing is left beside it"


def test_every_damage_is_a_miss(root: Path) -> None:
    cache.write("kind", "key", b"payload")
    path = root / "kind" / "key"
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert cache.read("kind", "key") is None
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert cache.read("kind", "key") is None
    path.write_bytes(whole + b"x")
    assert cache.read("kind", "key") is None
    path.write_bytes(whole)
    assert cache.read("kind", "key") == b"payload"


def test_a_folder_in_the_place_of_an_entry(root: Path) -> None:
    (root / "kind" / "key" / "inside").mkdir(parents=True)
    assert cache.read("kind", "key") is None
    cache.write("kind", "key", b"payload")
    assert cache.read("kind", "key") is None
    assert [path.name for path in (root / "kind").iterdir()] == ["key"], "no part is left behind"


def test_folder_that_cannot_be_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MANDELCL_CACHE", str(tmp_path / "file" / "cache"))
    cache.write("kind", "key", b"payload")
    assert cache.read("kind", "key") is None


def test_impossible_cache_folder_is_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is too long, or one above it may not be searched: there is nothing in it."""
    for folder in (tmp_path / ("x" * 300), tmp_path / "loop" / "cache"):
        monkeypatch.setenv("MANDELCL_CACHE", str(folder))
        if folder.parent != tmp_path:
            folder.parent.symlink_to(folder.parent)
        assert not cache.holds("kind", "key")
        assert cache.read("kind", "key") is None
        cache.write("kind", "key", b"payload")
        cache.remove("kind", "key")

    def refuse(*_arguments: object, **_options: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", refuse)
    assert not cache.holds("kind", "key")


shares_folders = pytest.mark.skipif(os.name == "nt", reason="there a user's folders are closed to others")


@shares_folders
def test_cache_folder_is_private(root: Path) -> None:
    cache.write("kind", "key", b"payload")
    assert [oct(path.stat().st_mode & 0o777) for path in (root, root / "kind", root / "kind" / "key")] == [
        "0o700", "0o700", "0o600",
    ]  # fmt: skip


@shares_folders
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o722, 0o1777])
@pytest.mark.parametrize("place", ["", "kind"])
def test_folder_writable_by_others(root: Path, place: str, mode: int) -> None:
    """Whoever can write there can make an entry with a right checksum."""
    cache.write("kind", "key", b"payload")
    (root / place).chmod(mode)
    assert cache.read("kind", "key") is None
    assert not cache.holds("kind", "key")
    cache.write("kind", "other", b"payload")
    cache.remove("kind", "key")
    assert [path.name for path in (root / "kind").iterdir()] == ["key"]
    assert (cache.folder() is None) == (place == "")
    (line,) = cache.complaints()
    assert line.startswith(f"the cache folder {root / place} is ignored: other users can write to it")
    cache.read("kind", "key")
    assert cache.complaints() == [], "once is enough"


@shares_folders
def test_folder_owned_by_another_user(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("kind", "key", b"payload")
    monkeypatch.setattr(os, "geteuid", lambda: root.stat().st_uid + 1)
    if root.stat().st_uid:
        assert cache.read("kind", "key") is None
        assert "belongs to another user" in cache.complaints()[0]
    else:
        assert cache.read("kind", "key") == b"payload", "the system's may be read"


@shares_folders
def test_non_files_are_not_read(root: Path) -> None:
    (root / "kind").mkdir(parents=True)
    posix.os.mkfifo(root / "kind" / "key")
    (root / "kind" / "endless").symlink_to("/dev/zero")
    assert cache.read("kind", "key") is None
    assert cache.read("kind", "endless") is None


def test_unwritable_folder_is_warned_of_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MANDELCL_CACHE", str(tmp_path / "file"))
    cache.read("kind", "key")
    assert cache.complaints() == []
    for _ in range(2):
        cache.write("kind", "key", b"payload")
    (line,) = cache.complaints()
    assert line.startswith(f"the cache folder {tmp_path / 'file'} cannot be written to (")
    cache.write("kind", "key", b"payload")
    assert cache.complaints() == []


@pytest.mark.parametrize("text", [b"", b"[" * 100_000, b"\xff", b"{"])
def test_invalid_json_is_a_miss(root: Path, text: bytes) -> None:
    del root
    cache.write("kind", "key", text)
    assert cache.read_json("kind", "key") is None


def test_full_disk(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("kind", "key", b"older")

    def replace(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(self), None, str(target))

    monkeypatch.setattr(Path, "replace", replace)
    cache.write("kind", "key", b"newer")
    assert cache.read("kind", "key") == b"older"
    assert [path.name for path in (root / "kind").iterdir()] == ["key"]


def test_interrupted_writer_leaves_no_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(*_: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        cache.write("kind", "key", b"payload")
    assert not list((root / "kind").iterdir())


def test_a_killed_writer_leaves_a_part_that_is_not_read(root: Path) -> None:
    data = hashlib.sha256(b"payload").digest() + b"payload"
    (root / "kind").mkdir(parents=True)
    (root / "kind" / ".key.killed").write_bytes(data[:20])
    (root / "kind" / "key").write_bytes(b"")
    assert cache.read("kind", "key") is None
    cache.write("kind", "key", b"payload")
    assert (root / "kind" / "key").read_bytes() == data


def test_writers_at_once(root: Path) -> None:
    del root
    payloads = [bytes([k]) * 100_000 for k in range(8)]
    threads = [threading.Thread(target=cache.write, args=("kind", "key", payload)) for payload in payloads * 4]
    for thread in threads:
        thread.start()
    seen = [cache.read("kind", "key") for _ in range(200)]
    for thread in threads:
        thread.join()
    assert set(seen) <= {None, *payloads}
    assert cache.read("kind", "key") in payloads


def key_of(number: int) -> str:
    return f"{number:032x}"


def used(root: Path, kind: str, number: int, days: float, size: int = 1) -> Path:
    """Store an entry, last used so many days ago."""
    cache.write(kind, key_of(number), bytes(size))
    path = root / kind / key_of(number)
    seconds = time.time() - days * 86400
    os.utime(path, (seconds, seconds))
    return path


def kept(root: Path, kind: str) -> list[int]:
    return sorted(int(path.name, 16) for path in (root / kind).iterdir())


def test_least_recently_used_entry_is_evicted_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_BYTES", 4 * (32 + 100))
    for number, days in enumerate([5, 1, 9, 3]):
        used(root, "binaries", number, days, 100)
    cache.write("other", key_of(9), bytes(1000))
    assert kept(root, "binaries") == [0, 1, 2, 3], "each kind is bounded by itself"
    assert cache.read("binaries", key_of(2)) == bytes(100), "this is a use"
    cache.write("binaries", key_of(4), bytes(100))
    assert kept(root, "binaries") == [1, 2, 3, 4]
    cache.write("binaries", key_of(5), bytes(300))
    assert kept(root, "binaries") == [4, 5]
    assert cache.read("other", key_of(9)) is None, "an entry beyond the bound is not kept"
    cache.write("binaries", key_of(6), bytes(1000))
    assert kept(root, "binaries") == [4, 5], "and costs no other its place"


def test_entry_count_bounds_cache_of_small_entries(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 3)
    for number in range(8):
        used(root, "rates", number, 8 - number)
    assert kept(root, "rates") == [5, 6, 7]


def test_full_folder_is_not_scanned_on_every_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 160)
    looks, lstat = 0, Path.lstat

    def count(self: Path) -> os.stat_result:
        nonlocal looks
        looks += self.parent == root / "rates"
        return lstat(self)

    monkeypatch.setattr(Path, "lstat", count)
    for number in range(400):
        cache.write("rates", key_of(number), b"x")
        assert len(list((root / "rates").iterdir())) <= 160 + 10
    assert looks <= 400 / 10 * (160 + 10)


def test_unused_entries_expire(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, days in enumerate([89, 91, 400, -3]):  # the last by a clock that was set back since
        used(root, "selftest", number, days)
    monkeypatch.setattr(cache, "_since_cleared", {})  # as in another process
    cache.write("selftest", key_of(9), b"new")
    assert kept(root, "selftest") == [0, 3, 9]


def test_tuned_shapes_do_not_expire(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 1)
    for number in range(3):
        used(root, "tuning", number, 400)
    assert kept(root, "tuning") == [0, 1, 2]


def test_tempfiles_of_dead_processes_are_removed_and_others_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 1)
    folder = root / "rates"
    names = ["notes.txt", ".hidden", "." + key_of(1), key_of(1) + ".old", "A" * 32]
    old = [*names, f".{key_of(1)}.killed", key_of(2)]
    folder.mkdir(parents=True)
    for name in old:
        (folder / name).touch()
        os.utime(folder / name, (1e9, 1e9))
    (folder / f".{key_of(1)}.under-way").touch()
    (folder / key_of(3)).mkdir()
    cache.write("rates", key_of(5), b"new")
    stay = [*names, f".{key_of(1)}.under-way", key_of(3), key_of(5)]
    assert sorted(path.name for path in folder.iterdir()) == sorted(stay)


@pytest.mark.usefixtures("links")
def test_symlink_in_place_of_a_cache_entry_is_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST_ENTRIES", 1)
    used(root, "rates", 2, 400)
    link, notes = root / "rates" / key_of(4), root / "notes.txt"
    notes.touch()
    os.utime(notes, (1e9, 1e9))
    link.symlink_to(notes)
    cache.write("rates", key_of(5), b"new")
    assert sorted(path.name for path in link.parent.iterdir()) == [key_of(4), key_of(5)]
    assert notes.exists()


def test_two_processes_clear_the_same_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that another has removed, or that may not be removed, stops nobody."""
    used(root, "rates", 1, 100)
    unlink = Path.unlink

    def unlink_twice(self: Path, missing_ok: bool = False) -> None:
        unlink(self)
        unlink(self, missing_ok)
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "unlink", unlink_twice)
    monkeypatch.setattr(cache, "_since_cleared", {})  # as in another process
    cache.write("rates", key_of(2), b"new")
    assert kept(root, "rates") == [2]


WRITE = """
import sys
from mandelcl.files import cache
cache._MOST_ENTRIES = 20
for number in range(400):
    cache.write("rates", f"{number % 50:032x}", b"x" * 1000)
    assert cache.read("rates", f"{number % 7:032x}") in (None, b"x" * 1000)
"""


def test_processes_at_once_clear_and_write(root: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", WRITE], stderr=subprocess.PIPE) for _ in range(3)]
    assert [(process.communicate(timeout=600)[1], process.returncode) for process in processes] == [(b"", 0)] * 3
    cache.write("rates", key_of(99), b"last")
    names = [path.name for path in (root / "rates").iterdir()]
    assert all(len(name) == 32 for name in names), "no draft is left"
    assert len(names) <= 60


def test_tilde_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    for setting in ("~/mc", " ~/mc "):
        monkeypatch.setenv("MANDELCL_CACHE", setting)
        assert cache.folder() == tmp_path / "mc"
    monkeypatch.setenv("MANDELCL_CACHE", "~nobody-of-that-name/mc")
    assert cache.folder() is None


def test_impossible_folder_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANDELCL_CACHE", "/" + 3000 * "x")
    assert cache.contents() == []
    cache.clear()
    cache.write("binaries", "0" * 32, b"payload")
    assert all(len(line) < 290 for line in cache.complaints())


@pytest.mark.parametrize("setting", ["off", "OFF", "off ", " Off", "0", "no", "none", "false"])
def test_cache_off(setting: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MANDELCL_CACHE", setting)
    monkeypatch.chdir(tmp_path)
    assert cache.folder() is None
    cache.write("kind", "key", b"payload")
    assert cache.read("kind", "key") is None
    assert not list(tmp_path.iterdir())


def test_default_is_the_user_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MANDELCL_CACHE")
    folder = cache.folder()
    assert folder is not None
    assert folder.name.lower() in ("mandelcl", "cache")


def test_tests_use_a_separate_cache() -> None:
    assert "mandelcl-tests-" in os.environ["MANDELCL_CACHE"]
