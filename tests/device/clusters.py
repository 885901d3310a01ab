"""Schedulers, workers and a network between them, as processes and threads that a test may kill, cut and join."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from mandelcl.opencl.device import discover

ROOT = Path(__file__).parents[2]


def able() -> list[str]:
    """Return the SPECs of devices that may take part, at most two."""
    return [device.spec for device in discover() if "oclgrind" not in device.platform.lower()][:2]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def await_port(port: int, seconds: float = 300) -> None:
    for _ in range(int(seconds / 0.1)):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise AssertionError(f"nobody listens at {port}")


@contextlib.contextmanager
def process(*command: str, environment: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a process of Python's, in a session of its own; it is killed at the end."""
    made = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", *command],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        | (environment or {}),
    )
    try:
        yield made
    finally:
        made.kill()
        made.wait()


@contextlib.contextmanager
def scheduler(port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Yield the process of a scheduler that listens at a port."""
    options = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--dashboard-address", "127.0.0.1:0")
    with process("distributed.cli.dask_scheduler", *options) as made:
        await_port(port)
        yield made


@contextlib.contextmanager
def acquired(port: int, *devices: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield `mandelcl cluster-worker` for devices; it ends as Ctrl-C would end it."""
    options = [word for device in devices for word in ("--device", device)]
    with process("mandelcl", "cluster-worker", f"tcp://127.0.0.1:{port}", *options) as made:
        yield made
        made.terminate()
        made.wait(600)


@contextlib.contextmanager
def dask_worker(port: int, device: str, name: str, *preloads: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield Dask's own worker with our preload, as on a cluster of somebody else's."""
    options = ("--name", name, "--nthreads", "4", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
    loads = [word for preload in ("mandelcl.rendering.crew.dask.preload", *preloads) for word in ("--preload", preload)]
    with process(
        "distributed.cli.dask_worker",
        f"tcp://127.0.0.1:{port}",
        *options,
        *loads,
        environment={"MANDELCL_DEVICE": device},
    ) as made:
        yield made


class Cable:
    """A network between this process and a port: it may be cut, so that nothing gets through, or pulled out."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self._whole = threading.Event()
        self._whole.set()
        self._ends: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def cut(self) -> None:
        """Let nothing through, and close nothing."""
        self._whole.clear()

    def mend(self) -> None:
        """Let everything through again."""
        self._whole.set()

    def pull(self) -> None:
        """Close all connections, and take no other until it is mended."""
        self._whole.clear()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._whole.set()
        self._server.close()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads[1:]:
            thread.join(600)
        for end in self._ends:
            end.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                self._whole.wait()
                try:
                    far = socket.create_connection(("127.0.0.1", self._to), 5)
                except OSError:
                    near.close()
                    continue
                far.settimeout(None)
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    self._threads.append(threading.Thread(target=self._carry, args=(one, other), daemon=True))
                    self._threads[-1].start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                self._whole.wait()
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)


def descendants(pid: int) -> list[int]:
    """Return the processes below one, as Linux knows them."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    below: list[int] = []
    for path in children:
        with contextlib.suppress(OSError):
            below += [int(word) for word in path.read_text(encoding="ascii").split()]
    return below + [deeper for child in below for deeper in descendants(child)]


def kinds(pids: Sequence[int], word: str) -> list[int]:
    """Return those of some processes whose command line has a word."""
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            if word.encode() in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found
