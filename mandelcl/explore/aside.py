"""What would keep the event loop from its pages: done in threads, a few at a time, that nobody waits for at the end."""

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
    """Call something in a thread of its own, with which the process may end."""
    threading.Thread(target=call, name="mandelcl aside", daemon=True).start()


class Aside:
    """Calls beside an event loop, at most so many at once; others wait for their turn."""

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._room = asyncio.Semaphore(at_once)

    async def run(self, call: Callable[_P, _T], *arguments: _P.args, **options: _P.kwargs) -> _T:
        """Return what a call returns, or raise what it raises.

        Where the task that waits for it is cancelled, the call goes on, and keeps its turn until it has ended.
        """
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_T] = loop.create_future()

        def settle(done: Callable[[], object]) -> None:
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
                loop.call_soon_threadsafe(settle, done)

        begin(work)
        return await answer
