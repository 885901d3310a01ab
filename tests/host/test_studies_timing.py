"""The studies' timing, with a clock that stands still unless it is told to go."""

import pytest

from mandelcl.engine.computing.settings import Settings
from mandelcl.lab.studies.row import Times
from mandelcl.lab.studies.timing import TimingSample, coarse_step, plain, repeated, steady


class Runs:
    """Runs that take the given kernel times, over and over, and advance a clock by `seconds` each."""

    def __init__(self, times: list[float], seconds: float = 0.0) -> None:
        self.times, self.seconds, self.now, self.made = times, seconds, 0.0, 0

    def run(self) -> TimingSample:
        kernel = self.times[self.made % len(self.times)] + 1e-9 * self.made  # no two alike: not a coarse clock
        self.made += 1
        self.now += self.seconds
        return TimingSample(kernel, 0.0, kernel, 1, kernel)

    def clock(self) -> float:
        return self.now


@pytest.mark.parametrize("repeat", [1, 2, 3, 10])
def test_steady_times_are_repeated_as_often_as_asked(repeat: int) -> None:
    runs = Runs([1.0, 1.001, 0.999, 1.0005])
    assert len(repeated(runs.run, repeat, 60, runs.clock)) == repeat == runs.made


def test_repeats_grow_with_the_spread_up_to_a_limit() -> None:
    wide = Runs([1.0, 2.0, 1.4, 3.0, 1.1])
    assert len(repeated(wide.run, 10, 60, wide.clock)) == 50
    mild = Runs([1.0, 1.06, 1.03, 1.1, 0.97])
    assert 10 <= len(repeated(mild.run, 10, 60, mild.clock)) < 50
    slow = Runs([1.0, 2.0, 1.4, 3.0, 1.1], seconds=0.5)
    assert len(repeated(slow.run, 10, 60, slow.clock)) == 13  # 1 s more, and the run under way


def test_time_limit_ends_repeats_after_at_least_one_run() -> None:
    runs = Runs([1.0], seconds=4.0)
    assert len(repeated(runs.run, 10, 9, runs.clock)) == 3
    assert len(repeated(Runs([1.0], seconds=4.0).run, 10, 1, iter(range(100)).__next__)) == 2
    late = Runs([1.0], seconds=100.0)
    assert len(repeated(late.run, 10, 1, late.clock)) == 1


def test_coarse_clock_is_detected() -> None:
    assert coarse_step([0.001, 0.002, 0.001, 0.001, 0.002, 0.001]) == pytest.approx(0.001)
    assert coarse_step([1.0, 1.0001, 1.0, 1.0001, 1.0]) is None  # steps, but fine ones
    assert coarse_step([1.0, 1.1, 1.2, 1.3]) is None
    assert not steady([0.001, 0.002, 0.001, 0.001, 0.002, 0.001])


def test_times() -> None:
    times = Times.of([3.0, 1.0, 8.0, 2.0])
    assert (times.min, times.median, times.max, times.mean) == (1.0, 2.5, 8.0, 3.5)


def test_timing_changes_only_shortcuts() -> None:
    assert plain(None) == Settings(shortcuts=False)
    assert plain(Settings(budget=0.5, blocks=(2, 2))) == Settings(budget=0.5, blocks=(2, 2), shortcuts=False)
