"""Uploads that cannot be kept: the page has a problem to show, and its connection stays."""

import asyncio
import errno
import io
import os
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mandelcl.base.errors import InvalidInputError
from mandelcl.explore import dropped, tasks_aside, uploads
from mandelcl.explore.client import Client
from mandelcl.workers.channel import Channel


class Full(io.RawIOBase):
    """A file on a disk that has room for three bytes."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"")
        self.name, self._room = str(path), 3

    def write(self, data: Any) -> int:
        if not self._room:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = min(self._room, len(data))
        self._room -= taken
        return taken


def begun(size: int) -> tuple[uploads.Upload, Client]:
    client = cast(Client, SimpleNamespace(uploads={}))
    upload = uploads.Upload(client, 7, "a.png", size)
    client.uploads[7] = upload
    return upload, client


def test_full_disk_is_reported_to_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "upload"
    monkeypatch.setattr("tempfile.NamedTemporaryFile", lambda **_options: Full(path))
    upload, client = begun(100)
    upload.piece(b"ab")
    with pytest.raises(InvalidInputError, match=r"^the server cannot store a\.png .*: No space left on device$"):
        upload.piece(b"cdef")
    assert not client.uploads
    assert not path.exists()


def test_missing_temporary_folder_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_options: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    with pytest.raises(InvalidInputError, match=r"^the server cannot store a\.png for reading: No usable"):
        begun(5)


def in_a_loop(work: Coroutine[Any, Any, object]) -> None:
    """Run a coroutine in a thread: this one may have a browser's loop by then."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, work).result()


def reads_for_ever(channel: Channel) -> None:
    """Serve the role `open` with a decoder that does not come to an end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dropped, "described", lambda _path, _name: time.sleep(3600))
        uploads.serve(channel)


def test_upload_that_takes_too_long_to_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_ROLE", f"{__name__}:{reads_for_ever.__name__}")
    monkeypatch.setattr(uploads, "_LONGEST_S", 1.0)
    upload, client = begun(5)
    with pytest.raises(InvalidInputError, match=r"^a\.png takes more than 1 s to read$"):
        in_a_loop(upload._read())
    assert not client.uploads
    assert not tasks_aside._running


def dies(_channel: Channel) -> None:
    """Serve the role `open` with a decoder that ends the process."""
    os._exit(7)


def test_dead_file_reader_is_reported_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "_ROLE", f"{__name__}:{dies.__name__}")
    upload, client = begun(5)
    with pytest.raises(InvalidInputError, match="the process was lost"):
        in_a_loop(upload._read())
    assert not client.uploads
