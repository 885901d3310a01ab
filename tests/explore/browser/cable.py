"""A way to the server that can be cut: a listener at another address of this machine, which passes bytes on."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

_ADDRESS = "127.0.0.2"


class _Link:
    """A connection that is passed on, until either side ends it."""

    def __init__(self, near: socket.socket, port: int) -> None:
        self.silent = False
        self._near, self._far = near, socket.create_connection(("127.0.0.1", port))
        self.ended = threading.Thread(target=self._run, daemon=True)
        self.ended.start()

    def cut(self) -> None:
        """End it."""
        for end in (self._near, self._far):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _run(self) -> None:
        with self._near, self._far:
            back = threading.Thread(target=self._pass, args=(self._far, self._near), daemon=True)
            back.start()
            self._pass(self._near, self._far)
            back.join()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self.silent:
                    target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class Cable:
    """Passes connections to `_ADDRESS` on to a server of the same port, unless it is cut."""

    def __init__(self, port: int) -> None:
        self._port, self._whole = port, True
        self._links: list[_Link] = []
        self._listener = socket.create_server((_ADDRESS, port))
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def cut(self) -> None:
        """End all connections, and any new one, at once."""
        self._whole = False
        for link in self._links:
            link.cut()

    def hush(self) -> None:
        """Let what either side of a connection sends be lost, without a word."""
        self._whole = False
        for link in self._links:
            link.silent = True

    def mend(self) -> None:
        """Let new connections through; old ones stay as they are."""
        self._whole = True

    def close(self) -> None:
        """End it."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listening.join()
        self._listener.close()
        self.cut()
        for link in self._links:
            link.ended.join()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self._whole:
                    self._links.append(_Link(near, self._port))
                else:
                    near.close()


@contextmanager
def laid(port: int) -> Iterator[Cable]:
    """Yield a cable; the browser finds it under the name localhost."""
    try:
        cable = Cable(port)
    except OSError as error:
        pytest.skip(f"this system has no address {_ADDRESS}: {error}")
    try:
        yield cable
    finally:
        cable.close()
