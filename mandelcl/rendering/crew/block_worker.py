"""The worker process of a crew's device (the role `blocks`): a job and its blocks come in, results go out.

`crew.messages` describes the messages. Results are written to the parent's memory where it has lent some.
"""

import heapq
import itertools
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from mandelcl.base.errors import CancelledError, DeviceError, stop_if
from mandelcl.base.machine import give_way
from mandelcl.core import timeline
from mandelcl.core.block import Block, PixelList
from mandelcl.core.job import Job
from mandelcl.core.report import LaunchLog
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.computation import Computation
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.device_output import Array, OutputPlan
from mandelcl.engine.memory import DevicePool
from mandelcl.engine.variant import Variant
from mandelcl.opencl.api import opencl_errors
from mandelcl.opencl.device import Device, discover
from mandelcl.rendering.crew.messages import corners, listed_in
from mandelcl.rendering.crew.watched_device import WatchedDevice
from mandelcl.workers.channel import IDLE, LAUNCHING, Channel


class _PendingBlocks:
    """The parent's orders: assignments, and the blocks of the newest one, urgent ones first (a `BlockSource`).

    `buffer_of` returns the parent's buffer for the results of a block, if there is one, and
    `pixels_of` which pixels a block is that is a part of a list: all blocks of an assignment are, or none.
    """

    def __init__(self, channel: Channel) -> None:
        self.buffer_of: dict[Block, int] = {}
        self.pixels_of: dict[Block, PixelList] = {}
        self._channel = channel
        self._assignment: Mapping[str, Any] | None = None
        self._blocks: list[tuple[bool, int, Block]] = []
        self._arrivals = itertools.count()

    def assignment(self) -> Mapping[str, Any]:
        """Return the newest assignment that has not been begun; wait for one."""
        self._read()
        while self._assignment is None:
            self._wait()
        newest, self._assignment = self._assignment, None
        return newest

    def take(self, wait: bool = True) -> Block | None:
        """Return the next block; None if none has come yet and `wait` is not set, or if none will come."""
        self._read()
        while wait and not self._blocks and self._assignment is None:
            self._wait()
        return heapq.heappop(self._blocks)[-1] if self._blocks else None

    def lists(self) -> bool:
        """Return whether the next block is a part of a list; wait for it."""
        self._read()
        while not self._blocks and self._assignment is None:
            self._wait()
        return bool(self._blocks) and self._blocks[0][-1] in self.pixels_of

    def __iter__(self) -> Iterator[Block]:
        """Yield blocks as they come, until there is another assignment."""
        while (block := self.take()) is not None:
            yield block

    def is_set(self) -> bool:
        """Return whether there is a newer assignment, which makes the current work useless (a `Token`)."""
        self._read()
        return self._assignment is not None

    def _wait(self) -> None:
        self._channel.note(IDLE)
        with timeline.span("wait for blocks", "wait"):
            message = self._channel.receive()
        self._note(*message)
        self._channel.note(LAUNCHING)

    def _read(self) -> None:
        while (message := self._channel.pending()) is not None:
            self._note(*message)

    def _note(self, head: Mapping[str, Any], payload: Any) -> None:
        if head["do"] == "block":
            block, pixels = Block(*head["block"]), listed_in(head, payload)
            if pixels is not None:
                self.pixels_of[block] = pixels
            if head.get("buffer") is not None:
                self.buffer_of[block] = head["buffer"]
            heapq.heappush(self._blocks, (not head["urgent"], next(self._arrivals), block))
        else:
            kept = self._assignment["job"] if self._assignment is not None else None
            self._assignment = {**head, "job": head["job"] or kept}
            self._blocks.clear()
            self.buffer_of.clear()
            self.pixels_of.clear()


class _BlockWorker:
    """A device, and the computation of the newest job on it."""

    def __init__(self, channel: Channel, order: Mapping[str, Any]) -> None:
        self._channel = channel
        self._pending = _PendingBlocks(channel)
        self._device = WatchedDevice(_find(order["device"]), channel)
        timeline.name_process(f"worker {self._device.label}")
        self._variant, self._loop_limit = Variant(**order["variant"]), order["loop_limit"]
        self._settings = Settings(budget=order["budget"], shortcuts=order["shortcuts"], guarded=True)
        self._device_pool = DevicePool()
        self._work = self._computation(order["job"])

    def run(self, assignment: int) -> None:
        """Do one assignment after another until the process ends."""
        while True:
            self._be_ready(assignment)
            try:
                self._compute(assignment)
            except CancelledError:
                self._finish()
            order = self._pending.assignment()
            assignment = order["assignment"]
            if order["job"]:
                self._device.forget()
                self._work = self._computation(order["job"])

    def _computation(self, job: str) -> Computation:
        """Return a computation with its kernels built and the main one launched: some drivers compile only then."""
        choice = Choice(self._device, Job.from_json(job), self._variant, self._loop_limit)
        work = Computation(choice, self._settings, device_pool=self._device_pool)
        program = work.program
        program.kernels.prepare()
        columns, rows = program.variant.tile
        program.launch_probe(program.allocate(columns * rows, columns), columns, rows, 1).wait(self._device)
        return work

    def _be_ready(self, assignment: int) -> None:
        work = self._work
        self._device.between = LAUNCHING
        self._device.progressed()
        self._channel.send(
            {
                "say": "ready",
                "assignment": assignment,
                "rate": work.rate,
                "block_pixels": work.block_pixels,
                "build_s": work.program.kernels.build_seconds,
            }
        )

    def _compute(self, assignment: int) -> None:
        """Compute blocks as they come; raises CancelledError, after a launch, if there is a newer assignment."""
        log = LaunchLog()
        reported, copied, filled = 0, 0.0, 0
        output_plan = OutputPlan(self._host_memory, totals=False)  # the parent does not trust totals
        listed = self._pending.lists()
        rectangles = partial(self._work.run_blocks, log=log, cancel=self._pending, output_plan=output_plan)
        for block, results in self._listed(log) if listed else rectangles(self._pending):
            stop_if(self._pending)
            head = {
                "say": "done",
                "assignment": assignment,
                "block": corners(block),
                "launches": log.seconds[reported:],
                "copy_s": log.copy_seconds - copied,
                "filled": log.pixels_filled - filled,
            }
            reported, copied, filled = len(log.seconds), log.copy_seconds, log.pixels_filled
            buffer = self._pending.buffer_of.pop(block, None)
            if buffer is None:
                self._channel.send(head, np.ascontiguousarray(results, dtype="<u4").reshape(-1).view(np.uint8))
            else:
                self._channel.send(head | {"buffer": buffer, "size": results.nbytes})

    def _listed(self, log: LaunchLog) -> Iterator[tuple[Block, Array]]:
        """Yield parts of lists as they come, with their results."""
        for block in self._pending:
            results = self._work.listed(self._pending.pixels_of.pop(block), log, self._pending)[:, np.newaxis]
            memory = self._host_memory(block, results.shape, results.dtype)
            memory[...] = results
            yield block, memory

    def _finish(self) -> None:
        """Wait until nothing is running that could still write to the parent's memory."""
        with opencl_errors(self._device):
            self._device.finish()

    def _host_memory(self, block: Block, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Return memory for a block's results: the buffer that the parent has lent for them, or new memory."""
        buffer = self._pending.buffer_of.get(block)
        return np.empty(shape, dtype) if buffer is None else self._channel.memory(buffer, shape)


def serve(channel: Channel) -> None:
    """Serve until the parent closes the pipe."""
    order, _ = channel.receive()
    if order["device"]["type"] == "cpu":
        give_way(10)  # threads that feed a GPU, colour or pack come first; the driver has started none yet
    serve_order(channel, order)


def serve_order(channel: Channel, order: Mapping[str, Any]) -> None:
    """Serve as `serve` does, from the order on that names the device and the first job."""
    _BlockWorker(channel, order).run(order["assignment"])


def _find(description: Mapping[str, str]) -> Device:
    """Return the device that the parent means, by its names: its number may have changed."""
    alike = [
        device
        for device in discover()
        if (device.name, device.platform) == (description["name"], description["platform"])
    ]
    same_number = [device for device in alike if device.spec == description["spec"]]
    if not alike:
        raise DeviceError(f"{description['name']} ({description['platform']}) is no longer there")
    return (same_number or alike)[0]
