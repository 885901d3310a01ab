"""What leaves for a page, in its order."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mandelcl.explore.client import Client
from mandelcl.explore.house import House, Start
from mandelcl.job import Job
from mandelcl.shading.colour import Colouring, find_palette
from mandelcl.view import View


class _Line:
    """A page that is there until it has heard enough; each message takes its time."""

    def __init__(self) -> None:
        self.sent: list[bytes | memoryview | str] = []
        self.enough = asyncio.Event()

    async def heard(self) -> AsyncIterator[str | bytes]:
        await self.enough.wait()
        nothing: list[str] = []
        for text in nothing:
            yield text

    async def send(self, data: bytes | memoryview | str) -> None:
        for _ in range(3):
            await asyncio.sleep(0)
        self.sent.append(data)


def test_what_is_to_be_done_then_waits_for_what_leaves_before(tmp_path: Path) -> None:
    async def serve() -> list[object]:
        line, left = _Line(), list[object]()
        client = Client(
            line, House(Start(Job(View.centred(0, 0, 1, 8, 8), 9), Colouring(find_palette("classic")), folder=tmp_path))
        )

        def then() -> None:
            left.extend(line.sent)
            line.enough.set()

        client.show(0, 1, b"pixels")
        client.show(0, 1, b"more")
        client.then(then)
        client.show(0, 1, b"later")
        await asyncio.wait_for(client.serve({}), 60)
        return left

    with ThreadPoolExecutor(1) as own:  # a browser of other tests may have a loop in this thread
        assert own.submit(lambda: asyncio.run(serve())).result() == [b"pixels", b"more"]
