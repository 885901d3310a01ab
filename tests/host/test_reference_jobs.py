"""References are computed in the background, once, and what goes wrong there is told to whoever waits."""

import re
import threading
from collections import OrderedDict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from mandelcl.base.errors import CancelledError
from mandelcl.base.view import View
from mandelcl.core.counts import MOST_NARROW
from mandelcl.core.job import Job
from mandelcl.core.reference import Reference
from mandelcl.engine.computing.settings import Progress
from mandelcl.perturbation import reference_jobs
from mandelcl.perturbation.kept import ReferenceKey
from mandelcl.perturbation.orbit import Orbit, reference_orbit
from mandelcl.rendering import waiting

FOUR = Fraction(4)
CENTRE = Reference(Fraction(-3, 4), Fraction(1, 10), Fraction(1, 10**20), 14, 14)


@pytest.fixture(autouse=True)
def nothing_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_jobs, "_begun", OrderedDict())


class Counting:
    """Computes orbits, and counts how often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0
        self.may = threading.Event()
        self.may.set()
        self.error: Exception | None = None
        monkeypatch.setattr(reference_jobs, "kept_orbit", self.orbit)

    def orbit(self, key: ReferenceKey, *arguments: Any) -> Orbit:
        assert self.may.wait(600)
        self.times += 1
        if self.error is not None:
            raise self.error
        return reference_orbit(key.reference, key.iterations, key.radius_squared, *arguments)


def test_running_reference_is_not_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    counting.may.clear()
    reference_jobs.begin(ReferenceKey(CENTRE, 1000, FOUR))
    reference_jobs.begin(ReferenceKey(CENTRE, 1000, FOUR))
    counting.may.set()
    orbit, table = reference_jobs.reference_and_table(ReferenceKey(CENTRE, 1000, FOUR))
    assert reference_jobs.reference_and_table(ReferenceKey(CENTRE, 1000, FOUR)) == (orbit, table)
    assert counting.times == 1
    alone = reference_orbit(CENTRE, 1000, FOUR)
    assert (orbit.length, orbit.ended) == (alone.length, alone.ended)


def test_jobs_with_other_tables_share_the_orbit(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    orbit, _ = reference_jobs.reference_and_table(ReferenceKey(CENTRE, 1000, FOUR))
    finer = Reference(CENTRE.re, CENTRE.im, CENTRE.radius, 22, 8)
    assert reference_jobs.reference_and_table(ReferenceKey(finer, 1000, FOUR))[0] is orbit
    assert counting.times == 1
    reference_jobs.reference_and_table(ReferenceKey(finer, 999, FOUR))
    assert counting.times == 1, "an orbit that has ended serves any limit beyond its end"
    reference_jobs.reference_and_table(ReferenceKey(finer, orbit.length - 2, FOUR))
    assert counting.times == 2, "and no lower one"


def test_few_references_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    for number in (0, 1, 2, 0):
        reference_jobs.reference_and_table(ReferenceKey(replace(CENTRE, im=CENTRE.im + number), 100, FOUR))
    assert counting.times == 4


def test_reference_errors_reach_waiters_and_are_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    counting.error = MemoryError("no room")
    for _ in range(2):
        with pytest.raises(MemoryError, match="no room"):
            reference_jobs.reference_and_table(ReferenceKey(CENTRE, 1000, FOUR))
    counting.error = None
    reference_jobs.reference_and_table(ReferenceKey(CENTRE, 1000, FOUR))
    assert counting.times == 3


class Reported:
    """A token that is set once so many iterations were told, and the telling."""

    def __init__(self, enough: int) -> None:
        self.iterations, self._enough = 0, enough

    def __call__(self, iterations: int) -> None:
        self.iterations = iterations

    def is_set(self) -> bool:
        return self.iterations >= self._enough


CUSP = Reference(Fraction(1, 4), Fraction(0), Fraction(1, 10**20), 14, 14)  # neither a period nor a proof ends it
LONG = 1 << 32


def test_waiters_get_progress_and_can_cancel() -> None:
    reported = Reported(1000)
    with pytest.raises(CancelledError):
        reference_jobs.await_begun(ReferenceKey(CUSP, LONG, FOUR), reported, reported)
    assert reported.iterations >= 1000
    (begun,) = reference_jobs._begun.values()
    begun.thread.join(600)
    assert not begun.thread.is_alive(), "nobody waits for it any more"


def test_reference_cancelled_by_one_is_computed_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    counting.may.clear()
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(CancelledError):
        reference_jobs.await_begun(ReferenceKey(CENTRE, 1000, FOUR), Reported(1), stopped)
    counting.may.set()
    reference_jobs.await_begun(ReferenceKey(CENTRE, 1000, FOUR), Reported(1))
    assert reference_jobs.reference_and_table(ReferenceKey(CENTRE, 1000, FOUR))[0].length > 1


def test_waiter_gets_the_error_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting(monkeypatch)
    counting.error = MemoryError("no room")
    with pytest.raises(MemoryError, match="no room"):
        reference_jobs.await_begun(ReferenceKey(CENTRE, 1000, FOUR), Reported(1))
    assert counting.times == 1


def test_a_long_reference_is_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_LONG_S", 0.0)
    lines: list[str] = []
    seen: list[Progress] = []
    job = Job(View.centred("0.25", "0", "1e20", 4, 3), MOST_NARROW, method="perturbation", reference=CUSP)
    reported = Reported(2)

    def show(progress: Progress) -> None:
        seen.append(progress)
        reported(sum(one.reference > 0 for one in seen))

    with pytest.raises(CancelledError):
        waiting.await_reference(job, show, lines.append, reported)
    (line,) = lines
    assert re.fullmatch(
        rf"the reference orbit has [\d,]+ of at most {MOST_NARROW:,} iterations after \d+ s and may take up to "
        r"[\d,]+ (seconds|minutes|hours|days); press Ctrl-C to stop",
        line,
    )
    assert {(one.pixels, one.pixels_total, one.iterations) for one in seen} == {(0, 12, 0)}


def test_long_exact_counts_are_announced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_LONG_S", 10.0)
    lines: list[str] = []
    seen: list[Progress] = []
    counts = waiting.ExactCounts(seen.append, lines.append)
    for seconds, done in ((100.0, 0), (105.0, 2), (120.0, 4), (125.0, 5), (200.0, 0), (230.0, 1)):
        counts.show(Progress(0, 99, 0, seconds, "a device", exact=(done, 10)))
    assert lines == [
        "4 of 10 pixels are counted in exact arithmetic after 20 s; the rest of this block may take "
        "30 seconds; press Ctrl-C to stop"
    ]
    assert [progress.exact[0] for progress in seen] == [0, 2, 4, 5, 0, 1]
    waiting.ExactCounts(None, lines.append).show(seen[0])
    assert len(lines) == 1
