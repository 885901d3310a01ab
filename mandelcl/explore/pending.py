"""The messages from the explorer's server to a worker (the role `explore`) that are still pending."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mandelcl.core.block import Block
from mandelcl.rendering.crew.messages import corners
from mandelcl.workers.channel import IDLE, LAUNCHING, Channel

Head = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Order:
    """A block that the parent orders: its view and level, and the buffer for its frames, if there is one."""

    view: int
    level: int
    block: Block
    buffer: int | None


class PendingTasks:
    """The parent's messages that this process has not handled yet."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._views: deque[Head] = deque()
        self._blocks: deque[Order] = deque()
        self._ahead: Head | None = None
        self._wanted: set[int] = set()

    def wants(self, view: int) -> bool:
        """Return whether a view has not been dropped."""
        self._read()
        return view in self._wanted

    def next(self, when_idle: Callable[[], object]) -> Head | Order:
        """Wait for the next task and return it. Views come before blocks, because they bring the first pixels.

        `when_idle` is called before the process waits.
        """
        while True:
            self._read()
            if self._views:
                return self._views.popleft()
            if self._ahead is not None:
                ahead, self._ahead = self._ahead, None
                return ahead
            if self._blocks:
                return self._blocks.popleft()
            when_idle()
            # Tell the parent at once that nothing more will start, without waiting for a heartbeat.
            self._channel.announce(IDLE)
            self._hear(self._channel.receive()[0])
            self._channel.note(LAUNCHING)

    def of(self, view: int, level: int) -> Order | None:
        """Return the next block if it belongs to this view and level and nothing else comes first."""
        self._read()
        first = self._blocks[0] if self._blocks and not self._views else None
        if first is None or (first.view, first.level) != (view, level):
            return None
        return self._blocks.popleft()

    def _read(self) -> None:
        while (message := self._channel.pending()) is not None:
            self._hear(message[0])

    def _hear(self, head: Head) -> None:
        if head["do"] == "ahead":
            self._ahead = head
            return
        view = head["view"]
        if head["do"] == "view":
            self._wanted.add(view)
            self._views.append(head)
            self._channel.send({"say": "heard", "view": view})
        elif head["do"] == "drop":
            self._wanted.discard(view)
            self._views = deque(order for order in self._views if order["view"] != view)
            dropped = [order for order in self._blocks if order.view == view]
            self._blocks = deque(order for order in self._blocks if order.view != view)
            self.give_back(dropped)
        else:
            order = Order(view, head["level"], Block(*head["block"]), head.get("buffer"))
            if view in self._wanted:
                self._blocks.append(order)
            else:
                self.give_back([order])

    def give_back(self, orders: Iterable[Order]) -> None:
        """Report that blocks will not be computed and that their buffers are free."""
        for order in orders:
            block = order.block
            head = {"say": "back", "view": order.view, "level": order.level, "block": corners(block)}
            self._channel.send(head if order.buffer is None else head | {"buffer": order.buffer, "size": 0})


class Dropped:
    """The cancel token of a view: set when the view is dropped."""

    def __init__(self, orders: PendingTasks, view: int) -> None:
        self._pending, self._view = orders, view

    def is_set(self) -> bool:
        """Return whether to stop."""
        return not self._pending.wants(self._view)


class ViewBlocks:
    """The blocks of a view at a level, one after the other (a `BlockSource`). `orders` has those in flight."""

    def __init__(self, orders: PendingTasks, first: Order) -> None:
        self._pending, self._first = orders, first
        self.under_way: dict[Block, Order] = {}
        self._next: Order | None = first

    def take(self, wait: bool = True) -> Block | None:  # noqa: ARG002 - the parent sends in advance
        """Return the next block; None if there is none, or if another view comes first."""
        order = self._next or self._pending.of(self._first.view, self._first.level)
        self._next = None
        if order is None:
            return None
        self.under_way[order.block] = order
        return order.block

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that have arrived."""
        while (block := self.take()) is not None:
            yield block
