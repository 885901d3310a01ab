"""The worker's end of the pipes: the parent's messages, the answers, and the heartbeat.

Two threads run beside the one that works. The inbox ends the process when the parent closes its pipe, whatever a
driver is doing at that moment, and removes tempfiles. The heartbeat reports twice a second what the process does and
for how long.
"""

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

from mandelcl.base import interrupts
from mandelcl.base.errors import MandelclError
from mandelcl.files.leftovers import end_process
from mandelcl.workers import wire
from mandelcl.workers.roles import find_role

if TYPE_CHECKING:
    from mandelcl.base.words import Words
    from mandelcl.workers.buffers import SharedBuffers
    from mandelcl.workers.timelines import RemoteRecorder

BEAT_S = 0.5
# The activities of a worker. It may be silent while it starts or builds, since a compiler may hold the interpreter.
STARTING, BUILDING, LAUNCHING, IDLE = DOING = ("starting", "building", "launching", "idle")
_LONG = (STARTING, BUILDING)
_MOST_PAYLOAD = 1 << 33  # from the parent, which is trusted

Incoming = tuple[dict[str, Any], bytearray]


class Channel:
    """The connection of a worker process to its parent, over two pipes.

    `ended` is called by a thread of its own when the parent has closed its pipe.
    """

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO, ended: Callable[[], object]) -> None:
        self._incoming, self._outgoing, self._ended = incoming, outgoing, ended
        self._messages: queue.SimpleQueue[Incoming] = queue.SimpleQueue()
        self._sending = threading.Lock()
        self._activity = STARTING, time.monotonic()
        self._counting = threading.Lock()
        self._beside, self._beside_until = 0, 0.0  # builds in other threads, and when the last one ended
        self._buffers: SharedBuffers | None = None
        self._recorder: RemoteRecorder | None = None
        self._closed = threading.Event()
        threading.Thread(target=self._listen, name="mandelcl inbox", daemon=True).start()
        self._heartbeat = threading.Thread(target=self._beat, name="mandelcl heartbeat", daemon=True)
        self._heartbeat.start()

    def receive(self) -> Incoming:
        """Wait for the parent's next message, and return it with the bytes behind it."""
        return self._messages.get()

    def pending(self) -> Incoming | None:
        """Return the parent's next message if it has arrived."""
        return None if self._messages.empty() else self._messages.get()

    def send(self, head: Mapping[str, Any], payload: Any = b"") -> None:
        """Send a message; if the parent no longer reads, end the process."""
        if self._recorder is not None:
            self._recorder.flush()
        self._send(head, payload)

    def _send(self, head: Mapping[str, Any], payload: Any = b"") -> None:
        try:
            with self._sending:
                wire.send(self._outgoing, head, payload)
        except OSError:
            self._ended()

    def question(self) -> dict[str, Any]:
        """Wait for the parent's next request (`dialogue`), and return it."""
        question: dict[str, Any] = self.receive()[0]["question"]
        return question

    def answer(self, values: Mapping[str, Any], payload: Any = b"") -> None:
        """Send the answer to a request, with any bytes behind it."""
        self.send({"say": "answer", "answer": values}, payload)

    def announce(self, doing: str) -> None:
        """Report what this process is about to do, in case it falls silent while doing it."""
        self._activity = doing, time.monotonic()
        self._send_activity()

    def note(self, doing: str) -> None:
        """Set the activity of this process, which the heartbeat reports.

        The end of starting or building is reported at once, since these activities have longer timeouts.
        """
        over = self._activity[0] in _LONG and doing not in _LONG
        self._activity = doing, time.monotonic()
        if over:
            self._send_activity()

    @contextmanager
    def building_beside(self) -> Iterator[None]:
        """While the body runs, report that this process builds in another thread. A launch may have to wait for it.

        Many drivers build one program at a time, and compile at the first launch.
        """
        with self._counting:
            self._beside += 1
        self._send_activity()
        try:
            yield
        finally:
            with self._counting:
                self._beside, self._beside_until = self._beside - 1, time.monotonic()
            self._send_activity()

    def memory(self, buffer: int, shape: tuple[int, ...]) -> "Words":
        """Return the memory of a buffer that the parent has lent for a reply."""
        assert self._buffers is not None
        return self._buffers.words(buffer, shape)

    def close(self) -> None:
        """Stop the heartbeat; the work is done."""
        self._closed.set()
        self._heartbeat.join()
        if self._recorder is not None:
            self._recorder.flush()

    def _send_activity(self) -> None:
        doing, since = self._activity
        if doing not in _LONG:
            doing, since = (BUILDING, since) if self._beside else (doing, max(since, self._beside_until))
        self.send({"say": "alive", "doing": doing, "for": time.monotonic() - since})

    def _beat(self) -> None:
        while not self._closed.wait(BEAT_S):
            self._send_activity()

    def _listen(self) -> None:
        try:
            while (message := wire.receive(self._incoming, _MOST_PAYLOAD)) is not None:
                if message[0]["do"] == "share":
                    from mandelcl.workers.buffers import SharedBuffers  # NumPy takes a while

                    self._buffers = SharedBuffers.inherited(message[0])
                elif message[0]["do"] == "trace":
                    from mandelcl.workers.timelines import RemoteRecorder  # only where it is asked for

                    self._recorder = RemoteRecorder(self._send)
                else:
                    self._messages.put(message)
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            self._ended()


def serve(role: str) -> None:
    """Be a worker process in a role until its work is done or the parent closes the pipe.

    Signals that ask to stop are left to the parent. Errors are sent to it in one line.
    """
    interrupts.ignore()
    channel = Channel(*_own_pipes(), lambda: end_process(0))
    try:
        find_role(role)(channel)  # importing it may take long: the inbox listens already
    except MandelclError as error:
        channel.send({"say": "failed", "why": str(error)})
    except Exception as error:
        channel.send({"say": "failed", "why": f"{type(error).__name__}: {error}"})
    else:
        channel.close()
        return
    os._exit(1)  # a driver that has failed may not come back from an orderly end


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return standard input and output under other file descriptors.

    What drivers print then goes to standard error, and drivers or programs that they start read nothing.
    """
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(incoming, "rb", buffering=0), os.fdopen(outgoing, "wb", buffering=0)
