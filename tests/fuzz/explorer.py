"""A hostile client for the explorer: whatever it does, the server goes on, and others are served.

A process has one server, of a process of its own, for all of its cases, until one of them ends it by Ctrl-C.
"""

import atexit
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from websockets.exceptions import InvalidMessage, InvalidStatus, WebSocketException

import mandelcl
from mandelcl.core.job import Job
from tests import posix
from tests.explore.page import HOME, Page, Server
from tests.explore.proof import proof
from tests.fuzz import samples
from tests.fuzz.devices import device
from tests.fuzz.ground import Ground
from tests.fuzz.mutations import any_value, as_json, changed, changed_text, damaged
from tests.fuzz.oracle import patience, require
from tests.fuzz.planted import VARIABLE
from tests.fuzz.started import below
from tests.interruptible import Interruptible

_MOST_RESIDENT = 1200 << 20  # bytes of the server itself
_MOST_PROCESSES = 16  # below it: a worker for each device, and saves and searches under way
_CASES = 500  # that a server serves
_PANES = 4
_VIEW: Mapping[str, Any] = {**HOME, "size": [64, 36]}
_COLOURING = {"palette": "classic"}
_MESSAGES: tuple[Mapping[str, Any], ...] = (
    {"do": "view", "pane": 1, "generation": 1, **_VIEW},
    {"do": "view", "pane": 2, "generation": 2, **_VIEW, "planes": ["counts"], "number": "float", "iterations": 50},
    {"do": "view", "pane": 1, "generation": 3, **_VIEW, "have": {"key": "x", "rectangles": [[0, 0, 8, 8]]}},
    {"do": "view", "pane": 1, "generation": 4, **_VIEW, "formula": {"name": "burning-ship"}, "pointer": [1, 2]},
    {
        "do": "view",
        "pane": 1,
        "generation": 5,
        **_VIEW,
        "formula": {"name": "program", "operations": "absx sqr add"},
        "iterations": 90,
    },
    {"do": "view", "pane": 3, "generation": 6, **_VIEW, "planes": ["counts", "stripe-2", "trap-cross"]},
    {"do": "pointer", "pane": 1, "at": [3, 4]},
    {"do": "cancel", "pane": 1},
    {"do": "close", "pane": 2},
    {"do": "stop", "id": 1},
    {"do": "probe", "id": 1, "pane": 1, "at": [-16, 0]},
    {"do": "orbit", "id": 2, "pane": 1, "at": [-16, 0.5], "most": 50},
    {"do": "open", "id": 4, "name": "a.npz", "size": 100},
    {"do": "bookmark", "id": 5, "remove": "nothing"},
    {"do": "thumbnails", "names": ["whole-set"]},
    {"do": "ping", "id": 6},
    {"do": "devices"},
    {"do": "copy", "id": 7, "pane": 1, "colouring": _COLOURING},
    {"do": "paint", "id": 8, "pane": 1, "colouring": _COLOURING},
    {"do": "place", "id": 9, "name": "lightning", "size": [64, 36]},
)
_PROCESSES: tuple[Mapping[str, Any], ...] = (
    {"do": "save", "id": 10, "pane": 1, "colouring": _COLOURING},
    {"do": "film", "id": 13, "pane": 1, "colouring": _COLOURING, "size": [16, 9], "speed": 16},
    {"do": "refine", "id": 12, "pane": 1, "colouring": _COLOURING},
    {"do": "nucleus", "id": 11, "pane": 1, "box": [-70, -5, 12, 11]},
)
_USUAL: tuple[Any, ...] = (
    *(
        0,
        1,
        2,
        3,
        [0, 0],
        [8, 8],
        [1, 1, 4, 4],
        "view",
        "ping",
        "-0.75",
        "1/64",
        "1e-30",
        "1e-400",
        "counts",
        "distance",
    ),
    *(["counts", "smooth"], {"palette": "ice"}, {"name": "julia", "re": "0", "im": "1"}, "border", "fp128", "fixed:5"),
)


class _Server(Server):
    """A server with its folder, and what it has printed on standard error."""

    def __init__(self, process: Interruptible, address: str, folder: Path) -> None:
        super().__init__(process, address, 0.0)
        self.folder = folder
        self.cases = 0

    @property
    def errors(self) -> str:
        """What it has printed on standard error."""
        return (self.folder / "errors").read_text("utf-8", "replace")

    def status(self, name: str) -> int:
        """Return a figure of /proc/PID/status."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.partition(f"{name}:")[2].split()[0])

    def stop(self) -> None:
        """End it and all that it has started, at once."""
        with suppress(OSError):
            posix.os.killpg(self.process.pid, posix.signal.SIGKILL)
        self.process.communicate()


_running: list[_Server] = []


def _server(lasting: Path) -> _Server:
    """Return the server, one that has not served too many cases."""
    if _running and (_running[0].process.poll() is not None or _running[0].cases >= _CASES):
        _running.pop().stop()
    if not _running:
        folder = Path(tempfile.mkdtemp(prefix="mandelcl-explorer-", dir=lasting))
        (folder / "saved").mkdir()
        (folder / "temporary").mkdir()
        saving = ("--save-dir", str(folder / "saved"))
        options = ("explore", "--no-browser", "--port", "0", *saving, "--device", device().spec)
        kept = {"MANDELCL_DATA": str(folder / "data"), "TMPDIR": str(folder / "temporary")}
        with (folder / "errors").open("wb") as errors:
            process = Interruptible(
                *("-m", "tests.fuzz.planted", os.environ.get(VARIABLE, ""), *options),
                env=os.environ | kept,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        assert process.stdout is not None
        _running.append(_Server(process, process.stdout.readline().strip(), folder))
        require(_running[0].address, f"the server did not start: {_running[0].errors}")
        atexit.register(_running[0].stop)
    _running[0].cases += 1
    return _running[0]


def explorer(ground: Ground) -> None:
    """Do what a page must not, in several ways at once; then a good page gets its view, and nothing is left."""
    random, server = ground.random, _server(ground.lasting)
    kinds = [random.choice(_KINDS) for _ in range(random.choice((1, 1, 2, 3)))]
    (ground.here / "kinds").write_text(" ".join(kind.__name__ for kind in kinds))
    ends = random.random() < 0.01
    with ExitStack() as held:
        for kind in kinds:
            kind(server, random, held)
        if ends or random.random() < 0.2:
            _require_well(server, random)
        if ends:
            _end(server)
            return
    _require_well(server, random)
    ground.accepted = True


def _require_well(server: _Server, random: Random) -> None:
    """Require that a server answers a page soon, rightly, and takes no more than it may."""
    require(server.process.poll() is None, f"the server has ended: {server.errors}")
    with _page(server) as page:
        page.patience = patience()
        page.ask("ping", "pong")
        if random.random() < 0.3:
            picture = page.view(_VIEW, pane=random.randrange(_PANES))
            require(np.array_equal(picture.counts, _counts(picture.of("settled")["job"])), "another picture")
    resident, processes = server.status("VmRSS") << 10, len(below(server.process.pid))
    require(resident < _MOST_RESIDENT, f"the server takes {resident >> 20} MiB")
    require(processes <= _MOST_PROCESSES, f"the server has {processes} processes")
    require(not server.errors, f"the server printed {server.errors[:300]!r}")
    inside = {path.name for path in server.folder.iterdir()}
    require(inside <= {"saved", "temporary", "data", "errors"}, f"left: {inside}")


@contextmanager
def _page(server: _Server) -> Iterator[Page]:
    """Yield a page that is connected, once there is room for it."""
    ends = time.monotonic() + patience()
    while True:
        try:
            page = server.page()
            break
        except (InvalidStatus, OSError, WebSocketException) as error:
            full = isinstance(error, ConnectionRefusedError)  # or, while many are being opened:
            full |= isinstance(error, InvalidStatus) and error.response.status_code == 503
            full |= isinstance(error, InvalidMessage)  # or none: closed at once, since all connections are taken
            require(full and time.monotonic() < ends, f"no page can be opened: {error}")
            time.sleep(0.02)
    with page:
        yield page


_pictures: dict[str, Any] = {}


def _counts(text: str) -> Any:
    if text not in _pictures:
        _pictures[text] = mandelcl.render(Job.from_json(text), [device()])[0].counts
    return _pictures[text]


def _end(server: _Server) -> None:
    """Require that Ctrl-C ends the server soon, without a word, and all that it has started."""
    started = below(server.process.pid)
    began = time.monotonic()
    server.process.send_signal(signal.SIGINT)
    try:
        code = server.process.wait(patience())
    except subprocess.TimeoutExpired:
        code = None
    took = time.monotonic() - began
    _running.remove(server)
    errors = server.errors
    server.stop()
    require(code == 0 and not errors, f"Ctrl-C ended the server with {code}: {errors[:300]!r}")
    require(took < patience() / 12, f"Ctrl-C took {took:.1f} s")
    left = [process for process in started if _runs(process)]
    require(not left, f"{len(left)} processes are left")


def _runs(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class _Wire:
    """A WebSocket by hand, which may send what is none."""

    def __init__(self, server: Server, random: Random, held: ExitStack, token: str | None = None) -> None:
        self._random = random
        self.socket = held.enter_context(_connected(server))
        self.status, answer = _asked(self.socket, _head(server, "GET", "/socket", server.host, _UPGRADE))
        if self.status == 101 and random.random() < 0.95:
            self._prove(server, server.token if token is None else token, answer.partition(b"\r\n\r\n")[2])

    def _prove(self, server: Server, token: str, greeting: bytes) -> None:
        """Prove that this page knows a token."""
        with suppress(OSError):
            while b"}" not in greeting and (more := self.socket.recv(1 << 12)):
                greeting += more
        if b"}" in greeting:
            hello = greeting[greeting.index(b"{") : greeting.index(b"}") + 1]
            self.report_line(proof(hello, f"http://{server.host}", token.encode()))

    def frame(self, opcode: int, data: bytes, first: int = 0x80, masked: bool = True) -> None:
        """Send a frame; what the server does not take any more is lost."""
        size = len(data)
        known = bytes([first | opcode, (masked << 7) | (size if size < 126 else 126 if size < 1 << 16 else 127)])
        known += b"" if size < 126 else struct.pack(">H" if size < 1 << 16 else ">Q", size)
        mask = self._random.randbytes(4)
        if masked:
            data = mask + bytes(byte ^ mask[k % 4] for k, byte in enumerate(data))
        self.raw(known + data)

    def raw(self, data: bytes) -> None:
        """Send bytes."""
        with suppress(OSError):
            self.socket.sendall(data)

    def report_line(self, message: str) -> None:
        """Send a text."""
        self.frame(1, message.encode("utf-8", "surrogatepass"))

    def drain(self) -> None:
        """Read what has come."""
        self.socket.settimeout(0)
        with suppress(OSError):
            while self.socket.recv(1 << 16):
                pass
        self.socket.settimeout(2)


_UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def _connected(server: Server) -> socket.socket:
    name, _, port = server.host.rpartition(":")
    return socket.create_connection((name, int(port)), timeout=2)


def _head(server: Server, method: str, path: str, host: str | None, more: str = "", origin: str | None = "") -> bytes:
    origin = f"http://{server.host}" if origin == "" else origin
    lines = f"{method} {path} HTTP/1.1\r\n" + (f"Host: {host}\r\n" if host is not None else "")
    return (lines + (f"Origin: {origin}\r\n" if origin is not None else "") + more + "\r\n").encode("utf-8", "replace")


def _asked(connection: socket.socket, request: bytes) -> tuple[int, bytes]:
    """Return the status with which a request is answered, 0 where it is not, and what has come of the answer."""
    answer = b""
    with suppress(OSError):
        connection.sendall(request)
        while b"\r\n\r\n" not in answer and (more := connection.recv(1 << 12)):
            answer += more
    words = answer.split(maxsplit=2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0, answer


def _messages(server: _Server, random: Random, held: ExitStack) -> None:
    """Messages that are nearly right, texts and bytes; some pages read what is answered."""
    wire = _Wire(server, random, held)
    for _ in range(random.randrange(1, 40)):
        message = random.choice(_MESSAGES if random.random() < 0.98 else _PROCESSES)
        chance = random.random()
        if chance < 0.25:
            wire.report_line(json.dumps(message))
        elif chance < 0.9:
            wire.report_line(as_json(_harmless(changed(message, random, _USUAL)), random)[: 1 << 15])
        elif chance < 0.95:
            piece = struct.pack("<II", 0x554C434D, 4) + random.randbytes(random.choice((0, 10, 100, 1000)))
            wire.frame(2, damaged(piece, random))
        else:
            wire.report_line(changed_text(json.dumps(any_value(random)), random))
        if random.random() < 0.3:
            wire.drain()


def _harmless(message: Any) -> Any:
    """Return a message without what is known to take the server's time or memory, and asks for nothing but that."""
    if isinstance(message, dict) and isinstance(message.get("size"), list):
        size = [side for side in message["size"] if type(side) is int]
        if len(size) == 2 and size[0] * size[1] > 1 << 18:
            message["size"] = [8, 8]
    return message


def _requests(server: _Server, random: Random, held: ExitStack) -> None:  # noqa: ARG001 - none is kept
    """Requests by the wrong name, from the wrong page, with the wrong token or ticket, or none."""
    for _ in range(random.randrange(1, 8)):
        port = server.host.rpartition(":")[2]
        host: str | None = server.host
        origin: str | None = f"http://{server.host}"
        wrong = random.random() < 0.9
        if wrong:
            kind = random.randrange(3)
            if kind == 2:
                _try_token(server, random)
                continue
            if kind == 0:
                host = random.choice(
                    ("evil.example", f"evil.example:{port}", "", server.host + ".", f"0.0.0.0:{port}", None)
                )
            else:
                origin = random.choice(
                    (None, "null", "http://evil.example", f"https://{server.host}", f"http://{server.host}.")
                )
        path = random.choice(("/socket", "/socket", "/socket", "/saved/a.png", "/saved/../errors", "/socket/../socket"))
        method = random.choice((*["GET"] * 9, "POST", "get", "HEAD", "BREW"))
        text = path + random.choice(
            ("", "?ticket=", "?ticket=x", f"?ticket={random.getrandbits(128):x}", "?ticket=%c3")
        )
        data = _head(server, method, text, host, _UPGRADE, origin)
        spoilt = damaged(data, random) if random.random() < 0.2 else data
        with _connected(server) as connection:
            status, _ = _asked(connection, spoilt)
        if wrong and spoilt == data:
            require(status != 101, f"admitted by the wrong Host or Origin: {data!r}")
            require(status != 200, f"served by the wrong Host, Origin or ticket: {data!r}")


def _try_token(server: Server, random: Random) -> None:
    """Require that a page with a token that is none is not let in."""
    token = random.choice(("", "x", server.token[:-1], server.token + "A", f"{random.getrandbits(128):x}", "é" * 9))
    with ExitStack() as held:
        wire, answer = _Wire(server, random, held, token), b""
        with suppress(OSError):
            while b'"line"' not in answer and (more := wire.socket.recv(1 << 12)):
                answer += more
        require(b'"proved"' not in answer, f"admitted with the token {token!r}")


def _frames(server: _Server, random: Random, held: ExitStack) -> None:
    """Frames that are none: not masked, with odd bits and codes, in pieces, too long, cut."""
    wire = _Wire(server, random, held)
    for _ in range(random.randrange(1, 12)):
        data = random.choice((b"", b"\xff\xfe", b"{}", json.dumps(_MESSAGES[0]).encode(), bytes(1000)))
        kind = random.randrange(6)
        if kind == 0:
            wire.frame(random.randrange(16), data, random.choice((0x80, 0, 0xC0, 0xF0, 0x90)), random.random() < 0.8)
        elif kind == 1:
            wire.frame(random.choice((9, 10)), data[:125])
        elif kind == 2:
            wire.frame(8, random.choice((b"", b"\x03", b"\x03\xe8bye", b"\xff\xff", b"\x03\xe8\xff")))
        elif kind == 3:
            wire.frame(1, b"x" * random.choice((65_536, 65_537, 70_000)))
        elif kind == 4:
            wire.raw(bytes([0x82, 0xFF]) + struct.pack(">Q", random.choice((1 << 20, 1 << 40, (1 << 64) - 1))))
        else:
            wire.raw(random.randbytes(random.randrange(1, 60)))


def _half_open(server: _Server, random: Random, held: ExitStack) -> None:
    """Connections that say nothing, or part of a request, and stay, leave or break off."""
    request = _head(server, "GET", "/socket", server.host, _UPGRADE)
    for _ in range(random.choice((1, 3, 30, 100))):
        connection = held.enter_context(_connected(server))
        with suppress(OSError):
            connection.sendall(request[: random.choice((0, 1, 5, len(request) - 1, random.randrange(len(request))))])
            if random.random() < 0.2:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            if random.random() < 0.3:
                connection.shutdown(random.choice((socket.SHUT_RD, socket.SHUT_WR)))


def _slow(server: _Server, random: Random, held: ExitStack) -> None:
    """A page that asks for views and reads nothing, or a little."""
    connection = _Wire(server, random, held)
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for generation in range(1, random.choice((2, 5, 20))):
        size = random.choice(([64, 36], [300, 200], [600, 400]))
        wanted = {**_VIEW, "size": size, "iterations": 50 + generation, "number": "float"}
        connection.report_line(
            json.dumps({"do": "view", "pane": random.randrange(_PANES), "generation": generation, **wanted})
        )
        if random.random() < 0.2:
            with suppress(OSError):
                connection.socket.recv(1000)


def _storm(server: _Server, random: Random, held: ExitStack) -> None:  # noqa: ARG001 - none is kept
    """A page that is loaded again and again; each load asks for its view and leaves, with a word or without."""
    for _ in range(random.choice((2, 10, 30))):
        with ExitStack() as loaded:
            wire = _Wire(server, random, loaded)
            require(wire.status in (0, 101, 503), f"a page that is loaded again gets {wire.status}")
            wire.report_line(json.dumps({"do": "view", "pane": 0, "generation": 1, **_VIEW}))
            if random.random() < 0.5:
                wire.frame(8, b"\x03\xe9")


def _uploads(server: _Server, random: Random, held: ExitStack) -> None:
    """Files that a page sends, damaged, in pieces of any size, too few or too many of them."""
    wire = _Wire(server, random, held)
    for number in range(random.choice((1, 1, 2, 4))):
        known = {**samples.pictures(), **samples.places(), **samples.palettes(), "a.npz": samples.archives()[0][1]}
        name, data = random.choice(list(known.items()))
        data = damaged(data, random) if random.random() < 0.8 else data
        size = len(data) + random.choice((0, 0, 0, 0, 1, -1))
        name = random.choice((name, name, "../" + name, "\x1b[31m", "x" * 300))
        wire.report_line(json.dumps({"do": "open", "id": number, "name": name, "size": size}))
        while data:
            most = random.choice((1000, 10_000, 49_152))
            wire.frame(2, struct.pack("<II", 0x554C434D, number) + data[:most])
            data = data[most:]
            if random.random() < 0.02:
                break
    wire.drain()


_KINDS: tuple[Callable[[_Server, Random, ExitStack], None], ...] = (
    *(
        _uploads,
        _messages,
        _messages,
        _messages,
        _messages,
        _requests,
        _requests,
        _frames,
        _frames,
        _half_open,
        _slow,
        _storm,
    ),
)
