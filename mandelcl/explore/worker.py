"""A device of the explorer in a process of its own, the role `explore`: views and blocks come in, frames go out.

The parent sends `start` once, then a `view` for each job, a `block` for each rectangle of it, and `drop` for a view
that nobody wants any more. What runs for it ends within a launch. Blocks are counted from the view's first pixel.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mandelcl.block import Block
from mandelcl.computing.computation import Computation
from mandelcl.computing.settings import Settings
from mandelcl.crew.messages import corners
from mandelcl.crew.watched_device import WatchedDevice
from mandelcl.engine import choose, recall
from mandelcl.engine.choose import Choice
from mandelcl.engine.delivery import Delivery
from mandelcl.engine.lending import Lender
from mandelcl.engine.memory import Spare
from mandelcl.errors import CancelledError, MandelclError
from mandelcl.explore import frames
from mandelcl.explore.frames import Address
from mandelcl.job import Job
from mandelcl.lattice import Lattice
from mandelcl.methods import method_of
from mandelcl.opencl.api import opencl_errors
from mandelcl.planes import COUNTS, SMOOTH, values_of
from mandelcl.view import View
from mandelcl.words import Words
from mandelcl.workers.channel import IDLE, LAUNCHING, STARTING, Channel

_ALONE_PIXELS = 1 << 17  # fewer than that are packed by one thread
_MOST_THREADS = 8

Head = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Order:
    """A block that the parent wants: of which view and level, and the buffer for its frames, where there is one."""

    view: int
    level: int
    block: Block
    buffer: int | None


class _Orders:
    """What the parent has said and this process has not done yet."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._views: deque[Head] = deque()
        self._blocks: deque[_Order] = deque()
        self._wanted: set[int] = set()

    def wants(self, view: int) -> bool:
        """Return whether a view has not been dropped."""
        self._read()
        return view in self._wanted

    def next(self) -> Head | _Order:
        """Return what is to be done next, waiting for it: views before blocks, since they bring the first pixels."""
        while True:
            self._read()
            if self._views:
                return self._views.popleft()
            if self._blocks:
                return self._blocks.popleft()
            self._channel.announce(
                IDLE
            )  # the parent need not wait for a heartbeat to know that nothing starts any more
            self._hear(self._channel.receive()[0])
            self._channel.note(LAUNCHING)

    def of(self, view: int, level: int) -> _Order | None:
        """Return the next block if it is of this view and level, and nothing else comes first."""
        self._read()
        first = self._blocks[0] if self._blocks and not self._views else None
        if first is None or (first.view, first.level) != (view, level):
            return None
        return self._blocks.popleft()

    def _read(self) -> None:
        while (message := self._channel.pending()) is not None:
            self._hear(message[0])

    def _hear(self, head: Head) -> None:
        view = head["view"]
        if head["do"] == "view":
            self._wanted.add(view)
            self._views.append(head)
        elif head["do"] == "drop":
            self._wanted.discard(view)
            self._views = deque(order for order in self._views if order["view"] != view)
            dropped = [order for order in self._blocks if order.view == view]
            self._blocks = deque(order for order in self._blocks if order.view != view)
            self.give_back(dropped)
        else:
            order = _Order(view, head["level"], Block(*head["block"]), head.get("buffer"))
            if view in self._wanted:
                self._blocks.append(order)
            else:
                self.give_back([order])

    def give_back(self, orders: Iterable[_Order]) -> None:
        """Say of blocks that they will not be computed, and that their buffers are free."""
        for order in orders:
            block = order.block
            head = {"say": "back", "view": order.view, "level": order.level, "block": corners(block)}
            self._channel.send(head if order.buffer is None else head | {"buffer": order.buffer, "size": 0})


class _Dropped:
    """The token of a view: set once nobody wants it any more."""

    def __init__(self, orders: _Orders, view: int) -> None:
        self._orders, self._view = orders, view

    def is_set(self) -> bool:
        """Return whether to stop."""
        return not self._orders.wants(self._view)


class _Blocks:
    """The blocks of a view at a level, one behind the other (a `BlockSource`); `orders` has those under way."""

    def __init__(self, orders: _Orders, first: _Order) -> None:
        self._orders, self._first = orders, first
        self.under_way: dict[Block, _Order] = {}
        self._next: _Order | None = first

    def take(self, wait: bool = True) -> Block | None:  # noqa: ARG002 - the parent sends in advance
        """Return the next block; None where none has come, or another view is first."""
        order = self._next or self._orders.of(self._first.view, self._first.level)
        self._next = None
        if order is None:
            return None
        self.under_way[order.block] = order
        return order.block

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that have come."""
        while (block := self.take()) is not None:
            yield block


@dataclass(frozen=True, slots=True)
class _View:
    """A view being computed: for whom, and the work on each of its levels."""

    pane: int
    generation: int
    work: Mapping[int, Computation]


class _Explorer:
    """The devices that may serve, and what has been made on them."""

    def __init__(self, channel: Channel, order: Head) -> None:
        self._channel = channel
        self._orders = _Orders(channel)
        self._settings = Settings(budget=order["budget"])
        found, _ = recall.settled(Job.from_json(order["job"]), order["specs"], True)
        chosen, _ = choose.select(found)
        self._devices = [WatchedDevice(device, channel) for device in chosen or choose.matching(())]
        self._spare: dict[str, Spare] = {}
        self._lenders: dict[str, Lender] = {}
        self._views: dict[int, _View] = {}
        self._pool = ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1), "mandelcl packing")

    def run(self) -> None:
        """Do what the parent says, for ever."""
        while True:
            order = self._orders.next()
            view = order.view if isinstance(order, _Order) else order["view"]
            self._views = {number: kept for number, kept in self._views.items() if self._orders.wants(number)}
            try:
                if isinstance(order, _Order):
                    self._compute(order)
                else:
                    self._begin(order)
            except CancelledError:
                pass  # nobody waits for it
            except MandelclError as error:
                self._channel.send({"say": "refused", "view": view, "why": str(error)})

    def _begin(self, order: Head) -> None:
        """Settle a job and prepare its levels."""
        number = order["view"]
        cancel = _Dropped(self._orders, number)
        for device in self._devices:
            device.between = STARTING
        choice = choose.fastest(Job.from_json(order["job"]), self._devices)

        def show(iterations: int) -> None:
            self._channel.send({"say": "reference", "view": number, "iterations": iterations})

        method_of(choice.job).prepare(choice.job, show, cancel)
        lattice = choice.job.view.lattice
        views = {level: _view_of(lattice, level, block) for level, block in order["levels"]}
        work = {level: self._computation(choice, view) for level, view in views.items()}
        self._views[number] = _View(order["pane"], order["generation"], work)
        self._channel.send(
            {
                "say": "settled",
                "view": number,
                "job": choice.job.to_json(),
                "spec": choice.device.spec,
                "name": choice.device.name,
                "warnings": choice.warnings,
                "pixels_per_s": work[0].rate / method_of(choice.job).cost(choice.job),
                "saturation": work[0].program.saturation,
                "gpu": choice.device.type != "cpu",
            }
        )
        for device in self._devices:
            device.between = LAUNCHING
            device.progressed()

    def _computation(self, choice: Choice, view: View) -> Computation:
        spec, device = choice.device.spec, choice.device
        spare = self._spare.setdefault(spec, Spare())
        lender = self._lenders.setdefault(spec, Lender(device))
        return Computation(replace(choice, job=choice.job.at(view)), self._settings, spare=spare, lender=lender)

    def _compute(self, first: _Order) -> None:
        """Compute a block, and those of the same view and level that have come."""
        view = self._views[first.view]
        work = view.work[first.level]
        blocks = _Blocks(self._orders, first)
        delivery = Delivery(lambda _block, shape, dtype: work.lend(shape, dtype))
        reported, done = work.log.kernel_seconds, work.log.totals.iterations
        address = Address(view.pane, view.generation, first.level)
        cancel = _Dropped(self._orders, first.view)
        try:
            for block, results in work.run_blocks(blocks, cancel=cancel, delivery=delivery):
                order = blocks.under_way.pop(block)
                seconds, iterations = work.log.kernel_seconds, work.log.totals.iterations
                head = {"say": "done", "view": order.view, "level": order.level, "block": corners(block)}
                head |= {"seconds": seconds - reported, "iterations": iterations - done}
                reported, done = seconds, iterations
                self._send(head, order, address, work.job, results)
        except (CancelledError, MandelclError):
            with opencl_errors(work.device):
                work.device.finish()  # nothing of it is to be written any more
            self._orders.give_back(blocks.under_way.values())
            raise

    def _send(self, head: dict[str, Any], order: _Order, address: Address, job: Job, results: Words) -> None:
        lattice = job.view.lattice
        block = replace(order.block, x=order.block.x - lattice.column, y=order.block.y - lattice.row)
        size = frames.packed_bytes(block, job.smooth)
        if order.buffer is None:
            packed = np.empty(size, np.uint8)
        else:
            packed = self._channel.memory(order.buffer, (-(-size // 4),)).view(np.uint8)[:size]
        self._pack(address, block, job, results, packed)
        if order.buffer is None:
            self._channel.send(head, packed)
        else:
            self._channel.send(head | {"buffer": order.buffer, "size": size})

    def _pack(self, address: Address, block: Block, job: Job, results: Words, into: "np.ndarray[Any, Any]") -> None:
        """Write a block's frames, strips of whole tiles in as many threads as it pays."""
        strips = list(_strips(block))
        ends = np.cumsum([frames.packed_bytes(strip, job.smooth) for strip in strips]).tolist()

        def pack(strip: Block, start: int, end: int) -> None:
            rows = slice(strip.y - block.y, strip.y - block.y + strip.height)
            values = values_of(job.planes, results[:, rows], job.facts)
            frames.pack(address, strip, values[COUNTS.name], values.get(SMOOTH.name), into[start:end])

        run: Callable[..., Any] = map if block.pixels < _ALONE_PIXELS else self._pool.map
        for _ in run(pack, strips, [0, *ends[:-1]], ends):
            pass


def _view_of(lattice: Lattice, level: int, block: Sequence[int]) -> View:
    """Return a block of a level of a lattice as a view; the block is counted from the anchor."""
    x, y, width, height = block
    a, b, c, d = (entry * (1 << level) for entry in lattice.matrix)
    return View(replace(lattice, matrix=(a, b, c, d), column=-x, row=-y), width, height)


def _strips(block: Block) -> Iterator[Block]:
    """Yield the parts of a block that lie in one row of tiles each."""
    y = block.y
    while y < block.y + block.height:
        bottom = min((y // frames.TILE + 1) * frames.TILE, block.y + block.height)
        yield Block(block.x, y, block.width, bottom - y)
        y = bottom


def serve(channel: Channel) -> None:
    """Serve until the parent closes the pipe."""
    order, _ = channel.receive()
    if hasattr(os, "nice"):
        os.nice(5)  # the page and the server that wait for it come first
    _Explorer(channel, order).run()
