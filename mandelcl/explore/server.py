"""The explorer's server: one port of this machine, for pages that know its token.

Whoever can open a web page in the user's browser can make it send requests here, so each is looked at: its Host, its
Origin, its token. SECURITY.md says what is defended.
"""

import asyncio
import hmac
import logging
import secrets
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

from mandelcl.explore import messages
from mandelcl.explore.answers import attend
from mandelcl.explore.client import Client
from mandelcl.explore.connections import Connections, abort, known_to
from mandelcl.explore.hosts import Hosts
from mandelcl.explore.static_files import static_files
from mandelcl.explore.workspace import Start, Workspace

_MOST_SOCKETS = 4
_MOST_DOWNLOADS = 2  # at once: each is in memory
_MOST_ADDRESS = 4096
_NONE: Mapping[str, str] = MappingProxyType({})
_PING_S = 20.0
_FAREWELL_S = 0.3  # for pages to answer that they have heard of the end

# What goes wrong between a server and whoever connects to it is nothing that the user need see.
_LOG = logging.getLogger("mandelcl.explore")
_LOG.addHandler(logging.NullHandler())
_LOG.propagate = False


class _Socket:
    """A WebSocket (a `Line`)."""

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection

    async def heard(self) -> AsyncIterator[str | bytes]:
        """Yield what the page says, until it is gone."""
        with suppress(ConnectionClosed):
            async for message in self._connection:
                yield message

    async def send(self, data: bytes | memoryview | str) -> None:
        """Send a text or bytes; raises ConnectionError where the page is gone."""
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise ConnectionError(str(error)) from error


class Server:
    """A server on one port; `address` is that of the page once it is open, with the token.

    It listens at the `host` and is called by that, by the machine's own addresses where it listens at all of them, and
    by `public_names`. Raises InvalidInputError where one of those is none.
    """

    def __init__(self, start: Start, host: str = "127.0.0.1", port: int = 0, public_names: Sequence[str] = ()) -> None:
        self.workspace = Workspace(start)
        self.port = port
        self.hosts = Hosts(host, public_names)
        self._host = host
        self._token = secrets.token_urlsafe(16)
        self._files = static_files()
        self._connections: Connections = set()
        self._downloads: Connections = set()

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{self.hosts.address(self.port)}/?token={self._token}"

    async def run(self, stop: asyncio.Event, opened: Callable[[str], object]) -> None:
        """Serve until `stop` is set; `opened` is called with the address. Raises OSError where the port is taken."""
        async with serve(
            self._serve,
            "127.0.0.1" if self._host == "localhost" else self._host,  # which may be two addresses, each with a port
            self.port,
            process_request=self._look_at,
            max_size=messages.MESSAGE_BYTES,
            max_queue=16,
            compression=None,
            open_timeout=None,  # an answer may take long to leave; connections end by themselves where nothing moves
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
        await attend(Client(_Socket(socket), self.workspace))

    async def _look_at(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the answer to a request; None where a socket is to be opened."""
        reached = _own_address(connection)
        found = await self._found(connection, request, reached)
        if found is None:
            return None
        # All of an answer is to have left before the connection is closed.
        connection.transport.set_write_buffer_limits(1, 0)
        return self._answer(found, self.hosts.sockets(self.port, reached), getattr(request, "method", "GET"))

    async def _found(self, connection: ServerConnection, request: Request, reached: str | None) -> "_Answer | None":
        if request.headers.get_all("Host") not in [[name] for name in self.hosts.names(self.port, reached)]:
            return _refusal(HTTPStatus.FORBIDDEN, "not this server's name; --public-name says what else it is called")
        if getattr(request, "method", "GET") != "GET":  # earlier versions of websockets know no other
            return _refusal(HTTPStatus.METHOD_NOT_ALLOWED, "GET alone", {"Allow": "GET"})
        if len(request.path) > _MOST_ADDRESS:
            return _refusal(HTTPStatus.REQUEST_URI_TOO_LONG, "too long an address")
        try:
            parts = urlsplit(request.path)
            query = parse_qs(parts.query)
        except ValueError:
            return _refusal(HTTPStatus.BAD_REQUEST, "no address")
        if parts.path == "/socket":
            return self._socket_refusal(connection, request, query, reached)
        if parts.path in self._files:
            file = self._files[parts.path]
            return _Answer(HTTPStatus.OK, file.kind, file.body, _NONE)
        if parts.path.startswith("/saved/"):
            return await self._saved(connection, parts.path.removeprefix("/saved/"), query)
        return _refusal(HTTPStatus.NOT_FOUND, "nothing here")

    def _socket_refusal(
        self, connection: ServerConnection, request: Request, query: dict[str, list[str]], reached: str | None
    ) -> "_Answer | None":
        origins = self.hosts.origins(self.port, reached)
        if request.headers.get_all("Origin") not in [[origin] for origin in origins]:
            return _refusal(HTTPStatus.FORBIDDEN, "not this server's page")
        if not self._knows_token(query):
            return _refusal(HTTPStatus.FORBIDDEN, "not this server's token")
        # A page that has said good-bye counts no more, whatever is still being done for it.
        if len(connection.server.connections) >= _MOST_SOCKETS:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
        return None

    async def _saved(self, connection: ServerConnection, name: str, query: dict[str, list[str]]) -> "_Answer":
        if not self._knows_token(query):
            return _refusal(HTTPStatus.FORBIDDEN, "not this server's token")
        self._downloads &= self._connections
        if len(self._downloads) >= _MOST_DOWNLOADS:
            return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, "too many downloads at once; try again when one has ended")
        self._downloads.add(connection)
        body = await self.workspace.files.run(self.workspace.saves.read, name)
        if body is None:
            self._downloads.discard(connection)
            return _refusal(HTTPStatus.NOT_FOUND, "nothing here")
        download = {"Content-Disposition": f'attachment; filename="{name}"'}
        return _Answer(HTTPStatus.OK, "application/octet-stream", body, download)

    def _knows_token(self, query: dict[str, list[str]]) -> bool:
        given = query.get("token", [])
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self._token.encode())

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
    """What a request is answered with."""

    status: HTTPStatus
    kind: str
    body: bytes
    headers: Mapping[str, str]


def _refusal(status: HTTPStatus, why: str, headers: Mapping[str, str] = _NONE) -> _Answer:
    return _Answer(status, "text/plain; charset=utf-8", f"{why}\n".encode(), headers)


def _own_address(connection: ServerConnection) -> str | None:
    """Return the address of this machine at which a request has come."""
    local = connection.local_address
    return str(local[0]) if isinstance(local, tuple) else None


def run(server: Server, opened: Callable[[str], object], on_signal: Callable[[Callable[[], Any]], None]) -> None:
    """Serve in this thread until a signal comes, of which `on_signal` is to call what it is given."""

    async def main() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        on_signal(lambda: loop.call_soon_threadsafe(stop.set))
        await server.run(stop, opened)

    asyncio.run(main())
