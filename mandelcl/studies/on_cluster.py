"""A study on the workers of a cluster: each measures it on its own device, those of one host one after the other."""

import asyncio
import queue
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from dataclasses import replace
from typing import Any

from mandelcl.base.errors import InvalidInputError
from mandelcl.base.printable import printable
from mandelcl.crew.dask import tasks
from mandelcl.crew.dask.connection import Connection
from mandelcl.crew.dask.members import Member
from mandelcl.studies.bench import Bench
from mandelcl.studies.reading import parsed_row
from mandelcl.studies.row import Row
from mandelcl.studies.row_by_row import question

_TICK_S = 0.1
_END_S = 0.5  # how long the end waits until workers have heard of it; what they measure then ends by itself
_LONGEST = 40  # of a machine's name


class ClusterRun:
    """A run of a study on the workers of a cluster. `complete` says of each machine whether its rows are all there.

    The bench has no devices. Workers that come while others measure take part. `notice` is called with lines on those
    that do not, or that end early.
    """

    def __init__(self, connection: Connection, study: str, bench: Bench, notice: Callable[[str], None]) -> None:
        self.complete: dict[str, bool] = {}
        self._connection, self._bench, self._notice = connection, bench, notice
        self._question = question(study, bench)
        self._session = uuid.uuid4().hex
        self._hosts: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._parts: dict[Member, Future[None]] = {}
        self._said: queue.SimpleQueue[tuple[Row, list[str]] | str] = queue.SimpleQueue()
        self._first: dict[str, tuple[str, str]] = {}  # by the name of counts: their digest, and the machine they are of
        self._told: set[str] = set()

    def rows(self) -> Iterator[Row]:
        """Yield rows as they are measured, each with the name of its machine.

        Counts that differ from those that another machine had first are WRONG. Raises DeviceError where there is no
        worker or the cluster is lost, and CancelledError as the bench says.
        """
        self._connection.await_members(self._bench.check)
        try:
            while not self._done():
                self._bench.check()
                self._connection.check()
                self._meet()
                try:
                    said = self._said.get(timeout=_TICK_S)
                except queue.Empty:
                    continue
                if isinstance(said, str):
                    self._notice(said)
                else:
                    yield self._compared(*said)
        finally:
            under_way = [member for member, part in self._parts.items() if part.cancel()]
            ends = [self._connection.control(member, tasks.measure_no_more, self._session) for member in under_way]
            wait(ends, _END_S)

    def _done(self) -> bool:
        measured = len(self._parts) >= self._connection.awaited and all(part.done() for part in self._parts.values())
        return bool(self._parts) and measured and self._said.empty()

    def _meet(self) -> None:
        """Have those measure who have come."""
        for line in self._connection.members.refused.values():
            if line not in self._told:
                self._told.add(line)
                self._notice(f"left out: {line}")
        for member in list(self._connection.members.present.values()):
            if member not in self._parts:
                self._parts[member] = self._connection.spawn(self._measure(member))

    async def _measure(self, member: Member) -> None:
        """Put a worker's rows into the queue, once the others of its host are done."""
        async with self._hosts[_host(member.address)]:
            machine = member.device.label
            try:
                machine = self._named(await self._ask(member, self._question))
                self.complete[machine] = False
                while (said := await self._ask(member, {})) != {}:
                    row = replace(parsed_row(said.get("row")), machine=machine)
                    counts = said.get("counts")
                    self._said.put((row, [str(word) for word in counts] if isinstance(counts, list) else []))
                self.complete[machine] = True
            except Exception as error:  # whatever a worker raises is its fault, and no other's
                self._said.put(f"{machine}: {printable(str(error)) or type(error).__name__}")

    async def _ask(self, member: Member, asked: dict[str, Any]) -> dict[str, Any]:
        answer = await self._connection.ask(member, tasks.measure, self._session, asked)
        if not isinstance(answer, dict):
            raise InvalidInputError("it sent nonsense")
        return answer

    def _named(self, answer: dict[str, Any]) -> str:
        """Return the name of a worker's machine; other workers of it have a number behind that."""
        name = printable(str(answer.get("machine")))[:_LONGEST] or "unnamed"
        number = sum(known == name or known.startswith(f"{name} (") for known in self.complete) + 1
        return name if number == 1 else f"{name} ({number})"

    def _compared(self, row: Row, counts: list[str]) -> Row:
        if len(counts) != 2 or row.validation != "ok":
            return row
        digest, machine = self._first.setdefault(counts[0], (counts[1], row.machine))
        if digest == counts[1]:
            return row
        return replace(row, validation="WRONG", differing_pixels=None, checked=f"other counts than {machine}")


def _host(address: str) -> str:
    """Return the host of a worker's address, `tcp://HOST:PORT`."""
    return address.partition("://")[2].rpartition(":")[0]
