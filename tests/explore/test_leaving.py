"""What leaves for a page: in order, without what was overtaken, and never more than has room."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from mandelcl.explore.leaving import Leaving
from tests.explore.page import PATIENCE_S

_T = TypeVar("_T")


def run(work: Coroutine[Any, Any, _T]) -> _T:
    """Run something in a loop of another thread's: a browser of other tests may have one in this."""
    with ThreadPoolExecutor(1) as own:
        return own.submit(asyncio.run, asyncio.wait_for(work, PATIENCE_S)).result()


async def _waits(work: Coroutine[Any, Any, object]) -> "asyncio.Task[object]":
    """Return a task that has come to where it waits."""
    task = asyncio.create_task(work)
    for _ in range(5):
        await asyncio.sleep(0)
    assert not task.done()
    return task


def test_stale_frames_are_dropped() -> None:
    async def main() -> None:
        leaving = Leaving()
        for generation in (1, 2):
            leaving.show(0, generation, b"x" * 1000)
            leaving.show(1, generation, b"y" * 10)
        leaving.send("text")
        leaving.overtake(0, 2)
        assert leaving.waiting == 1024
        leaving.show(0, 1, b"late")
        assert leaving.waiting == 1024
        left = [await leaving.next() for _ in range(4)]
        assert left == [b"y" * 10, b"x" * 1000, b"y" * 10, "text"]
        assert leaving.waiting == 0

    run(main())


def test_text_messages_wait_only_for_text_messages() -> None:
    async def main() -> None:
        leaving = Leaving()
        leaving.show(0, 1, bytes(1 << 24))
        await leaving.room_for_texts()
        leaving.send("x" * (1 << 23))
        waits = await _waits(leaving.room_for_texts())
        await leaving.next()
        await leaving.next()
        await waits

    run(main())


def test_dropped_frames_free_queue_space() -> None:
    async def main() -> None:
        leaving = Leaving()
        leaving.show(0, 1, bytes(1 << 24))
        waits = await _waits(leaving.room())
        leaving.overtake(0, 2)
        await waits
        leaving.send("x" * (1 << 24))
        waits = await _waits(leaving.room())
        leaving.clear()
        await waits

    run(main())
