"""Blocking calls beside the event loop: in a few daemon threads, which do not delay the end of the process."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import ParamSpec, TypeVar

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
