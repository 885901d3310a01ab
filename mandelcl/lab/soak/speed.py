"""Decide whether a device kept its speed: pure functions of the speeds measured in each round.

Other programs disturb speeds on a desktop: they slow single rounds, some rounds in a row, or all rounds a
little. So this module uses medians, quartiles and ranks, which a few disturbed rounds do not change.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

WARM_UP = 0.05  # of the time; and the first round always
LEAST_DROP = 0.1  # a device that loses less is not called slowed
LEAST_ROUNDS = 40  # with fewer a slow-down cannot be told from chance
FALSE_ALARM = 1e-3  # at most this likely for a job whose rounds are alike but for chance
_SEGMENTS = 60
_LEAST_SEGMENTS = 7  # on either side of a change
_NEAR = 8  # segments by which the ranks may miss a change
_STRETCHES = 6
_RISES = 2.0  # a fall counts if it is this many times as large as any rise
_RECOVERED = 5  # the last part of this many is looked at by itself


@dataclass(frozen=True, slots=True)
class Slowdown:
    """A lasting change: seconds into the run, the median speeds before and after."""

    since: float
    before: float
    after: float

    @property
    def drop(self) -> float:
        """The share of the speed that was lost."""
        return 1 - self.after / self.before


@dataclass(frozen=True, slots=True)
class Steadiness:
    """The steadiness of a job: the median and the spread of its speeds, and any slow-down.

    The spread is the distance between the quartiles as a share of the median; on either side of a slow-down, the larger
    one. `conclusive` says whether there were rounds enough to find a slow-down.
    """

    rounds: int
    median: float
    spread: float
    conclusive: bool
    slowdown: Slowdown | None = None


def steadiness(times: Sequence[float], speeds: Sequence[float]) -> Steadiness | None:
    """Return the steadiness of speeds that were measured at some times, in seconds. The last is that of the end.

    None if there is none after the warm-up.
    """
    first = next((k for k, time in enumerate(times) if k and time >= WARM_UP * times[-1]), len(times))
    times, speeds = times[first:], speeds[first:]
    if not speeds:
        return None
    conclusive = len(speeds) >= LEAST_ROUNDS
    slowdown = found_slowdown(times, speeds) if conclusive else None
    parts = [speeds]
    if slowdown is not None:
        change = next(k for k, time in enumerate(times) if time >= slowdown.since)
        parts = [speeds[:change], speeds[change:]]
    return Steadiness(len(speeds), statistics.median(speeds), max(map(spread, parts)), conclusive, slowdown)


def spread(speeds: Sequence[float]) -> float:
    """Return the distance between the quartiles as a share of the median; 0 for fewer than two."""
    if len(speeds) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(speeds, n=4, method="inclusive")
    return (high - low) / middle if middle > 0 else 0.0


def found_slowdown(times: Sequence[float], speeds: Sequence[float]) -> Slowdown | None:
    """Return the lasting slow-down of some speeds; None if there is none.

    The rounds are taken together to at most 119 segments, by their medians, and parted where the ranks before and after
    differ most (Pettitt's change point), or near there, where two medians fit best. From there on,

    - median and upper quartile must be a tenth lower than before: a disturbed device still reaches its speed at times;
    - the last fifth must not have recovered;
    - the fall must be twice as large as any rise, since a speed that wanders falls and rises;
    - and by the exact distribution of ranks (Mann and Whitney) it must be unlikely for rounds that are alike, all the
      places taken together where the change might be: FALSE_ALARM.
    """
    size = max(1, len(speeds) // _SEGMENTS)
    starts = range(0, len(speeds) - size + 1, size)
    levels = [statistics.median(speeds[k : k + size]) for k in starts]
    places = range(_LEAST_SEGMENTS, len(levels) - _LEAST_SEGMENTS + 1)
    if not places:
        return None
    about = max(places, key=_shifts(levels).__getitem__)
    near = range(max(places[0], about - _NEAR), min(places[-1], about + _NEAR) + 1)
    place = min(near, key=lambda k: _misfit(levels[:k]) + _misfit(levels[k:]))
    before, after = levels[:place], levels[place:]
    change = Slowdown(times[starts[place]], statistics.median(before), statistics.median(after))
    kept = 1 - LEAST_DROP
    recovered = statistics.median(levels[-max(1, len(levels) // _RECOVERED) :]) > kept * change.before
    disturbed = _upper(after) > kept * _upper(before)
    if recovered or disturbed or change.drop < max(LEAST_DROP, _RISES * largest_rise(levels)):
        return None
    return change if chance_of_ranks(before, after) <= FALSE_ALARM / len(places) else None


def largest_rise(levels: Sequence[float]) -> float:
    """Return the largest relative rise between the medians of two stretches, each a sixth of the run."""
    length = max(_LEAST_SEGMENTS, len(levels) // _STRETCHES)
    medians = [statistics.median(levels[k : k + length]) for k in range(len(levels) - length + 1)]
    least, rise = math.inf, 0.0
    for earlier, later in zip(medians, medians[length:], strict=False):
        least = min(least, earlier)
        rise = max(rise, later / least - 1)
    return rise


def chance_of_ranks(before: Sequence[float], after: Sequence[float]) -> float:
    """Return how likely it is for values that are alike that `after` is as low beside `before` as it is, or lower."""
    ways = _ways(len(before), len(after))
    return sum(ways[_higher(before, after) :]) / sum(ways)


def _misfit(levels: Sequence[float]) -> float:
    """Return the sum of the distances from the median."""
    middle = statistics.median(levels)
    return sum(abs(level - middle) for level in levels)


def _shifts(levels: Sequence[float]) -> list[float]:
    """Return for each place by how many pairs more than half the level before it is the higher one."""
    higher, shifts = 0, [0.0]
    for k, level in enumerate(levels):
        higher += sum(level > later for later in levels[k + 1 :]) - sum(earlier > level for earlier in levels[:k])
        shifts.append(higher - (k + 1) * (len(levels) - k - 1) / 2)
    return shifts


def _higher(before: Sequence[float], after: Sequence[float]) -> int:
    """Return how many of the pairs have the higher value before; ties count for no change."""
    return sum(b > a for b in before for a in after)


def _upper(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=4, method="inclusive")[2]


@cache
def _ways(first: int, second: int) -> list[int]:
    """Return how many orders of `first` and `second` values have 0, 1, 2 … pairs the wrong way round.

    These are the coefficients of the Gaussian binomial, the product of (1 − q^(second + k)) / (1 − q^k).
    """
    ways = [1] + [0] * (first * second)
    for k in range(1, first + 1):
        for power in range(len(ways) - 1, second + k - 1, -1):
            ways[power] -= ways[power - second - k]
        for power in range(k, len(ways)):
            ways[power] += ways[power - k]
    return ways
