"""The messages between a crew and its workers. Everything that a worker sends is checked.

To a worker: `start`, with its device and first job; `job`, with another job, or none to drop its blocks; and `block`.
A block may be a part of a `PixelList`: then the message has the list's block, too, and the bytes behind it are indices.
Each assignment has a number, which is repeated in every message that belongs to it. From a worker: `ready` for an
assignment, or `done` with a block.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mandelcl.base.text import printable
from mandelcl.core.block import Block, PixelList
from mandelcl.workers.wire import WireError

_MOST = 1 << 53  # of any number: larger ones could overflow sums


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker is ready for the blocks of an assignment.

    It makes `rate` iterations a second, takes blocks of at most `block_pixels`, and has built for `build_s` seconds.
    """

    assignment: int
    rate: float
    block_pixels: int
    build_s: float


@dataclass(frozen=True, slots=True)
class Done:
    """A worker has computed a block, `filled` pixels of it by filling.

    Since its last block, its launches took this many seconds, and its copies `copy_s`.
    """

    assignment: int
    block: Block
    launches: tuple[float, ...]
    copy_s: float
    filled: int


def parse(head: Mapping[str, Any]) -> Ready | Done:
    """Return a worker's message; raises WireError if it makes no sense."""
    kind = head.get("say")
    if kind == "ready":
        rate = _seconds(head, "rate")
        if not rate:
            raise WireError("a rate of 0")
        return Ready(_whole(head, "assignment"), rate, max(1, _whole(head, "block_pixels")), _seconds(head, "build_s"))
    if kind == "done":
        launches = head.get("launches")
        if not isinstance(launches, list):
            raise WireError("no list of launches")
        block = _block(head)
        filled = _whole(head, "filled")
        if filled > block.pixels:
            raise WireError("more pixels filled than computed")
        times = tuple(_number(seconds, "launches") for seconds in launches)
        return Done(_whole(head, "assignment"), block, times, _seconds(head, "copy_s"), filled)
    name = printable(kind) if isinstance(kind, str) else type(kind).__name__
    raise WireError(f"a message of an unknown kind: {name}")


def block_head(block: Block, urgent: bool, pixels: PixelList | None = None) -> dict[str, Any]:
    """Return the message that gives a worker a block; an urgent one goes ahead of those that it has not begun.

    With `pixels` it is a part of that list, whose `indices_of` go with the message.
    """
    head = {"do": "block", "block": corners(block), "urgent": urgent}
    return head if pixels is None else {**head, "listed": corners(pixels.block)}


def indices_of(block: Block, pixels: PixelList | None) -> bytes:
    """Return what goes with the message that gives a worker a block: its indices in a list, if it is a part of one."""
    return b"" if pixels is None else pixels.part(block).astype("<u4", copy=False).tobytes()


def listed_in(head: Mapping[str, Any], indices: bytes | bytearray | memoryview) -> PixelList | None:
    """Return the listed pixels in a message to a worker; None for a rectangle."""
    if head.get("listed") is None:
        return None
    return PixelList(Block(*head["listed"]), np.frombuffer(indices, "<u4").astype(np.uint32, copy=False))


def corners(block: Block) -> list[int]:
    """Return a block as messages have it."""
    return [block.x, block.y, block.width, block.height]


def _block(head: Mapping[str, Any]) -> Block:
    values = head.get("block")
    if not isinstance(values, list) or len(values) != 4:
        raise WireError("no block")
    return Block(*(_int(value, "block") for value in values))


def _whole(head: Mapping[str, Any], name: str) -> int:
    return _int(head.get(name), name)


def _int(value: object, name: str) -> int:
    if type(value) is not int or not 0 <= value < _MOST:
        raise WireError(f"no number {name}")
    return value


def _seconds(head: Mapping[str, Any], name: str) -> float:
    return _number(head.get(name), name)


def _number(value: object, name: str) -> float:
    if not isinstance(value, int | float) or not 0 <= value < _MOST:
        raise WireError(f"no number {name}")
    return float(value)
