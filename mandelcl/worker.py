"""One device in a process of its own, `python -m mandelcl.worker`: blocks come in by a pipe, results go out by another.

Messages in: one `job`, then any number of `block`, some of them urgent, others with the number of the buffer in shared
memory where the results are to be left. Messages out: one `ready`, then `done` for each block, `alive` in between so
that silence means trouble, or `failed` at the end. It ignores Ctrl-C, which is for its parent, and ends when the pipe
from its parent does, whatever a driver is doing just then.
"""

import itertools
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from mandelcl.block import Block
from mandelcl.computing.computation import Computation
from mandelcl.computing.settings import Settings
from mandelcl.crew import wire
from mandelcl.crew.buffers import SharedBuffers, Words
from mandelcl.engine.choose import Choice
from mandelcl.engine.memory import fresh
from mandelcl.engine.variant import Variant
from mandelcl.errors import DeviceError, MandelclError
from mandelcl.job import Job
from mandelcl.opencl.device import Device, discover

_ALIVE_S = 0.5


class _Inbox:
    """Blocks as they come in by the pipe, urgent ones first; what `escape.run` takes them from.

    `buffer_of` says which of the parent's buffers the results of a block are to go to, where there is one for it.
    """

    def __init__(self, pipe: BinaryIO) -> None:
        self.buffer_of: dict[Block, int] = {}
        self._pipe = pipe
        self._blocks: queue.PriorityQueue[tuple[bool, int, Block]] = queue.PriorityQueue()
        threading.Thread(target=self._listen, name="mandelcl inbox", daemon=True).start()

    def take(self, wait: bool = True) -> Block | None:
        """Return the next block; None where none has come yet and `wait` is not set."""
        try:
            return self._blocks.get(block=wait)[-1]
        except queue.Empty:
            return None

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks as they come; it ends with the process."""
        while True:
            yield self._blocks.get()[-1]

    def _listen(self) -> None:
        try:
            for number in itertools.count():
                message = wire.receive(self._pipe)
                if message is None:
                    return
                head, block = message[0], Block(*message[0]["block"])
                if head["buffer"] is not None:
                    self.buffer_of[block] = head["buffer"]
                self._blocks.put((not head["urgent"], number, block))
        finally:
            os._exit(0)  # the parent is gone, or done with us


class _Outbox:
    """Messages to the parent, from one thread."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._last = time.monotonic()

    def send(self, head: dict[str, Any], payload: Any = b"") -> None:
        """Send a message; where nobody reads any more, end."""
        try:
            wire.send(self._pipe, head, payload)
        except OSError:
            os._exit(0)
        self._last = time.monotonic()

    def alive(self) -> None:
        """Send a sign of life, unless something has just been sent."""
        if time.monotonic() - self._last > _ALIVE_S:
            self.send({"say": "alive"})


def main() -> None:
    """Serve until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outbox = _Outbox(_own_standard_output())
    try:
        _serve(sys.stdin.buffer, outbox)
    except MandelclError as error:
        outbox.send({"say": "failed", "why": str(error)})
    except Exception as error:
        outbox.send({"say": "failed", "why": f"{type(error).__name__}: {error}"})
    os._exit(1)  # a driver that has failed may not come back from an orderly end


def _own_standard_output() -> BinaryIO:
    """Return a pipe that nobody else knows; what drivers print goes to standard error."""
    own = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(own, "wb", buffering=0)


def _serve(pipe: BinaryIO, outbox: _Outbox) -> None:
    message = wire.receive(pipe)
    if message is None:
        return
    order = message[0]
    if order["device"]["type"] == "cpu" and hasattr(os, "nice"):
        os.nice(10)  # those who feed a GPU, colour and pack come first; it holds for threads that begin from here on
    device = _find(order["device"])
    settings = Settings(budget=order["budget"], shortcuts=order["shortcuts"], guarded=True)
    variant = Variant(**order["variant"])
    work = Computation(Choice(device, Job.from_json(order["job"]), variant, order["loop_limit"]), settings)
    work.program.prepare()
    head = {
        "say": "ready",
        "rate": work.rate,
        "block_pixels": work.block_pixels,
        "build_s": work.program.build_seconds,
    }
    outbox.send(head)
    told = 0
    copied = 0.0
    inbox, buffers = _Inbox(pipe), SharedBuffers.inherited(order["buffers"]) if order["buffers"] else None
    host = partial(_host_memory, inbox, buffers) if buffers else fresh
    for block, results in work.run_blocks(inbox, host=host):
        outbox.alive()
        launches, told = work.log.seconds[told:], len(work.log.seconds)
        head = {"say": "done", "block": _corners(block), "launches": launches, "copy_s": work.log.copy_seconds - copied}
        copied = work.log.copy_seconds
        buffer = inbox.buffer_of.pop(block, None)
        if buffer is None:
            outbox.send(head, _contiguous(results))
        else:
            outbox.send(head | {"buffer": buffer, "size": results.nbytes})


def _host_memory(inbox: _Inbox, buffers: SharedBuffers, block: Block, shape: tuple[int, ...]) -> Words:
    """Return memory for a block's results: the buffer that the parent has named for them, or some of our own."""
    buffer = inbox.buffer_of.get(block)
    return np.empty(shape, np.uint32) if buffer is None else buffers.words(buffer, shape)


def _find(wanted: dict[str, str]) -> Device:
    """Return the device that the parent means; numbers may have changed since, names have not."""
    found = [d for d in discover() if (d.name, d.platform) == (wanted["name"], wanted["platform"])]
    same_number = [device for device in found if device.spec == wanted["spec"]]
    if not found:
        raise DeviceError(f"{wanted['name']} ({wanted['platform']}) is not there any more")
    return (same_number or found)[0]


def _corners(block: Block) -> list[int]:
    return [block.x, block.y, block.width, block.height]


def _contiguous(results: npt.NDArray[np.uint32]) -> memoryview:
    return np.ascontiguousarray(results, dtype="<u4").reshape(-1).view(np.uint8).data


if __name__ == "__main__":
    main()
