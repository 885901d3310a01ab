"""A widget's pages, and the thread that serves them: an event loop with a `Workspace`, kept while there are any pages.

Messages from pages arrive in the kernel's own thread, which receives none while a cell runs. The loop's thread handles
them, and sends pixels even while a cell runs.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, TypeAlias

from mandelcl.explore.answers import attend
from mandelcl.explore.client import Client
from mandelcl.explore.viewing import Viewing
from mandelcl.explore.workspace import Start, Workspace

# Sends a message and bytes over the widget's comm. Any thread may call it.
Post: TypeAlias = Callable[[Mapping[str, Any], Sequence[bytes | memoryview]], None]

_MOST_PAGES = 4
_MOST_UNDER_WAY = 1 << 25  # bytes in flight to a page, not yet acknowledged
_END_S = 10.0
_LOOK_S = 0.01


class CommLine:
    """The connection to one page (a `Line`), for the loop's thread."""

    def __init__(self, page: str, post: Post) -> None:
        self._page, self._post = page, post
        self._outgoing: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._under_way, self._gone = 0, False
        self._room = asyncio.Event()

    def hear(self, message: str | bytes) -> None:
        """Take a message from the page."""
        self._outgoing.put_nowait(message)

    def taken(self, size: int) -> None:
        """Note that the page has acknowledged this many more bytes."""
        self._under_way -= size
        self._room.set()

    def leave(self) -> None:
        """Note that the page is gone."""
        self._gone = True
        self._outgoing.put_nowait(None)
        self._room.set()

    async def heard(self) -> AsyncIterator[str | bytes]:
        """Yield the page's messages until it is gone."""
        while (message := await self._outgoing.get()) is not None:
            yield message

    async def send(self, data: bytes | memoryview | str) -> None:
        """Send data after the page has acknowledged most of the earlier data. Raises ConnectionError if it is gone."""
        while self._under_way > _MOST_UNDER_WAY and not self._gone:
            self._room.clear()
            await self._room.wait()
        if self._gone:
            raise ConnectionError("the page is gone")
        if isinstance(data, str):
            self._post({"page": self._page, "text": data}, [])
        else:
            self._under_way += len(data)
            self._post({"page": self._page}, [data])


class _Service:
    """A house in an event loop of its own thread."""

    def __init__(self, start: Start) -> None:
        self.loop = asyncio.new_event_loop()
        self.workspace = Workspace(start)
        self._thread = threading.Thread(target=self._run, name="mandelcl explorer", daemon=True)
        self._thread.start()
        self.call(self._open()).result()

    def call(self, work: Any) -> "Future[Any]":
        """Run a coroutine in the loop and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        """End all processes, the loop and the thread."""
        self.call(self._close()).result(_END_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(_END_S)

    def _run(self) -> None:
        try:
            self.loop.run_forever()
        finally:
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()

    async def _open(self) -> None:
        self.workspace.open()

    async def _close(self) -> None:
        await self.workspace.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _Page:
    """A page: its connection, its client, the number of messages received, and the time of the last one."""

    def __init__(self, name: str, service: _Service, post: Post) -> None:
        self.line = CommLine(name, post)
        self.client = Client(self.line, service.workspace)
        self.heard, self.last = 0, 0.0
        service.call(attend(self.client))


class Pages:
    """The pages of a widget. Without pages there is neither thread nor process. For the kernel's thread only."""

    def __init__(self, start: Start, post: Post) -> None:
        self._start, self._post = start, post
        self._pages: dict[str, _Page] = {}
        self._service: _Service | None = None

    def hear(self, content: object, buffers: Sequence[bytes | memoryview]) -> None:
        """Handle a message of a page; invalid messages are ignored."""
        if not isinstance(content, Mapping) or not isinstance(name := content.get("page"), str):
            return
        if content.get("hello"):
            self._welcome(name)
        page = self._pages.get(name)
        if page is None or self._service is None:
            if not content.get("bye"):
                self._post({"page": name, "gone": True}, [])
            return
        if content.get("bye"):
            self._dismiss(name)
            return
        page.last = time.monotonic()
        call_soon = self._service.loop.call_soon_threadsafe
        if isinstance(taken := content.get("taken"), int):
            call_soon(page.line.taken, taken)
            return
        page.heard += 1
        self._post({"page": name, "heard": page.heard}, [])
        if isinstance(text := content.get("text"), str):
            call_soon(page.line.hear, text)
        for buffer in buffers:
            call_soon(page.line.hear, bytes(buffer))

    def close(self) -> None:
        """Disconnect all pages, and end all processes."""
        for name in list(self._pages):
            self._dismiss(name)

    def at_rest(self) -> Viewing | None:
        """Return the view of the newest page once it is complete; None if no page has asked for a view yet.

        A view that has failed is returned as well, and is not complete.
        """
        if not self._pages or self._service is None:
            return None
        found: Viewing | None = self._service.call(_rested(list(self._pages.values())[-1].client)).result()
        return found

    def _welcome(self, name: str) -> None:
        self._service = self._service or _Service(self._start)
        if len(self._pages) >= _MOST_PAGES:  # drop the quietest page: its browser was probably closed
            self._dismiss(min(self._pages, key=lambda one: self._pages[one].last))
        self._pages[name] = _Page(name, self._service, self._post)

    def _dismiss(self, name: str) -> None:
        page = self._pages.pop(name)
        if self._service is not None:
            self._service.loop.call_soon_threadsafe(page.line.leave)
        if not self._pages and self._service is not None:
            service, self._service = self._service, None
            service.close()


async def _rested(client: Client) -> Viewing | None:
    """Wait until the view of a page's first pane is finished or has failed, and return it."""
    while (viewing := client.panes.get(0)) is not None and not viewing.over:
        await asyncio.sleep(_LOOK_S)
    return viewing
