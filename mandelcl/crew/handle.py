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
from mandelcl.crew import wire
from mandelcl.schedule import Block

COMMAND = (sys.executable, "-m", "mandelcl.worker")
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Event:
    """What a worker said, `head` and `payload`; or that it has ended, where `head` is None."""

    worker: "Handle"
    head: dict[str, Any] | None
    payload: bytearray


class Handle:
    """A worker process. What it says comes as events into a queue; `heard` is when it last said something."""

    def __init__(self, order: dict[str, Any], events: "queue.Queue[Event]", command: tuple[str, ...] = COMMAND) -> None:
        self.heard = time.monotonic()
        self.ready = False
        self._events = events
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,
            env=_environment(),
            start_new_session=os.name != "nt",  # Ctrl-C at the terminal is not for it
        )
        self._listener = threading.Thread(target=self._listen, name="mandelcl listener", daemon=True)
        self._listener.start()
        self._send(order)

    def give(self, block: Block, urgent: bool = False) -> None:
        """Send it a block to compute; an urgent one before those that it has not yet begun."""
        if not self.ready:
            raise RuntimeError("a worker gets blocks once it is ready")
        self._send({"block": [block.x, block.y, block.width, block.height], "urgent": urgent})

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
                self._events.put(Event(self, *message))
        except (OSError, wire.WireError) as error:
            head = {"say": "failed", "why": str(error)}
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)
        self._events.put(Event(self, head, bytearray()))


def _environment() -> dict[str, str]:
    """Return the environment of a worker: it imports the very package that its parent runs."""
    root = str(Path(mandelcl.__file__).parents[1])
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))}
