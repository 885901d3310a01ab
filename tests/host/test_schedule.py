"""Blocks tile a picture, and launches keep to their budget, on devices that exist only here."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mandelcl.core.block import Block, grid
from mandelcl.engine.loop.schedule import Pace, default_budget
from mandelcl.engine.loop.sizing import block_shape
from tests.queues import tiled

sides = st.integers(1, 5000)


@given(sides, sides, st.integers(1, 10_000_000), st.integers(1, 64))
def test_block_size_is_bounded(width: int, height: int, pixels: int, unit: int) -> None:
    columns, rows = block_shape(width, height, pixels, unit)
    assert 1 <= columns <= width
    assert 1 <= rows <= height
    assert columns * rows <= pixels
    if width <= pixels:
        assert columns == width, "blocks of whole rows stream"
        bands = -(-height // rows)
        if unit == 1:
            assert rows * bands - height < bands, "the bands are as even as they can be"
        elif bands > 1 and pixels >= unit * width:
            assert rows % unit == 0
            assert bands == -(-height // (pixels // width // unit * unit)), "there are no more than need be"
    else:
        assert (columns, rows) == (pixels, 1)


@given(*[st.integers(1, 60)] * 4)
def test_blocks_tile_the_picture(width: int, height: int, block_width: int, block_height: int) -> None:
    blocks = list(grid(Block(0, 0, width, height), block_width, block_height))
    covered = [(x, y) for b in blocks for y in range(b.y, b.y + b.height) for x in range(b.x, b.x + b.width)]
    assert len(covered) == sum(block.pixels for block in blocks)
    assert sorted(covered) == sorted((x, y) for x in range(width) for y in range(height))
    assert blocks == sorted(blocks, key=lambda block: (block.y, block.x))
    assert all(b.width <= block_width and b.height <= block_height for b in blocks)


def test_blocks_of_a_small_picture() -> None:
    assert list(grid(Block(0, 0, 5, 3), 4, 2)) == [
        Block(0, 0, 4, 2),
        Block(4, 0, 1, 2),
        Block(0, 2, 4, 1),
        Block(4, 2, 1, 1),
    ]
    assert block_shape(1920, 1080, 1 << 18) == (1920, 135)
    assert block_shape(1920, 1080, 1 << 18, 20) == (1920, 120)
    assert block_shape(2048, 2048, 1 << 18, 20) == (2048, 120)
    assert block_shape(100, 7, 350) == (100, 3)
    assert block_shape(100, 7, 99) == (99, 1)


class Simulated:
    """A device with a clock of its own: a launch takes what its orbits cost, as many at once as saturate it.

    `alive(row, stride)` is the share of a row's orbits that still run in a stride of iterations; `slowness(row)` how
    many times slower than measured the device is there.
    """

    def __init__(
        self,
        alive: Callable[[int, int], float] = lambda _row, _group: 1.0,
        slowness: Callable[[int], float] = lambda _row: 1.0,
        rate: float = 1e9,
        saturation: int = 1000,
    ) -> None:
        self.alive, self.slowness, self.rate, self.saturation = alive, slowness, rate, saturation
        self.lengths: list[float] = []

    def seconds(self, width: int, rows: range, start: int, strides: int, stride: int) -> float:
        """Run a launch; orbits that escape early leave the device idle only where all of its work is done."""
        share = sum(self.alive(row, start + k) * self.slowness(row) for row in rows for k in range(strides))
        work = max(width * share, self.saturation * strides * (share > 0))
        self.lengths.append(work * stride / self.rate)
        return self.lengths[-1]

    def render(self, pace: Pace, width: int, height: int, strides: int, stride: int = 16) -> None:
        """Do what `escape.run` does with one block in flight; every orbit runs exactly its strides."""
        row = 0
        while row < height:
            plan = pace.first(width, height - row, strides, stride)
            assert 1 <= plan.rows <= height - row
            assert 1 <= plan.strides <= strides
            rows, done, now = range(row, row + plan.rows), 0, plan.strides
            orbits = width * plan.rows
            while True:
                took = self.seconds(width, rows, done, now, stride)
                pace.learn(max(orbits, self.saturation) * now, stride, took)
                done += now
                orbits = round(width * sum(self.alive(r, done) for r in rows))
                if done >= strides or not orbits:
                    break
                now = pace.next(now, took, strides - done)
                assert 1 <= now <= strides - done
            row += plan.rows


BUDGET = 0.1


@pytest.mark.parametrize(
    ("width", "height", "strides"), [(1000, 300, 63), (4096, 64, 6250), (1, 1, 20_000), (50, 9, 500)]
)
@pytest.mark.parametrize("measured", [0.3, 1.0, 1.9])
def test_launches_stay_within_the_budget(width: int, height: int, strides: int, measured: float) -> None:
    """The rate was measured wrong by some factor; after the first launch that no longer shows."""
    device = Simulated()
    device.render(Pace(BUDGET, device.rate * measured, device.saturation), width, height, strides)
    warm = device.lengths[2:] or device.lengths
    assert max(warm) <= 2 * BUDGET
    least = width * height * strides * 16 / device.rate
    assert len(device.lengths) <= 20 + 12 * max(1.0, least / BUDGET), "launches are not too small either"


def test_sudden_cost_increase_keeps_launches_short() -> None:
    """All rows escape at once but those in the middle, which cost a hundred times as much: launches were planned so."""
    device = Simulated(alive=lambda row, stride: 1.0 if 100 <= row < 150 or stride < 6 else 0.0)
    device.render(Pace(BUDGET, device.rate, device.saturation), 2000, 300, 600)
    assert max(device.lengths) <= 2 * BUDGET


def test_worker_that_becomes_slow_gets_smaller_blocks() -> None:
    """A hundred times slower from one row to the next: one launch is late, those after it are not."""
    device = Simulated(slowness=lambda row: 100.0 if row >= 20 else 1.0)
    device.render(Pace(BUDGET, device.rate, device.saturation), 1000, 60, 1000)
    late = [k for k, seconds in enumerate(device.lengths) if seconds > 2 * BUDGET]
    assert len(late) <= 1
    assert max(device.lengths) <= 100 * BUDGET


def test_a_device_that_recovers_is_trusted_again() -> None:
    device = Simulated(slowness=lambda row: 100.0 if row < 10 else 1.0)
    pace = Pace(BUDGET, device.rate, device.saturation)
    device.render(pace, 1000, 2000, 400)
    assert pace.rate > device.rate / 2


def test_short_work_is_one_launch() -> None:
    device = Simulated()
    device.render(Pace(BUDGET, device.rate, device.saturation), 640, 360, 4)
    assert len(device.lengths) == 1


@given(
    st.floats(1e-9, 10), st.floats(1, 1e13), st.integers(1, 1 << 22), st.integers(1, 1 << 20), st.integers(1, 5000),
    st.integers(1, (1 << 32) - 2), st.sampled_from([1, 2, 7, 16, 32]),
)  # fmt: skip
def test_plans_are_possible(
    budget: float, rate: float, saturation: int, width: int, rows: int, max_iterations: int, stride: int
) -> None:
    strides = -(-max_iterations // stride)
    pace = Pace(budget, rate, saturation)
    plan = pace.first(width, rows, strides, stride)
    assert 1 <= plan.rows <= rows
    assert 1 <= plan.strides <= strides
    if plan.rows > 1 and plan.strides > 1:  # otherwise it is as small as a launch can be
        assert max(width * plan.rows, saturation) * plan.strides * stride <= rate * budget * 1.001
    for seconds in (0.0, 1e-9, budget / 3, budget, 1e6):
        assert 1 <= pace.next(plan.strides, seconds, strides) <= min(strides, 4 * plan.strides)
        assert pace.next(plan.strides, 100 * budget, strides) <= max(1, plan.strides // 100, min(8, plan.strides // 66))


@given(st.lists(st.tuples(st.floats(1, 1e15), st.floats(-1, 100)), max_size=30))
def test_estimated_rate_stays_bounded(launches: list[tuple[float, float]]) -> None:
    pace = Pace(BUDGET, 1e9, 100)
    for orbit_groups, seconds in launches:
        before = pace.rate
        pace.learn(orbit_groups, 16, seconds)
        assert 0 < pace.rate <= 1e9
        if seconds <= 0:
            assert pace.rate == before
        elif seconds > BUDGET:
            assert pace.rate == min(before, orbit_groups * 16 / seconds)
        else:
            assert before <= pace.rate <= before * 1.5000001


def test_random_devices() -> None:
    """Any shares alive, falling as orbits escape: no launch past the first two is late."""
    for seed in range(30):
        chance = random.Random(seed)
        half_life = [chance.choice([0.5, 3, 50, 1e9]) for _ in range(60)]
        device = Simulated(lambda row, stride, h=half_life: 0.5 ** (stride / h[row]), rate=10 ** chance.uniform(7, 11))  # type: ignore[misc]
        device.render(Pace(BUDGET, device.rate, device.saturation), chance.randint(1, 3000), 60, chance.randint(1, 400))
        assert max(device.lengths[2:], default=0) <= 2 * BUDGET


def test_one_pixel_at_a_limit_of_4e9_is_split_by_iterations() -> None:
    """It never escapes: many launches, none longer than the budget, and they are not too small either."""
    device = Simulated(rate=1e12, saturation=100_000)  # one orbit: 10 million iterations a second
    pace, stride = Pace(BUDGET, device.rate, device.saturation), 4096
    device.render(pace, 1, 1, 4_000_000_000 // stride, stride)
    assert max(device.lengths) <= 2 * BUDGET
    assert 0.9 < sum(device.lengths) / 400 < 1.1
    assert len(device.lengths) < 2 * 400 / BUDGET


def test_many_short_orbits_are_split_by_area() -> None:
    """At an iteration limit of one stride only rows can be divided."""
    device = Simulated(rate=1e8)
    device.render(Pace(BUDGET, device.rate, device.saturation), 10_000, 1000, 1)
    assert max(device.lengths) <= 2 * BUDGET
    assert len(device.lengths) > 10


def test_hundredfold_cost_increase_keeps_launches_short() -> None:
    """Orbits of 10 strides beside orbits of 1000, at once and back again."""
    device = Simulated(alive=lambda row, stride: 1.0 if stride < (1000 if row % 40 < 20 else 10) else 0.0)
    device.render(Pace(BUDGET, device.rate, device.saturation), 500, 80, 1000)
    assert max(device.lengths) <= 2 * BUDGET


@pytest.mark.parametrize("uneven", [True, False])
@pytest.mark.parametrize("saving", [0.0, 0.06, 0.09])
def test_launches_with_slow_saves_do_not_shrink(saving: float, uneven: bool) -> None:
    """Each launch takes that long whatever its strides: with a stride each there would be ten times as many."""
    pace, done, launches, now = Pace(BUDGET, 1e9, 1000, uneven), 0, 0, 14
    while done < 1000:
        seconds = saving + 0.001 * now
        assert seconds <= 2 * BUDGET
        done, launches = done + now, launches + 1
        now = pace.next(now, seconds, 1000)
    assert launches <= 130


@pytest.mark.parametrize("uneven", [True, False])
def test_busy_machine_does_not_leave_single_stride_launches(uneven: bool) -> None:
    """After launches that took five times as long; saving takes more than half the budget."""
    pace, now = Pace(BUDGET, 1e9, 1000, uneven), 40
    for busy in [5] * 4 + [1] * 12:
        now = pace.next(now, busy * (0.055 + 0.001 * now), 1000)
    assert now >= 8


def test_slow_steps_may_be_launched_singly() -> None:
    pace, now = Pace(BUDGET, 1e9, 1000, uneven=True), 8
    for _ in range(20):
        now = pace.next(now, 0.08 * now, 1000)
        assert 0.08 * now <= 2 * BUDGET
    assert now == 1
    assert pace.next(1, 0.0, 1000) == 4


def test_a_watchdog_makes_launches_short() -> None:
    assert default_budget(True, "gpu") == default_budget(None, "gpu") == 0.02
    assert default_budget(False, "gpu") == default_budget(None, "cpu") == 0.1


def test_the_queue_cuts_bands_into_blocks() -> None:
    bands = [Block(0, 0, 5, 2), Block(0, 4, 5, 2)]
    assert list(tiled(bands, 3, 9)) == [
        Block(0, 0, 3, 2),
        Block(3, 0, 2, 2),
        Block(0, 4, 3, 2),
        Block(3, 4, 2, 2),
    ]


def test_what_a_launch_takes_besides_is_beyond_the_budget() -> None:
    """A driver that takes 30 ms for each launch gets launches of as many strides as one that takes nothing."""
    strides = []
    for launch_s in (0.0, 0.03):
        pace, now = Pace(BUDGET, 1e9, 1000, uneven=True, launch_s=launch_s), 1
        for _ in range(20):
            now = pace.next(now, launch_s + 0.001 * now, 1000)
        strides.append(now)
    assert strides == [50, 50]
    assert Pace(BUDGET, 1e9, 1000, launch_s=9.0).next(100, 0.1, 1000) <= 400  # it was measured on a busy machine
