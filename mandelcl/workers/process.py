"""The parent's end of a worker process: start it, send to it, listen to it, and end it."""

import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from mandelcl.base.errors import DeviceError
from mandelcl.base.processes import ending
from mandelcl.base.text import printable
from mandelcl.core import timeline
from mandelcl.workers import timelines, wire
from mandelcl.workers.buffers import SharedBuffers
from mandelcl.workers.channel import DOING, STARTING
from mandelcl.workers.run_delay import RunDelay
from mandelcl.workers.timelines import WorkerTimeline
from mandelcl.workers.wire import WireError

# A process that is stuck in a driver may survive even SIGKILL; it is abandoned after this many seconds.
_END_S = 3.0
_NEW_GROUP: int = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


@dataclass(frozen=True, slots=True)
class Activity:
    """The activity in a worker's last heartbeat, and for how many seconds it had lasted at that time.

    Seconds for which other processes kept it from running do not count.
    """

    doing: str = STARTING
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkerMessage:
    """A message from a worker, `head` and `payload`. If `head` is None, it was the last one."""

    worker: "Worker"
    head: Mapping[str, Any] | None
    payload: bytearray | memoryview

    @property
    def loss(self) -> str | None:
        """Why the worker was lost, as a phrase: its own reason, or how it ended. None if it still runs."""
        if self.head is None:
            return self.worker.last_words()
        if self.head.get("say") != "failed":
            return None
        why = self.head.get("why")
        return printable(why) if isinstance(why, str) else "it failed without a reason"


class Worker(Protocol):
    """A worker for this process. Its messages, except heartbeats, are put into a queue as WorkerMessages.

    Times are those of time.monotonic.
    """

    @property
    def heard(self) -> float:
        """The time of its last message."""

    @property
    def activity(self) -> Activity:
        """The activity in its last message."""

    def time_since(self, moment: float) -> float:
        """Return the seconds since then, without those for which other processes kept the worker from running."""

    def send(self, head: Mapping[str, Any], payload: Any = b"", with_buffer: bool = False) -> None:
        """Send a message. With `with_buffer`, it names a free `buffer` for the reply, if there is one."""

    def reclaim(self) -> None:
        """Take all buffers back. No reply may be in flight."""

    def kill(self) -> None:
        """Have it end at once, without waiting for that."""

    def end(self) -> None:
        """End it and release everything that belonged to it; return within seconds, whatever it does."""

    def last_words(self) -> str:
        """Return how it ended, in a phrase."""


def command(role: str) -> tuple[str, ...]:
    """Return the command line of a worker in a role. It imports the package that this process runs.

    Its module search path is its own, without the current folder; what this process has beside that comes after it.
    """
    return _in_own_package(role)


def command_to_call(function: str, *texts: str) -> tuple[str, ...]:
    """Return the command line of a process that calls a function, `package.module:function`, with some texts.

    It imports what a worker does.
    """
    return _in_own_package("call", function, *texts, "--")


def _in_own_package(*words: str) -> tuple[str, ...]:
    entry = Path(__file__).absolute().parent / "__main__.py"
    return (sys.executable, "-P", str(entry), *words, *(str(Path(path).absolute()) for path in sys.path))


class WorkerProcess:
    """A worker in a process of its own.

    Replies, of at most `reply_bytes` each, come through the pipe; those for which a buffer was lent, at most `replies`
    at once, through shared memory if the system has it. What the process prints is kept for `last_words`.
    """

    def __init__(
        self,
        role: str,
        messages: "queue.Queue[WorkerMessage]",
        reply_bytes: int = 0,
        replies: int = 0,
        *,
        command_line: tuple[str, ...] = (),
    ) -> None:
        self.heard = time.monotonic()
        self._activity = Activity()
        self._messages = messages
        self._reply_bytes = reply_bytes
        self._owned = ExitStack()
        self._buffers = SharedBuffers.make(reply_bytes, replies) if replies else None
        if self._buffers:
            self._owned.callback(self._buffers.close)
        self._free = list(self._buffers.numbers) if self._buffers else []
        self._acquired: set[int] = set()
        self._lending = threading.Lock()
        try:
            self._errors = self._owned.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - as long as the process
            self._process = subprocess.Popen(
                command_line or command(role),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                bufsize=0,
                start_new_session=True,  # Ctrl-C at the terminal is not for it
                creationflags=_NEW_GROUP,  # and so on Windows
                pass_fds=self._buffers.descriptors if self._buffers else [],
            )
        except OSError as error:
            self._owned.close()
            raise DeviceError(f"cannot start a worker process: {error}") from error
        self._delay = RunDelay(self.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input: Any = self._process.stdin
        recorder = timeline.recorder()
        self._timeline = WorkerTimeline(recorder, self.pid) if recorder else None
        self._listener = threading.Thread(
            target=self._listen, args=(self._process.stdout,), name="mandelcl listener", daemon=True
        )
        self._listener.start()
        if self._buffers:
            self.send({"do": "share", **self._buffers.order})
        if self._timeline:
            self.send({"do": timelines.ORDER})

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def activity(self) -> Activity:
        """The activity in its last message."""
        latest, heard = self._activity, self.heard
        return Activity(latest.doing, max(0.0, latest.seconds - self._delay.between(heard - latest.seconds, heard)))

    def time_since(self, moment: float) -> float:
        """Return the seconds since then, without those for which other processes kept this one from running."""
        now = time.monotonic()
        return now - moment - self._delay.between(moment, now)

    @property
    def running(self) -> bool:
        """Whether its process has not ended."""
        return self._process.poll() is None

    @property
    def ended_well(self) -> bool:
        """Whether its process has ended, with code 0."""
        return self._process.poll() == 0

    def send(self, head: Mapping[str, Any], payload: Any = b"", with_buffer: bool = False) -> None:
        """Send a message. With `with_buffer`, it names a free `buffer` for the reply, if there is one."""
        if with_buffer:
            with self._lending:
                buffer = self._free.pop() if self._free else None
                if buffer is not None:
                    self._acquired.add(buffer)
            head = {**head, "buffer": buffer}
        try:
            wire.send(self._input, head, payload)
        except OSError:
            pass  # the listener reports that it has ended
        except ValueError:
            if not self._input.closed:  # by `end`, in another thread
                raise

    def reclaim(self) -> None:
        """Take all buffers back. No reply may be in flight."""
        with self._lending:
            self._free += self._acquired
            self._acquired.clear()

    def wait(self, seconds: float) -> bool:
        """Return whether its process ends within this many seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def dismiss(self) -> None:
        """Have it end by itself, at once, and remove its tempfiles. Send it nothing more, and do not wait."""
        with suppress(OSError):
            self._input.close()

    def kill(self) -> None:
        """Have it end at once, without waiting for that."""
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """Kill it and release everything that belonged to it; if it does not die within seconds, abandon it."""
        self.kill()
        died = self.wait(_END_S)
        with suppress(OSError):
            self._input.close()
        self._listener.join(_END_S if died else 0)  # otherwise it keeps waiting, to collect the process when it ends
        self._owned.close()

    def last_words(self) -> str:
        """Return how it ended, with the last line that it or its driver printed."""
        code = self._process.poll()
        words = "it hangs" if code is None else ending(code)
        with suppress(OSError, ValueError):
            self._errors.seek(max(0, os.fstat(self._errors.fileno()).st_size - 4096))
            lines = [line for line in self._errors.read().decode(errors="replace").splitlines() if line.strip()]
            if lines:
                return f"{words}: {printable(lines[-1])}"
        return words

    def _listen(self, pipe: BinaryIO) -> None:
        """Pass on its messages; a bad one ends this worker and harms nothing else."""
        head: dict[str, Any] | None = None
        try:
            with pipe:
                while (message := wire.receive(pipe, self._reply_bytes)) is not None:
                    self._hear(*message)
        except Exception as error:
            head = {"say": "failed", "why": f"sent an invalid message: {error}"}
            self.kill()
        self.wait(1)
        self._messages.put(WorkerMessage(self, head, bytearray()))
        self._process.wait()  # so that an abandoned process leaves no zombie when it ends

    def _hear(self, head: Mapping[str, Any], payload: bytearray) -> None:
        self.heard = time.monotonic()
        if head.get("say") == "alive":
            self._activity = _activity(head)
        elif head.get("say") == timelines.ORDER and self._timeline:
            self._timeline.hear(head)
        else:
            self._messages.put(WorkerMessage(self, head, self._reply(head, payload)))

    def _reply(self, head: Mapping[str, Any], payload: bytearray) -> bytearray | memoryview:
        """Return the bytes that belong to a message, from the pipe or from a buffer."""
        buffer, buffers = head.get("buffer"), self._buffers
        if buffer is None:
            return payload
        if buffers is None or type(buffer) is not int or buffer not in self._acquired:
            raise WireError("a buffer that was not lent")
        if type(head.get("size")) is not int:
            raise WireError("no size of what is in a buffer")
        reply = buffers.copy_of(buffer, head["size"])
        with self._lending:
            if buffer in self._acquired:  # not reclaimed meanwhile
                self._acquired.remove(buffer)
                self._free.append(buffer)
        return reply


def _activity(head: Mapping[str, Any]) -> Activity:
    """Return the activity in a heartbeat. Raises WireError if it is invalid."""
    doing, seconds = head.get("doing"), head.get("for")
    if doing not in DOING or not isinstance(seconds, int | float) or not 0 <= seconds < math.inf:
        raise WireError("a heartbeat that makes no sense")
    return Activity(str(doing), float(seconds))
