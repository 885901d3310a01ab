"""The workers of a cluster in a crew. They may join and leave while it works."""

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import cast

from mandelcl.base.errors import LONGEST_LINE
from mandelcl.base.text import printable
from mandelcl.core.job import Job
from mandelcl.core.report import KnownDevice
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop.sizing import ELSEWHERE, in_hand_pixels
from mandelcl.rendering.crew.dask.connection import Connection
from mandelcl.rendering.crew.dask.handshake import RemoteDevice
from mandelcl.rendering.crew.dask.members import Member
from mandelcl.rendering.crew.dask.placement import Placement, RemotePart
from mandelcl.rendering.crew.dask.remote_worker import RemoteWorker
from mandelcl.rendering.crew.sharing import DEPTH
from mandelcl.rendering.crew.worker_pool import WorkerPool
from mandelcl.rendering.crew.worker_slot import DevicePart, WorkerSlot
from mandelcl.workers.process import Worker, WorkerMessage
from mandelcl.workers.supervised import RestartPolicy


class ClusterPool(WorkerPool):
    """The workers of a cluster that take part, a slot each.

    One that comes later takes part once it is tested, one that leaves has its blocks taken back, and one whose results
    were wrong is excluded, and so is any later worker with its name.
    """

    def __init__(
        self,
        connection: Connection,
        parts: Sequence[RemotePart],
        settings: Settings,
        on_message: Callable[[str], None],
        policy: RestartPolicy,
    ) -> None:
        self._connection = connection
        self._placement = Placement(connection, settings.self_test)
        self._probes: dict[Member, Future[RemotePart | str]] = {}
        self._reported: set[str] = set()
        self._former: dict[str, RemoteDevice] = {}  # by the names of workers that have left
        self._job: Job = parts[0].job
        self._pixels = 1
        self._alone_since: float | None = None
        super().__init__(parts, settings, policy, on_message, self._start_remote, ELSEWHERE)

    def _start_remote(self, part: DevicePart, messages: "queue.Queue[WorkerMessage]") -> Worker:
        return RemoteWorker(self._connection, cast(RemotePart, part).member, messages)

    def block_limit(self, job: Job, band_pixels: int) -> int:
        """Return how many pixels a block may have, so that those of all workers together leave memory for others."""
        return min(band_pixels, in_hand_pixels(job, DEPTH * max(1, len(self._slots))))

    @property
    def whole(self) -> bool:
        """Whether it can serve for another job: workers that have left may come again."""
        return True

    @property
    def devices(self) -> list[KnownDevice]:
        """All devices that take part or did, each once, even if it has come again."""
        here = {self._member(slot).name for slot in self}
        return [slot.choice.device for slot in self] + [
            device for name, device in self._former.items() if name not in here
        ]

    def require(self) -> None:
        """Raise DeviceError where there has been no worker for too long."""
        if self.active:
            self._alone_since = None
            self._connection.check()
            return
        now = time.monotonic()
        self._alone_since = self._alone_since or now
        self._connection.require(self._alone_since)

    def assign_parts(self, job: Job) -> tuple[Sequence[DevicePart], list[str]]:
        """Return the parts that the workers which are there have in another job, and notes on those left out of it."""
        members = [self._member(slot) for slot in self if not slot.retired and not self._member(slot).gone]
        parts, notes = self._placement.resolved(job, members)
        for part in parts:
            if part.device.label not in self._slots:
                self._take_slot(part)
        return parts, notes

    def assign(self, job: Job) -> tuple[int, int]:
        """Have all workers drop their blocks and get ready for a job. Returns the same as `WorkerPool.assign`."""
        self._job = job
        if any(slot.able for slot in self):
            number, self._pixels = super().assign(job)
        else:  # it is not connected
            self._assignment = number = self._assignment + 1
        return number, self._pixels

    def next(self, timeout: float) -> tuple[WorkerSlot, WorkerMessage] | None:
        """Return the next message and its slot, or None if none comes in time; newcomers are asked and seated."""
        for slot in list(self):
            if not slot.retired and self._member(slot).gone:
                return slot, WorkerMessage(cast(Worker, slot.worker), None, memoryview(b""))
        self._meet()
        self.require()
        heard = super().next(timeout)
        if heard is not None and heard[1].head is not None:
            worker = heard[1].worker
            if isinstance(worker, RemoteWorker) and worker.is_past(heard[1].head):
                return None
        return heard

    def fault(self, slot: WorkerSlot, why: str, wrong: bool = False) -> None:
        """End a worker's part: for now, where it has left; for good, where its results were wrong.

        After other faults the process of its device is started again, unless that has failed too often.
        """
        member = self._member(slot)
        if member.gone:
            del self._slots[slot.name]
            if slot.good:
                self._former[member.name] = member.device
            slot.end()
            self._note(f"{slot.name}: {why}")
            return
        if wrong:
            self._connection.members.exclude(member)
            slot.end()
            self._note(f"{slot.name}: {why}; it is excluded")
            return
        if isinstance(slot.worker, RemoteWorker):
            slot.worker.restart()
        again = slot.restart()
        self._note(f"{slot.name}: {why}; {'started again' if again else 'it is retired'}")

    def close(self) -> None:
        """End all workers' parts."""
        for probe in self._probes.values():
            probe.cancel()
        super().close()

    def _member(self, slot: WorkerSlot) -> Member:
        return cast(RemotePart, slot.choice).member

    def _meet(self) -> None:
        """Ask new workers whether they can do the job, and give those that can a slot."""
        for line in self._connection.members.refused.values():
            self._report_once(f"left out: {line}")
        seated = {self._member(slot) for slot in self}
        for member in list(self._connection.members.present.values()):
            if member not in seated and member not in self._probes:
                self._probes[member] = self._connection.spawn(self._placement.later(self._job, member))
        for member, probe in [(member, one) for member, one in self._probes.items() if one.done()]:
            del self._probes[member]
            if member.gone or probe.cancelled():
                continue
            part = probe.result()
            if isinstance(part, str):
                self._report_once(f"left out: {part}")
            elif part.job == self._job:
                self._take_slot(part).start()

    def _take_slot(self, part: RemotePart) -> WorkerSlot:
        slot = self._slots[part.device.label] = self.slot(part)
        slot.assign(self._assignment, self._job, self.block_limit(self._job, self._pixels))
        return slot

    def _report_once(self, line: str) -> None:
        line = printable(line, LONGEST_LINE)
        if line not in self._reported:
            self._reported.add(line)
            self._on_message(line)
