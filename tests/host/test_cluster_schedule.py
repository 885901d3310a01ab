"""How busy the workers of a cluster are, by a simulated clock: many, unequal, and far away. No device, no process."""

import heapq
import random
from collections.abc import Callable
from itertools import count

import pytest

from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine.loop.sizing import (
    ELSEWHERE,
    SHARED_BAND_BYTES,
    in_hand_pixels,
    paced_block_pixels,
    shared_band_pixels,
    shared_block_pixels,
)
from mandelcl.rendering.crew.sharing import DEPTH, BlockDispatcher
from tests.host.test_sharing import Shelf

SIDE, RATE = 16384, 1e9
MEMORY = 256 << 20  # of bands
# What a block costs the client, one after the other: its task, and its results on their way.
TASK_S, BYTES_A_SECOND = 0.002, 154e6
WORKER_SECONDS = 1e5


class Clock:
    """A cluster's workers at a picture whose pixels cost `cost(block)` iterations: when it is done, in seconds."""

    def __init__(
        self, speeds: list[float], latency: float, max_iterations: int, cost: Callable[[Block], float]
    ) -> None:
        self.latency, self.cost = latency, cost
        self.rates = [RATE * speed for speed in speeds]
        job = Job(View.centred(0, 0, 1, SIDE, SIDE), max_iterations, number="double", rounding="fused", method="direct")
        saturations = [int(64 * speed) for speed in speeds]
        band = shared_band_pixels(job, self.rates, saturations, None)
        assert 4 * band <= SHARED_BAND_BYTES
        rows = max(1, band // SIDE)
        self.shelf = Shelf(SIDE, rows, max(1, MEMORY // (4 * rows * SIDE)))
        self.share = BlockDispatcher(self.shelf, SIDE * SIDE, self.shelf.room)
        most = min(rows * SIDE, in_hand_pixels(job, DEPTH * len(speeds)))
        self.bounds, self.sizes = [], []
        for name, (rate, saturation) in enumerate(zip(self.rates, saturations, strict=True)):
            least, usual = shared_block_pixels(job, rate, saturation, most, ELSEWHERE)
            self.share.join(str(name), rate, least, usual)
            largest = max(usual, min(most, ELSEWHERE.stretch * usual))
            self.bounds.append(((least, max(least, min(most, ELSEWHERE.least_stretch * least))), (usual, largest)))
            self.sizes.append([least, usual])
        self.free = [0.0] * len(speeds)  # when each has done what it was given
        self.client = 0.0  # when the client has done what has come
        self.blocks = 0

    def run(self) -> float:
        order, coming = count(), list[tuple[float, int, int, Block, float]]()

        def feed(name: int) -> None:
            while (block := self.share.take(str(name))) is not None:
                seconds = self.cost(block) / self.rates[name]
                self.free[name] = max(self.free[name], self.client + self.latency) + seconds
                heapq.heappush(coming, (self.free[name] + self.latency, next(order), name, block, seconds))

        names, wanted_s = range(len(self.rates)), (ELSEWHERE.least, ELSEWHERE.most)
        for name in names:
            feed(name)
        while not self.share.complete:
            at, _, name, block, seconds = heapq.heappop(coming)
            self.client = max(self.client, at) + TASK_S + 4 * block.pixels / BYTES_A_SECOND
            self.blocks += 1
            if self.share.finish(str(name), block):
                self.shelf.finish(block)
            if block.height > 1:
                self.sizes[name] = [
                    paced_block_pixels(bounds, now, block.pixels, seconds, wanted)
                    for bounds, now, wanted in zip(self.bounds[name], self.sizes[name], wanted_s, strict=True)
                ]
                self.share.pace(str(name), *self.sizes[name])
            feed(name)
            if not self.blocks % 64:
                for other in names:
                    feed(other)
        return self.client


def efficiency(workers: int, latency: float, uneven: bool, worker_seconds: float = WORKER_SECONDS) -> tuple[float, int]:
    """Return which share of the time workers are at what is needed, and the number of blocks."""
    chance = random.Random(workers)
    speeds = [1.0, 30.0] if workers > 1 else [8.0]
    speeds += [chance.uniform(1, 30) for _ in range(workers - 2)]
    speeds = speeds[:workers]
    mean = sum(speeds) / workers
    iterations = worker_seconds * mean * RATE / SIDE**2  # of a pixel, on average

    def flat(block: Block) -> float:
        return block.pixels * iterations

    def rising(block: Block) -> float:
        """Ten times as much in the middle third as elsewhere."""
        top, bottom = SIDE // 3, 2 * SIDE // 3
        dense = max(0, min(bottom, block.y + block.height) - max(top, block.y)) / block.height
        return block.pixels * iterations * (0.25 + 2.25 * dense)

    clock = Clock(speeds, latency, int(iterations * (2.5 if uneven else 1)), rising if uneven else flat)
    taken = clock.run()
    return worker_seconds * mean / (sum(speeds) * taken), clock.blocks


@pytest.mark.parametrize(("workers", "latency", "uneven"), [(2, 0.1, False), (32, 0.1, True)])
def test_simulated_workers_stay_busy(workers: int, latency: float, uneven: bool) -> None:
    found, blocks = efficiency(workers, latency, uneven, WORKER_SECONDS / 4)
    assert found >= 0.9, blocks


@pytest.mark.long
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("latency", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("workers", [1, 2, 4, 16, 64, 256])
def test_workers_stay_busy_for_a_job_of_1e5_worker_seconds(workers: int, latency: float, uneven: bool) -> None:
    found, blocks = efficiency(workers, latency, uneven)
    print(
        f"{workers:4} workers, {1e3 * latency:3.0f} ms, {'uneven' if uneven else 'flat'}: {found:.3f}, {blocks} blocks"
    )
    assert found >= 0.9
