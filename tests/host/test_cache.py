"""The cache remembers, and is never trusted."""

import hashlib
import os
import threading
from pathlib import Path

import pytest

from mandelcl import cache


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "some" / "cache"
    monkeypatch.setenv("MANDELCL_CACHE", str(folder))
    return folder


@pytest.mark.parametrize("payload", [b"", b"x", bytes(range(256)) * 1000])
def test_what_is_written_is_read(root: Path, payload: bytes) -> None:
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


def test_a_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MANDELCL_CACHE", str(tmp_path / "file" / "cache"))
    cache.write("kind", "key", b"payload")
    assert cache.read("kind", "key") is None


def test_a_disk_that_is_full(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write("kind", "key", b"older")

    def replace(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(self), None, str(target))

    monkeypatch.setattr(Path, "replace", replace)
    cache.write("kind", "key", b"newer")
    assert cache.read("kind", "key") == b"older"
    assert [path.name for path in (root / "kind").iterdir()] == ["key"]


def test_an_interrupted_writer_leaves_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("setting", ["off", "OFF"])
def test_switched_off(setting: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MANDELCL_CACHE", setting)
    monkeypatch.chdir(tmp_path)
    assert cache.folder() is None
    cache.write("kind", "key", b"payload")
    assert cache.read("kind", "key") is None
    assert not list(tmp_path.iterdir())


def test_by_default_it_is_the_users_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MANDELCL_CACHE")
    folder = cache.folder()
    assert folder is not None
    assert folder.name.lower() in ("mandelcl", "cache")


def test_these_tests_have_a_cache_of_their_own() -> None:
    assert "mandelcl-tests-" in os.environ["MANDELCL_CACHE"]
