"""Bookmarks: none is lost, whatever the file holds and whoever else writes to it."""

import json
import multiprocessing
from dataclasses import asdict
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from mandelcl.base.errors import FileError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.explore import bookmarks as module
from mandelcl.explore.bookmarks import Bookmark, Bookmarks
from tests.explore.page import HOME, serving

_JOB = Job(View.centred(0, 0, 1, 64, 36)).to_json()
_COLOURING = '{"palette": "ice", "cycle": null, "offset": 0}'


def _mark(name: str) -> Bookmark:
    return Bookmark(name, _JOB, _COLOURING)


def test_bookmarks_are_saved_and_removed(tmp_path: Path) -> None:
    bookmarks = Bookmarks(tmp_path / "new" / "bookmarks.json")
    assert bookmarks.all() == []
    for name in ("one", "two", "one"):
        bookmarks.add(_mark(name))
    assert bookmarks.all() == [_mark("two"), _mark("one")]
    bookmarks.remove("two")
    assert bookmarks.all() == [_mark("one")]
    for name in ("", " ", "x" * 81, "a\x1bb"):
        with pytest.raises(InvalidInputError):
            _mark(name)


@pytest.mark.parametrize("damaged", ["[[[", "", "{}", "null", '[{"name": "cut', "[" * 100_000, "\xff", "folder"])
def test_unreadable_bookmark_file_is_not_overwritten(tmp_path: Path, damaged: str) -> None:
    path = tmp_path / "bookmarks.json"
    if damaged == "folder":
        path.mkdir()
    else:
        path.write_bytes(damaged.encode("latin-1"))
    bookmarks = Bookmarks(path)
    for change in (bookmarks.all, lambda: bookmarks.add(_mark("one")), lambda: bookmarks.remove("one")):
        with pytest.raises(FileError, match="bookmarks"):
            change()
    assert path.is_dir() or path.read_bytes() == damaged.encode("latin-1")


def test_unknown_bookmark_entries_are_preserved(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.json"
    later = {"name": "later", "job": json.dumps({**json.loads(_JOB), "version": 99}), "colouring": _COLOURING}
    more = {"name": "more", "job": _JOB, "colouring": _COLOURING, "folder": "deep"}
    strange = [later, {"name": 3}, [], "x", None, more]
    path.write_text(json.dumps(strange))
    bookmarks = Bookmarks(path)
    assert bookmarks.all() == []
    bookmarks.add(_mark("one"))
    bookmarks.add(_mark("later"))
    bookmarks.remove("later")
    bookmarks.remove("more")
    assert bookmarks.all() == [_mark("one")]
    values = json.loads(path.read_text())
    assert values[:-1] == strange
    assert values[-1]["name"] == "one"


def _add_many(path: Path, first: int) -> None:
    bookmarks = Bookmarks(path)
    for k in range(first, first + 20):
        bookmarks.add(_mark(str(k)))


@pytest.mark.full
def test_concurrent_writers_lose_no_bookmark(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.json"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add_many, args=(path, first)) for first in (0, 100, 200)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert len(Bookmarks(path).all()) == 60


def test_held_lock_is_waited_for_with_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bookmarks.json"
    monkeypatch.setattr(module, "_LOCK_S", 0.01)
    with FileLock(tmp_path / "bookmarks.lock"), pytest.raises(FileError, match="another mandelcl"):
        Bookmarks(path).add(_mark("one"))
    assert not path.exists()


def test_lock_is_waited_for_while_others_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine many writers may take longer than the limit, which is for one that does nothing."""
    path, acquire, turns = tmp_path / "bookmarks.json", FileLock.acquire, iter(range(1, 4))

    def taken_by_others(lock: FileLock, timeout: float) -> object:
        for turn in turns:
            path.write_text(json.dumps([asdict(_mark(str(k))) for k in range(turn)]))
            raise Timeout(lock.lock_file)
        return acquire(lock, timeout)

    monkeypatch.setattr(FileLock, "acquire", taken_by_others)
    Bookmarks(path).add(_mark("mine"))
    assert [mark.name for mark in Bookmarks(path).all()] == ["0", "1", "2", "mine"]


def test_unreadable_bookmarks_are_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bookmarks = Bookmarks(tmp_path / "bookmarks.json")
    bookmarks.add(_mark("one"))
    monkeypatch.setattr(module, "_MOST_BYTES", (tmp_path / "bookmarks.json").stat().st_size + 10)
    with pytest.raises(InvalidInputError, match="remove some"):
        bookmarks.add(_mark("two"))
    assert bookmarks.all() == [_mark("one")]


@pytest.mark.full
@pytest.mark.usefixtures("usable")
def test_page_is_notified_of_a_damaged_file(tmp_path: Path) -> None:
    folder, own = tmp_path / "saves", tmp_path / "saves-data"
    folder.mkdir()
    own.mkdir(parents=True)
    (own / "bookmarks.json").write_text("[{},")
    with serving(folder) as server, server.page() as page:
        assert page.welcome["bookmarks"] == []
        assert "bookmarks.json" in page.wait_for("problem")["line"]
        job = page.view(HOME).of("settled")["job"]
        page.send("bookmark", id=5, add={"name": "x", "job": job, "colouring": {"palette": "ice"}})
        refused = page.wait_for("problem")
        assert refused["id"] == 5
        assert "damaged" in refused["line"]
    assert (own / "bookmarks.json").read_text() == "[{},"
