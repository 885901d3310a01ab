"""Addresses at which something else than a scheduler answers, or nobody: one line, after a bounded time."""

import asyncio
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from mandelcl.base.errors import DeviceError
from mandelcl.rendering.crew.dask.connection import Connection

distributed = pytest.importorskip("distributed")

LATE = "no answer within 1 s"  # from all of them, on a very busy machine
Serve = Callable[[socket.socket], object]


def _silent(_peer: socket.socket) -> None:
    pass


def _leaving(peer: socket.socket) -> None:
    peer.close()


def _web(peer: socket.socket) -> None:
    peer.recv(1000)
    peer.sendall(b"HTTP/1.0 400 Bad Request\r\nServer: x\r\nContent-Length: 0\r\n\r\n" + bytes(1000))


def _endless(peer: socket.socket) -> None:
    """Announce eight gigabytes."""
    peer.sendall(struct.pack("<QQQ", 1 << 33, 1, 1 << 33) + bytes(1000))


def _zeros(peer: socket.socket) -> None:
    peer.sendall(bytes(1000))


def _every_byte(peer: socket.socket) -> None:
    peer.sendall(bytes(range(256)) * 100)


@contextmanager
def listening(serve: Serve) -> Iterator[str]:
    """Yield the address of a server, each of whose connections stays open unless `serve` closes it."""
    peers = list[socket.socket]()

    def accept() -> None:
        with suppress(OSError):
            while True:
                peers.append(server.accept()[0])
                with suppress(OSError):
                    serve(peers[-1])

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        finally:
            with suppress(OSError):  # Windows ends `accept` where the server is closed
                server.shutdown(socket.SHUT_RDWR)
            for peer in peers:
                peer.close()


def refusal(address: str) -> str:
    """Return why there is no connection to an address."""
    reported = list[str]()

    def connect() -> None:
        try:
            Connection.to(address, wait=1).close()
        except DeviceError as error:
            reported.append(str(error))
        else:
            reported.append("connected")

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(600)
    assert reported, "it waits without end, or ends in another error"
    start = f"cannot reach a scheduler at {address}: "
    assert reported[0].startswith(start)
    return reported[0].removeprefix(start)


@pytest.mark.full
@pytest.mark.parametrize(
    ("serve", "why"),
    [
        (_silent, LATE),
        (_endless, LATE),
        (_leaving, "Connection reset by peer|the connection was closed at the other end"),
        (_web, "what answers there is no Dask scheduler, or one of another version"),
        (_zeros, "what answers there is no Dask scheduler, or one of another version"),
        (_every_byte, "what answers there is no Dask scheduler, or one of another version"),
    ],
)
def test_address_that_is_not_a_scheduler_is_one_line(serve: Serve, why: str) -> None:
    with listening(serve) as address:
        assert re.fullmatch(f"{why}|{LATE}", refusal(address))


def test_address_without_listener_is_one_line() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    assert refusal(address) in ("Connection refused", LATE)


def test_dask_worker_address_is_not_a_scheduler() -> None:
    from distributed.core import Server

    class Worker(Server):
        pass

    started, ended = threading.Event(), threading.Event()
    addresses = list[str]()

    async def serve() -> None:
        worker = Worker({})  # type: ignore[no-untyped-call]
        await worker.listen("tcp://127.0.0.1:0")  # type: ignore[no-untyped-call]
        addresses.append(worker.address)
        started.set()
        await asyncio.to_thread(ended.wait)
        await worker.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert started.wait(600)
        assert refusal(addresses[0]) in ("a Dask worker answers there", LATE)
    finally:
        ended.set()
        thread.join()
