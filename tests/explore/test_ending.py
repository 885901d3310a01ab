"""How connections end, and a server, whatever is under way.

Its time limits are lifted here, so nothing else ends what is to end.
"""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.core.job import Job
from mandelcl.explore import connections, finding, server
from mandelcl.explore.client import Client
from mandelcl.explore.orbits import PointOrbit
from mandelcl.explore.server import Server
from mandelcl.explore.workspace import Start, Workspace
from tests.explore.page import PATIENCE_S, wait_until
from tests.explore.proof import introduced

_FOR_EVER = 1e6


class _Serving:
    """A server without devices in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.job = Job(View.centred(0, 0, 1, 8, 8), 9)
        self.start = Start(self.job, Colouring(find_palette("classic")), folder=folder)
        self.opened = threading.Event()
        self.pages: set[Any] = set()
        self.server: Any = None
        self.address = ""
        self._end: Any = None
        self.thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.thread.start()
        assert self.opened.wait(PATIENCE_S)

    @property
    def host(self) -> str:
        """Its name and port."""
        return urlsplit(self.address).netloc

    @contextmanager
    def page(self) -> Iterator[Any]:
        """Yield a page's socket that sends and receives by itself nothing."""
        options: dict[str, Any] = {"ping_interval": None, "close_timeout": 0.1, "max_queue": 1, "compression": None}
        origin = f"http://{self.host}"
        with connect(f"ws://{self.host}/socket", origin=Origin(origin), open_timeout=PATIENCE_S, **options) as page:
            assert introduced(page, origin, self.address.partition("token=")[2])["say"] == "proved"
            yield page

    def end(self) -> bool:
        """Return whether it ends when it is to."""
        if self.thread.is_alive():
            self._end()
        self.thread.join(PATIENCE_S)
        return not self.thread.is_alive()

    async def _run(self) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        self._end = lambda: loop.call_soon_threadsafe(stop.set)

        def opened(address: str) -> None:
            self.address = address
            self.opened.set()

        own = Server(self.start, port=0)
        self.server, self.pages = own, own.workspace.pages
        await own.run(stop, opened)


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Serving]:
    monkeypatch.setattr(connections, "_OPEN_S", _FOR_EVER)
    monkeypatch.setattr(connections, "_STALL_S", _FOR_EVER)
    monkeypatch.setattr(server, "_PING_S", _FOR_EVER)
    monkeypatch.setattr(Workspace, "open", lambda _workspace: None)
    running = _Serving(tmp_path)
    yield running
    assert running.end()


def test_partial_request_does_not_block_shutdown(serving: _Serving) -> None:
    name, _, port = serving.host.partition(":")
    with closing(socket.create_connection((name, int(port)))) as half:
        half.sendall(b"GET /")
        assert answered(name, int(port))  # so the server has come to the half one, too
        assert serving.end()


def test_page_that_does_not_read_does_not_block_shutdown(serving: _Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    orbit = PointOrbit(np.zeros(1 << 14, np.complex128), None, None)
    monkeypatch.setattr(finding, "orbit_of", lambda *_: orbit)
    monkeypatch.setattr(Client, "resolved_job", lambda _client, _pane: serving.job)
    with serving.page() as page:
        page.recv()
        number = 0
        while not any(client.leaving.waiting > 1 << 20 for client in serving.pages):  # more than the pipes hold
            number += 1
            page.send(json.dumps({"do": "orbit", "id": number, "pane": 0, "at": [0, 0]}))
            time.sleep(0.01)
        assert serving.end()


def test_running_threads_do_not_block_shutdown(serving: _Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, over = threading.Event(), threading.Event()

    def orbit_of(*_arguments: object) -> PointOrbit:
        begun.set()
        over.wait()
        raise AssertionError

    monkeypatch.setattr(finding, "orbit_of", orbit_of)
    monkeypatch.setattr(Client, "resolved_job", lambda _client, _pane: serving.job)
    with ExitStack() as end:
        end.callback(over.set)
        page = end.enter_context(serving.page())
        page.recv()
        page.send(json.dumps({"do": "orbit", "id": 1, "pane": 0, "at": [0, 0]}))
        assert begun.wait(PATIENCE_S)
        assert serving.end()


def test_connections_are_limited(serving: _Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "_MOST", 3)
    name, _, port = serving.host.partition(":")
    with ExitStack() as open_ones:
        held = [open_ones.enter_context(closing(socket.create_connection((name, int(port))))) for _ in range(3)]
        for one in held:
            one.sendall(b"GET /")
        with closing(socket.create_connection((name, int(port)))) as more:
            more.settimeout(PATIENCE_S)
            assert not more.recv(1)
        held[0].close()
        wait_until(lambda: answered(name, int(port)))


_LARGE = bytes(range(256)) * (1 << 17)  # more than the pipes hold


@contextmanager
def _downloading(serving: _Serving, folder: Path) -> Iterator[socket.socket]:
    """Yield a connection on which a large file has begun to come."""
    (folder / "large.png").write_bytes(_LARGE)
    serving.server.workspace.saves.done.add("large.png")
    name, _, port = serving.host.partition(":")
    with closing(socket.create_connection((name, int(port)))) as one:
        one.settimeout(PATIENCE_S)
        ticket = serving.server.workspace.saves.ticket("large.png")
        one.sendall(f"GET /saved/large.png?ticket={ticket} HTTP/1.1\r\nHost: {serving.host}\r\n\r\n".encode())
        assert one.recv(1) == b"H"
        yield one


def _look_for_a_request(serving: _Serving) -> None:
    """Have the server look now whether a request has come, which it does after some seconds."""
    for connection in list(serving.server._connections):
        connection.loop.call_soon_threadsafe(connection._look, None)


def _rest(one: socket.socket) -> bytes:
    return b"".join(iter(lambda: one.recv(1 << 20), b""))


@pytest.mark.full
def test_slow_download_is_complete(serving: _Serving, tmp_path: Path) -> None:
    with _downloading(serving, tmp_path) as one:
        assert serving.server._downloads
        _look_for_a_request(serving)
        time.sleep(3)  # longer than a farewell
        head, _, body = _rest(one).partition(b"\r\n\r\n")
        assert b"TTP/1.1 200" in head
        assert body == _LARGE


def test_stalled_download_is_ended(serving: _Serving, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(connections, "_STALL_S", 0.01)
    with _downloading(serving, tmp_path) as one:
        _look_for_a_request(serving)
        wait_until(lambda: not serving.server._connections)
        with suppress(ConnectionError):
            assert len(_rest(one)) < len(_LARGE)


def test_downloads_are_limited_by_memory(serving: _Serving, tmp_path: Path) -> None:
    with _downloading(serving, tmp_path), _downloading(serving, tmp_path) as second:
        with _downloading(serving, tmp_path) as third:
            assert b"503" in _rest(third).partition(b"\r\n")[0]
        _rest(second)
        second.close()
        wait_until(lambda: len(serving.server._connections) == 1)
        with _downloading(serving, tmp_path) as third:
            assert b"200" in _rest(third).partition(b"\r\n")[0]


def answered(name: str, port: int) -> bool:
    """Return whether a request gets an answer."""
    with closing(socket.create_connection((name, port))) as one, suppress(ConnectionError):
        one.settimeout(PATIENCE_S)
        one.sendall(b"GET / HTTP/1.1\r\nHost: nobody\r\n\r\n")
        return one.recv(12) == b"HTTP/1.1 403"
    return False
