"""Tasks in separate processes, such as saving a picture or searching. They can be stopped, and may crash alone."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from mandelcl.base.errors import CancelledError, DeviceError, MandelclError
from mandelcl.explore import aside
from mandelcl.explore.aside import LoopQueue
from mandelcl.workers.channel import Channel
from mandelcl.workers.process import WorkerMessage, WorkerProcess

_STOP_S = 1.5  # for a task to save its work, after it is told to stop
_TIDY_S = 10.0  # for it to end after that; only a busy machine needs this long
_END_S = 2.0  # the same, when the server ends
_LOOK_S = 0.01
_SHOW_S = 0.1

Head = Mapping[str, Any]

_running: dict[WorkerProcess, asyncio.AbstractEventLoop] = {}


async def run_aside(role: str, order: Head, show: Callable[[Head], None], answer_bytes: int = 0) -> tuple[Head, bytes]:
    """Send an order to a new process in a role. Return its answer, and the bytes that follow.

    `show` is called with earlier messages. Raises MandelclError with the process's reason if there is no answer. If the
    waiting task is cancelled, the process is told to stop, and has ended without tempfiles when this returns.
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
            await _ended([worker], _TIDY_S)  # so that no file is in use, and it is known what was saved
            raise
    finally:
        _running.pop(worker, None)
        worker.dismiss()
        aside.begin(partial(_end, worker))


async def end_all() -> None:
    """End all tasks of this event loop. They leave no tempfiles."""
    workers = [worker for worker, loop in _running.items() if loop is asyncio.get_running_loop()]
    for worker in workers:
        worker.dismiss()
    await _ended(workers, _END_S)
    for worker in workers:
        worker.kill()


async def _ended(workers: Sequence[WorkerProcess], seconds: float) -> None:
    """Wait until processes have ended, with a timeout in seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while any(worker.running for worker in workers):
                await asyncio.sleep(_LOOK_S)


def _end(worker: WorkerProcess) -> None:
    """End a dismissed process, after giving it time to remove its tempfiles."""
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
    """The cancel token of a task: set when its parent says so."""

    def __init__(self, channel: Channel) -> None:
        self._channel, self._set = channel, False

    def is_set(self) -> bool:
        """Return whether to stop."""
        self._set = self._set or self._channel.pending() is not None
        return self._set


def serve(channel: Channel, work: Callable[[Head, Callable[[Head], None], Stopped], tuple[Head, Any]]) -> None:
    """Do one task in a worker process, and report its progress at most ten times per second."""
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
