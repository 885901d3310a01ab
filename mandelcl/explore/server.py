"""The explorer's server: one port of this machine, for pages that know its token.

Whoever can open a web page in the user's browser can make it send requests here, so each is looked at: its Host, its
Origin, its token. SECURITY.md says what is defended.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from mandelcl.explore import messages
from mandelcl.explore.answers import attend
from mandelcl.explore.client import Client
from mandelcl.explore.house import House, Start
from mandelcl.explore.static_files import static_files

_MOST_SOCKETS = 4
_MOST_CONNECTIONS = 128  # with those that have asked for nothing yet, which anybody may open
_MOST_ADDRESS = 4096
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_OPEN_S = 10.0  # for a request to come
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
    """A server on one port; `address` is that of the page once it is open, with the token."""

    def __init__(self, start: Start, host: str = "127.0.0.1", port: int = 0) -> None:
        self.house = House(start)
        self.port = port
        self._host = host
        self._token = secrets.token_urlsafe(16)
        self._files = static_files()

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{self._hosts[0]}/?token={self._token}"

    @property
    def _hosts(self) -> tuple[str, ...]:
        names = _LOOPBACK if self._host in ("127.0.0.1", "localhost", "::1") else (_bracketed(self._host), *_LOOPBACK)
        return tuple(f"{name}:{self.port}" for name in names)

    async def run(self, stop: asyncio.Event, opened: Callable[[str], object]) -> None:
        """Serve until `stop` is set; `opened` is called with the address. Raises OSError where the port is taken."""
        connections: set[ServerConnection] = set()
        async with serve(
            self._serve,
            self._host,
            self.port,
            process_request=self._look_at,
            max_size=messages.MESSAGE_BYTES,
            max_queue=16,
            compression=None,
            open_timeout=_OPEN_S,
            ping_interval=_PING_S,
            ping_timeout=_PING_S,
            server_header=None,
            logger=_LOG,
            close_timeout=_FAREWELL_S,
            create_connection=_known_to(connections),
        ) as server:
            self.port = next(iter(server.sockets)).getsockname()[1]
            self.house.open()
            try:
                opened(self.address)
                await stop.wait()
            finally:
                server.close()
                ends = asyncio.get_running_loop().call_later(_FAREWELL_S, _abort, connections)
                await self.house.close()
                await server.wait_closed()
                ends.cancel()

    async def _serve(self, socket: ServerConnection) -> None:
        await attend(Client(_Socket(socket), self.house))

    def _look_at(self, connection: ServerConnection, request: Request) -> Response | None:
        """Return the answer to a request; None where a socket is to be opened."""
        if request.headers.get_all("Host") not in [[host] for host in self._hosts]:
            return self._refuse(HTTPStatus.FORBIDDEN, "not this server's name")
        if len(request.path) > _MOST_ADDRESS:
            return self._refuse(HTTPStatus.REQUEST_URI_TOO_LONG, "too long an address")
        try:
            parts = urlsplit(request.path)
            query = parse_qs(parts.query)
        except ValueError:
            return self._refuse(HTTPStatus.BAD_REQUEST, "no address")
        if parts.path == "/socket":
            return self._socket_refusal(connection, request, query)
        if parts.path in self._files:
            found = self._files[parts.path]
            return self._answer(HTTPStatus.OK, found.kind, found.body)
        if parts.path.startswith("/saved/"):
            return self._saved(parts.path.removeprefix("/saved/"), query)
        return self._refuse(HTTPStatus.NOT_FOUND, "nothing here")

    def _socket_refusal(
        self, connection: ServerConnection, request: Request, query: dict[str, list[str]]
    ) -> Response | None:
        origins = [[f"http://{host}"] for host in self._hosts]
        if request.headers.get_all("Origin") not in origins:
            return self._refuse(HTTPStatus.FORBIDDEN, "not this server's page")
        if not self._knows_token(query):
            return self._refuse(HTTPStatus.FORBIDDEN, "not this server's token")
        # A page that has said good-bye counts no more, whatever is still being done for it.
        if len(connection.server.connections) >= _MOST_SOCKETS:
            return self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
        return None

    def _saved(self, name: str, query: dict[str, list[str]]) -> Response:
        if not self._knows_token(query):
            return self._refuse(HTTPStatus.FORBIDDEN, "not this server's token")
        body = self.house.saves.read(name)
        if body is None:
            return self._refuse(HTTPStatus.NOT_FOUND, "nothing here")
        download = {"Content-Disposition": f'attachment; filename="{name}"'}
        return self._answer(HTTPStatus.OK, "application/octet-stream", body, download)

    def _knows_token(self, query: dict[str, list[str]]) -> bool:
        given = query.get("token", [])
        return len(given) == 1 and hmac.compare_digest(given[0].encode(), self._token.encode())

    def _refuse(self, status: HTTPStatus, why: str) -> Response:
        return self._answer(status, "text/plain; charset=utf-8", f"{why}\n".encode())

    def _answer(self, status: HTTPStatus, kind: str, body: bytes, more: dict[str, str] | None = None) -> Response:
        # Browsers know no addresses in brackets here, and complain of them; 'self' covers those.
        sockets = " ".join(f"ws://{host}" for host in self._hosts if not host.startswith("["))
        policy = f"default-src 'self'; connect-src 'self' {sockets}; img-src 'self' data: blob:; base-uri 'none'"
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
            "Content-Security-Policy": f"{policy}; form-action 'none'; frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(status.value, status.phrase, Headers(headers | (more or {})), body)


def _known_to(connections: set[ServerConnection]) -> type[ServerConnection]:
    """Return a kind of connections that are in a set from their first moment on; there is room for so many."""

    class Connection(ServerConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            connections.add(self)
            if len(connections) > _MOST_CONNECTIONS:
                self.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            connections.discard(self)
            super().connection_lost(exc)

    return Connection


def _abort(connections: set[ServerConnection]) -> None:
    """End connections whatever they wait for: half a request, or a page that does not read."""
    for connection in list(connections):
        connection.transport.abort()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def run(server: Server, opened: Callable[[str], object], on_signal: Callable[[Callable[[], Any]], None]) -> None:
    """Serve in this thread until a signal comes, of which `on_signal` is to call what it is given."""

    async def main() -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        on_signal(lambda: loop.call_soon_threadsafe(stop.set))
        await server.run(stop, opened)

    asyncio.run(main())
