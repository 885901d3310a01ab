"""The explorer's devices, each in a worker process that is started when it is needed, and again when it has died.

All of it runs in the thread of the event loop. What a device is to compute are `Task`s: views, by number.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.printable import printable
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.explore import aside
from mandelcl.explore.frames import HEADER_BYTES
from mandelcl.explore.inbox import Inbox
from mandelcl.explore.sender import Sender
from mandelcl.explore.tasks import Piece, Settled, Task
from mandelcl.workers.patience import Patience
from mandelcl.workers.process import Worker, WorkerMessage, WorkerProcess
from mandelcl.workers.wire import WireError

BUDGET_S = 0.03
PATIENCE = Patience(launch=10.0)
BLOCK_BYTES = 1 << 24  # of a block's pixels, at most
_BUFFER_BYTES = BLOCK_BYTES + HEADER_BYTES * 1024
_DEPTH = 3  # blocks that a device has at once: two in flight and one being packed
_MOST_UNHEARD = 32  # views that have been sent to a process and that it has not heard: it may be building
_REST_S = 10.0  # after those, for a device that is asked for again


class Seat:
    """A device, or with no SPEC the fastest one for each job, and the tasks that it has.

    `tell` is called with lines for the user when its process is lost or back. `spec` and `name` are those of the device
    that it last used, and `giter_per_s` what that did of late.
    """

    def __init__(self, specs: tuple[str, ...], first: Job, tell: Callable[[str, str, str], None], patience: Patience):
        self.specs, self.spec, self.name = specs, specs[0] if specs else "", ""
        self.giter_per_s = 0.0
        self.lost = False
        self._first, self._tell, self._patience = first, tell, patience
        self._worker: Worker | None = None
        self._orders: Sender | None = None
        self._numbers = itertools.count(1)
        self._tasks: dict[int, Task] = {}
        self._unsent: dict[int, None] = {}  # the numbers of tasks whose view waits until earlier ones have been heard
        self._unheard = 0
        self._under_way: dict[tuple[int, Piece], None] = {}
        self._faults, self._failed_at = 0, 0.0
        self._busy_since = self._used = time.monotonic()
        self._hung = ""

    @property
    def label(self) -> str:
        """Its device's SPEC and name, as far as they are known."""
        return f"{self.spec} {self.name}".strip() or "the device"

    @property
    def pid(self) -> int | None:
        """The number of its process."""
        return self._worker.pid if isinstance(self._worker, WorkerProcess) else None

    @property
    def working(self) -> bool:
        """Whether it has blocks in hand."""
        return bool(self._under_way)

    @property
    def idle_s(self) -> float:
        """For how many seconds its process has had nothing to do; 0 where there is none."""
        idle = self._worker is not None and not self._tasks and not self._under_way
        return time.monotonic() - self._used if idle else 0.0

    def start(self) -> None:
        """Start its process; raises DeviceError where the system does not allow it."""
        inbox = Inbox(asyncio.get_running_loop(), self._hear)
        self._hung = ""
        self._unheard = 0
        self._unsent.clear()
        self._worker = worker = WorkerProcess("explore", inbox, _BUFFER_BYTES, _DEPTH + 1)
        self._orders = Sender(worker)
        self._send({"do": "start", "specs": list(self.specs), "job": self._first.to_json(), "budget": BUDGET_S})

    def warm(self) -> None:
        """Start its process before there is anything to do; where that fails, the first task will say so."""
        with suppress(DeviceError):
            self.start()

    def begin(self, task: Task) -> None:
        """Have a task's job settled; blocks follow once it is."""
        self._used = time.monotonic()
        if self._worker is None:
            if self._faults >= self._patience.most_faults and time.monotonic() - self._failed_at < _REST_S:
                task.refused(self, f"{self.label} has failed {self._faults} times; it is left out for a while")
                return
            self._faults = 0
            try:
                self.start()
            except DeviceError as error:
                task.refused(self, str(error))
                return
        self._drop(task)
        number = next(self._numbers)
        self._tasks[number] = task
        self._send_view(number, task)

    def end_task(self, task: Task) -> None:
        """Have nothing more computed for a task; what runs for it ends within a launch."""
        self._drop(task)
        self._used = time.monotonic()
        self.fill()

    def fill(self) -> None:
        """Give the device blocks, by turns of its tasks, as many as it may have at once."""
        while self._worker is not None and len(self._under_way) < _DEPTH:
            for number, task in list(self._tasks.items()):
                piece = task.next(self)
                if piece is not None:
                    del self._tasks[number]  # the others come first next time
                    self._tasks[number] = task
                    self._give(number, piece)
                    break
            else:
                return

    def watch(self, heard_since: float) -> None:
        """End the process where it takes too long; to be called now and then.

        Silence before `heard_since` does not count: this process itself stood still.
        """
        worker = self._worker
        if worker is None or not (self._tasks or self._under_way):
            return
        why = self._patience.lost_with(worker, heard_since, self._busy_since if self._under_way else None)
        if why is not None:
            self._hung = why
            worker.kill()  # the end of its messages follows

    def rest(self) -> None:
        """End the process, without waiting for that, until there is something to do again."""
        if self._worker is not None:
            aside.begin(self._worker.end)
            self._leave()

    def kill(self) -> None:
        """Have the process end at once, without waiting for that."""
        if self._worker is not None:
            self._worker.kill()

    def close(self) -> None:
        """End the process."""
        self._tasks.clear()
        if self._worker is not None:
            worker = self._worker
            self._leave()
            worker.end()

    def _send_view(self, number: int, task: Task) -> None:
        if self._unheard < _MOST_UNHEARD:
            self._unheard += 1
            self._send({"do": "view", "view": number, **task.order()})
        else:
            self._unsent[number] = None

    def _view_heard(self) -> None:
        self._unheard -= 1
        if self._unsent:
            number = next(iter(self._unsent))
            del self._unsent[number]
            self._send_view(number, self._tasks[number])

    def _drop(self, task: Task) -> None:
        for number in [number for number, one in self._tasks.items() if one is task]:
            del self._tasks[number]
            if number in self._unsent:
                del self._unsent[number]
            else:
                self._send({"do": "drop", "view": number})

    def _give(self, number: int, piece: Piece) -> None:
        if not self._under_way:
            self._busy_since = time.monotonic()
        self._under_way[number, piece] = None
        block = piece.block
        corners = [block.x, block.y, block.width, block.height]
        self._send({"do": "block", "view": number, "level": piece.level, "block": corners}, lend=True)

    def _send(self, head: Mapping[str, Any], lend: bool = False) -> None:
        """Send an order to the process, if there is one."""
        if self._orders is not None:
            self._orders.put(head, lend)

    def _leave(self) -> None:
        """Have no process any more."""
        self._worker = None
        if self._orders is not None:
            self._orders.close()
            self._orders = None

    def _hear(self, message: WorkerMessage) -> None:
        if message.worker is not self._worker:
            return
        try:
            if message.head is None or message.head.get("say") == "failed":
                self._died(message)
            else:
                self._note(message.head, message.payload)
        except (WireError, KeyError, TypeError, ValueError):
            message.worker.kill()

    def _note(self, head: Mapping[str, Any], payload: bytearray | memoryview) -> None:
        say, number = head["say"], head["view"]
        task = self._tasks.get(number)
        if say in ("done", "back"):
            piece = Piece(head["level"], Block(*head["block"]))
            self._under_way.pop((number, piece), None)
            if task is not None and say == "done":
                self._faults = 0
                self._measure(head["seconds"], head["iterations"])
                task.done(self, piece, memoryview(payload), head["seconds"], head["iterations"])
            elif task is not None:
                task.returned(piece)
        elif say == "heard":
            self._view_heard()
        elif task is not None and say == "settled":
            self._settled(task, head)
        elif task is not None and say == "reference":
            task.waiting(int(head["iterations"]))
        elif task is not None and say == "refused":
            del self._tasks[number]
            task.refused(self, printable(str(head["why"])))
        self.fill()

    def _settled(self, task: Task, head: Mapping[str, Any]) -> None:
        self.spec, self.name = str(head["spec"]), str(head["name"])
        if self.lost:
            self.lost = False
            self._tell("device-back", self.spec, f"{self.label} works again")
        facts = Settled(
            Job.from_json(head["job"]),
            self.spec,
            self.name,
            tuple(printable(str(line)) for line in head["warnings"]),
            float(head["pixels_per_s"]),
            int(head["saturation"]),
            bool(head["gpu"]),
        )
        task.settled(self, facts)

    def _measure(self, seconds: float, iterations: int) -> None:
        if seconds > 0:
            self.giter_per_s += 0.3 * (iterations / seconds / 1e9 - self.giter_per_s)

    def _died(self, message: WorkerMessage) -> None:
        """Start another process for what this one had in hand, unless it has died too often."""
        worker = message.worker
        why = printable(str(message.head["why"])) if message.head else self._hung or worker.last_words()
        aside.begin(worker.end)
        self._leave()
        self._faults, self._failed_at, self.lost = self._faults + 1, time.monotonic(), True
        tasks, under_way = list(self._tasks.items()), list(self._under_way)
        self._under_way.clear()
        for number, piece in under_way:
            if number in self._tasks:
                self._tasks[number].returned(piece)
        again = self._faults < self._patience.most_faults
        line = f"{self.label} was lost: {why}"
        self._tell("device-lost", self.spec, line + ("; it is started again" if again else ""))
        try:
            if again:
                self.start()
        except DeviceError:
            again = False
        for number, task in tasks:
            if again:
                self._send_view(number, task)
            else:
                self._tasks.pop(number, None)
                task.refused(self, line)
