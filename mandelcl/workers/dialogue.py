"""A worker process that answers one request after another."""

import math
import queue
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self

from mandelcl.base.errors import DeviceError
from mandelcl.core import timeline
from mandelcl.workers.process import WorkerMessage, WorkerProcess
from mandelcl.workers.supervised import RestartPolicy, SupervisedWorker

_TICK_S = 0.02
_NO_TIMEOUT = RestartPolicy(start=math.inf, launch=math.inf)


class Dialogue:
    """Requests to a worker process in a role, and its answers. The process ends with the `with` block.

    While it waits it calls `check` from time to time, which may raise. At most `answer_bytes` bytes follow an answer.
    The policy has its timeouts, by default none; it is never started again. By default its command line is that of a
    worker in the role. Raises DeviceError if the process cannot be started.
    """

    def __init__(
        self,
        role: str,
        check: Callable[[], None],
        answer_bytes: int = 0,
        command_line: tuple[str, ...] = (),
        policy: RestartPolicy = _NO_TIMEOUT,
    ) -> None:
        self._check = check
        self._messages: queue.Queue[WorkerMessage] = queue.Queue()
        self._worker = WorkerProcess(role, self._messages, answer_bytes, command_line=command_line)
        self._supervised = SupervisedWorker(lambda: self._worker, policy)
        self._supervised.start()
        self._deadline = time.monotonic(), math.inf, DeviceError("")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()

    def end(self) -> None:
        """End the process at once."""
        self._supervised.end()

    def allow(self, seconds: float, fault: DeviceError) -> None:
        """Raise `fault` if answers take longer than this many seconds from now.

        Seconds for which other processes keep the worker from running do not count.
        """
        self._deadline = time.monotonic(), seconds, fault

    def ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a request. Raises DeviceError with the reason if there is none."""
        return self.ask_for_bytes(question)[0]

    def ask_for_bytes(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytearray | memoryview]:
        """Return the answer to a request and the bytes behind it. Raises DeviceError as `ask` does."""
        self._worker.send({"do": "answer", "question": question})
        return self.hear()

    def hear(self) -> tuple[dict[str, Any], bytearray | memoryview]:
        """Return the next of several answers to a request, and the bytes behind it. Raises as `ask` does."""
        with timeline.span("wait for a process", "wait"):
            message = self._next()
        loss = message.loss
        if message.head is None:
            raise DeviceError(f"the driver ended the process ({loss})")
        answer = message.head.get("answer")
        if message.head.get("say") == "answer" and isinstance(answer, dict):
            return answer, message.payload
        raise DeviceError(loss or "the process sent an invalid message")

    def leave(self) -> None:
        """Return when the process has ended by itself; raises DeviceError if it ended with an error."""
        while self._next().head is not None:
            pass
        if not self._worker.ended_well:
            raise DeviceError(f"the process failed ({self._worker.last_words()})")

    def _next(self) -> WorkerMessage:
        begun, most, fault = self._deadline
        while True:
            self._check()
            if self._worker.time_since(begun) > most:
                raise fault
            why = self._supervised.overdue()
            if why is not None:
                raise DeviceError(f"its driver hangs: {why}")
            with suppress(queue.Empty):
                return self._messages.get(timeout=_TICK_S)
