"""The connections of the explorer's server, tracked from the start, so that idle ones are closed."""

import asyncio

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

_MOST = 128  # including those without a request, which any program can open
_OPEN_S = 10.0  # to receive a request
_STALL_S = 60.0  # to send the next bytes of an answer

Connections = set[ServerConnection]


def known_to(connections: Connections) -> type[ServerConnection]:
    """Return a class of connections that stay in a set from their start to their end."""

    class Connection(ServerConnection):
        """A connection that is closed if no request arrives, or if sending stalls. WebSockets use pings instead."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            connections.add(self)
            self._look_again = self.loop.call_later(_OPEN_S, self._look, None)
            if len(connections) > _MOST:
                self.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            connections.discard(self)
            self._look_again.cancel()
            super().connection_lost(exc)

        def _look(self, waited: int | None) -> None:
            waits = self.transport.get_write_buffer_size()
            if self.request is None or waits == waited:
                self.transport.abort()
            elif self.protocol.state is State.CONNECTING:  # not yet a WebSocket
                self._look_again = self.loop.call_later(_STALL_S, self._look, waits)

    return Connection


def abort(connections: Connections) -> None:
    """Abort connections, whatever they wait for: half a request, or a page that does not read."""
    for connection in list(connections):
        connection.transport.abort()
