"""The explorer's devices. Each has a worker process that is started when needed and restarted after a crash.

Everything here runs in the thread of the event loop. The devices compute `ViewTask`s: views, identified by number.
"""

import asyncio
import itertools
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from mandelcl.base.errors import DeviceError
from mandelcl.base.text import printable
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.explore.aside import LoopQueue
from mandelcl.explore.frames import HEADER_BYTES
from mandelcl.explore.tasks import Piece, ResolvedTask, ViewTask
from mandelcl.workers.process import Worker, WorkerMessage, WorkerProcess
from mandelcl.workers.supervised import RestartPolicy, SupervisedWorker
from mandelcl.workers.wire import WireError

BUDGET_S = 0.03
POLICY = RestartPolicy(launch=10.0, faults=math.inf, rest=10.0)
BLOCK_BYTES = 1 << 24  # the most bytes of a block's pixels
_BUFFER_BYTES = BLOCK_BYTES + HEADER_BYTES * 1024
_DEPTH = 3  # blocks that a device has at the same time: two in flight and one being packed
_MOST_UNHEARD = 32  # views sent to a process that it has not acknowledged, for example because it is building kernels


class DeviceSlot(SupervisedWorker):
    """A device with its tasks; without a SPEC, the fastest device for each job.

    `on_event` is called with lines for the user when its process is lost or back. `spec` and `name` are those of the
    device that it used last, and `giter_per_s` is that device's recent rate.
    """

    def __init__(
        self, specs: tuple[str, ...], first: Job, on_event: Callable[[str, str, str], None], policy: RestartPolicy
    ):
        super().__init__(self._start_process, policy, background=True)
        self.specs, self.spec, self.name = specs, specs[0] if specs else "", ""
        self.giter_per_s = 0.0
        self.lost = False
        self._first, self._on_event = first, on_event
        self._outgoing: Sender | None = None
        self._numbers = itertools.count(1)
        self._tasks: dict[int, ViewTask] = {}
        self._unsent: dict[int, None] = {}  # the tasks whose views wait until earlier ones are acknowledged
        self._unheard = 0
        self._under_way: dict[tuple[int, Piece], None] = {}
        self._used = time.monotonic()

    @property
    def label(self) -> str:
        """Its device's SPEC and name, as far as known."""
        return f"{self.spec} {self.name}".strip() or "the device"

    @property
    def pid(self) -> int | None:
        """The id of its process."""
        return self.worker.pid if isinstance(self.worker, WorkerProcess) else None

    @property
    def working(self) -> bool:
        """Whether it has blocks in flight."""
        return bool(self._under_way)

    @property
    def idle_s(self) -> float:
        """The seconds for which its process has been idle; 0 without a process."""
        idle = self.worker is not None and not self._tasks and not self._under_way
        return time.monotonic() - self._used if idle else 0.0

    def _start_process(self) -> Worker:
        loop_queue = LoopQueue(asyncio.get_running_loop(), self._hear)
        worker = WorkerProcess("explore", loop_queue, _BUFFER_BYTES, _DEPTH + 1)
        self._unheard = 0
        self._unsent.clear()
        self._outgoing = Sender(worker)
        self._send({"do": "start", "specs": list(self.specs), "job": self._first.to_json(), "budget": BUDGET_S})
        return worker

    def warm(self) -> None:
        """Start its process in advance. If that fails, the first task reports it."""
        with suppress(DeviceError):
            self.start()

    def begin(self, task: ViewTask) -> None:
        """Begin a task: its job is resolved first, then blocks are computed."""
        self._used = time.monotonic()
        if self.worker is None:
            if self.given_up:
                times = self._faults_in_a_row
                task.refused(self, f"{self.label} has failed {times} times and is not used for a while")
                return
            self.succeeded()  # forget those faults
            try:
                self.start()
            except DeviceError as error:
                task.refused(self, str(error))
                return
        self._drop(task)
        number = next(self._numbers)
        self._tasks[number] = task
        self._send_view(number, task)

    def end_task(self, task: ViewTask) -> None:
        """End a task. Its work in flight ends within one launch."""
        self._drop(task)
        self._used = time.monotonic()
        self.fill()

    def look_ahead(self, job: Job) -> None:
        """Have the reference of a later job computed in advance, in another process than the device's."""
        self._send({"do": "ahead", "job": job.to_json(), "named": True})

    def fill(self) -> None:
        """Send the device as many blocks as it may have, taking its tasks in rotation."""
        while self.worker is not None and len(self._under_way) < _DEPTH:
            for number, task in list(self._tasks.items()):
                piece = task.next(self)
                if piece is not None:
                    del self._tasks[number]  # moves this task behind the others
                    self._tasks[number] = task
                    self._give(number, piece)
                    break
            else:
                return

    def watch(self) -> None:
        """Restart the process if it takes too long. Call this twice a second."""
        why = self.overdue(busy=bool(self._under_way))
        if why is not None and (self._tasks or self._under_way):
            self._lost(why)

    def close(self) -> None:
        """End the process."""
        self._tasks.clear()
        self.end()

    def _send_view(self, number: int, task: ViewTask) -> None:
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

    def _drop(self, task: ViewTask) -> None:
        for number in [number for number, one in self._tasks.items() if one is task]:
            del self._tasks[number]
            if number in self._unsent:
                del self._unsent[number]
            else:
                self._send({"do": "drop", "view": number})

    def _give(self, number: int, piece: Piece) -> None:
        if not self._under_way:
            self.given_work()
        self._under_way[number, piece] = None
        block = piece.block
        corners = [block.x, block.y, block.width, block.height]
        self._send({"do": "block", "view": number, "level": piece.level, "block": corners}, with_buffer=True)

    def _send(self, head: Mapping[str, Any], with_buffer: bool = False) -> None:
        """Send a message to the process, if there is one."""
        if self._outgoing is not None:
            self._outgoing.put(head, with_buffer)

    def _leave(self) -> Worker | None:
        if self._outgoing is not None:
            self._outgoing.close()
            self._outgoing = None
        return super()._leave()

    def _hear(self, message: WorkerMessage) -> None:
        if message.worker is not self.worker:
            return
        loss = message.loss
        if loss is not None:
            self._lost(loss)
            return
        try:
            self._note(message.head or {}, message.payload)
        except (WireError, KeyError, TypeError, ValueError) as error:
            self._lost(printable(f"sent an invalid message: {error}"))

    def _note(self, head: Mapping[str, Any], payload: bytearray | memoryview) -> None:
        kind, number = head["say"], head["view"]
        task = self._tasks.get(number)
        if kind in ("done", "back"):
            piece = Piece(head["level"], Block(*head["block"]))
            self._under_way.pop((number, piece), None)
            if task is not None and kind == "done":
                self.succeeded()
                self._measure(head["seconds"], head["iterations"])
                task.done(self, piece, memoryview(payload), head["seconds"], head["iterations"])
            elif task is not None:
                task.returned(piece)
        elif kind == "heard":
            self._view_heard()
        elif task is not None and kind == "settled":
            self._resolved(task, head)
        elif task is not None and kind == "reference":
            task.waiting(int(head["iterations"]))
        elif task is not None and kind == "refused":
            del self._tasks[number]
            task.refused(self, printable(str(head["why"])))
        self.fill()

    def _resolved(self, task: ViewTask, head: Mapping[str, Any]) -> None:
        self.spec, self.name = str(head["spec"]), str(head["name"])
        if self.lost:
            self.lost = False
            self._on_event("device-back", self.spec, f"{self.label} is back")
        facts = ResolvedTask(
            Job.from_json(head["job"]),
            self.spec,
            self.name,
            tuple(printable(str(line)) for line in head["warnings"]),
            float(head["pixels_per_s"]),
            int(head["saturation"]),
            bool(head["gpu"]),
        )
        task.resolved(self, facts)

    def _measure(self, seconds: float, iterations: int) -> None:
        if seconds > 0:
            self.giter_per_s += 0.3 * (iterations / seconds / 1e9 - self.giter_per_s)

    def _lost(self, why: str) -> None:
        """Restart the process and its work in flight, unless it was lost too often."""
        tasks, under_way = list(self._tasks.items()), list(self._under_way)
        self._under_way.clear()
        self.lost = True
        again = self.restart()
        for number, piece in under_way:
            if number in self._tasks:
                self._tasks[number].returned(piece)
        line = f"{self.label} was lost: {why}"
        self._on_event("device-lost", self.spec, line + ("; restarting it" if again else ""))
        for number, task in tasks:
            if again:
                self._send_view(number, task)
            else:
                self._tasks.pop(number, None)
                task.refused(self, line)


class Sender:
    """Sends messages to a worker, in order, until it is closed."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._outgoing: queue.SimpleQueue[tuple[Mapping[str, Any], bool] | None] = queue.SimpleQueue()
        threading.Thread(target=self._send, name="mandelcl orders", daemon=True).start()

    def put(self, head: Mapping[str, Any], with_buffer: bool = False) -> None:
        """Send a message. With `acquire`, it names a buffer for the reply, if one is free."""
        self._outgoing.put((head, with_buffer))

    def close(self) -> None:
        """Stop sending."""
        self._outgoing.put(None)

    def _send(self) -> None:
        while (order := self._outgoing.get()) is not None:
            self._worker.send(order[0], with_buffer=order[1])
