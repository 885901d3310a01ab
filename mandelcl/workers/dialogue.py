"""A worker process that answers one question after another."""

import queue
from collections.abc import Callable, Mapping
from typing import Any, Self

from mandelcl.base.errors import DeviceError
from mandelcl.base.printable import printable
from mandelcl.core import timeline
from mandelcl.workers.process import WorkerMessage, WorkerProcess

_TICK_S = 0.02


class Dialogue:
    """Questions to a worker process in a role, and its answers; it ends with the `with` block.

    While it waits it calls `check` from time to time, which may raise. At most `answer_bytes` bytes follow an answer.
    By default its command line is that of a worker in the role. Raises DeviceError if the process cannot be started.
    """

    def __init__(
        self, role: str, check: Callable[[], None], answer_bytes: int = 0, command_line: tuple[str, ...] = ()
    ) -> None:
        self._check = check
        self._messages: queue.Queue[WorkerMessage] = queue.Queue()
        self._worker = WorkerProcess(role, self._messages, answer_bytes, command_line=command_line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()

    def end(self) -> None:
        """End the process, whatever it does."""
        self._worker.end()

    @property
    def worker(self) -> WorkerProcess:
        """The process."""
        return self._worker

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a question; raises DeviceError with the reason if there is none."""
        return self.ask_for_bytes(question)[0]

    def ask_for_bytes(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytearray | memoryview]:
        """Return the answer to a question and the bytes behind it; raises DeviceError as `ask` does."""
        self._worker.send({"do": "answer", "question": question})
        return self.hear()

    def hear(self) -> tuple[dict[str, Any], bytearray | memoryview]:
        """Return the next answer to a question that has several, and the bytes behind it; raises as `ask` does."""
        with timeline.span("wait for a process", "wait"):
            message = self._next()
        if message is None:
            raise DeviceError(f"the driver ended the process ({self._worker.last_words()})")
        head, payload = message
        answer, why = head.get("answer"), head.get("why")
        if head.get("say") == "answer" and isinstance(answer, dict):
            return answer, payload
        raise DeviceError(printable(why) if isinstance(why, str) else "the process sent nonsense")

    def leave(self) -> None:
        """Return when the process has ended by itself; raises DeviceError if it ended with an error."""
        while self._next() is not None:
            pass
        if not self._worker.ended_well:
            raise DeviceError(f"the process failed ({self._worker.last_words()})")

    def _next(self) -> tuple[Mapping[str, Any], bytearray | memoryview] | None:
        """Return the next message and the bytes behind it, or None at the end."""
        while True:
            self._check()
            try:
                message = self._messages.get(timeout=_TICK_S)
            except queue.Empty:
                continue
            return None if message.head is None else (message.head, message.payload)
