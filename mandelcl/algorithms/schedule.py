"""Which block comes next, and how much of it one launch takes. No OpenCL here: it is tested with a fake clock."""

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from mandelcl.block import Block, grid

# A launch over fewer iterations than this many groups costs more in saving and restoring than in iterating.
_LEAST_GROUPS = 8
_GROWTH = 4.0
# A rate that was measured another day is not believed at once: the first launches are this much smaller.
_CAUTION = 4.0
_RECOVERY = 1.5


BUDGET_S = 0.1
# Windows stops a kernel after 2 s by default, and what is queued counts, too.
WATCHDOG_BUDGET_S = 0.02


def default_budget(watchdog: bool | None) -> float:
    """Return how many seconds a launch should last on a device whose driver does or does not stop long ones."""
    return WATCHDOG_BUDGET_S if watchdog else BUDGET_S


@dataclass(frozen=True, slots=True)
class Launch:
    """What a launch takes: rows of a block (where it starts from z₀) and groups of iterations."""

    rows: int
    groups: int


def block_shape(width: int, height: int, pixels: int) -> tuple[int, int]:
    """Return the width and height of blocks of at most `pixels`: whole rows where they fit, so that bands stream."""
    if width <= pixels:
        rows = max(1, min(height, pixels // width))
        bands = -(-height // rows)
        return width, -(-height // bands)
    return pixels, 1


class BlockSource(Protocol):
    """Where blocks to be computed come from."""

    def take(self, wait: bool = True) -> Block | None:
        """Return the next block; None where there is none left or, without `wait`, none now."""

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that are left, waiting for each."""


class BlockQueue:
    """Blocks in the order in which they are to be computed; it may be asked from several threads.

    They come from `bands`, each cut into blocks of `width` × `height`. `room(wait)` says whether there is memory for
    another band now; with `wait` it returns only when there is.
    """

    def __init__(
        self, bands: Iterable[Block], width: int, height: int, room: Callable[[bool], bool] = lambda _wait: True
    ) -> None:
        self._bands = iter(bands)
        self._shape = width, height
        self._blocks: Iterator[Block] = iter(())
        self._room = room
        self._lock = threading.Lock()

    def take(self, wait: bool = True) -> Block | None:
        """Return the next block; None where there is none left or, without `wait`, no room for one now."""
        with self._lock:
            block = next(self._blocks, None)
            if block is not None:
                return block
            if not self._room(wait):
                return None
            band = next(self._bands, None)
            if band is None:
                return None
            self._blocks = grid(band, *self._shape)
            return next(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks that are left, waiting for room."""
        while (block := self.take()) is not None:
            yield block


class Pace:
    """How much work a launch may hold so that it lasts about `budget` seconds.

    `rate` is what the device does when every orbit runs to the end, in iterations a second with at least `saturation`
    orbits in flight; fewer orbits take as long as that many. Launches are planned for the worst case, that no orbit
    escapes, so a cliff in cost from one block to the next cannot make one long. It begins with launches of a quarter
    of that, since a rate may be remembered from a quieter day.
    """

    def __init__(self, budget: float, rate: float, saturation: int) -> None:
        self.budget = budget
        self.rate = rate / _CAUTION
        self._measured_rate = rate
        self.saturation = saturation

    def first(self, width: int, rows: int, groups: int, group: int) -> Launch:
        """Return the first launch of `rows` rows of fresh orbits that have `groups` groups of iterations to go."""
        allowed = self.rate * self.budget / group  # orbit-groups
        fitting = int(allowed / max(width * rows, self.saturation))
        if fitting >= min(groups, _LEAST_GROUPS):
            return Launch(rows, min(groups, fitting))
        wanted = min(groups, _LEAST_GROUPS)
        rows = max(1, min(rows, int(allowed / (width * wanted))))
        return Launch(rows, max(1, min(wanted, int(allowed / max(width * rows, self.saturation)))))

    def next(self, previous: int, seconds: float, groups: int) -> int:
        """Return the groups for orbits that survived a launch of `previous` groups and `seconds`.

        They all ran through it, so the same number of groups takes them no longer: the bound holds for any view.
        """
        growth = min(_GROWTH, self.budget / seconds if seconds > 0 else _GROWTH)
        return max(1, min(groups, int(previous * growth)))

    def learn(self, orbit_groups: float, group: int, seconds: float) -> None:
        """Take note of a launch that held at most `orbit_groups` groups of work and took `seconds`.

        Being late lowers the rate at once. Being early proves nothing, since orbits may have escaped, but it lets a
        rate that had been lowered recover, by a half a launch, to the measured one.
        """
        if seconds <= 0:
            return
        observed = orbit_groups * group / seconds
        if seconds > self.budget:
            self.rate = min(self.rate, observed)
        elif observed > self.rate:
            self.rate = min(self._measured_rate, self.rate * _RECOVERY)
