"""What takes a process of its own for a while: a picture to save, a search. It can be stopped, and may die alone."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from mandelcl.base.errors import CancelledError, DeviceError, MandelclError
from mandelcl.explore import aside
from mandelcl.explore.loop_queue import LoopQueue
from mandelcl.workers.channel import Channel
from mandelcl.workers.process import WorkerMessage, WorkerProcess

_STOP_S = 1.5  # for what a task keeps of its work, once it is told to stop
_TIDY_S = 10.0  # for it to end then; it waits for a busy machine alone
_END_S = 2.0  # and where the server ends
_LOOK_S = 0.01
_SHOW_S = 0.1

Head = Mapping[str, Any]

_running: dict[WorkerProcess, asyncio.AbstractEventLoop] = {}


async def run_aside(role: str, order: Head, show: Callable[[Head], None], answer_bytes: int = 0) -> tuple[Head, bytes]:
    """Return the answer of a process in a role to an order, and the bytes behind it.

    `show` is called with what it says before. Raises MandelclError with its reason if it has no answer. Where the task
    that waits for it is cancelled, it is told to stop, and has ended, without drafts, once this returns.
    """
    heard: asyncio.Queue[WorkerMessage] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    worker = WorkerProcess(role, LoopQueue(loop, heard.put_nowait), answer_bytes)
    _running[worker] = loop
    try:
        worker.send({"do": "begin", **order})
        try:
            return await _answer(heard, show)
        except asyncio.CancelledError:
            worker.send({"do": "stop"})
            with suppress(MandelclError, TimeoutError):
                async with asyncio.timeout(_STOP_S):
                    await _answer(heard, lambda _head: None)
            worker.dismiss()
            await _ended([worker], _TIDY_S)  # so that nothing is in use any more, and it is known what is kept
            raise
    finally:
        _running.pop(worker, None)
        worker.dismiss()
        aside.begin(partial(_end, worker))


async def end_all() -> None:
    """End all tasks of this event loop; they leave no drafts."""
    workers = [worker for worker, loop in _running.items() if loop is asyncio.get_running_loop()]
    for worker in workers:
        worker.dismiss()
    await _ended(workers, _END_S)
    for worker in workers:
        worker.kill()


async def _ended(workers: Sequence[WorkerProcess], seconds: float) -> None:
    """Wait until processes have ended, for so many seconds at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while any(worker.running for worker in workers):
                await asyncio.sleep(_LOOK_S)


def _end(worker: WorkerProcess) -> None:
    """End a process that has been dismissed; it gets time to remove its drafts."""
    worker.wait(_TIDY_S)
    worker.end()


async def _answer(heard: "asyncio.Queue[WorkerMessage]", show: Callable[[Head], None]) -> tuple[Head, bytes]:
    while True:
        message = await heard.get()
        head, loss = message.head, message.loss
        if head is None:
            raise DeviceError(f"the process was lost: {loss}")
        if loss is not None:
            raise MandelclError(loss)
        if head.get("say") == "answer":
            return head["answer"], bytes(message.payload)
        show(head)


class Stopped:
    """The token of a task: set once its parent has said so."""

    def __init__(self, channel: Channel) -> None:
        self._channel, self._set = channel, False

    def is_set(self) -> bool:
        """Return whether to stop."""
        self._set = self._set or self._channel.pending() is not None
        return self._set


def serve(channel: Channel, work: Callable[[Head, Callable[[Head], None], Stopped], tuple[Head, Any]]) -> None:
    """Do one task in a worker process, and show how far it is ten times a second at most."""
    import time

    order, _ = channel.receive()
    shown = 0.0

    def show(head: Head) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= _SHOW_S:
            shown = now
            channel.send(head)

    try:
        answer, payload = work(order, show, Stopped(channel))
    except CancelledError as error:
        raise MandelclError(str(error)) from error
    channel.answer(answer, payload)
