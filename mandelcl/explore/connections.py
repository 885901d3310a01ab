"""The connections of the explorer's server, known from their first moment on, so that none stays for nothing."""

import asyncio

from websockets.asyncio.server import ServerConnection
from websockets.protocol import State

_MOST = 128  # with those that have asked for nothing yet, which anybody may open
_OPEN_S = 10.0  # for a request to come
_STALL_S = 60.0  # for the next bytes of an answer to leave

Connections = set[ServerConnection]


def known_to(connections: Connections) -> type[ServerConnection]:
    """Return a kind of connections that are in a set from their first moment to their last."""

    class Connection(ServerConnection):
        """A connection that ends where no request comes, or nothing leaves of an answer; sockets have their pings."""

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
            elif self.protocol.state is State.CONNECTING:  # as long as it is no socket
                self._look_again = self.loop.call_later(_STALL_S, self._look, waits)

    return Connection


def abort(connections: Connections) -> None:
    """End connections whatever they wait for: half a request, or a page that does not read."""
    for connection in list(connections):
        connection.transport.abort()
