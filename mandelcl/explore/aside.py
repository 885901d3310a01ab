"""Between an event loop and other threads: blocking calls beside the loop, and messages of workers passed to it.

The threads are daemons, so they do not delay the end of the process.
"""

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import ParamSpec, TypeVar

from mandelcl.workers.process import WorkerMessage

_AT_ONCE = 4

_P = ParamSpec("_P")
_T = TypeVar("_T")


def begin(call: Callable[[], object]) -> None:
    """Call a function in a daemon thread."""
    threading.Thread(target=call, name="mandelcl aside", daemon=True).start()


class Aside:
    """Runs calls beside an event loop, at most `at_once` at a time. Further calls wait in a queue."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._room = asyncio.Semaphore(at_once)

    async def run(self, call: Callable[_P, _T], *arguments: _P.args, **options: _P.kwargs) -> _T:
        """Run a call in a thread; return its result or raise its exception.

        If the waiting task is cancelled, the call continues and occupies its slot until it ends.
        """
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()

        def resolve(done: Callable[[], object]) -> None:
            self._room.release()
            if not answer.done():
                done()

        def work() -> None:
            try:
                found = call(*arguments, **options)
            except BaseException as error:
                done: Callable[[], object] = partial(answer.set_exception, error)
            else:
                done = partial(answer.set_result, found)
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(resolve, done)

        begin(work)
        return await answer


class LoopQueue(queue.Queue[WorkerMessage]):
    """Takes the messages of a worker and passes each to a function in the thread of an event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, hear: Callable[[WorkerMessage], None]) -> None:
        super().__init__()
        self._loop, self._hear = loop, hear

    def put(self, item: WorkerMessage, block: bool = True, timeout: float | None = None) -> None:  # noqa: ARG002 - it has no end
        """Pass a message on, from any thread."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._hear, item)
