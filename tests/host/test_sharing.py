"""Who computes which block: every pixel once, whoever fails, is slow, or comes late. No device, no process."""

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mandelcl.core.block import Block
from mandelcl.rendering.crew.sharing import DEPTH, BlockDispatcher


def bands(width: int, height: int, rows: int) -> list[Block]:
    return [Block(0, y, width, min(rows, height - y)) for y in range(0, height, rows)]


@settings(deadline=None)
@given(
    st.integers(1, 70), st.integers(1, 70), st.integers(1, 40), st.lists(st.floats(0.1, 1000), min_size=1, max_size=4),
    st.integers(1, 300), st.integers(0, 2**32),
)  # fmt: skip
def test_every_pixel_is_accepted_once(
    width: int, height: int, rows: int, rates: list[float], least: int, seed: int
) -> None:
    """Workers finish in any order, and now and then one fails and is replaced."""
    chance = random.Random(seed)
    share = BlockDispatcher(bands(width, height, rows), width * height, lambda _wait: True)
    names = [str(k) for k in range(len(rates))]
    held: dict[str, list[Block]] = {name: [] for name in names}
    for name, rate in zip(names, rates, strict=True):
        share.join(name, rate, least, 4 * least)
    seen = [[0] * width for _ in range(height)]
    for _ in range(100_000):
        if share.complete:
            break
        for name in names:
            while (block := share.take(name)) is not None:
                assert len(held[name]) < DEPTH
                held[name].append(block)
        busy = [name for name in names if held[name]]
        assert busy, "somebody has work until all is done"
        name = chance.choice(busy)
        if chance.random() < 0.2:
            share.leave(name)
            held[name] = []
            share.join(name, rates[names.index(name)], least, 4 * least)
            continue
        block = held[name].pop(chance.randrange(len(held[name])))
        if chance.random() < 0.3:
            share.received(name, block)
        if share.finish(name, block):
            for y in range(block.y, block.y + block.height):
                for x in range(block.x, block.x + block.width):
                    seen[y][x] += 1
    assert share.complete
    assert all(count == 1 for row in seen for count in row)


def test_faster_device_gets_larger_blocks() -> None:
    """By its speed, and once more by its speed, so that a slow one's is soon done even where nothing escapes."""
    share = BlockDispatcher(bands(100, 10_000, 10_000), 1_000_000, lambda _wait: True)
    share.join("gpu", 300, 1, 1 << 20)
    share.join("cpu", 100, 1, 1 << 20)
    gpu, cpu = share.take("gpu"), share.take("cpu")
    assert gpu is not None
    assert cpu is not None
    assert 8 <= gpu.pixels / cpu.pixels <= 13


LATENCY_S = 0.01  # of any block, however small


class Shelf:
    """The bands of a picture, of which so many fit; one is gone when it and all above it are finished."""

    def __init__(self, side: int, rows: int, fitting: int) -> None:
        self.every = bands(side, side, rows)
        self._rows, self._fitting = rows, fitting
        self._missing = [band.pixels for band in self.every]
        self._taken = self._gone = 0

    def __iter__(self) -> Iterator[Block]:
        for band in self.every:
            self._taken += 1
            yield band

    def room(self, _wait: bool) -> bool:
        return self._taken - self._gone < self._fitting

    def finish(self, block: Block) -> None:
        self._missing[block.y // self._rows] -= block.pixels
        while self._gone < self._taken and not self._missing[self._gone]:
            self._gone += 1


def seconds(rates: dict[str, float], cost: Callable[[Block], float], fitting: int = 999, side: int = 4096) -> float:
    """Return when a picture is finished by workers of these speeds, each with a block at a time, by the clock."""
    shelf = Shelf(side, 128, fitting)
    share = BlockDispatcher(shelf, side * side, shelf.room)
    for name, rate in rates.items():
        saturation = int(rate * LATENCY_S)
        share.join(name, rate, max(1, 2 * saturation), max(int(rate), 12 * saturation))
    held: dict[str, list[Block]] = {name: [] for name in rates}
    ends: dict[str, float] = {}
    now = 0.0
    while True:
        for name, blocks in held.items():
            while (block := share.take(name)) is not None:
                blocks.append(block)
            if blocks and name not in ends:
                ends[name] = now + max(LATENCY_S, cost(blocks[0]) / rates[name])
        first = min(ends, key=lambda name: ends[name])
        now = ends.pop(first)
        block = held[first].pop(0)
        if share.finish(first, block):
            shelf.finish(block)
        if share.complete:
            return now


@pytest.mark.parametrize("dense", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("slower", [3, 30, 300])
@pytest.mark.parametrize("first", ["slow", "fast"])
@pytest.mark.parametrize("fitting", [4, 16, 999])
def test_slow_worker_does_not_delay_a_fast_one(dense: float, slower: int, first: str, fitting: int) -> None:
    """All that costs anything lies in a tenth of the rows, where a slow worker may be caught with it.

    Memory for few bands must not make a fast one wait, either, until a slow one has done its part of the first.
    """

    def cost(block: Block) -> float:
        top, bottom = int(dense * 4096), int((dense + 0.1) * 4096)
        rows = max(0, min(bottom, block.y + block.height) - max(top, block.y))
        return rows * block.width + 0.01 * block.pixels

    rates = {"fast": 1e6, "slow": 1e6 / slower}
    together = seconds({name: rates[name] for name in sorted(rates, key=lambda name: name != first)}, cost, fitting)
    assert together <= 1.02 * seconds({"fast": 1e6}, cost) + 5 * LATENCY_S


def test_blocks_grow_smaller_towards_the_end() -> None:
    share = BlockDispatcher(bands(10, 10_000, 10_000), 100_000, lambda _wait: True)
    share.join("a", 1, 1, 1 << 20)
    sizes = []
    while (block := share.take("a")) is not None:
        sizes.append(block.pixels)
        share.finish("a", block)
    assert sum(sizes) == 100_000
    assert sizes[:20] == sorted(sizes[:20], reverse=True)
    assert max(sizes[-3:]) <= 10, "the last are single rows, and pieces of them"


def test_late_block_is_reassigned_and_counted_once() -> None:
    share = BlockDispatcher(bands(4, 1, 1), 4, lambda _wait: True)
    share.join("slow", 1, 4, 4)
    share.join("fast", 1, 4, 4)
    block = share.take("slow")
    assert share.take("slow") is None
    assert share.take("fast") == block
    assert block is not None
    assert share.finish("fast", block)
    assert share.complete
    assert not share.finish("slow", block)


def test_no_block_is_assigned_without_room() -> None:
    room = False
    share = BlockDispatcher(bands(4, 4, 2), 16, lambda _wait: room)
    share.join("a", 1, 16, 16)
    assert share.take("a") is None
    assert not share.complete
    room = True
    assert share.take("a") == Block(0, 0, 4, 2)


def test_lost_block_is_reassigned_first() -> None:
    share = BlockDispatcher(bands(4, 8, 1), 32, lambda _wait: True)
    share.join("a", 1, 4, 4)
    share.join("b", 1, 4, 4)
    lost = share.take("a")
    share.take("b")
    assert share.leave("a") == [lost]
    assert share.take("b") == lost
