"""A queue from a worker's listener thread to the thread of an event loop."""

import asyncio
import queue
from collections.abc import Callable
from contextlib import suppress

from mandelcl.workers.process import WorkerMessage


class LoopQueue(queue.Queue[WorkerMessage]):
    """Takes the messages of a worker and passes each to a function in the thread of an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hear: Callable[[WorkerMessage], None]) -> None:
        super().__init__()
        self._loop, self._hear = loop, hear

    def put(self, item: WorkerMessage, block: bool = True, timeout: float | None = None) -> None:  # noqa: ARG002
        """Pass a message on, from any thread."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._hear, item)
