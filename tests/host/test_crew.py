"""A crew among workers that exist only here: honest ones, late ones, and ones that say what makes no sense."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mandelcl.base.errors import LONGEST_LINE, CancelledError, DeviceError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.base.words import NO_COUNT, Words
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine import choose
from mandelcl.engine.choose import Choice
from mandelcl.engine.computing.settings import Settings
from mandelcl.engine.methods import direct
from mandelcl.engine.variant import Variant
from mandelcl.formulas import MANDELBROT, Julia
from mandelcl.opencl.device import Device
from mandelcl.rendering.crew import checking
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.crew.messages import block_head, parse
from mandelcl.rendering.crew.worker_slot import WorkerSlot
from mandelcl.workers.process import Activity, WorkerMessage
from mandelcl.workers.supervised import RestartPolicy
from mandelcl.workers.wire import WireError

Messages = queue.Queue[WorkerMessage]
Head = dict[str, Any]


def job(re: int = 0, iterations: int = 40) -> Job:
    view = View.centred(Fraction(re), Fraction(0), Fraction(3), 20, 15)
    return Job(view, iterations, number="float", rounding="separate", method="direct")


@cache
def counts(wanted: Job) -> Words:
    view = wanted.view
    rows = [[direct.count(wanted, x, y, wanted.iterations) for x in range(view.width)] for y in range(view.height)]
    return np.array(rows, np.uint32)


class Honest:
    """A worker that answers everything at once, by bytes. `reported` may change what it says."""

    def __init__(self, messages: Messages) -> None:
        self.heard, self.activity = time.monotonic(), Activity("idle")
        self.messages = messages
        self.heads: list[Head] = []
        self.ended = False
        self.job: Job | None = None
        self.assignment = 0

    def time_since(self, moment: float) -> float:
        return time.monotonic() - moment

    def send(self, head: Mapping[str, Any], payload: Any = b"", with_buffer: bool = False) -> None:  # noqa: ARG002
        self.heads.append(dict(head))
        for reported, results in self.answers(head):
            self.reply(reported, results)

    def answers(self, head: Mapping[str, Any]) -> list[tuple[Head, bytes]]:
        if head["do"] != "block":
            self.assignment = head["assignment"]
            self.job = Job.from_json(head["job"]) if head["job"] else self.job
            reported = {"say": "ready", "assignment": self.assignment, "rate": 1e4, "block_pixels": 50, "build_s": 0.0}
            return [(reported, b"")]
        assert self.job is not None
        block = Block(*head["block"])
        part = counts(self.job)[block.y : block.y + block.height, block.x : block.x + block.width]
        reported = {"say": "done", "assignment": self.assignment, "block": head["block"]}
        return [(reported | {"launches": [0.1], "copy_s": 0.1, "filled": 1}, part.tobytes())]

    def reply(self, reported: Head | None, payload: bytes = b"") -> None:
        self.messages.put(WorkerMessage(self, reported, bytearray(payload)))

    def reclaim(self) -> None:
        pass

    def kill(self) -> None:
        self.ended = True

    def end(self) -> None:
        self.ended = True

    def last_words(self) -> str:
        return "it left"


class Late(Honest):
    """A worker that answers when it is told to."""

    def __init__(self, messages: Messages) -> None:
        super().__init__(messages)
        self.waiting: list[tuple[Head, bytes]] = []

    def reply(self, reported: Head | None, payload: bytes = b"") -> None:
        assert reported is not None
        self.waiting.append((reported, payload))

    def release(self) -> None:
        for reported, payload in self.waiting:
            super().reply(reported, payload)
        self.waiting.clear()


def device(name: str) -> Device:
    facts = {"spec": name, "name": name, "platform": "test", "driver": "1", "label": name, "type": "cpu"}
    return cast(Device, SimpleNamespace(**facts, watchdog=None, compute_units=1))


def choices(wanted: Job, devices: Sequence[Device]) -> list[Choice]:
    variant = Variant(1, 1, stride=1, unrolled=1, lane_columns=1, local_columns=1, local_rows=1)
    return [Choice(each, wanted, variant, speed=1e4) for each in devices]


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the names of the devices that can do every job; a test may take some out."""
    names = {"a", "b", "c"}

    def several(
        wanted: Job, devices: Sequence[Device], *_rest: object, **_more: object
    ) -> tuple[list[Choice], list[str]]:
        found = [each for each in devices if each.name in names]
        return choices(wanted, found), [f"left out: {each.name}" for each in devices if each not in found]

    monkeypatch.setattr(choose, "several", several)
    return names


class Among:
    """A crew of devices a, b …, a worker of a kind for each, and the workers started so far, by kind."""

    def __init__(self, *kinds: Callable[..., Honest], wanted: Job | None = None) -> None:
        self.workers: list[Honest] = []
        self.notices: list[str] = []
        wanted = wanted or job()
        names = "abc"[: len(kinds)]
        turn = iter(kinds)

        def start(_part: object, messages: Messages) -> Honest:
            kind = next(turn, None) or kinds[-1]
            self.workers.append(kind(messages))
            return self.workers[-1]

        every = choices(wanted, [device(name) for name in names])
        self.crew = Crew(every, start_worker=start, on_message=self.notices.append)

    def field(self, limit: int = 1 << 30) -> Words:
        """Return the counts of the crew's job, of at most so many blocks."""
        view = self.crew.job.view
        field = np.zeros((view.height, view.width), np.uint32)
        run = self.crew.run([Block(0, 0, view.width, view.height)])
        for number, (block, results, _) in enumerate(run):
            field[block.y : block.y + block.height, block.x : block.x + block.width] += results[0]
            if number + 1 == limit:
                break
        return field


def test_crew_of_correct_workers_renders_and_keeps_all_workers() -> None:
    among = Among(Honest, Honest)
    with closing(among.crew) as crew:
        for _ in range(2):
            assert np.array_equal(among.field(), counts(job()))
        assert not any(worker.ended for worker in among.workers)
        assert (len(among.workers), crew.faults) == (2, [])
    assert all(worker.ended for worker in among.workers)
    with pytest.raises(DeviceError, match="no device is left"):
        among.field()


def test_filled_pixels_are_counted_once_a_block() -> None:
    """Also where two workers have done the same block."""
    among = Among(Honest, Honest)
    with closing(among.crew) as crew:
        view = crew.job.view
        done = list(crew.run([Block(0, 0, view.width, view.height)]))
        blocks = [block for block, *_ in done]
        assert crew.log.totals.iterations == sum(int(results[0].sum()) for _, results, _ in done)
        assert crew.report("", {}).pixels_computed == view.pixels - len(blocks)


def test_another_job_goes_to_the_same_workers(able: set[str]) -> None:
    among = Among(Honest, Honest)
    with closing(among.crew) as crew:
        among.field()
        for wanted in (job(1), job(-1, 90), job()):
            crew.reset(wanted)
            assert np.array_equal(among.field(), counts(wanted))
            assert (crew.job, crew.faults, crew.log.pixels_filled > 0) == (wanted, [], True)
        assert len(among.workers) == 2
        able.discard("b")
        crew.reset(job(1))
        assert among.notices == ["left out: b"]
        sent = len([head for head in among.workers[1].heads if head["do"] == "block"])
        assert np.array_equal(among.field(), counts(job(1)))
        assert sent == len([head for head in among.workers[1].heads if head["do"] == "block"])
        able.add("b")
        crew.reset(job())
        assert np.array_equal(among.field(), counts(job()))


@pytest.mark.parametrize("change", [{"number": "double"}, {"rounding": "fused"}, {"algorithm": "auto"}])
def test_a_job_of_another_kind_is_refused(change: dict[str, str]) -> None:
    among = Among(Honest)
    with closing(among.crew) as crew:
        with pytest.raises(InvalidInputError, match="start a new one"):
            crew.reset(replace(job(), **change))  # type: ignore[arg-type]
        assert np.array_equal(among.field(), counts(job()))


@pytest.mark.usefixtures("able")
def test_messages_of_an_earlier_job_are_dropped() -> None:
    """Results that come late belong to no block of the new job, and are nobody's fault."""
    among = Among(Honest, Late)
    late = cast(Late, among.workers[1])
    with closing(among.crew) as crew:
        late.release()
        crew.assemble()
        run = crew.run([Block(0, 0, 20, 15)])
        next(run)
        assert any(reported["say"] == "done" for reported, _ in late.waiting)
        crew.reset(job(1))
        assert list(run) == []
        late.release()
        assert np.array_equal(among.field(), counts(job(1)))
        assert crew.faults == []


@pytest.mark.usefixtures("able")
def test_worker_receives_one_job_at_a_time() -> None:
    """One that does not answer must not have its pipe filled with jobs; of those in between it never hears."""
    among = Among(Honest, Late)
    late = cast(Late, among.workers[1])
    with closing(among.crew) as crew:
        for number in range(1, 100):
            crew.reset(job(number % 3, 40 + number))
        assert [head["do"] for head in late.heads] == ["start"]
        late.release()
        while len(late.heads) < 2:
            crew._await_event()
        assert Job.from_json(late.heads[1]["job"]) == crew.job
        late.release()
        crew.assemble()
        assert np.array_equal(among.field(), counts(crew.job))
        assert crew.faults == []


def test_new_run_ends_the_previous_one() -> None:
    among = Among(Honest, Honest)
    with closing(among.crew) as crew:
        first = crew.run([Block(0, 0, 20, 15)])
        next(first)
        assert np.array_equal(among.field(), counts(job()))
        assert list(first) == []
        among.field(limit=1)
        assert np.array_equal(among.field(), counts(job()))
        assert crew.faults == []


@pytest.mark.usefixtures("able")
def test_a_run_is_cancelled_by_its_own_token_alone() -> None:
    among = Among(Honest, Honest)
    mine, other = threading.Event(), threading.Event()
    with closing(among.crew) as crew:
        first = crew.run([Block(0, 0, 20, 15)], cancel=other)
        next(first)
        second = crew.run([Block(0, 0, 20, 15)], cancel=mine)
        next(second)
        first.close()  # type: ignore[attr-defined]  # it is a generator
        other.set()
        next(second)
        mine.set()
        with pytest.raises(CancelledError):
            deque(second, maxlen=0)
        third = crew.run([Block(0, 0, 20, 15)], cancel=mine)
        with pytest.raises(CancelledError):
            deque(third, maxlen=0)
        crew.reset(job(1))
        assert np.array_equal(among.field(), counts(job(1)))


class Refused(Honest):
    """A worker that ends at once; no other can be started."""

    started = 0

    def __init__(self, messages: Messages) -> None:
        super().__init__(messages)
        Refused.started += 1
        if Refused.started > 1:
            raise DeviceError("cannot start a worker process")

    def reply(self, reported: Head | None, payload: bytes = b"") -> None:
        super().reply(reported if reported and reported["say"] == "ready" else None, payload)


def test_device_is_retired_if_its_process_cannot_start() -> None:
    Refused.started = 0
    among = Among(Honest, Refused)
    with closing(among.crew) as crew:
        assert np.array_equal(among.field(), counts(job()))
        assert crew.faults == ["b: it left; it is retired"]
        assert Refused.started == 3


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(1 << 70),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
KEYS = ("say", "assignment", "rate", "block_pixels", "build_s", "block", "launches", "copy_s", "filled")
mutations = st.one_of(
    st.tuples(st.just("drop"), st.sampled_from(KEYS), st.none()),
    st.tuples(st.just("set"), st.sampled_from(KEYS), json_values),
    st.tuples(st.just("cut"), st.just(""), st.integers(1, 9)),
    st.tuples(st.just("add"), st.just(""), st.integers(1, 9)),
    st.tuples(st.just("again"), st.just(""), st.none()),
    st.tuples(st.just("head"), st.just(""), st.dictionaries(st.sampled_from([*KEYS, "why"]), json_values, max_size=4)),
    st.tuples(st.just("end"), st.just(""), st.none()),
)


def nonsensical(changes: Sequence[tuple[str, str, Any]]) -> type[Honest]:
    """Return a kind of worker whose replies are changed, one way after the other, over and over."""
    replies = 0

    class Nonsensical(Honest):
        def reply(self, reported: Head | None, payload: bytes = b"") -> None:
            nonlocal replies
            how, key, value = changes[replies % len(changes)]
            replies += 1
            changed = deepcopy(reported) or {}
            if how == "drop":
                changed.pop(key, None)
            elif how == "set":
                changed[key] = value
            elif how == "cut":
                payload = payload[:-value]
            elif how == "add":
                payload += bytes(value)
            elif how == "again":
                super().reply(changed, payload)
            elif how == "head":
                changed = value
            super().reply(None if how == "end" else changed, payload)

    return Nonsensical


def test_invalid_message_ends_only_its_worker() -> None:
    among = Among(Honest, nonsensical([("drop", "block", None)]))
    with closing(among.crew) as crew:
        assert np.array_equal(among.field(), counts(job()))
        assert crew.faults[0] == "b: sent an invalid message: no block; started again"
        assert all(fault.startswith("b: ") for fault in crew.faults)
        assert [worker.ended for worker in among.workers][:2] == [False, True]


def test_long_worker_output_is_cut_to_one_line() -> None:
    among = Among(Honest, nonsensical([("head", "", {"say": "failed", "why": "\x1b[31mno " * 1000})]))
    with closing(among.crew) as crew:
        assert np.array_equal(among.field(), counts(job()))
        assert crew.faults[0].startswith("b: ")
        assert crew.faults[0].endswith("; started again")
        assert all(len(fault) <= LONGEST_LINE and fault.isprintable() for fault in crew.faults)
        assert among.notices == crew.faults


@given(st.lists(mutations, min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
def test_picture_is_correct_for_any_worker_message(changes: list[tuple[str, str, Any]]) -> None:
    among = Among(Honest, nonsensical(changes))
    with closing(among.crew) as crew:
        assert np.array_equal(among.field(), counts(job()))
        assert all(fault.startswith("b: ") and fault.isprintable() for fault in crew.faults)
        report = crew.report("", {})
        assert 0 <= report.pixels_computed <= job().view.pixels
        assert np.isfinite([report.kernel_s, report.copy_s, report.build_s]).all()


@given(st.lists(mutations, min_size=1, max_size=5))
@example([("set", "assignment", 0)])
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
def test_all_workers_invalid_is_one_line(changes: list[tuple[str, str, Any]]) -> None:
    failure = "no device is left: a: "
    try:
        among = Among(nonsensical(changes))
        with closing(among.crew):
            assert np.array_equal(among.field(), counts(job()))
    except DeviceError as error:
        failure = str(error)
    assert failure.startswith("no device is left: a: ")


@pytest.mark.parametrize(
    "head",
    [
        {},
        {"say": "ready", "assignment": 1, "rate": 0, "block_pixels": 1, "build_s": 0},
        {"say": "ready", "assignment": 1, "rate": 1e300, "block_pixels": 1, "build_s": 0},
        {"say": "ready", "assignment": True, "rate": 1, "block_pixels": 1, "build_s": 0},
        {"say": "done", "assignment": 1, "block": [0, 0, 2, 2], "launches": [], "copy_s": 0, "filled": 5},
        {"say": "done", "assignment": 1, "block": [0, 0, 2], "launches": [], "copy_s": 0, "filled": 0},
        {"say": "done", "assignment": 1, "block": [0, 0, 2, -2], "launches": [], "copy_s": 0, "filled": 0},
        {"say": "done", "assignment": 1, "block": [0, 0, 2, 2], "launches": [-1], "copy_s": 0, "filled": 0},
        {"say": "done", "assignment": 1, "block": [0, 0, 2, 2], "launches": 1, "copy_s": 0, "filled": 0},
    ],
)
def test_invalid_messages_are_refused(head: Head) -> None:
    with pytest.raises(WireError):
        parse(head)


def slot_of(kind: type[Honest], options: Settings | None = None) -> WorkerSlot:
    """Return a seat with a worker, for a job of 300 pixels."""
    slot = WorkerSlot(
        choices(job(), [device("a")])[0], options or Settings(), RestartPolicy(), partial(kind, queue.Queue())
    )
    slot.assign(1, job(), 300)
    slot.start()
    return slot


@pytest.mark.parametrize(
    ("seconds", "budget", "why"),
    [
        (19.0, None, None),
        (21.0, None, "in one launch for 20 s"),
        (149.0, 30.0, None),
        (151.0, 30.0, "in one launch for 150 s"),
    ],
)
def test_a_launch_may_take_five_times_its_budget(seconds: float, budget: float | None, why: str | None) -> None:
    slot = slot_of(Late, Settings(budget=budget))
    worker = cast(Late, slot.worker)
    assert slot.make_ready(cast(Any, parse(worker.waiting[0][0])))
    slot.give(Block(0, 0, 1, 1), idle=True)
    worker.activity = Activity("launching", seconds)
    assert slot.overdue(busy=True) == why
    assert slot.overdue(busy=False) is None


def test_blocks_go_to_ready_workers_only() -> None:
    slot = slot_of(Late)
    with pytest.raises(RuntimeError, match="once it is ready"):
        slot.give(Block(0, 0, 1, 1))
    assert block_head(Block(1, 2, 3, 4), urgent=True) == {"do": "block", "block": [1, 2, 3, 4], "urgent": True}


def test_count_of_0_is_accepted_if_orbits_may_start_outside() -> None:
    results = np.array([[[0, 1], [2, 40]]], np.uint32)
    assert checking.implausible(results, job()) == "returned counts outside 1 to 40"
    assert checking.implausible(results, replace(job(), formula=Julia(0, 1))) is None
    assert MANDELBROT.begins_inside
    results[0, 0, 0] = 41
    assert checking.implausible(results, replace(job(), formula=Julia(0, 1))) == "returned counts outside 0 to 40"
    results[0, 0, 0] = NO_COUNT
    assert checking.implausible(results, job()) == "returned memory that it never wrote"
