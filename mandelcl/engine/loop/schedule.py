"""Decide which block is next, and how much of it one launch computes. Tests simulate the clock; there is no OpenCL."""

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from mandelcl.core.block import Block

# A launch of fewer strides than this costs more in saving and restoring orbits than in iterating.
_LEAST_STRIDES = 8
_GROWTH = 4.0
_LATEST = 1.5  # budgets
# A rate from the cache may be out of date: the first launches are this much smaller.
_CAUTION = 4.0
# Turns that follow one another may take much longer than those that were measured.
_CAUTION_UNEVEN = 32.0
_RECOVERY = 1.5
# At least this share of a launch's time is taken for its iterations, however long a launch was once without any.
_LEAST_SHARE = 1 / 8


BUDGET_S = 0.1
# Windows stops a kernel after 2 s by default, including the time that it is queued; i915 after 0.64 s, or 0.1 s in some
# versions, where something else wants the GPU; macOS after a few seconds (docs/vendors.md).
WATCHDOG_BUDGET_S = 0.02


def default_budget(watchdog: bool | None, kind: str) -> float:
    """Return how many seconds a launch should last, given whether the driver stops long ones, and the device's type.

    A GPU's driver that does not report it may do so.
    """
    watched = watchdog or (watchdog is None and kind == "gpu")
    return WATCHDOG_BUDGET_S if watched else BUDGET_S


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """The size of a launch: rows of a block (if it starts from z₀) and strides of iterations."""

    rows: int
    strides: int


class BlockSource(Protocol):
    """A source of blocks to compute."""

    def take(self, wait: bool = True) -> Block | None:
        """Return the next block; None if there is none left or, without `wait`, none yet."""

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that are left, waiting for each."""


class BlockQueue:
    """A queue of blocks in the order of computation. Several threads may take blocks from it.

    They are cut by `cut` from `bands`. `room(wait)` is whether there is memory for another band; with `wait` it
    returns only when there is.
    """

    def __init__(
        self,
        bands: Iterable[Block],
        cut: Callable[[Block], Iterator[Block]],
        room: Callable[[bool], bool] = lambda _wait: True,
    ) -> None:
        self._bands = iter(bands)
        self._cut = cut
        self._blocks: Iterator[Block] = iter(())
        self._room = room
        self._lock = threading.Lock()

    @classmethod
    def of(cls, blocks: Iterable[Block]) -> "BlockQueue":
        """Return a queue of blocks that are not cut any further."""
        return cls(blocks, lambda block: iter((block,)))

    def take(self, wait: bool = True) -> Block | None:
        """Return the next block; None if there is none left or, without `wait`, no room for one yet."""
        with self._lock:
            block = next(self._blocks, None)
            if block is not None:
                return block
            if not self._room(wait):
                return None
            band = next(self._bands, None)
            if band is None:
                return None
            self._blocks = self._cut(band)
            return next(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that are left, waiting for room."""
        while (block := self.take()) is not None:
            yield block


class Priorities:
    """Blocks in order of urgency, which may be changed while they are taken, from any thread.

    `key` gives a block's place in the order, least first.
    """

    def __init__(self, blocks: Iterable[Block], key: Callable[[Block], float]) -> None:
        self._lock = threading.Lock()
        self._left = sorted(blocks, key=key, reverse=True)

    def change(self, key: Callable[[Block], float]) -> None:
        """Put the blocks that are left in another order."""
        with self._lock:
            self._left.sort(key=key, reverse=True)

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that are left."""
        while True:
            with self._lock:
                if not self._left:
                    return
                block = self._left.pop()
            yield block


class Pace:
    """The size of launches whose iterations last about `budget` seconds each.

    `rate` is the device's iterations a second when no orbit escapes, with at least `saturation` orbits in flight; fewer
    orbits take as long. Launches are planned for the worst case, that no orbit escapes, so a sudden rise in cost from
    one block to the next cannot make one long. The first launches are planned for a quarter of that time, since the
    remembered rate may be from a time when the device was less busy. Strides are `uneven` where one may take longer
    than another; then launches begin smaller, and aim at half the budget. Saving orbits may take half the budget by
    itself, and does not become less with the strides: a launch of a few may take half as long again as the budget. What
    a launch takes besides its iterations, `launch_s`, is counted in none of this.
    """

    def __init__(
        self, budget: float, rate: float, saturation: int, uneven: bool = False, launch_s: float = 0.0
    ) -> None:
        self.budget = budget
        self._launch_s = launch_s
        self.rate = rate / (_CAUTION_UNEVEN if uneven else _CAUTION)
        self._aim = budget / 2 if uneven else budget
        self.measured_rate = rate
        self.saturation = saturation

    def first(self, width: int, rows: int, strides: int, stride: int) -> LaunchPlan:
        """Return the first launch of `rows` rows of fresh orbits that have `strides` strides of iterations to go."""
        allowed = self.rate * self.budget / stride  # orbit-strides
        fitting = int(allowed / max(width * rows, self.saturation))
        if fitting >= min(strides, _LEAST_STRIDES):
            return LaunchPlan(rows, min(strides, fitting))
        planned = min(strides, _LEAST_STRIDES)
        rows = max(1, min(rows, int(allowed / (width * planned))))
        return LaunchPlan(rows, max(1, min(planned, int(allowed / max(width * rows, self.saturation)))))

    def next(self, previous: int, seconds: float, strides: int) -> int:
        """Return the strides for orbits that survived a launch of `previous` strides and `seconds`.

        They all ran through the whole launch, so the same number of strides takes no longer: this holds for any view.
        """
        seconds = self._iterating(seconds)
        growth = min(_GROWTH, self._aim / seconds if seconds > 0 else _GROWTH)
        fitting = int(previous * growth)
        if fitting < _LEAST_STRIDES and seconds > 0:
            latest = min(_GROWTH, _LATEST * self.budget / seconds)
            fitting = max(fitting, int(min(_LEAST_STRIDES, previous * latest)))
        return max(1, min(strides, fitting))

    def learn(self, orbit_strides: float, stride: int, seconds: float) -> None:
        """Take note of a launch of at most `orbit_strides` strides of work that took `seconds`.

        A late launch lowers the rate at once. An early one proves nothing, since orbits may have escaped, but it lets a
        lowered rate recover towards the measured one, by half of itself each launch.
        """
        if seconds <= 0:
            return
        seconds = self._iterating(seconds)
        observed = orbit_strides * stride / seconds
        if seconds > self.budget:
            self.rate = min(self.rate, observed)
        elif observed > self.rate:
            self.rate = min(self.measured_rate, self.rate * _RECOVERY)

    def _iterating(self, seconds: float) -> float:
        """Return how much of a launch's time its iterations took."""
        return max(seconds - self._launch_s, seconds * _LEAST_SHARE)
