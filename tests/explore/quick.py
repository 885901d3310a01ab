"""A WebSocket that costs its process no more than a browser's costs a page, for measurements of the server.

That of the library reads in a thread of its own, 64 KiB at a time, and copies each frame three times: on two cores that
takes longer than the server takes to send it.
"""

import socket
import struct
from typing import Self
from urllib.parse import urlsplit

from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.typing import Origin
from websockets.uri import parse_uri

from tests.explore.page import PATIENCE_S, Page

_KNOWN = struct.Struct("BB")
_LENGTHS = {126: struct.Struct(">H"), 127: struct.Struct(">Q")}


class QuickSocket:
    """A WebSocket whose frames are received where they stay; not for Windows, where a blocking receive has no limit."""

    def __init__(self, url: str, origin: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._protocol = ClientProtocol(parse_uri(url), origin=Origin(origin))
        self._socket = socket.create_connection((parts.hostname, parts.port or 80))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # A time-out of Python's would make the socket one that returns what there is.
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", int(PATIENCE_S), 0))
        self._protocol.send_request(self._protocol.connect())
        self._flush()
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self._exactly(1)
        self._protocol.receive_data(answer)
        assert self._protocol.handshake_exc is None, self._protocol.handshake_exc

    def fileno(self) -> int:
        """Return what `select` waits for."""
        return self._socket.fileno()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._protocol.send_close()
        self._flush()
        self._socket.close()

    def send(self, text: str) -> None:
        """Send a text."""
        self._protocol.send_text(text.encode())
        self._flush()

    def recv(self, _timeout: float | None = None) -> str | bytes:
        """Return the next text or bytes; raises ConnectionError at the end, and OSError after PATIENCE_S of silence."""
        while (message := self.recv_frame()) is None:
            pass
        return message

    def recv_frame(self) -> str | bytes | None:
        """Return the text or bytes of the next frame; None for a ping, which is answered.

        A caller that has requested nothing might wait for ever for what comes after a ping.
        """
        first, length = _KNOWN.unpack(self._exactly(_KNOWN.size))
        if length in _LENGTHS:
            (length,) = _LENGTHS[length].unpack(self._exactly(_LENGTHS[length].size))
        opcode, data = first & 15, self._exactly(length)
        if opcode == Opcode.PING:
            self._protocol.send_pong(data)
            self._flush()
            return None
        if opcode == Opcode.CLOSE:
            raise ConnectionError("closed")
        assert first & 128, "a message in several frames"
        return data.decode() if opcode == Opcode.TEXT else data

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            self._socket.sendall(data)

    def _exactly(self, size: int) -> bytes:
        data = self._socket.recv(size, socket.MSG_WAITALL) if size else b""
        while len(data) < size:  # a signal has cut it short
            more = self._socket.recv(size - len(data), socket.MSG_WAITALL)
            if not more:
                raise ConnectionError("the server is gone")
            data += more
        return data


class QuickPage(Page):
    """A page that reads so, and looks at pixels once a view is complete."""

    def _connected(self, url: str, origin: str) -> QuickSocket:
        return QuickSocket(url, origin)
