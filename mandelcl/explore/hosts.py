"""The port and the names of a server: where it listens, and the values that `Host` and `Origin` may have."""

import errno
import ipaddress
import re
import socket
import sys
from collections.abc import Sequence

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.text import quoted

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PUBLIC = re.compile(r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?", re.ASCII)
_HTTP_PORT = 80  # browsers leave this port out
DEFAULT_PORT = 27182
_MORE = 9  # ports to try after it
_TAKEN = (errno.EADDRINUSE, errno.EACCES)  # Windows reports EACCES if another program uses the port exclusively


class Hosts:
    """The names of a server that listens on one address, or on all addresses of the machine, and its public names.

    Other machines use a public name, such as the machine's name or that of a proxy in front of it, with a port if it
    differs. Raises InvalidInputError for an invalid name.
    """

    def __init__(self, listening: str, public: Sequence[str] = ()) -> None:
        self._listening = listening
        self._public = tuple(name.lower() for name in public)
        for name in self._public:
            if not _PUBLIC.fullmatch(name):
                raise InvalidInputError(f"{quoted(name)} is not the name of a server; give NAME or NAME:PORT")

    @property
    def remote(self) -> bool:
        """Whether other machines can reach it."""
        return self._listening not in LOOPBACK

    @property
    def everywhere(self) -> bool:
        """Whether it listens on all addresses of the machine."""
        try:
            return ipaddress.ip_address(self._listening).is_unspecified
        except ValueError:
            return False

    def address(self, port: int) -> str:
        """Return the name and port for the page's address."""
        if self._public:
            name = self._public[0]
            return name if _has_port(name) else f"{name}:{port}"
        if self.everywhere:
            return f"{'[::1]' if ':' in self._listening else '127.0.0.1'}:{port}"
        return f"{_bracketed(self._listening)}:{port}"

    def names(self, port: int, reached: str | None = None) -> tuple[str, ...]:
        """Return the names, with ports, that `Host` may have.

        `reached` is the machine's own address at which a request arrived. It is allowed because a malicious page that
        makes the browser resolve its name to this machine (DNS rebinding) can only send its own name.
        """
        own = [*LOOPBACK, *([self._listening] if self.remote and not self.everywhere else [])]
        if self.remote and reached is not None:
            own.append(reached)
        plain = [*(_bracketed(name) for name in own), *(name for name in self._public if not _has_port(name))]
        names = [f"{name}:{port}" for name in plain] + list(self._public)
        return tuple(dict.fromkeys([*names, *(plain if port == _HTTP_PORT else [])]))

    def origins(self, port: int, reached: str | None = None) -> tuple[str, ...]:
        """Return the values that `Origin` may have. A proxy in front of a public name may use TLS."""
        plain = [f"http://{name}" for name in self.names(port, reached)]
        return (*plain, *(origin.replace("http:", "https:") for origin in plain if self._is_public(origin)))

    def sockets(self, port: int, reached: str | None = None) -> str:
        """Return the WebSocket addresses that a page may open, for a Content-Security-Policy."""
        # Browsers do not accept addresses in brackets here and print a warning; 'self' covers them.
        origins = [origin for origin in self.origins(port, reached) if "[" not in origin]
        return " ".join(f"ws{origin.removeprefix('http')}" for origin in origins)

    def _is_public(self, origin: str) -> bool:
        name = origin.partition("//")[2]
        return name in self._public or name.rpartition(":")[0] in self._public


def _has_port(name: str) -> bool:
    found = _PUBLIC.fullmatch(name)
    return found is not None and found[1] is not None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def listening(host: str, port: int | None) -> socket.socket:
    """Return a socket that is bound to an address of this machine.

    Without a port, it is DEFAULT_PORT or the next free one. Raises OSError if there is none.
    """
    if port is not None:
        return _bound(host, port)
    for candidate in (*range(DEFAULT_PORT, DEFAULT_PORT + 1 + _MORE), 0):
        try:
            return _bound(host, candidate)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
    raise OSError(errno.EADDRINUSE, "no port is free")


def _bound(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    made = socket.socket(family, kind, protocol)
    try:
        if sys.platform == "win32":  # otherwise another program could listen on the same port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind(address)
    except BaseException:
        made.close()
        raise
    return made
