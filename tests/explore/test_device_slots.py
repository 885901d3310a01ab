"""What a device's process has been told, and has not heard yet."""

import asyncio
import queue
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mandelcl.base.view import View
from mandelcl.colour.colour import Colouring, find_palette
from mandelcl.core.job import Job
from mandelcl.explore import device_list, device_slots, workspace
from mandelcl.explore.device_list import DeviceList
from mandelcl.explore.device_slots import POLICY, DeviceSlot
from mandelcl.explore.tasks import ViewTask
from mandelcl.explore.workspace import Start, Workspace
from mandelcl.workers.process import Activity, WorkerMessage
from tests.explore.test_leaving import run


class _Worker:
    """A process that takes what it is told and does nothing."""

    def __init__(self, _role: str, messages: "queue.Queue[WorkerMessage]", *_sizes: int) -> None:
        self.messages = messages
        self.reported: list[Mapping[str, Any]] = []
        self.activity, self.heard, self.pid = Activity(), time.monotonic(), 1

    def hear(self, reply: str, **facts: Any) -> None:
        """Say something to the parent."""
        self.messages.put(WorkerMessage(self, {"say": reply, **facts}, bytearray()))  # type: ignore[arg-type]

    def time_since(self, moment: float) -> float:
        """Return how long ago that was."""
        return time.monotonic() - moment

    def send(self, head: Mapping[str, Any]) -> None:
        """Take an order."""
        self.reported.append(head)

    ended_well = False

    def kill(self) -> None:
        """End at once."""

    def end(self) -> None:
        """End."""

    def last_words(self) -> str:
        """Return how it ended."""
        return "it fell over"


class _PendingBlocks:
    """The way to a process, at once."""

    def __init__(self, worker: _Worker) -> None:
        self._worker = worker

    def put(self, head: Mapping[str, Any], with_buffer: bool = False) -> None:  # noqa: ARG002
        """Send an order."""
        self._worker.reported.append(head)

    def close(self) -> None:
        """Send nothing more."""


class _Task:
    """A view that says of itself which it is."""

    def __init__(self, number: int) -> None:
        self.number = number

    def order(self) -> Mapping[str, Any]:
        """Return what a worker is told."""
        return {"of": self.number}

    def next(self, _slot: DeviceSlot) -> None:
        """Return that there is nothing to compute."""


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_slots, "WorkerProcess", _Worker)
    monkeypatch.setattr(device_list, "WorkerProcess", _Worker)
    monkeypatch.setattr(device_slots, "Sender", _PendingBlocks)


@pytest.mark.usefixtures("no_process")
def test_unresponsive_process_gets_a_bounded_number_of_views() -> None:
    async def main() -> None:
        slot = DeviceSlot((), Job(View.centred(0, 0, 1, 8, 8)), lambda *_: None, POLICY)
        tasks = [_Task(number) for number in range(1000)]
        before: _Task | None = None
        for task in tasks:
            if before is not None:
                slot.end_task(_as_task(before))
            slot.begin(_as_task(task))
            before = task
        worker: Any = slot.worker
        views = [head["of"] for head in worker.reported if head["do"] == "view"]
        drops = [head for head in worker.reported if head["do"] == "drop"]
        assert views == list(range(32))
        assert len(drops) == 32
        for head in [head for head in worker.reported if head["do"] == "view"]:
            worker.hear("heard", view=head["view"])
        await asyncio.sleep(0.01)
        assert [head["of"] for head in worker.reported if head["do"] == "view"] == [*range(32), 999]
        slot.close()

    run(main())


def _as_task(task: _Task) -> ViewTask:
    return task  # type: ignore[return-value]


@pytest.mark.usefixtures("no_process")
def test_idle_device_process_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(workspace, "_WATCH_S", 0.001)
    monkeypatch.setattr(workspace, "_IDLE_S", 0.0)

    async def main() -> None:
        job = Job(View.centred(0, 0, 1, 8, 8))
        own = Workspace(Start(job, Colouring(find_palette("classic")), folder=tmp_path))
        own.open()
        other, task = own._slot("0:0", job), _Task(1)
        other.begin(_as_task(task))
        await asyncio.sleep(0.05)
        assert _runs(other)
        other.end_task(_as_task(task))
        while _runs(other):
            await asyncio.sleep(0.001)
        assert _runs(own._slots[""])
        other.begin(_as_task(task))  # and takes one again
        assert _runs(other)
        await own.close()

    run(main())


_FACTS = {"platform": "none", "type": "cpu"}
_LISTED = [
    {"spec": "0:0", "name": "Pear", "label": "0:0 Pear", **_FACTS},
    {"spec": "1:0", "name": "Apple", "label": "1:0 Apple", **_FACTS},
]


@pytest.mark.usefixtures("no_process")
@pytest.mark.parametrize(
    ("specs", "found"),
    [
        (["pear"], ["0:0"]),
        (["1:0", "CPU", "apple"], ["0:0", "1:0"]),
        (["gpu"], "no device matches 'gpu'; there is 0:0 Pear, 1:0 Apple"),
        (["0:0", " "], "no device matches ' '; there is 0:0 Pear, 1:0 Apple"),
    ],
)
def test_device_names_are_resolved_from_one_list(specs: list[str], found: object) -> None:
    async def main() -> list[object]:
        answers: list[object] = []
        listing = DeviceList(lambda: None)
        for _ in range(2):  # of whom the second has changed its mind
            listing.name("who", specs, answers.append, answers.append)
        listing.name("gone", specs, answers.append, answers.append)
        listing.forget("gone")
        worker: Any = listing._worker
        assert [order["test"] for order in worker.reported] == [False]
        worker.hear("listed", devices=_LISTED)
        await asyncio.sleep(0.01)
        assert len(answers) == 1
        listing.name("who", specs, answers.append, answers.append)
        assert len(answers) == 2
        assert answers[0] == answers[1]
        return answers

    assert run(main())[0] == found


@pytest.mark.usefixtures("no_process")
def test_failed_device_listing_is_retried() -> None:
    async def main() -> None:
        answers: list[object] = []
        listing = DeviceList(lambda: None)
        for ending in ({"say": "failed", "why": "no driver"}, None):
            listing.name("who", ["cpu"], answers.append, answers.append)
            worker: Any = listing._worker
            worker.messages.put(WorkerMessage(worker, ending, bytearray()))
            await asyncio.sleep(0.01)
        why = "the devices cannot be listed"
        assert answers == [f"{why}: no driver", f"{why}: it fell over"]

    run(main())


def _runs(slot: DeviceSlot) -> bool:
    return slot.pid is not None
