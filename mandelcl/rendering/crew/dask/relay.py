"""Relay messages between a Dask worker's threads and the pipe of the process beside it.

Tasks contain all that they need, so several clients may use one worker. The process takes up the job of one client
when the blocks of the other are done. Clients with other jobs are served in order.
"""

import queue
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, TypeAlias

import numpy as np

from mandelcl.base.errors import DeviceError
from mandelcl.engine.loop.sizing import SHARED_BAND_BYTES
from mandelcl.rendering.crew.sharing import DEPTH
from mandelcl.workers.channel import STARTING
from mandelcl.workers.process import Worker, WorkerMessage, WorkerProcess
from mandelcl.workers.supervised import RestartPolicy, SupervisedWorker

Order: TypeAlias = Mapping[str, Any]  # a session's number, and the message `start` without its assignment
Answer: TypeAlias = tuple[dict[str, Any], Any]  # a message, and the bytes behind it

_MOST_AUDITIONS = 256
_TICK_S = 0.02

THREADS = DEPTH + 1  # of a Dask worker: the blocks that it may have at once, and a check that goes ahead of them
ROLE = "cluster device"
_NOTHING = np.empty(0, np.uint8)
_DROPPED: Answer = ({"say": "dropped"}, _NOTHING)


class Relay:
    """The process for a device: the one for worker number `index` of those that SPECs name."""

    def __init__(self, devices: tuple[str, ...], index: int) -> None:
        self._opening = {"do": "open", "devices": list(devices), "index": index}
        self._entry = threading.Lock()  # held while a job is taken up
        self._changed = threading.Condition()
        self._slot = SupervisedWorker(self._start_process, RestartPolicy(), background=True)
        self._order: Order | None = None  # what the process is at
        self._assignment = 0
        self._blocks: dict[tuple[int, ...], Future[Answer]] = {}
        self._ready: Future[Answer] = Future()
        self._opened: Future[Answer] = Future()  # the device's description
        self._answer = self._opened
        self._probes: dict[tuple[Any, ...], dict[str, Any]] = {}

    def start(self) -> None:
        """Start the process, which opens its device; raises DeviceError if the system refuses it."""
        with self._changed:
            self._start()

    def introduce(self) -> dict[str, Any]:
        """Return the device's description once it is open and tested. Raises DeviceError if it fails."""
        with self._changed:
            if self._slot.worker is None:
                self._start()
            opened = self._opened
        return _answered(opened)

    def probe(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the device's answer to a question about a job. Raises DeviceError if it fails.

        Questions of one `key` have one answer: the number, the rounding and what of the formula is in the text of a
        kernel.
        """
        key = *question["key"], question["self_test"]
        with self._entry:
            answer = self._probes.get(key)
            if answer is None:
                try:
                    answer = self._ask(question)
                except DeviceError:  # once more: the process may have been killed
                    answer = self._ask(question)
                self._probes[key] = answer
                for old in list(self._probes)[:-_MOST_AUDITIONS]:
                    del self._probes[old]
            return answer

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        with self._changed:
            self._await_idle()
            if self._slot.worker is None or self._order is not None:  # it computes, and answers no more questions
                self._start()
            opened = self._opened
        _answered(opened)
        with self._changed:
            answer = self._answer = Future()
            if self._slot.worker is None:
                raise DeviceError("the process has gone")
            self._slot.worker.send({"do": "answer", "question": dict(question)})
        return _answered(answer)

    def prepare(self, order: Order) -> Answer:
        """Have the device drop its blocks and get ready for an order's job; return its answer."""
        with self._entry:
            ready = self._take_up(order, anew=True)
        return ready.result()

    def compute(self, order: Order, head: Mapping[str, Any], indices: bytes = b"") -> Answer:
        """Return the device's answer for a block, given in a message with bytes, and the block's results."""
        with self._entry:
            ready = self._take_up(order, anew=False).result()
            if ready[0].get("say") != "ready":
                return ready
            with self._changed:
                if self._slot.worker is None or self._order != order:
                    return _DROPPED
                found = self._blocks.setdefault((self._assignment, *head["block"]), Future())
                self._slot.worker.send(head, indices, with_buffer=not head["urgent"])
        return found.result()

    def drop(self, session: str) -> None:
        """Drop the blocks that a session has under way; return at once."""
        with self._changed:
            if self._blocks and self._order is not None and self._order["session"] == session:
                self._assign({"do": "job", "job": None})

    def restart(self) -> None:
        """End the process, whatever it is doing; the next task starts another."""
        with self._changed:
            self._end("it was ended")
            self._await_ended()

    def state(self) -> dict[str, Any]:
        """Return what the process is doing, for how many seconds it has been, and for how many it has been silent.

        Seconds for which others kept it from running are left out.
        """
        child = self._slot.worker
        if child is None:
            return {"doing": STARTING, "for": 0.0, "silent": 0.0}
        activity, silent = child.activity, max(0.0, child.time_since(child.heard))
        return {"doing": activity.doing, "for": activity.seconds + silent, "silent": silent}

    def close(self) -> None:
        """End the process for good."""
        self.restart()

    # What follows is called with `_changed` held, but for `_take_up` and what listens.

    def _start(self) -> None:
        """Start a process, once the one before has ended: a device may be for one at a time."""
        while self._slot.worker is not None or self._slot.ending:
            self._end("another takes its place")
            self._await_ended()
        self._slot.start()

    def _start_process(self) -> Worker:
        messages: queue.Queue[WorkerMessage] = queue.Queue()
        child = WorkerProcess(ROLE, messages, SHARED_BAND_BYTES, THREADS)
        self._opened = self._answer = Future()
        child.send(self._opening)
        threading.Thread(target=self._listen, args=(child, messages), name="mandelcl relay", daemon=True).start()
        return child

    def _end(self, why: str) -> None:
        """Have the process end, and answer all who wait. `_await_ended` waits for its end, which may take seconds."""
        self._slot.release()
        self._order = None
        failed: Answer = ({"say": "failed", "why": why}, _NOTHING)
        for waiting in (*self._blocks.values(), self._ready, self._opened, self._answer):
            if not waiting.done():
                waiting.set_result(failed)
        self._blocks.clear()
        self._changed.notify_all()

    def _await_ended(self) -> None:
        while self._slot.ending:
            self._changed.wait(_TICK_S)

    def _await_idle(self) -> None:
        while self._blocks:
            self._changed.wait()

    def _take_up(self, order: Order, anew: bool) -> "Future[Answer]":
        """Return a future that is set when the device is ready for an order. With `anew`, its blocks are dropped."""
        with self._changed:
            if self._order is not None and self._order["session"] != order["session"]:
                self._await_idle()
            now = self._order
            if now == order and not anew:
                return self._ready
            if now is not None and _setup(now) == _setup(order):
                head = {"do": "job", "job": None if now["job"] == order["job"] else order["job"]}
            else:
                if now is not None or self._slot.worker is None:
                    self._start()
                head = {"do": "start", "job": order["job"], **_setup(order)}
            self._order = order
            self._assign(head)
            return self._ready

    def _assign(self, head: dict[str, Any]) -> None:
        """Send an assignment; what belongs to the one before is dropped."""
        child = self._slot.worker
        assert child is not None
        for waiting in (*self._blocks.values(), self._ready):
            if not waiting.done():
                waiting.set_result(_DROPPED)
        self._blocks.clear()
        self._assignment += 1
        self._ready = Future()
        child.send({**head, "assignment": self._assignment})
        self._changed.notify_all()

    def _listen(self, child: Worker, messages: "queue.Queue[WorkerMessage]") -> None:
        while True:
            message = messages.get()
            with self._changed:
                if child is not self._slot.worker:
                    return
                loss = message.loss
                if loss is not None:
                    self._end(loss)
                    return
                self._hear(dict(message.head or {}), message.payload)

    def _hear(self, head: dict[str, Any], payload: bytearray | memoryview) -> None:
        """Hand a message to the future that waits for it. Others belong to dropped work."""
        kind = head.get("say")
        if kind == "answer" and not self._answer.done():
            self._answer.set_result((head, _NOTHING))
        elif kind == "ready" and head.get("assignment") == self._assignment and not self._ready.done():
            if self._slot.worker is not None:
                self._slot.worker.reclaim()
            self._ready.set_result((head, _NOTHING))
        elif kind == "done" and isinstance(head.get("block"), list):
            waiting = self._blocks.pop((int(head.get("assignment", 0)), *head["block"]), None)
            if waiting is not None:
                waiting.set_result((head, np.frombuffer(payload, np.uint8)))
                self._changed.notify_all()


def _setup(order: Order) -> dict[str, Any]:
    """Return the message that starts a process, which is the same for all jobs."""
    return {name: value for name, value in order.items() if name not in ("session", "job")}


def _answered(answer: "Future[Answer]") -> dict[str, Any]:
    head, _ = answer.result()
    values = head.get("answer")
    if not isinstance(values, dict):
        raise DeviceError(str(head.get("why", "the process sent an invalid message")))
    return values
