"""Assign blocks to workers: by speed, smaller ones towards the end, and again if a worker fails or is late.

It uses neither OpenCL nor processes, so it can be tested with simulated workers.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from mandelcl.core.block import Block

# How many blocks a worker has at once: two in flight and one being returned.
DEPTH = 3
# A block is a quarter of a worker's share of what is left. A slower worker's is smaller still, within bounds, in
# proportion to its speed: if its block takes longer than expected, the picture and other devices' results wait for it.
_PART = 4
_MOST_SLOWER = 16


@dataclass(slots=True)
class _Member:
    """A worker: its speed in iterations a second, and how many pixels its blocks should have, at least and at most.

    It has `blocks` to compute, and has given results of the `unconfirmed`, which are not accepted yet.
    """

    rate: float
    least: int
    most: int
    blocks: set[Block] = field(default_factory=set)
    unconfirmed: set[Block] = field(default_factory=set)

    def has(self, block: Block) -> bool:
        """Whether it is responsible for a block."""
        return block in self.blocks or block in self.unconfirmed


class BlockDispatcher:
    """The blocks of a picture, handed out to workers.

    They are cut from `bands`, of `pixels` in all; `room(wait)` is whether there is memory for another band. A block
    is a quarter, or less for a slow worker, of a worker's share by speed of what is left, so that the last blocks end
    together. Blocks are cut for each worker: the small ones of a slow worker would not keep a fast one busy. When
    nothing is left, or there is no room for more, blocks that other workers have not finished are handed out a second
    time, and the first result counts.
    """

    def __init__(self, bands: Iterable[Block], pixels: int, room: Callable[[bool], bool]) -> None:
        self._bands = iter(bands)
        self._room = room
        self._free: list[Block] = []  # not handed out, or taken back
        self._members: dict[str, _Member] = {}
        self._left = pixels
        self._waiting: dict[Block, None] = {}  # handed out, not finished: in the order of handing out
        self._dry = False

    @property
    def complete(self) -> bool:
        """Whether every block is finished."""
        return self._dry and not self._waiting and not self._free

    @property
    def awaits_confirmation(self) -> bool:
        """Whether nothing is left but results that are yet to be confirmed."""
        received = {block for member in self._members.values() for block in member.unconfirmed}
        return self._dry and not self._free and received.issuperset(self._waiting)

    def join(self, name: str, rate: float, least: int, most: int) -> None:
        """Let a worker take part, with its iterations a second and the pixels that its blocks may have."""
        self._members[name] = _Member(rate, max(1, min(least, most)), most)

    def pace(self, name: str, least: int, most: int) -> None:
        """Set the least and the largest number of pixels of a worker's next blocks."""
        if name in self._members:
            self._members[name].least, self._members[name].most = max(1, min(least, most)), most

    def leave(self, name: str) -> list[Block]:
        """Take a worker's blocks back, and return those that no other worker has."""
        member = self._members.pop(name, None)
        lost = [block for block in self._waiting if member and member.has(block) and not self._owners(block)]
        for block in lost:
            del self._waiting[block]
            self._left += block.pixels
        self._free += lost
        return lost

    def received(self, name: str, block: Block) -> None:
        """Take note of a result that is yet to be confirmed; the worker may have another block."""
        self._members[name].blocks.discard(block)
        self._members[name].unconfirmed.add(block)

    def owns(self, name: str, block: Block) -> bool:
        """Whether a worker has been given a block, and has not yet finished it."""
        return name in self._members and block in self._members[name].blocks

    def has_blocks(self, name: str) -> bool:
        """Whether a worker has blocks to compute."""
        return name in self._members and bool(self._members[name].blocks)

    def take(self, name: str) -> Block | None:
        """Return a block for a worker; None if there is none for it now."""
        member = self._members[name]
        if len(member.blocks) >= DEPTH:
            return None
        region = self._region(member)
        block = self._late(member) if region is None else self._cut(region, member)
        if block is not None:
            member.blocks.add(block)
            self._waiting.setdefault(block)
        return block

    def finish(self, name: str, block: Block) -> bool:
        """Take note of a result; return False if another worker was faster and the result is not needed."""
        if name in self._members:
            self._members[name].blocks.discard(block)
            self._members[name].unconfirmed.discard(block)
        if block not in self._waiting:
            return False
        del self._waiting[block]
        return True

    def _region(self, member: _Member) -> Block | None:
        """Return what to cut a worker's block from: the first free region that is large enough to keep it busy.

        If there is none, that is a new band; if there is no band either, the largest region that is free.
        """
        enough = [region for region in self._free if region.pixels >= member.least]
        if enough:
            return min(enough, key=lambda region: (region.y, region.x))
        if not self._dry and self._room(False):
            band = next(self._bands, None)
            if band is not None:
                self._free.append(band)
                return band
            self._dry = True
        return max(self._free, key=lambda region: region.pixels, default=None)

    def _cut(self, region: Block, member: _Member) -> Block:
        """Cut a worker's share off a region: whole rows or part of the first row, leaving no rest that is too small."""
        rates = [other.rate for other in self._members.values()]
        slower = min(max(rates) / member.rate, _MOST_SLOWER)
        share = int(self._left * member.rate / sum(rates) / (_PART * slower))
        pixels = max(member.least, min(share, member.most))
        x, y, width, height = region.x, region.y, region.width, region.height
        self._free.remove(region)
        if pixels >= width:
            rows = _whole(min(height, pixels // width), height, -(-member.least // width), member.most // width)
            piece, rests = Block(x, y, width, rows), [Block(x, y + rows, width, height - rows)]
        else:
            columns = _whole(pixels, width, member.least, member.most)
            piece = Block(x, y, columns, 1)
            rests = [Block(x + columns, y, width - columns, 1), Block(x, y + 1, width, height - 1)]
        self._free += [rest for rest in rests if rest.pixels]
        self._left -= piece.pixels
        return piece

    def _late(self, member: _Member) -> Block | None:
        """Return a block that another worker has, unless two have it: at the end the one that it was given last.

        That is what it comes to last, so that each of them does a part of what is left. While bands are left but lack
        room, the block that has been out for longest may be what the room waits for; a busy worker does not take it.
        """
        if not self._dry and member.blocks:
            return None
        for block in reversed(self._waiting) if self._dry else self._waiting:
            owners = self._owners(block)
            if not member.has(block) and block.pixels <= member.most and len(owners) == 1 and block in owners[0].blocks:
                return block
        return None

    def _owners(self, block: Block) -> list[_Member]:
        return [member for member in self._members.values() if member.has(block)]


def _whole(part: int, of: int, least: int, most: int) -> int:
    """Return how much to take: `part`, or all if that is at most `most` and the rest would be less than `least`."""
    return of if of - part < least and of <= most else part
