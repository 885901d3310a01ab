"""A page without a browser: what it asks the server for, and what comes."""

import json
import os
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
from websockets.sync.client import connect
from websockets.typing import Origin

from mandelcl.base.words import sha256
from mandelcl.explore.frames import VALUES
from tests.explore.proof import introduced
from tests.interruptible import Interruptible

HEADER = struct.Struct("<IHHIIIiiHH")
MAGIC = 0x314C434D
HOME: Mapping[str, Any] = {
    "lattice": {"re": "-0.75", "im": "0", "pitch": "1/64"},
    "origin": [-80, -45],
    "size": [160, 90],
    "iterations": 300,
}
PATIENCE_S = 600.0

T = TypeVar("T")


def wait_until(found: Callable[[], T]) -> T:
    """Return what a function finds once it finds something."""
    ends = time.monotonic() + PATIENCE_S
    while not (something := found()):
        assert time.monotonic() < ends, "it does not come"
        time.sleep(0.02)
    return something


@dataclass
class Server:
    """A server in a process of its own."""

    process: Interruptible
    address: str
    seconds: float
    notes: str = ""  # how what it prints on standard error begins

    @property
    def host(self) -> str:
        """Its name and port."""
        return urlsplit(self.address).netloc

    @property
    def token(self) -> str:
        """What its pages know."""
        return self.address.partition("token=")[2].partition("&")[0]

    def page(self) -> "Page":
        """Return a page that is connected."""
        return Page(self)

    def end(self) -> tuple[int, str]:
        """Press Ctrl-C; return the exit code and what was printed on standard error."""
        self.process.interrupt()
        code = self.process.wait(PATIENCE_S)
        assert self.process.stderr is not None
        return code, self.process.stderr.read()


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[Server]:
    """Yield a server; at the end it is stopped, with exit code 0 and nothing on standard error."""
    command = ("-m", "mandelcl", "explore", "--no-browser", "--port", "0", "--save-dir", str(folder), *arguments)
    environment = os.environ | {"MANDELCL_DATA": str(folder.parent / f"{folder.name}-data")}
    started = time.perf_counter()
    process = Interruptible(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, process.communicate()
        server = Server(process, address, time.perf_counter() - started)
        yield server
        if process.poll() is None:
            code, errors = server.end()
            assert code == 0
            assert errors.startswith(server.notes) if server.notes else not errors
    finally:
        process.kill()
        process.communicate()


@dataclass
class Picture:
    """What came of a view: messages, and its finest pixels with the lattice's columns and rows.

    `first`, `last` and `seconds` are the times, from `started`, of the first and the last frame, and of the end.
    """

    wanted: Mapping[str, Any]
    started: float
    pane: int = 0
    reported: list[dict[str, Any]] = field(default_factory=list)
    first: float = 0.0
    last: float = 0.0
    seconds: float = 0.0
    frames: int = 0
    counts: npt.NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    smooth: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    came: npt.NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    levels: list[int] = field(default_factory=list)
    unread: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        width, height = self.wanted["size"]
        self.counts = np.zeros((height, width), np.uint32)
        self.smooth = np.zeros((height, width), np.float32)
        self.came = np.zeros((height, width), np.bool_)

    def of(self, send_message: str) -> dict[str, Any]:
        """Return the last message of a kind."""
        return [message for message in self.reported if message["say"] == send_message][-1]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the counts that came."""
        return sha256(self.counts)

    def note(self, frame: bytes) -> None:
        """Take note that a frame of counts has come; what is in it is for `read`."""
        self.last = time.perf_counter() - self.started
        self.first = self.first or self.last
        self.frames += 1
        self.unread.append(frame)

    def read(self) -> None:
        """Take what is in the frames that have come."""
        for frame in self.unread:
            self._read(frame)
        self.unread.clear()

    def take(self, frame: bytes) -> None:
        """Take a frame of counts."""
        self.note(frame)
        self.read()

    def _read(self, frame: bytes) -> None:
        magic, kind, flags, _, _, level, column, row, width, height = HEADER.unpack_from(frame)
        if kind == VALUES:  # in motion; test_motion reads them
            return
        assert (magic, kind) == (MAGIC, 1)
        assert column // 256 == (column + width - 1) // 256
        assert row // 256 == (row + height - 1) // 256
        pixels = width * height
        assert len(frame) == HEADER.size + 4 * pixels * (1 + (flags & 1))
        self.levels.append(level)
        if level:
            return
        x, y = column - self.wanted["origin"][0], row - self.wanted["origin"][1]
        target = np.s_[max(0, y) : y + height, max(0, x) : x + width]
        source = np.s_[max(0, -y) :, max(0, -x) :]
        counts = np.frombuffer(frame, "<u4", pixels, HEADER.size).reshape(height, width)[source]
        shape = self.counts[target].shape
        self.counts[target] = counts[: shape[0], : shape[1]]
        self.came[target] = True
        if flags & 1:
            values = np.frombuffer(frame, "<f4", pixels, HEADER.size + 4 * pixels).reshape(height, width)[source]
            self.smooth[target] = values[: shape[0], : shape[1]]


class Page:
    """A page that is connected to a server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.patience = PATIENCE_S  # seconds without a message
        url = f"ws://{server.host}/socket"
        origin = f"http://{server.host}"
        with ExitStack() as opening:
            self.socket = opening.enter_context(self._connected(url, origin))
            self.proved = introduced(self.socket, origin, server.token)
            if self.proved["say"] != "proved":
                raise ConnectionRefusedError(self.proved["line"])
            self.welcome = self.receive()
            self._open = opening.pop_all()
        self.generation = 0
        self._ids = 0

    def _connected(self, url: str, origin: str) -> Any:
        """Return a WebSocket, which is a context manager."""
        # Without pings: their thread would draw random numbers beside Hypothesis, which then sees flaky tests.
        options: dict[str, Any] = {"max_size": None, "compression": None, "ping_interval": None}
        return connect(url, origin=Origin(origin), open_timeout=PATIENCE_S, **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave."""
        self._open.close()

    def send(self, do: str, **values: Any) -> None:
        """Say something."""
        self.socket.send(json.dumps({"do": do, **values}))

    def receive(self) -> Any:
        """Return the next message, or the next frame's bytes."""
        message = self.socket.recv(self.patience)
        return message if isinstance(message, bytes) else json.loads(message)

    def drain(self) -> None:
        """Read what comes until the socket is closed; raises ConnectionClosed then."""
        while True:
            self.receive()

    def wait_for(self, *kinds: str, picture: "Picture | None" = None) -> dict[str, Any]:
        """Return the next message of one of some kinds; what comes before it belongs to a picture, or to nobody."""
        while True:
            message = self.receive()
            if isinstance(message, dict):
                if picture is not None:
                    picture.reported.append(message)
                if message["say"] in kinds:
                    return message
            elif picture is not None:
                picture.take(message)

    def ask(self, do: str, until: str, **values: Any) -> tuple[dict[str, Any], list[Any]]:
        """Return the answer to a request, and what came before it."""
        self._ids += 1
        self.send(do, id=self._ids, **values)
        before: list[Any] = []
        while True:
            message = self.receive()
            if isinstance(message, dict) and message.get("id") == self._ids:
                if message["say"] == until:
                    return message, before
                assert message["say"] != "problem", message
            before.append(message)

    def begin(self, wanted: Mapping[str, Any], pane: int = 0, **changes: Any) -> Picture:
        """Ask for a view."""
        self.generation += 1
        wanted = {**wanted, **changes}
        picture = Picture(wanted, time.perf_counter(), pane)
        self.send("view", pane=pane, generation=self.generation, **wanted)
        return picture

    def finish(self, picture: Picture, generation: int = 0) -> Picture:
        """Return a view that was asked for, complete."""
        generation = generation or self.generation
        while True:
            message = self.receive()
            if isinstance(message, bytes):
                if HEADER.unpack_from(message)[3:5] == (picture.pane, generation):
                    picture.note(message)
                continue
            if message.get("pane", picture.pane) != picture.pane:
                continue
            picture.reported.append(message)
            assert message["say"] not in ("failed", "problem"), message
            if message["say"] == "complete" and message["generation"] == generation:
                picture.seconds = time.perf_counter() - picture.started
                picture.read()
                return picture

    def view(self, wanted: Mapping[str, Any], pane: int = 0, **changes: Any) -> Picture:
        """Return a view, complete."""
        return self.finish(self.begin(wanted, pane, **changes))
