"""The explorer's server: one port of this machine, for pages that know one of its tokens.

Any web page that is open in the user's browser can send requests here. So every request is checked: its Host, its
Origin, and the proof that a page must give first. SECURITY.md describes the threats and defences.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from mandelcl.base.errors import InvalidInputError
from mandelcl.explore import messages
from mandelcl.explore.access import Access, kept_token
from mandelcl.explore.answers import PROTOCOL, attend
from mandelcl.explore.bookmarks import data_folder
from mandelcl.explore.client import Client
from mandelcl.explore.connections import Connections, abort, known_to
from mandelcl.explore.hosts import Hosts, listening
from mandelcl.explore.static_files import static_files
from mandelcl.explore.workspace import Start, Workspace

_MOST_PAGES = 4
_MOST_UNPROVED = 16  # sockets of pages without proof
_PROVE_S = 30.0  # time limit for the proof
_MOST_DOWNLOADS = 2  # at once, since each is in memory
_MOST_ADDRESS = 4096
_NONE: Mapping[str, str] = MappingProxyType({})
_PING_S = 20.0
_FAREWELL_S = 0.3  # for pages to acknowledge the end

# Connection errors do not concern the user.
_LOG = logging.getLogger("mandelcl.explore")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


class _Socket:
    """A WebSocket (a `Line`)."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def heard(self) -> AsyncIterator[str | bytes]:
        """Yield the page's messages until it is gone."""
        with suppress(ConnectionClosed):
            async for message in self._connection:
                yield message

    async def send(self, data: bytes | memoryview | str) -> None:
        """Send a text or bytes. Raises ConnectionError if the page is gone."""
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise ConnectionError(str(error)) from error


class Server:
    """A server on one port. Once it is open, `address` is that of the page, with the token of this run.

    It listens on `host`. Its valid names are the host, the machine's own addresses if it listens on all of them, and
    `public_names`. Without a `port` it takes the usual one, or the next free one. `new_token` revokes the access of
    browsers from earlier runs. `line` is a message for the user about the token.

    Raises InvalidInputError for an invalid public name.
    """

    def __init__(
        self,
        start: Start,
        host: str = "127.0.0.1",
        port: int | None = None,
        public_names: Sequence[str] = (),
        *,
        new_token: bool = False,
    ) -> None:
        self.workspace = Workspace(start)
        self.port = port or 0
        self.hosts = Hosts(host, public_names)
        kept, self.line = kept_token(data_folder() / "explore-token", renew=new_token)
        self._access = Access(kept)
        self._listens_at = host, port
        self._files = static_files()
        self._connections: Connections = set()
        self._proved: Connections = set()
        self._downloads: Connections = set()

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{self.hosts.address(self.port)}/#token={self._access.run_token}"

    async def run(self, stop: asyncio.Event, opened: Callable[[str], object]) -> None:
        """Serve until `stop` is set. `opened` is called with the address. Raises OSError if the port is taken."""
        host, port = self._listens_at
        async with serve(
            self._serve,
            sock=listening("127.0.0.1" if host == "localhost" else host, port),  # localhost may be two addresses
            process_request=self._look_at,
            max_size=messages.MESSAGE_BYTES,
            max_queue=16,
            compression=None,
            open_timeout=None,  # sending an answer may take long; stalled connections are closed elsewhere
            ping_interval=_PING_S,
            ping_timeout=_PING_S,
            server_header=None,
            logger=_LOG,
            close_timeout=_FAREWELL_S,
            create_connection=known_to(self._connections),
        ) as server:
            self.port = next(iter(server.sockets)).getsockname()[1]
            self.workspace.open()
            try:
                opened(self.address)
                await stop.wait()
            finally:
                server.close()
                ends = asyncio.get_running_loop().call_later(_FAREWELL_S, abort, self._connections)
                await self.workspace.close()
                await server.wait_closed()
                ends.cancel()

    async def _serve(self, socket: ServerConnection) -> None:
        try:
            if await self._proves_itself(socket):
                await attend(Client(_Socket(socket), self.workspace))
        except (ConnectionClosed, TimeoutError):
            return
        finally:
            self._proved.discard(socket)

    async def _proves_itself(self, socket: ServerConnection) -> bool:
        """Return whether a page knows a token and there is room for it. The page is told either way."""
        assert socket.request is not None
        challenge = self._access.challenge(socket.request.headers["Origin"])
        await socket.send(json.dumps({"say": "hello", "protocol": PROTOCOL, "nonce": challenge.nonce}))
        message = await asyncio.wait_for(socket.recv(), _PROVE_S)
        try:
            answer = challenge.answer(messages.read(message if isinstance(message, str) else ""))
        except InvalidInputError as error:
            await socket.send(json.dumps({"say": "refused", "why": "token", "line": str(error)}))
            return False
        if answer is None:
            await socket.send(json.dumps({"say": "refused", "why": "token", "line": "not a token of this server"}))
            return False
        # A page that has left no longer counts, even if work for it is still running.
        if len(self._proved & {*socket.server.connections}) >= _MOST_PAGES:
            await socket.send(json.dumps({"say": "refused", "why": "full", "line": "too many pages are open"}))
            return False
        self._proved.add(socket)
        await socket.send(json.dumps({"say": "proved", **answer}))
        return True

    async def _look_at(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the answer to a request, or None to open a WebSocket."""
        reached = _own_address(connection)
        found = await self._found(connection, request, reached)
        if found is None:
            return None
        # The whole answer must be sent before the connection is closed.
        connection.transport.set_write_buffer_limits(1, 0)
        return self._answer(found, self.hosts.sockets(self.port, reached), getattr(request, "method", "GET"))

    async def _found(self, connection: ServerConnection, request: Request, reached: str | None) -> "_Answer | None":
        if request.headers.get_all("Host") not in [[name] for name in self.hosts.names(self.port, reached)]:
            return _refusal(HTTPStatus.FORBIDDEN, "unknown server name; allow it with --public-name")
        if getattr(request, "method", "GET") != "GET":  # earlier versions of websockets only accept GET
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, "only GET is supported", {"Allow": "GET"})
        if len(request.path) > _MOST_ADDRESS:
            return _refusal(HTTPStatus.REQUEST_URI_TOO_LONG, "the address is too long")
        try:
            parts = urlsplit(request.path)
            query = parse_qs(parts.query)
        except ValueError:
            return _refusal(HTTPStatus.BAD_REQUEST, "invalid address")
        if parts.path == "/socket":
            return self._socket_refusal(connection, request, reached)
        if parts.path in self._files:
            file = self._files[parts.path]
            return _Answer(HTTPStatus.OK, file.kind, file.body, _NONE)
        if parts.path.startswith("/saved/"):
            return await self._saved(connection, parts.path.removeprefix("/saved/"), query)
        return _refusal(HTTPStatus.NOT_FOUND, "not found")

    def _socket_refusal(self, connection: ServerConnection, request: Request, reached: str | None) -> "_Answer | None":
        origins = self.hosts.origins(self.port, reached)
        if request.headers.get_all("Origin") not in [[origin] for origin in origins]:
            return _refusal(HTTPStatus.FORBIDDEN, "the request does not come from this server's page")
        if len({*connection.server.connections} - self._proved) >= _MOST_UNPROVED:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are being opened")
        return None

    async def _saved(self, connection: ServerConnection, name: str, query: dict[str, list[str]]) -> "_Answer":
        self._downloads &= self._connections
        if len(self._downloads) >= _MOST_DOWNLOADS:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many downloads at once; try again when one has ended")
        if not self.workspace.saves.redeem(query.get("ticket", [""])[0], name):
            return _refusal(HTTPStatus.FORBIDDEN, "the ticket is invalid or already used")
        self._downloads.add(connection)
        body = await self.workspace.files.run(self.workspace.saves.read, name)
        if body is None:
            self._downloads.discard(connection)
            return _refusal(HTTPStatus.NOT_FOUND, "not found")
        download = {"Content-Disposition": f'attachment; filename="{name}"'}
        return _Answer(HTTPStatus.OK, "application/octet-stream", body, download)

    def _answer(self, answer: "_Answer", sockets: str, method: str) -> Response:
        policy = f"default-src 'self'; connect-src 'self' {sockets}; img-src 'self' data: blob:; base-uri 'none'"
        body = b"" if method == "HEAD" else answer.body
        headers = {
            "Content-Type": answer.kind,
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
            "Content-Security-Policy": f"{policy}; form-action 'none'; frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(answer.status.value, answer.status.phrase, Headers(headers | dict(answer.headers)), body)


@dataclass(frozen=True, slots=True)
class _Answer:
    """The answer to a request."""

    status: HTTPStatus
    kind: str
    body: bytes
    headers: Mapping[str, str]


def _refusal(status: HTTPStatus, why: str, headers: Mapping[str, str] = _NONE) -> _Answer:
    return _Answer(status, "text/plain; charset=utf-8", f"{why}\n".encode(), headers)


def _own_address(connection: ServerConnection) -> str | None:
    """Return the address of this machine at which a request arrived."""
    local = connection.local_address
    return str(local[0]) if isinstance(local, tuple) else None


def run(server: Server, opened: Callable[[str], object], on_signal: Callable[[Callable[[], Any]], None]) -> None:
    """Serve in this thread until a signal arrives. `on_signal` registers the function to call then."""

    async def main() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        on_signal(lambda: loop.call_soon_threadsafe(stop.set))
        await server.run(stop, opened)

    asyncio.run(main())
