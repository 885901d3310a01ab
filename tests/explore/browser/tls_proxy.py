"""A proxy that ends TLS in front of a server, as on a host that other machines reach by HTTPS."""

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

_PIECE = 1 << 16
_CLOSE_S = 0.2  # for connections to close at the end


def certificate(folder: Path, name: str) -> ssl.SSLContext:
    """Return the context of a server with a self-signed certificate for a name."""
    command = shutil.which("openssl")
    if command is None:
        pytest.skip("no openssl is installed to make a certificate")
    key, cert = folder / "key.pem", folder / "cert.pem"
    words = [command, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    subprocess.run([*words, "-keyout", key, "-out", cert], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context


@contextmanager
def proxying(context: ssl.SSLContext, port: int, target: int) -> Iterator[None]:
    """Forward what arrives by TLS at a port of this machine to another port of it, unchanged."""
    ready = threading.Event()
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_PIECE):
                writer.write(data)
                await writer.drain()

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inner, out = await asyncio.open_connection("127.0.0.1", target)
        ways = [asyncio.create_task(copy(reader, out)), asyncio.create_task(copy(inner, writer))]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            with suppress(OSError):
                await writer.drain()
        finally:
            for way in ways:
                way.cancel()
            for each in (writer, out):
                each.close()

    async def serve() -> None:
        stop = asyncio.Event()
        begun.append((asyncio.get_running_loop(), stop))
        server = await asyncio.start_server(join, "127.0.0.1", port, ssl=context)
        ready.set()
        await stop.wait()
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(_CLOSE_S)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield
    finally:
        loop, stop = begun[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)
