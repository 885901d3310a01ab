"""A worker process that answers one question after another."""

import queue
from collections.abc import Callable, Mapping
from typing import Any, Self

from mandelcl import timeline
from mandelcl.errors import DeviceError
from mandelcl.workers.process import WorkerMessage, WorkerProcess
from mandelcl.workers.wire import printable

_TICK_S = 0.02


class Dialogue:
    """Questions to a worker process in a role, and its answers; it ends with the `with` block.

    While it waits it calls `check` from time to time, which may raise. Raises DeviceError if the process cannot be
    started.
    """

    def __init__(self, role: str, check: Callable[[], None]) -> None:
        self._check = check
        self._messages: queue.Queue[WorkerMessage] = queue.Queue()
        self._worker = WorkerProcess(role, self._messages)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._worker.end()

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a question; raises DeviceError with the reason if there is none."""
        self._worker.send({"do": "answer", "question": question})
        with timeline.span("wait for a process", "wait"):
            head = self._next()
        if head is None:
            raise DeviceError(f"the driver ended the process ({self._worker.last_words()})")
        answer, why = head.get("answer"), head.get("why")
        if head.get("say") == "answer" and isinstance(answer, dict):
            return answer
        raise DeviceError(printable(why) if isinstance(why, str) else "the process sent nonsense")

    def leave(self) -> None:
        """Return when the process has ended by itself; raises DeviceError if it ended with an error."""
        while self._next() is not None:
            pass
        if not self._worker.ended_well:
            raise DeviceError(f"the process failed ({self._worker.last_words()})")

    def _next(self) -> Mapping[str, Any] | None:
        """Return the next message, or None at the end."""
        while True:
            self._check()
            try:
                return self._messages.get(timeout=_TICK_S).head
            except queue.Empty:
                continue
