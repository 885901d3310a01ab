"""What a device's process has been told, and has not heard yet."""

import queue
from collections.abc import Mapping
from typing import Any

import pytest

from mandelcl.explore import seats
from mandelcl.explore.seats import Patience, Seat
from mandelcl.explore.tasks import Task
from mandelcl.job import Job
from mandelcl.view import View
from mandelcl.workers.process import WorkerMessage
from tests.explore.test_leaving import run


class _Worker:
    """A process that takes what it is told and does nothing."""

    def __init__(self, _role: str, messages: "queue.Queue[WorkerMessage]", *_sizes: int) -> None:
        self.messages = messages
        self.told: list[Mapping[str, Any]] = []

    def hear(self, say: str, **facts: Any) -> None:
        """Say something to the parent."""
        self.messages.put(WorkerMessage(self, {"say": say, **facts}, bytearray()))  # type: ignore[arg-type]

    def end(self) -> None:
        """End."""


class _Orders:
    """The way to a process, at once."""

    def __init__(self, worker: _Worker) -> None:
        self._worker = worker

    def put(self, head: Mapping[str, Any], lend: bool = False) -> None:  # noqa: ARG002
        """Send an order."""
        self._worker.told.append(head)

    def close(self) -> None:
        """Send nothing more."""


class _Task:
    """A view that says of itself which it is."""

    def __init__(self, number: int) -> None:
        self.number = number

    def order(self) -> Mapping[str, Any]:
        """Return what a worker is told."""
        return {"of": self.number}

    def next(self, _seat: Seat) -> None:
        """Return that there is nothing to compute."""


def test_a_process_that_hears_nothing_is_told_no_more_than_so_many_views(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    monkeypatch.setattr(seats, "WorkerProcess", _Worker)
    monkeypatch.setattr(seats, "Sender", _Orders)

    async def main() -> None:
        seat = Seat((), Job(View.centred(0, 0, 1, 8, 8)), lambda *_: None, Patience())
        tasks = [_Task(number) for number in range(1000)]
        before: _Task | None = None
        for task in tasks:
            if before is not None:
                seat.end_task(_as_task(before))
            seat.begin(_as_task(task))
            before = task
        worker: Any = seat._worker
        views = [head["of"] for head in worker.told if head["do"] == "view"]
        drops = [head for head in worker.told if head["do"] == "drop"]
        assert views == list(range(32))
        assert len(drops) == 32
        for head in [head for head in worker.told if head["do"] == "view"]:
            worker.hear("heard", view=head["view"])
        await asyncio.sleep(0.01)
        assert [head["of"] for head in worker.told if head["do"] == "view"] == [*range(32), 999]
        seat.close()

    run(main())


def _as_task(task: _Task) -> Task:
    return task  # type: ignore[return-value]
