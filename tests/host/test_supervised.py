"""A worker slot: its timeouts, and when another worker takes the place of one that was lost."""

import math
import threading
import time
from collections.abc import Callable
from typing import Any, cast

import pytest

from mandelcl.base.errors import DeviceError
from mandelcl.workers.process import Activity, Worker, WorkerMessage
from mandelcl.workers.supervised import RestartPolicy, SupervisedWorker


class Clock:
    """The time, which passes when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


class Idle:
    """A worker that does what a test says."""

    def __init__(self) -> None:
        self.heard, self.activity, self.ended = time.monotonic(), Activity("idle"), False

    def time_since(self, moment: float) -> float:
        return time.monotonic() - moment

    def end(self) -> None:
        self.ended = True

    def last_words(self) -> str:
        return "it left"


class Slot:
    """A slot, the workers started for it, and what the system says to the next starts."""

    def __init__(self, policy: RestartPolicy, *refused: bool, **options: Any) -> None:
        self.started: list[Idle] = []
        self.refused = list(refused)
        self.of = SupervisedWorker(self._start, policy, **options)

    def _start(self) -> Worker:
        if self.refused and self.refused.pop(0):
            raise DeviceError("cannot start a worker process")
        self.started.append(Idle())
        return cast(Worker, self.started[-1])

    def ending(self) -> bool:
        return self.of.ending


# (doing, seconds said, seconds of silence, seconds for a launch) and what is said of it.
LATE = [
    ("starting", 599.0, 0.0, 0.0, None),
    ("starting", 601.0, 0.0, 0.0, "not ready after 600 s"),
    ("building", 599.0, 599.0, 0.0, None),
    ("building", 601.0, 0.0, 0.0, "not ready after 600 s"),
    ("building", 5.0, 601.0, 0.0, "silent for 600 s"),
    ("launching", 19.0, 19.0, 0.0, None),
    ("launching", 21.0, 0.0, 0.0, "in one launch for 20 s"),
    ("launching", 0.0, 21.0, 0.0, "silent for 20 s"),
    ("launching", 149.0, 149.0, 150.0, None),
    ("launching", 151.0, 0.0, 150.0, "in one launch for 150 s"),
    ("idle", 500.0, 0.0, 0.0, None),
    ("idle", 500.0, 21.0, 0.0, "silent for 20 s"),
]


@pytest.mark.parametrize(("doing", "seconds", "silence", "launch", "why"), LATE)
def test_worker_timeouts_are_enforced(
    doing: str, seconds: float, silence: float, launch: float, why: str | None
) -> None:
    """One that has been given something to do just now."""
    slot = Slot(RestartPolicy())
    slot.of.start()
    slot.of.given_work()
    worker = slot.started[0]
    worker.activity, worker.heard = Activity(doing, seconds), time.monotonic() - silence
    assert slot.of.overdue(launch=launch) == why
    silent = why if why and why.startswith("silent") else None
    assert slot.of.overdue(busy=False, launch=launch) == silent


def test_worker_without_progress_is_overdue(clock: Clock) -> None:
    slot = Slot(RestartPolicy())
    slot.of.start()
    slot.of.given_work()
    for _ in range(3):
        assert slot.of.overdue() is None
        clock.now += 7.0
        slot.started[0].heard, slot.started[0].activity = clock.now, Activity("idle", 500.0)
    assert slot.of.overdue() == "idle for 20 s with blocks to compute"
    assert slot.of.overdue(busy=False) is None


def test_delay_of_this_process_is_not_counted_as_silence(clock: Clock) -> None:
    slot = Slot(RestartPolicy(launch=10.0))
    assert slot.of.overdue() is None, "there is no worker"
    slot.of.start()
    for expected in (None, None, "silent for 10 s"):
        clock.now += 4.9
        assert slot.of.overdue() == expected
    clock.now += 5.1
    assert slot.of.overdue() is None
    for expected in (None, None, "silent for 10 s"):
        clock.now += 4.9
        assert slot.of.overdue() == expected


@pytest.mark.parametrize("background", [False, True])
def test_lost_worker_is_replaced_until_too_many_faults_in_a_row(background: bool) -> None:
    slot = Slot(RestartPolicy(), background=background)
    slot.of.start()
    assert [slot.of.restart(), slot.of.restart()] == [True, True]
    slot.of.succeeded()
    assert [slot.of.restart() for _ in range(3)] == [True, True, False]
    assert (slot.of.worker, slot.of.given_up, len(slot.started)) == (None, True, 5)
    deadline = time.monotonic() + 600
    while not all(worker.ended for worker in slot.started):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_slot_has_a_total_fault_limit() -> None:
    slot = Slot(RestartPolicy(faults_in_a_row=math.inf, faults=5))
    slot.of.start()
    assert [slot.of.restart() for _ in range(5)] == [True] * 4 + [False]


def test_abandoned_slot_is_retried_after_a_pause(clock: Clock) -> None:
    slot = Slot(RestartPolicy(faults_in_a_row=1, rest=10.0))
    slot.of.start()
    assert not slot.of.restart()
    clock.now += 9
    assert slot.of.given_up
    clock.now += 2
    assert not slot.of.given_up


def test_worker_restarts_follow_the_pause_schedule(clock: Clock) -> None:
    slot = Slot(RestartPolicy(faults_in_a_row=math.inf, faults=math.inf, well=60.0, pauses=(0.25, 1.0, 5.0)))
    for lasted, pause in ((1, 0.25), (1, 1.0), (60, 5.0), (1, 5.0), (61, 0.25), (1, 1.0)):
        slot.of.start()
        assert not slot.of.due, "it has a worker"
        clock.now += lasted
        assert slot.of.failed()
        assert not slot.of.due
        clock.now += pause
        assert slot.of.due
    slot.refused = [True]
    with pytest.raises(DeviceError):
        slot.of.start()
    assert slot.of.failed()
    assert not slot.of.due


def test_released_worker_ends_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = threading.Event()
    monkeypatch.setattr(Idle, "end", lambda _worker: gone.wait())
    slot = Slot(RestartPolicy())
    slot.of.release()
    assert not slot.ending(), "there was none"
    slot.of.start()
    slot.of.release()
    slot.of.start()
    assert slot.ending()
    gone.set()
    deadline = time.monotonic() + 600
    while slot.ending():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert cast(Any, slot.of.worker) is slot.started[1]


@pytest.mark.parametrize(("refused", "again"), [((False, True, True), False), ((False, True, False), True)])
def test_failed_process_start_counts_as_a_fault(refused: tuple[bool, ...], again: bool) -> None:
    slot = Slot(RestartPolicy(), *refused)
    slot.of.start()
    assert slot.of.restart() == again
    with pytest.raises(DeviceError):
        Slot(RestartPolicy(), True).of.start()


def deep() -> list[Any]:
    nested: list[Any] = []
    for _ in range(5000):
        nested = [nested]
    return nested


@pytest.mark.parametrize("why", ["\x1b[31m red", "\ud800", "a\nb", deep, None])
def test_worker_output_in_errors_is_escaped(why: "str | Callable[[], object] | None") -> None:
    worker = cast(Worker, Idle())
    loss = WorkerMessage(worker, {"say": "failed", "why": why() if callable(why) else why}, bytearray()).loss
    assert loss
    assert loss.isprintable()
    assert WorkerMessage(worker, None, bytearray()).loss == "it left"
    assert WorkerMessage(worker, {"say": "done"}, bytearray()).loss is None
