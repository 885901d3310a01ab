"""Pack a block's results into frames, in the parent's memory, with a suitable number of threads."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from mandelcl.base.words import Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.planes import values_of
from mandelcl.engine.smoothing import Smoothed
from mandelcl.explore import frames
from mandelcl.explore.frames import FrameAddress
from mandelcl.explore.pending import Order
from mandelcl.workers.channel import Channel

_ALONE_PIXELS = 1 << 17  # fewer pixels are packed by one thread
_MOST_THREADS = 8
_MOST_WAITING = 2  # blocks that have been computed and not sent


class Packer:
    """Packs blocks and sends them, in order, in threads of its own. The next block can be computed meanwhile."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._pool = ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1), "mandelcl packing")
        self._order = ThreadPoolExecutor(1, "mandelcl sending")
        self._sending: deque[Future[None]] = deque()

    def send(
        self,
        head: Mapping[str, Any],
        order: Order,
        address: FrameAddress,
        job: Job,
        results: Words,
        form: Smoothed | None,
        *,
        motion: bool = False,
    ) -> None:
        """Begin to send the frames of an ordered block, in its lent buffer if there is one.

        `results` are the kernels' results, or a device output made from them. In `motion` they become values. Raises
        what sending an earlier block has raised.
        """
        while self._sending and (self._sending[0].done() or len(self._sending) >= _MOST_WAITING):
            self._sending.popleft().result()
        part = job, results, form, motion and frames.has_values(job.planes)
        self._sending.append(self._order.submit(self._send, head, order, address, *part))

    def finish(self) -> None:
        """Wait until all has been sent. Raises what that has raised."""
        while self._sending:
            self._sending.popleft().result()

    def _send(
        self,
        head: Mapping[str, Any],
        order: Order,
        address: FrameAddress,
        job: Job,
        results: Words,
        form: Smoothed | None,
        motion: bool,
    ) -> None:
        lattice = job.view.lattice
        block = replace(order.block, x=order.block.x - lattice.column, y=order.block.y - lattice.row)
        size = frames.values_bytes(block) if motion else frames.packed_bytes(block, job)
        if order.buffer is None:
            packed = np.empty(size, np.uint8)
        else:
            packed = self._channel.memory(order.buffer, (-(-size // 4),)).view(np.uint8)[:size]
        self._pack(address, block, job, results, form, packed, motion)
        if order.buffer is None:
            self._channel.send(head, packed)
        else:
            self._channel.send({**head, "buffer": order.buffer, "size": size})

    def _pack(
        self,
        address: FrameAddress,
        block: Block,
        job: Job,
        results: Words,
        form: Smoothed | None,
        into: npt.NDArray[np.uint8],
        motion: bool,
    ) -> None:
        """Write a block's frames, in strips of whole tiles, sequentially or in parallel."""
        strips = list(_strips(block))
        if motion:
            into[: frames.HEADER_BYTES] = np.frombuffer(address.header(block, frames.VALUES), np.uint8)
            into = into[frames.HEADER_BYTES :]
        sizes = [4 * one.pixels if motion else frames.packed_bytes(one, job) for one in strips]
        ends = np.cumsum(sizes).tolist()

        def pack(strip: Block, start: int, end: int) -> None:
            rows = slice(strip.y - block.y, strip.y - block.y + strip.height)
            part = results[:, rows]
            values = values_of(job.planes, part, job.facts) if form is None else form.values(part)
            if motion:
                target = into[start:end].view(np.float32).reshape(strip.height, strip.width)
                frames.pack_values(values, job.iterations, target)
            else:
                frames.pack(address, strip, values, into[start:end])

        run: Callable[..., Any] = map if block.pixels < _ALONE_PIXELS else self._pool.map
        for _ in run(pack, strips, [0, *ends[:-1]], ends):
            pass


def _strips(block: Block) -> Iterator[Block]:
    """Yield the parts of a block by row of tiles."""
    y = block.y
    while y < block.y + block.height:
        bottom = min((y // frames.TILE + 1) * frames.TILE, block.y + block.height)
        yield Block(block.x, y, block.width, bottom - y)
        y = bottom
