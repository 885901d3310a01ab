"""The queue of outgoing messages for a page, in order. Frames that a newer view has superseded are dropped at once.

Frames of views share the memory of the views, which the workspace bounds. Other messages wait for room here.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

_MOST_TEXT_BYTES = 1 << 22
_MOST_BYTES = 1 << 23

Call: TypeAlias = Callable[[], object]
Data: TypeAlias = bytes | memoryview | str | Call


@dataclass(frozen=True, slots=True)
class _Entry:
    """A frame or a call, which belong to a pane's generation, or a text, which does not."""

    data: Data
    size: int
    pane: int | None = None
    generation: int = 0


class Leaving:
    """A queue of texts, frames and calls, for the thread of an event loop."""

    def __init__(self) -> None:
        self._entries: deque[_Entry] = deque()
        self._generations: dict[int, int] = {}
        self._bytes = self._text_bytes = 0
        self._more, self._less = asyncio.Event(), asyncio.Event()

    @property
    def waiting(self) -> int:
        """The number of waiting bytes."""
        return self._bytes

    def send(self, text: str) -> None:
        """Add a text."""
        self._text_bytes += len(text)
        self._add(_Entry(text, len(text)))

    def show(self, pane: int, generation: int, frame: bytes | memoryview) -> None:
        """Add a frame. It is dropped if the pane has a newer generation, or gets one before it is sent."""
        if generation >= self._generations.get(pane, 0):
            self._add(_Entry(frame, len(frame), pane, generation))

    def then(self, pane: int, generation: int, call: Call) -> None:
        """Add a call for the reader to make, in the way `show` adds a frame."""
        if generation >= self._generations.get(pane, 0):
            self._add(_Entry(call, 0, pane, generation))

    def overtake(self, pane: int, generation: int) -> None:
        """Drop a pane's frames and calls of all earlier generations."""
        self._generations[pane] = generation
        kept = [one for one in self._entries if one.pane != pane or one.generation >= generation]
        self._bytes -= sum(one.size for one in self._entries) - sum(one.size for one in kept)
        self._entries = deque(kept)
        self._less.set()

    def clear(self) -> None:
        """Drop everything."""
        self._entries.clear()
        self._bytes = self._text_bytes = 0
        self._less.set()

    async def next(self) -> Data:
        """Wait for the next entry and return it."""
        while not self._entries:
            self._more.clear()
            await self._more.wait()
        entry = self._entries.popleft()
        self._bytes -= entry.size
        if isinstance(entry.data, str):
            self._text_bytes -= entry.size
        self._less.set()
        return entry.data

    async def room_for_texts(self) -> None:
        """Wait until few texts are queued. Frames do not count."""
        while self._text_bytes > _MOST_TEXT_BYTES:
            self._less.clear()
            await self._less.wait()

    async def room(self) -> None:
        """Wait until the queue is short."""
        while self._bytes > _MOST_BYTES:
            self._less.clear()
            await self._less.wait()

    def _add(self, entry: _Entry) -> None:
        self._entries.append(entry)
        self._bytes += entry.size
        self._more.set()
