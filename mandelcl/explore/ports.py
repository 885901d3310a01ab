"""The port of the explorer's server: the same one each time, so that links to it go on working."""

import errno
import socket
import sys

DEFAULT_PORT = 27182
_MORE = 9  # ports that are tried after it
_TAKEN = (errno.EADDRINUSE, errno.EACCES)  # Windows calls a port that another program keeps to itself forbidden


def listening(host: str, port: int | None) -> socket.socket:
    """Return a socket that is bound to an address of this machine.

    Without a port it is DEFAULT_PORT, or the next one that is free. Raises OSError where there is none.
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
        if sys.platform == "win32":  # where another program could otherwise listen at the same port
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
