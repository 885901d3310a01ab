"""A worker of a cluster with the interface of a crew's worker: orders become tasks, results become messages."""

import asyncio
import queue
import time
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

from mandelcl.base.errors import MandelclError
from mandelcl.base.text import printable
from mandelcl.rendering.crew.dask import tasks
from mandelcl.rendering.crew.dask.connection import Connection
from mandelcl.rendering.crew.dask.members import Member
from mandelcl.workers.process import Activity, WorkerMessage
from mandelcl.workers.wire import WireError

_READY, _URGENT, _USUAL = 20, 10, 0  # of a worker's tasks, those that go first


class RemoteWorker:
    """A worker of a cluster (a `Worker`). Its messages go to a queue."""

    def __init__(self, connection: Connection, member: Member, messages: "queue.Queue[WorkerMessage]") -> None:
        self._connection, self._member, self._messages = connection, member, messages
        self._order: dict[str, Any] = {"session": connection.session}
        self._assignment = 0
        self._asking: set[Future[None]] = set()
        self._ended = False

    @property
    def heard(self) -> float:
        """The time of its last message (time.monotonic)."""
        return self._member.heard

    @property
    def activity(self) -> Activity:
        """The activity in its last message."""
        return self._member.activity

    def time_since(self, moment: float) -> float:
        """Return how many seconds ago that was: what others kept the device's process from is left out by its side."""
        return time.monotonic() - moment

    def send(self, head: Mapping[str, Any], payload: Any = b"", with_buffer: bool = False) -> None:  # noqa: ARG002
        """Send the worker a message to a worker of a crew."""
        if head["do"] == "block":
            priority = _URGENT if head["urgent"] else _USUAL
            self._ask(priority, tasks.compute, self._order, head, bytes(payload))
            return
        if head["do"] == "start":
            self._order |= {name: value for name, value in head.items() if name not in ("do", "assignment")}
        else:
            self._drop()
            self._order = {**self._order, "job": head["job"] or self._order["job"]}
        self._assignment = head["assignment"]
        self._ask(_READY, tasks.prepare, self._order)

    def is_past(self, head: Mapping[str, Any]) -> bool:
        """Return whether a message reports the failure of an assignment that the worker no longer has.

        The process of its device may have been ended to answer a question about the next job.
        """
        return head.get("say") == "failed" and head.get("assignment") != self._assignment

    def reclaim(self) -> None:
        """Do nothing: no memory is lent to another machine."""

    def kill(self) -> None:
        """Have it drop its blocks, without waiting for that."""
        self._ended = True
        self._drop()

    def end(self) -> None:
        """Have it drop its blocks. Its later messages about them are ignored."""
        self.kill()

    def restart(self) -> None:
        """Have the process of its device end, whatever that is doing."""
        self._connection.control(self._member, tasks.restart)

    def last_words(self) -> str:
        """Return how it ended."""
        return "it has left the cluster" if self._member.gone else "its connection was lost"

    def _drop(self) -> None:
        asking, self._asking = self._asking, set()
        if any(not one.done() for one in asking):
            for one in asking:
                one.cancel()
            self._connection.control(self._member, tasks.drop, self._connection.session)

    def _ask(self, priority: int, task: Any, *values: Any) -> None:
        asked = self._connection.spawn(self._answer(self._assignment, priority, task, *values))
        self._asking = {one for one in self._asking if not one.done()} | {asked}

    async def _answer(self, assignment: int, priority: int, task: Any, *values: Any) -> None:
        try:
            head, payload = await self._connection.ask(self._member, task, *values, priority=priority)
            if head["say"] == "dropped":
                return
            head = {name: value for name, value in head.items() if name != "buffer"} | {"assignment": assignment}
            data = memoryview(payload)
            if data.format != "B" or data.ndim != 1 or not data.contiguous:
                raise WireError("results that are not bytes")
        except asyncio.CancelledError:
            return
        except Exception as error:  # any error in a worker is a fault of this worker only
            if self._member.gone:
                return
            kind = "" if isinstance(error, MandelclError) else f"{type(error).__name__}: "
            why = f"{kind}{printable(str(error))}"
            head, data = {"say": "failed", "why": why, "assignment": assignment}, memoryview(b"")
        if not self._ended:
            self._messages.put(WorkerMessage(self, head, data))
