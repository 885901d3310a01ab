"""A connected page: handle its messages, and send the results, those of the newest view first."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeAlias

from mandelcl.base.errors import CancelledError, MandelclError
from mandelcl.core.job import Job
from mandelcl.explore import messages
from mandelcl.explore.finding import point_of
from mandelcl.explore.leaving import Leaving
from mandelcl.explore.messages import Message, ViewWanted
from mandelcl.explore.motion import MotionViewing, Passing
from mandelcl.explore.references import PaneReferences
from mandelcl.explore.viewing import Viewing
from mandelcl.explore.workspace import Workspace

_A_SECOND = 200.0  # messages per second that a page may send, after ...
_AT_ONCE = 400.0
_MOST_REQUESTS = 16  # long-running requests of a page at the same time


class PageTransport(Protocol):
    """The connection to a page, such as a WebSocket."""

    def heard(self) -> AsyncIterator[str | bytes]:
        """Yield the page's messages until it is gone."""

    async def send(self, data: bytes | memoryview | str) -> None:
        """Wait for room, then send a text or bytes. Raises ConnectionError if the page is gone."""


class PageUpload(Protocol):
    """A file that a page is sending."""

    def piece(self, data: bytes) -> None:
        """Take the next piece. Raises InvalidInputError if it is invalid."""

    def close(self) -> None:
        """Discard the file."""


class Client:
    """A page: its panes, its requests, and its queue of outgoing messages (an `Outbox`)."""

    def __init__(self, line: PageTransport, workspace: Workspace) -> None:
        self.workspace = workspace
        self.panes: dict[int, Viewing] = {}
        self.uploads: dict[int, PageUpload] = {}
        self.requests: dict[int, asyncio.Task[None]] = {}
        self._own_numbers = itertools.count(messages.MOST_NUMBERS)
        self._line = line
        self.leaving = Leaving()
        self.painting = asyncio.Lock()  # one view at a time, because each takes memory
        self.refining = asyncio.Lock()  # the same; a process that is told to stop may take a while
        self._generations: dict[int, int] = {}
        self._references: dict[int, PaneReferences] = {}
        self._passing: dict[int, Passing] = {}
        self._allowed, self._counted = _AT_ONCE, time.monotonic()

    async def serve(self, answers: "Answers") -> None:
        """Handle the page's messages until it is gone."""
        sender = asyncio.create_task(self._send())
        try:
            async for text in self._line.heard():
                await self._wait_for_turn()
                await self.leaving.room_for_texts()
                self._hear(text, answers)
        finally:
            sender.cancel()
            for request in list(self.requests.values()):
                request.cancel()
            for upload in list(self.uploads.values()):
                upload.close()
            for pane in list(self.panes):
                self.close_pane(pane)
            self.leaving.clear()
            with suppress(asyncio.CancelledError):
                await sender

    @property
    def view_bytes(self) -> int:
        """The size in bytes of its views' pixels when they are complete."""
        return sum(viewing.wanted.memory for viewing in self.panes.values())

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message."""
        self.leaving.send(json.dumps(message))

    def show(self, pane: int, generation: int, frame: bytes | memoryview) -> None:
        """Send a frame, unless the pane has got a newer generation in the meantime."""
        self.leaving.show(pane, generation, frame)

    def then(self, pane: int, generation: int, call: Callable[[], object]) -> None:
        """Make a call after earlier messages have been sent; never if the page is gone or has a newer generation."""
        self.leaving.then(pane, generation, call)

    def view(self, message: Message) -> None:
        """Compute a view for a pane. It replaces the pane's earlier view."""
        wanted = messages.view_wanted(message)
        before = self.panes.get(wanted.pane)
        if wanted.generation < self._generations.get(wanted.pane, 0):
            return  # an older, superseded view
        self.workspace.require_room(wanted.memory - (before.wanted.memory if before is not None else 0))
        self._generations[wanted.pane] = wanted.generation
        passing = self._passing.setdefault(wanted.pane, Passing())
        passing.follow(before, motion=wanted.motion, pixels=wanted.whole.pixels)
        self.leaving.overtake(wanted.pane, passing.first(wanted.generation))
        job = self._referred(wanted)
        if wanted.motion:
            viewing: Viewing = MotionViewing(wanted, job, self, self.workspace.computing)
        else:
            still = None if isinstance(before, MotionViewing) else before
            viewing = Viewing(wanted, job, self, self.workspace.computing, still)
        self.panes[wanted.pane] = viewing
        self.workspace.slot((self, wanted.pane), wanted.devices, job, viewing.begin, viewing.fail)
        if wanted.motion:
            self._compute_ahead(wanted, job, viewing)

    def _referred(self, wanted: ViewWanted) -> Job:
        """Return a view's job with its reference. Panes share references that suit them."""
        own = self._references.setdefault(wanted.pane, PaneReferences())
        others = [pane for number, pane in self._references.items() if number != wanted.pane]
        return own.refer(wanted.job, others, motion=wanted.motion)

    def _compute_ahead(self, wanted: ViewWanted, job: Job, viewing: Viewing) -> None:
        """Have the reference computed that a zoom towards the pointer needs next."""
        ahead = self._references[wanted.pane].next_job(job, point_of(job, *wanted.near))
        if ahead is not None:
            viewing.look_ahead(ahead)

    def close_pane(self, pane: int) -> None:
        """Remove a pane."""
        viewing = self.panes.pop(pane, None)
        self._references.pop(pane, None)
        if viewing is not None:
            self._passing.pop(pane).follow(viewing, motion=False)
            self.workspace.leave((self, pane))
            self.leaving.overtake(pane, self._generations[pane] + 1)

    def resolved_job(self, pane: int) -> Job:
        """Return the job of a pane's view. Raises InvalidInputError if it is not resolved."""
        viewing = self.panes.get(pane)
        if viewing is None or not viewing.key:
            raise messages.no_view(pane)
        return viewing.job

    async def job_once_resolved(self, pane: int) -> Job:
        """Wait for the job of a pane's newest view to be resolved. Raises InvalidInputError if it cannot be."""
        while (viewing := self.panes.get(pane)) is not None and not viewing.key:
            await viewing.answered()
            if self.panes.get(pane) is viewing:
                break
        return self.resolved_job(pane)

    def begin_request(self, number: int | None, work: Callable[[], Awaitable[None]]) -> None:
        """Start a long-running request, which ends by itself or by `stop`.

        The page chooses the number. With None, the request gets a number that no page uses. Raises InvalidInputError if
        there are too many requests.
        """
        number = next(self._own_numbers) if number is None else number
        if number in self.requests or len(self.requests) >= _MOST_REQUESTS:
            raise messages.too_much()

        started = False

        async def run() -> None:
            nonlocal started
            started = True
            try:
                await work()
            except (MandelclError, CancelledError) as error:
                self.send({"say": "problem", "id": number, "line": str(error)})

        def ended(_task: asyncio.Task[None]) -> None:
            self.requests.pop(number, None)
            if not started:  # it was stopped at once, and could not say so itself
                self.send({"say": "stopped", "id": number, "resumable": False})

        self.requests[number] = asyncio.create_task(run())
        self.requests[number].add_done_callback(ended)

    def _hear(self, text: str | bytes, answers: "Answers") -> None:
        about: dict[str, Any] = {}
        try:
            if isinstance(text, bytes):
                number, data = messages.piece(text)
                about["id"] = number
                if number not in self.uploads:
                    raise messages.nothing_open()
                self.uploads[number].piece(data)
                return
            message = messages.read(text)
            about = {name: message[name] for name in ("id", "pane", "generation") if type(message.get(name)) is int}
            answer = answers.get(messages.text(message, "do"))
            if answer is None:
                raise messages.unknown(message)
            answer(self, message)
        except MandelclError as error:
            self.send({"say": "problem", "line": str(error), **about})

    async def _wait_for_turn(self) -> None:
        """Pause reading if a page sends too many messages."""
        now = time.monotonic()
        self._allowed = min(_AT_ONCE, self._allowed + (now - self._counted) * _A_SECOND) - 1
        self._counted = now
        if self._allowed < 0:
            await asyncio.sleep(-self._allowed / _A_SECOND)

    async def _send(self) -> None:
        try:
            while True:
                data = await self.leaving.next()
                if callable(data):
                    data()
                else:
                    await self._line.send(data)
        except ConnectionError:
            self.leaving.clear()


Answers: TypeAlias = Mapping[str, Callable[[Client, Message], None]]
