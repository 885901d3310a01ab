"""A worker process as its parent sees it: started, given blocks, listened to, and put an end to."""

import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mandelcl
from mandelcl.block import Block
from mandelcl.crew import wire
from mandelcl.crew.buffers import SharedBuffers
from mandelcl.crew.sharing import DEPTH

COMMAND = (sys.executable, "-m", "mandelcl.worker")
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Event:
    """What a worker said, `head` and `payload`; or that it has ended, where `head` is None."""

    worker: "Handle"
    head: dict[str, Any] | None
    payload: bytearray | memoryview


class Handle:
    """A worker process. What it says comes as events into a queue; `heard` is when it last said something.

    Results of blocks that are not urgent, of at most `result_bytes`, at most DEPTH of them at once, come by shared
    memory where the system has it, by the pipe elsewhere.
    """

    def __init__(
        self,
        order: dict[str, Any],
        events: "queue.Queue[Event]",
        result_bytes: int,
        command: tuple[str, ...] = COMMAND,
    ) -> None:
        self.heard = time.monotonic()
        self.ready = False
        self._events = events
        self._buffers = SharedBuffers.make(result_bytes, DEPTH)
        self._free = list(self._buffers.numbers) if self._buffers else []
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            env=_environment(),
            start_new_session=os.name != "nt",  # Ctrl-C at the terminal is not for it
            pass_fds=[self._buffers.descriptor] if self._buffers else [],
        )
        self._listener = threading.Thread(target=self._listen, name="mandelcl listener", daemon=True)
        self._listener.start()
        self._send(order | {"buffers": self._buffers.order if self._buffers else None})

    def give(self, block: Block, urgent: bool = False) -> None:
        """Send it a block to compute; an urgent one before those that it has not yet begun."""
        if not self.ready:
            raise RuntimeError("a worker gets blocks once it is ready")
        buffer = self._free.pop() if self._free and not urgent else None
        self._send({"block": [block.x, block.y, block.width, block.height], "urgent": urgent, "buffer": buffer})

    def end(self) -> None:
        """Kill it, and let go of everything that belonged to it."""
        with suppress(OSError):
            self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        if self._buffers:
            self._buffers.close()
            self._buffers = None
        self._errors.close()

    def last_words(self) -> str:
        """Return how it ended, with the last line that it or its driver printed."""
        code = self._process.poll()
        how = "it hangs" if code is None else f"killed by signal {-code}" if code < 0 else f"it ended with code {code}"
        with suppress(OSError, ValueError):
            self._errors.seek(max(0, os.fstat(self._errors.fileno()).st_size - 4096))
            lines = [line.strip() for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
            if lines:
                return f"{how}: {lines[-1][:_SHOWN]}"
        return how

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def _send(self, head: dict[str, Any]) -> None:
        with suppress(OSError):  # that it has ended is said by the listener
            wire.send(self._process.stdin, head)  # type: ignore[arg-type]  # a pipe: it was asked for

    def _listen(self) -> None:
        head: dict[str, Any] | None = None
        try:
            while (message := wire.receive(self._process.stdout)) is not None:  # type: ignore[arg-type]  # as above
                self._events.put(Event(self, message[0], self._results(*message)))
        except (OSError, ValueError, wire.WireError) as error:
            head = {"say": "failed", "why": str(error)}
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._events.put(Event(self, head, bytearray()))

    def _results(self, head: dict[str, Any], payload: bytearray) -> bytearray | memoryview:
        """Return the bytes that belong to a message, wherever they came."""
        buffer = head.get("buffer")
        if buffer is None or self._buffers is None:
            return payload
        taken = self._buffers.taken(buffer, head["size"])
        self._free.append(buffer)
        return taken


def _environment() -> dict[str, str]:
    """Return the environment of a worker: it imports the very package that its parent runs."""
    root = str(Path(mandelcl.__file__).parents[1])
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}
