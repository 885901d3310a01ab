"""What leaves for a page, in its order, and the memory that a page takes which reads nothing."""

import asyncio
import gc
import json
import weakref
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.explore import frames, workspace
from mandelcl.explore.answers import ANSWERS
from mandelcl.explore.client import Client
from mandelcl.explore.device_slots import POLICY, DeviceSlot
from mandelcl.explore.tasks import ResolvedTask, ViewTask
from mandelcl.explore.viewing import Viewing
from mandelcl.explore.workspace import Start, Workspace
from tests.explore.page import HOME
from tests.explore.test_leaving import run

Chat = Callable[[Client], AsyncIterator[str]]


class _Line:
    """A page that says what a chat says; what is sent takes its time, or for ever."""

    def __init__(self, chat: Chat, reads: bool = True) -> None:
        self.client: Client | None = None
        self.sent: list[bytes | memoryview | str] = []
        self._chat, self._reads, self._sending = chat, reads, False

    async def heard(self) -> AsyncIterator[str | bytes]:
        assert self.client is not None
        async for text in self._chat(self.client):
            yield text

    async def send(self, data: bytes | memoryview | str) -> None:
        if not self._reads:
            await asyncio.Event().wait()
        self._sending = True
        for _ in range(3):
            await asyncio.sleep(0)
        self.sent.append(data)
        self._sending = False

    async def rest(self) -> None:
        """Wait until all has been sent."""
        assert self.client is not None
        while self.client.leaving.waiting or self._sending:
            await asyncio.sleep(0)


class _Slot(DeviceSlot):
    """A device that computes each view at once, to zeros."""

    def __init__(self, job: Job) -> None:
        super().__init__((), job, lambda *_: None, POLICY)
        self._own: list[ViewTask] = []

    def begin(self, task: ViewTask) -> None:
        assert isinstance(task, Viewing)
        self._own.append(task)
        task.resolved(self, ResolvedTask(task.job, "0:0", "none", (), 1e9, 1, False))

    def fill(self) -> None:
        for task in list(self._own):
            assert isinstance(task, Viewing)
            while (piece := task.next(self)) is not None:
                block = piece.block
                anchored = Block(block.x + task.whole.x, block.y + task.whole.y, block.width, block.height)
                size = frames.packed_bytes(anchored, task.job)
                task.done(self, piece, memoryview(bytearray(size)), 0.01, 1)

    def end_task(self, task: ViewTask) -> None:
        self._own = [one for one in self._own if one is not task]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    return Start(Job(View.centred(0, 0, 1, 8, 8), 9), Colouring(find_palette("classic")), folder=tmp_path)


def _workspace(start: Start, patch: pytest.MonkeyPatch) -> Workspace:
    """Return a workspace whose one device needs no process."""
    device_slots: list[DeviceSlot] = [_Slot(start.job)]

    def slot(
        _self: Workspace, _who: object, _specs: object, _job: Job, take: Callable[[list[DeviceSlot]], object], _: object
    ) -> None:
        take(device_slots)

    patch.setattr(Workspace, "slot", slot)
    return Workspace(start)


def _view(generation: int, **changes: Any) -> str:
    asked = {**HOME, "lattice": {**HOME["lattice"], "re": f"0.{generation}"}, "size": [512, 256], **changes}
    return json.dumps({"do": "view", "pane": 0, "generation": generation, **asked})


async def _serve(line: _Line, own: Workspace) -> None:
    line.client = client = Client(line, own)
    own.pages.add(client)
    await asyncio.wait_for(client.serve(ANSWERS), 60)
    own.pages.discard(client)
    line.client = None


def test_callbacks_wait_for_earlier_messages(start: Start) -> None:
    left: list[object] = []

    async def chat(client: Client) -> AsyncIterator[str]:
        done = asyncio.Event()
        client.show(0, 1, b"pixels")
        client.show(0, 1, b"more")

        def then() -> None:
            left.extend(line.sent)
            done.set()

        client.then(0, 1, then)
        client.show(0, 1, b"later")
        await done.wait()
        yield json.dumps({"do": "ping", "id": 1})

    line = _Line(chat)

    async def main() -> None:
        await _serve(line, Workspace(start))

    run(main())
    assert left == [b"pixels", b"more"]


def test_unread_page_uses_memory_of_one_view(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0

    async def chat(client: Client) -> AsyncIterator[str]:
        nonlocal most
        views = []
        for generation in range(1, 50):
            yield _view(generation)
            await asyncio.sleep(0)
            assert client.panes[0].complete
            most = max(most, client.leaving.waiting)
            views.append(weakref.ref(client.panes[0]))
        assert [one() for one in views] == [*[None] * 48, client.panes[0]]

    async def main() -> None:
        await _serve(_Line(chat, reads=False), _workspace(start, monkeypatch))

    run(main())
    view = 512 * 256 * 8
    assert view < most < 1.5 * view


def test_backpressure_limits_a_page_with_many_requests(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.explore.leaving._MOST_TEXT_BYTES", 1 << 16)
    monkeypatch.setattr("mandelcl.explore.client._AT_ONCE", 1e9)
    most = 0

    async def chat(client: Client) -> AsyncIterator[str]:
        nonlocal most
        for number in range(600):
            yield json.dumps({"do": "place", "id": number, "name": "lightning", "size": [9, 9]})
            most = max(most, client.leaving.waiting)
        await line.rest()

    line = _Line(chat)

    async def main() -> None:
        await _serve(line, Workspace(start))

    run(main())
    assert sum(len(text) for text in line.sent) > 1 << 17
    assert 1 << 16 < most < 1 << 17


def test_colours_are_sent_at_the_page_rate(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mandelcl.explore.leaving._MOST_BYTES", 1 << 16)
    frame, most = 256 * 256 * 3, 0

    async def chat(client: Client) -> AsyncIterator[str]:
        nonlocal most
        yield _view(1, size=[1024, 512])
        await line.rest()
        for number in range(3):
            yield json.dumps({"do": "paint", "id": number, "pane": 0, "colouring": {"palette": "ice"}})
        while client.requests or client.leaving.waiting:
            await asyncio.sleep(0)
            most = max(most, client.leaving.waiting)

    line = _Line(chat)

    async def main() -> None:
        await _serve(line, _workspace(start, monkeypatch))

    run(main())
    painted = [data for data in line.sent if not isinstance(data, str) and data[4] == 2]
    assert sum(len(data) for data in painted) > 3 * 8 * frame
    assert frame < most < 2 * frame


def test_total_pixels_of_all_pages_are_bounded(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "MOST_VIEW_BYTES", 4 << 20)  # four of the views
    own = _workspace(start, monkeypatch)

    async def other(client: Client) -> AsyncIterator[str]:
        yield _view(1, pane=1)
        yield _view(2, pane=2)
        yield _view(3, pane=3, size=[512, 512])
        assert sorted(client.panes) == [1, 2]
        await line.rest()

    async def chat(client: Client) -> AsyncIterator[str]:
        yield _view(1)
        await _serve(line, own)
        yield _view(2, size=[1024, 512])
        yield _view(3, size=[1025, 512])
        assert client.panes[0].wanted.generation == 2

    line = _Line(other)

    async def main() -> None:
        await _serve(_Line(chat), own)

    run(main())
    (refused,) = (json.loads(data) for data in line.sent if isinstance(data, str) and "problem" in data)
    assert (refused["pane"], refused["generation"]) == (3, 3)
    assert "4 MiB" in refused["line"]


def test_page_memory_is_freed_on_disconnect(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when Python looks for cycles next, which may take minutes."""
    gone: list[weakref.ref[Any]] = []

    async def chat(client: Client) -> AsyncIterator[str]:
        for generation in range(1, 4):
            yield _view(generation)
            gone.extend((weakref.ref(client.panes[0]), weakref.ref(client.panes[0].parts[0].frame)))
        gone.append(weakref.ref(client))

    async def main() -> None:
        own = _workspace(start, monkeypatch)
        await _serve(_Line(chat, reads=False), own)

    gc.disable()
    try:
        run(main())
        assert [one() for one in gone] == [None] * 7
    finally:
        gc.enable()
