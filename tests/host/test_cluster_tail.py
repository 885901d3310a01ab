"""A job of twenty seconds on two equal workers, by a simulated clock: who repeats what, and who waits at the end.

The crew is the true one. Its workers compute blocks of fp128 as fast as a large GPU, whose time for a block has a
floor: few orbits take as long as many. The client takes one result after the other, at half a gigabyte a second.
"""

import heapq
from itertools import count
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.core.totals import Totals
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.loop.sizing import ELSEWHERE, in_hand_pixels
from mandelcl.engine.variant import Variant
from mandelcl.rendering.crew import checking, crosscheck, judging
from mandelcl.rendering.crew import crew as crews
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.crew.sharing import DEPTH
from mandelcl.rendering.crew.worker_pool import WorkerPool
from mandelcl.rendering.crew.worker_slot import WorkerSlot
from mandelcl.workers import supervised
from mandelcl.workers.process import Activity, Worker, WorkerMessage
from mandelcl.workers.supervised import RestartPolicy

SIDE, ITERATIONS, SECONDS, UNITS = 12288, 480_000, 20.0, 132
LATENCY, TASK_S, BYTES_A_SECOND = 0.01, 0.007, 500e6
JOB = Job(View.centred(0, 0, 1, SIDE, SIDE), ITERATIONS, number="fp128", rounding="fixed", method="direct")
RESULTS = memoryview(np.ones(4 << 20, "<u4").tobytes())  # of the largest block


class Simulated:
    """A worker whose blocks take as long as the simulation says, one after the other, urgent ones first."""

    activity = Activity("idle")

    def __init__(self, simulation: "Simulation") -> None:
        self.simulation = simulation
        self.blocks: list[tuple[bool, int, Block, int]] = []
        self.assignment = 0
        self.running = False
        self.busy = 0.0

    @property
    def heard(self) -> float:
        return self.simulation.now

    def time_since(self, moment: float) -> float:
        return self.simulation.now - moment

    def send(self, head: dict[str, Any], payload: Any = b"", with_buffer: bool = False) -> None:  # noqa: ARG002
        at = self.simulation
        arrives = at.now + LATENCY
        if head["do"] == "block":
            at.happen(arrives, self.get, (not head["urgent"], next(at.order), Block(*head["block"]), self.assignment))
        else:
            self.assignment = head["assignment"]
            self.blocks.clear()
            head = {"say": "ready", "assignment": self.assignment, "rate": at.rate, "block_pixels": 1 << 30}
            at.happen(arrives, lambda reported: (self, reported, 0), head | {"build_s": 0.0})

    def get(self, block: tuple[bool, int, Block, int]) -> None:
        heapq.heappush(self.blocks, block)
        self.begin()

    def begin(self) -> None:
        if self.blocks and not self.running:
            _, _, block, assignment = heapq.heappop(self.blocks)
            seconds = self.simulation.cost(block)
            self.running = True
            self.busy += seconds
            self.simulation.happen(self.simulation.at + seconds, self.end_of, (block, assignment, seconds))

    def end_of(self, what: tuple[Block, int, float]) -> None:
        block, assignment, seconds = what
        self.running = False
        self.begin()
        corners = [block.x, block.y, block.width, block.height]
        head = {"say": "done", "assignment": assignment, "block": corners, "launches": [seconds], "copy_s": 0.0}
        if assignment == self.assignment:
            reported = head | {"filled": 0}
            self.simulation.happen(self.simulation.at + LATENCY, lambda size: (self, reported, size), 4 * block.pixels)

    def reclaim(self) -> None:
        pass

    kill = end = reclaim


class Clocked(WorkerPool):
    """The workers' seats; what they say takes the client's time."""

    simulation: "Simulation"

    def block_limit(self, job: Job, band_pixels: int) -> int:
        return min(band_pixels, in_hand_pixels(job, DEPTH * len(self._slots)))

    def overdue(self, _busy: Any) -> list[tuple[WorkerSlot, str]]:
        return []

    def next(self, timeout: float) -> tuple[WorkerSlot, WorkerMessage] | None:
        reported = self.simulation.until(self.simulation.now + timeout)
        if reported is None:
            return None
        worker, head, size = reported
        message = WorkerMessage(cast(Worker, worker), head, RESULTS[:size])
        return next(one for one in self if cast(Any, one.worker) is worker), message


class Simulation:
    """`workers` at a picture whose rows have so many orbits that last: it takes `seconds`, all kernels `busy`."""

    def __init__(self, workers: int, rows: npt.NDArray[np.float64], seed: int) -> None:
        self.now = self.at = 0.0  # of the client; and of what happens at a worker
        self.order = count()
        self.events: list[tuple[float, int, Any, Any]] = []
        self.orbits = np.concatenate([[0.0], np.cumsum(rows)])
        self.rate = self.orbits[-1] * ITERATIONS / SECONDS
        self.made: list[Simulated] = []
        variant = Variant(1, 1, stride=64, unrolled=64, lane_columns=1, local_columns=8, local_rows=16)
        facts = {"name": "G", "platform": "P", "driver": "", "type": "gpu", "compute_units": UNITS, "watchdog": False}
        parts: list[Any] = [
            SimpleNamespace(
                device=SimpleNamespace(**facts, label=f"G{k}", spec=f"0:{k}"), job=JOB, variant=variant, loop_limit=0,
                speed=self.rate, warnings=(),
            )
            for k in range(workers)
        ]  # fmt: skip

        def start(*_part: Any) -> Worker:
            self.made.append(Simulated(self))
            return cast(Worker, self.made[-1])

        Clocked.simulation = self
        device_slots = Clocked(parts, Settings(), RestartPolicy(), lambda _line: None, start, ELSEWHERE)
        crew = Crew(parts, pool=device_slots, repeats=64)
        crew._chance.seed(seed)
        crew.assemble()
        bands = [Block(0, y, SIDE, min(crew.band_rows, SIDE - y)) for y in range(0, SIDE, crew.band_rows)]
        assert sum(block.pixels for block, *_ in crew.run(bands)) == SIDE * SIDE
        self.seconds, self.busy = self.now, sum(worker.busy for worker in self.made)

    def cost(self, block: Block) -> float:
        orbits = (self.orbits[block.y + block.height] - self.orbits[block.y]) * block.width / SIDE
        return 0.004 + (max(orbits, 1024 * UNITS) * ITERATIONS / self.rate if orbits > 0.5 else 0.0)

    def happen(self, at: float, what: Any, value: Any) -> None:
        heapq.heappush(self.events, (at, next(self.order), what, value))

    def until(self, limit: float) -> tuple[Simulated, dict[str, Any], int] | None:
        """Let everything happen until somebody says something, or until a moment."""
        while self.events and self.events[0][0] <= limit:
            self.at, _, what, value = heapq.heappop(self.events)
            reported: tuple[Simulated, dict[str, Any], int] | None = what(value)
            if reported is not None and reported[1]["assignment"] == reported[0].assignment:
                self.now = max(self.now, self.at) + TASK_S * bool(reported[2]) + reported[2] / BYTES_A_SECOND
                return reported
        self.now = limit
        return None


@pytest.fixture
def _simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the crew's clock be the simulation's, and nothing be checked of results that nobody has computed."""
    clock = SimpleNamespace(perf_counter=lambda: Clocked.simulation.now, monotonic=lambda: Clocked.simulation.now)
    for module in (crews, crosscheck, judging, supervised):
        monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(checking, "implausible", lambda _results, _job: None)
    monkeypatch.setattr(checking, "host_disagrees", lambda *_: False)
    monkeypatch.setattr(judging, "totals_of", lambda *_results: Totals(1))
    monkeypatch.setattr("mandelcl.rendering.crew.judging.digest_of", lambda _results: b"")


def disc() -> npt.NDArray[np.float64]:
    """Return how many orbits of each row last: a disc in the middle, a sixth of the picture, as of the whole set."""
    y = np.linspace(-3, 3, SIDE)
    return SIDE / 3 * np.sqrt(np.maximum(0.0, 1.9 - y * y))


def flat() -> npt.NDArray[np.float64]:
    """Return as many for each row."""
    return np.full(SIDE, SIDE / 6)


@pytest.mark.usefixtures("_simulated")
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long), pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize(("rows", "least"), [(disc, 1.9), (flat, 1.9), (lambda: np.sort(disc()), 1.84)])
def test_two_workers_are_nearly_twice_as_fast_as_one(rows: Any, least: float, seed: int) -> None:
    """Also where one repeats some of the other's rows, and does late blocks once more: 1.97 is all that may be."""
    one, two = (Simulation(workers, rows(), seed) for workers in (1, 2))
    found = one.seconds / two.seconds
    print(f"{one.seconds:.2f} s, {two.seconds:.2f} s: {found:.3f} times as fast; kernels {two.busy / one.busy:.3f}")
    assert found > least
