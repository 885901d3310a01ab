"""The parts of a cluster that need neither Dask nor a device: addresses, introductions, who is there, the relay."""

import asyncio
import queue
import sys
import threading
import time
from array import array
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, replace
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np
import pytest

from mandelcl.base.errors import DeviceError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.block import Block
from mandelcl.core.job import Job
from mandelcl.engine.loop.sizing import ELSEWHERE, HERE, paced_block_pixels
from mandelcl.engine.selftest import SelfTestResult
from mandelcl.engine.variant import Variant
from mandelcl.formulas.formula import Formula
from mandelcl.rendering.crew.dask import handshake, relay, supervisor, tasks
from mandelcl.rendering.crew.dask.address import SchedulerAddress
from mandelcl.rendering.crew.dask.handshake import KEY, Handshake, RemoteDevice
from mandelcl.rendering.crew.dask.members import Members
from mandelcl.rendering.crew.dask.placement import Placement, RemotePart, parsed
from mandelcl.rendering.crew.dask.preload import index_of
from mandelcl.rendering.crew.dask.relay import Relay
from mandelcl.rendering.crew.dask.remote_worker import RemoteWorker
from mandelcl.rendering.crew.messages import block_head
from mandelcl.workers.process import Activity, WorkerMessage
from mandelcl.workers.wire import WireError

DEVICE = RemoteDevice("0:0", "Fast", "Some Platform", "1.2", "0:0 Fast (Some Platform)", "gpu", True, False, 132, None)


def ran(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what work comes to, in a thread of its own: a browser's loop may run in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("local", SchedulerAddress("", 1)),
        ("local:3", SchedulerAddress("", 3)),
        ("tcp://10.0.0.1:8786", SchedulerAddress("tcp://10.0.0.1:8786")),
        ("tls://head", SchedulerAddress("tls://head")),
        ("tcp://[::1]:8786", SchedulerAddress("tcp://[::1]:8786")),
    ],
)
def test_addresses(text: str, found: SchedulerAddress) -> None:
    assert SchedulerAddress.parse(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "local:0",
        "local:257",
        "local:x",
        "head:8786",
        "tcp://",
        "tcp://a b:1",
        "http://a",
        "local:٢",
        "tcp://a:٨٧٨٦",
        "tcp://[::1]:٨",
    ],
)
def test_invalid_addresses(text: str) -> None:
    with pytest.raises(InvalidInputError, match="cluster"):
        SchedulerAddress.parse(text)


def test_handshake_survives_serialisation() -> None:
    reported = Handshake.here(DEVICE)
    assert Handshake.parse(reported.as_dict()) == reported
    assert reported.refusal() is None
    assert Handshake.parse(Handshake.here(None, "no driver").as_dict()).refusal() == "no driver"


def test_another_version_is_refused() -> None:
    """Of another version, or of the same one with a line changed: it might give other bits."""
    reported = Handshake.here(DEVICE)
    assert "install the same on both" in str(replace(reported, version="0.0").refusal())
    assert "other code or kernels" in str(replace(reported, code="0" * 32).refusal())


def test_fingerprint_covers_every_kernel_and_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "one.cl").write_text("x\n", encoding="utf-8")
    monkeypatch.setattr("mandelcl.opencl.texts.folder", lambda: tmp_path)
    found = set()
    for text in ("x\n", "x\r\n", "y\n"):
        (tmp_path / "one.cl").write_bytes(text.encode())
        handshake.code_digest.cache_clear()
        found.add(handshake.code_digest())
    handshake.code_digest.cache_clear()
    assert len(found) == 2, "ends of lines do not count"


@pytest.mark.parametrize(
    "nonsense",
    [None, [], {}, {"version": 1}, {**Handshake.here(DEVICE).as_dict(), "device": {"name": "x"}}]
    + [
        {**Handshake.here(DEVICE).as_dict(), "device": {**asdict(DEVICE), name: value}}
        for name, value in [("compute_units", 0), ("compute_units", True), ("fp64", 1), ("name", 3), ("watchdog", "no")]
    ],
)
def test_invalid_handshake_is_refused(nonsense: object) -> None:
    with pytest.raises(WireError):
        Handshake.parse(nonsense)


def worker(name: str = "a", reported: Any = None, seen: float = 1.0, state: Any = None) -> dict[str, Any]:
    metrics = {} if state is None else {KEY: state}
    extra = {KEY: Handshake.here(DEVICE).as_dict()} if reported is None else reported
    return {"name": name, "last_seen": seen, "metrics": metrics, **extra}


def test_worker_list_names_present_and_refused_workers() -> None:
    members = Members()
    other = {KEY: replace(Handshake.here(DEVICE), version="0.0").as_dict()}
    members.update({"tcp://h:1": worker(), "tcp://h:2": worker(reported={}), "tcp://h:3": worker(reported=other)})
    assert [member.device.label for member in members.present.values()] == ["0:0 Fast (Some Platform) at h:1"]
    assert (members.others, list(members.refused)) == (1, ["tcp://h:3"])
    member = members.present["tcp://h:1"]
    members.update({"tcp://h:1": worker(seen=2.0, state={"doing": "launching", "for": 3.0, "silent": 1.0})})
    assert member.activity == Activity("launching", 3.0)
    assert members.refused == {}
    members.update({"tcp://h:1": worker(seen=3.0, state={"doing": "dancing", "for": 3.0, "silent": 1.0})})
    assert member.activity == Activity()
    members.update({})
    assert member.gone
    assert members.present == {}


def test_wrong_worker_is_banned_by_name() -> None:
    members = Members()
    members.update({"tcp://h:1": worker("liar"), "tcp://h:2": worker("honest")})
    members.exclude(members.present["tcp://h:1"])
    members.update({"tcp://h:2": worker("honest"), "tcp://h:9": worker("liar")})
    assert list(members.present) == ["tcp://h:2"]
    assert "wrong before" in members.refused["tcp://h:9"]


def test_device_assignment_follows_from_names() -> None:
    assert [index_of(name) for name in ("SLURMCluster-3-2", "tcp://10.0.0.1:x", "worker12")] == [2, 0, 12]


def test_worker_answers_about_jobs_are_validated() -> None:
    variant = asdict(Variant(1, 1, 1, 1, 1, 1, 1))
    tested = asdict(SelfTestResult(True, "", True, 1e9, 0))
    good = {"variant": variant, "tested": tested}
    assert parsed(good) == (Variant(1, 1, 1, 1, 1, 1, 1), SelfTestResult(True, "", True, 1e9, 0))
    for bad in (
        None,
        {},
        {**good, "variant": {}},
        {**good, "variant": {**variant, "vectors": 10**400}},
        {**good, "tested": {**tested, "speed": -1}},
        {**good, "tested": {**tested, "speed": "1"}},
        {**good, "tested": {**tested, "speed": 10**400}},
        {**good, "tested": {**tested, "loop_limit": -1}},
    ):
        with pytest.raises(WireError):
            parsed(bad)


def test_block_size_targets_one_second_by_measured_rate() -> None:
    sizes = [1000]
    for seconds in (0.1, 0.2, 0.4, 0.9, 8.0, 0.5):
        sizes.append(paced_block_pixels((500, 4000), sizes[-1], sizes[-1], seconds, ELSEWHERE.most))
    assert sizes == [1000, 2000, 4000, 4000, 4000, 500, 1000]
    assert paced_block_pixels((1000, 1000), 1000, 1000, 0.01, HERE.most) == 1000


class Child:
    """The process beside a Dask worker, as far as a relay knows: it computes blocks when it is told to."""

    made: ClassVar[list["Child"]] = []

    def __init__(self, _role: str, messages: "queue.Queue[WorkerMessage]", *_sizes: int) -> None:
        self.heard, self.activity = time.monotonic(), Activity("idle", 1.0)
        self.messages, self.heads = messages, list[Mapping[str, Any]]()
        self.waiting: list[Mapping[str, Any]] = []
        self.assignment = 0
        self.ended = False
        Child.made.append(self)

    def time_since(self, moment: float) -> float:
        return time.monotonic() - moment

    def send(self, head: Mapping[str, Any], payload: Any = b"", with_buffer: bool = False) -> None:  # noqa: ARG002
        self.heads.append(head)
        if head["do"] == "open":
            self.reply({"say": "answer", "answer": asdict(DEVICE)})
        elif head["do"] == "answer":
            self.reply({"say": "answer", "answer": {"asked": head["question"]["key"]}})
        elif head["do"] in ("start", "job"):
            self.assignment = head["assignment"]
            self.waiting.clear()
            self.reply({"say": "ready", "assignment": self.assignment, "rate": 1.0, "block_pixels": 9, "build_s": 0.0})
        else:
            self.waiting.append({"say": "done", "assignment": self.assignment, "block": head["block"]})

    def release(self) -> None:
        for head in self.waiting:
            self.reply(head, np.arange(4, dtype=np.uint8).tobytes())
        self.waiting = []

    def reply(self, head: Mapping[str, Any] | None, payload: bytes = b"") -> None:
        self.messages.put(WorkerMessage(cast(Any, self), head, bytearray(payload)))

    def reclaim(self) -> None:
        pass

    def kill(self) -> None:
        pass

    def end(self) -> None:
        self.ended = True

    def last_words(self) -> str:
        return "it fell over"


@pytest.fixture
def relayed(monkeypatch: pytest.MonkeyPatch) -> Relay:
    monkeypatch.setattr(relay, "WorkerProcess", Child)
    Child.made = []
    return Relay(("gpu",), 0)


def order(session: str = "one", job: str = "{}", budget: float = 0.1) -> dict[str, Any]:
    return {"session": session, "job": job, "budget": budget}


class Asked(threading.Thread):
    """A task of a Dask worker, in a thread of its own."""

    def __init__(self, relayed: Relay, wanted: dict[str, Any], row: int) -> None:
        super().__init__(daemon=True)
        self.relayed, self.wanted, self.block = relayed, wanted, Block(0, row, 2, 2)
        self.reported: dict[str, Any] = {}
        self.start()

    def run(self) -> None:
        self.reported, self.payload = self.relayed.compute(self.wanted, block_head(self.block, urgent=False))


def until(condition: Any) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline, "it never happens"
        time.sleep(0.005)


def test_finished_tasks_become_messages(relayed: Relay) -> None:
    assert relayed.introduce() == asdict(DEVICE)
    question = {"key": ["double", "fused", "z2"], "self_test": True, "job": "{}"}
    answer = {"asked": question["key"]}
    assert relayed.probe(question) == answer
    assert relayed.probe(question) == answer
    assert relayed.introduce() == asdict(DEVICE), "also after other questions"
    assert relayed.prepare(order())[0]["say"] == "ready"
    assert relayed.introduce() == asdict(DEVICE)
    assert relayed.probe({**question, "self_test": True}) == answer, "that is known already"
    (child,) = Child.made
    assert [head["do"] for head in child.heads] == ["open", "answer", "start"]
    asked = Asked(relayed, order(), 3)
    until(lambda: child.waiting)
    child.release()
    asked.join(600)
    assert (asked.reported["say"], asked.reported["block"], asked.payload.tolist()) == (
        "done",
        [0, 3, 2, 2],
        [0, 1, 2, 3],
    )
    assert relayed.state()["doing"] == "idle"
    relayed.close()
    assert child.ended


def test_query_ends_computing_process_and_its_failure_is_dropped(relayed: Relay) -> None:
    relayed.prepare(order())
    relayed.probe({"key": ["float", "fused", "z2"], "self_test": True, "job": "{}"})
    assert [child.ended for child in Child.made] == [True, False]

    def spawn(coroutine: Any) -> "Future[None]":
        coroutine.close()
        return Future()

    connection = SimpleNamespace(session="one", spawn=spawn, control=lambda *_: None)
    worker = RemoteWorker(cast(Any, connection), cast(Any, None), queue.Queue())
    failed = {"say": "failed", "why": "another takes its place", "assignment": 1}
    worker.send({"do": "start", "assignment": 1, "job": "{}"})
    assert not worker.is_past(failed)
    worker.send({"do": "job", "assignment": 2, "job": "{}"})
    assert worker.is_past(failed)
    assert not worker.is_past({**failed, "assignment": 2})
    assert not worker.is_past({"say": "done", "assignment": 1})


_NO_MESSAGES: tuple[Any, ...] = (ValueError("no"), DeviceError("no device"), {"block": []}, None)
_NO_BYTES: tuple[Any, ...] = (
    np.zeros(4, object),
    np.zeros(4, np.uint32),
    np.zeros((4, 1), np.uint8),
    np.zeros(8, np.uint8)[::2],
    array("f", [0]),
    None,
    "text",
)


@pytest.mark.parametrize(
    ("reported", "payload"),
    [
        *((reply, b"") for reply in _NO_MESSAGES),
        *(({"say": "done"}, payload) for payload in _NO_BYTES),
    ],
)
def test_task_exception_is_a_worker_fault(reported: Any, payload: Any) -> None:
    """Also where it answers without a message, or without bytes: whoever waited for it would wait for ever."""

    async def ask(*_values: object, **_options: object) -> Any:
        if isinstance(reported, Exception):
            raise reported
        return reported, payload

    def spawn(work: Any) -> "Future[None]":
        done: Future[None] = Future()
        done.set_result(ran(work))
        return done

    connection, messages = SimpleNamespace(session="one", spawn=spawn, ask=ask), queue.Queue[WorkerMessage]()
    worker = RemoteWorker(cast(Any, connection), cast(Any, SimpleNamespace(gone=False)), messages)
    worker.send({"do": "start", "assignment": 3, "job": "{}"})
    head = messages.get_nowait().head
    assert head is not None
    assert (head["say"], worker.is_past(head)) == ("failed", False)
    worker.send({"do": "job", "assignment": 4, "job": "{}"})
    assert worker.is_past(head)


def test_julia_sets_of_one_formula_share_one_probe(relayed: Relay) -> None:
    """A sweep over constants does not end the process that computes, in order to ask it."""

    async def ask(_member: object, _task: object, question: Mapping[str, Any]) -> dict[str, Any]:
        relayed.probe(question)
        tested = asdict(SelfTestResult(True, "", True, 1e9, 0))
        return {"variant": asdict(Variant(1, 1, 1, 1, 1, 1, 1)), "tested": tested}

    placement = Placement(cast(Any, SimpleNamespace(ask=ask)), self_test=True)
    view = View.centred(0, 0, 1, 3, 3)
    for text in ("mandelbrot", "burning-ship"):
        whole = Formula.parse(text)
        for formula in (whole, *(whole.julia(re, "0.1") for re in ("-0.1", "-0.2", "-0.3"))):
            job = Job(view, 100, formula=formula, number="float", rounding="fused")
            assert isinstance(ran(placement.later(job, cast(Any, SimpleNamespace(device=DEVICE)))), RemotePart)
            relayed.prepare(order(job=job.to_json()))
    asked = [head["question"]["key"] for child in Child.made for head in child.heads if head["do"] == "answer"]
    assert asked == [
        ["float", "fused", "sqr add"],
        ["float", "fused", "sqr add julia"],
        ["float", "fused", "absx absy sqr add"],
        ["float", "fused", "absx absy sqr add julia"],
    ]
    assert len(Child.made) == len(asked)


def test_worker_answers_about_jobs_are_bounded(relayed: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "_MOST_AUDITIONS", 10)
    for number in range(30):
        relayed.probe({"key": ["float", "fused", f"z{number}"], "self_test": True, "job": "{}"})
        assert len(relayed._probes) <= 10
    (child,) = Child.made
    relayed.probe({"key": ["float", "fused", "z29"], "self_test": True, "job": "{}"})
    assert len(child.heads) == 1 + 30, "the newest are known"


def test_unresponsive_process_is_not_waited_for(relayed: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the one that takes its place: a device may be for one process at a time."""
    gone = threading.Event()
    monkeypatch.setattr(Child, "end", lambda _child: gone.wait())
    relayed.prepare(order())
    restarting = threading.Thread(target=relayed.restart, daemon=True)
    restarting.start()
    until(lambda: relayed._slot.worker is None)
    asked = Asked(relayed, order(), 0)
    dropping = threading.Thread(target=relayed.drop, args=("one",), daemon=True)
    dropping.start()
    until(lambda: not dropping.is_alive())
    assert restarting.is_alive()
    assert len(Child.made) == 1
    gone.set()
    until(lambda: len(Child.made) == 2 and Child.made[1].waiting)
    Child.made[1].release()
    asked.join(600)
    restarting.join(600)
    assert asked.reported["say"] == "done"


def test_dropping_a_task_does_not_stop_heartbeats(relayed: Relay) -> None:
    tasks.serve_by(relayed)

    async def both() -> None:
        dropping = asyncio.create_task(tasks.drop("one"))
        for _ in range(3):
            await asyncio.sleep(0.01)
        assert not dropping.done(), "another thread is at the device's process"
        free.set()
        await dropping

    free, held = threading.Event(), threading.Event()

    def hold() -> None:
        with relayed._changed:
            held.set()
            free.wait(600)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(600)
        ran(both())
    finally:
        free.set()
        thread.join()
        tasks.serve_by(None)


def test_second_client_waits_for_the_first(relayed: Relay) -> None:
    first = Asked(relayed, order("one"), 0)
    until(lambda: Child.made and Child.made[0].waiting)
    (child,) = Child.made
    second = Asked(relayed, order("two", '{"other": 1}'), 1)
    second.join(0.1)
    assert len(child.waiting) == 1
    child.release()
    first.join(600)
    until(lambda: child.waiting)
    child.release()
    second.join(600)
    assert (first.reported["say"], second.reported["say"]) == ("done", "done")
    assert [head["do"] for head in child.heads] == ["open", "start", "block", "job", "block"]


def test_dropped_tasks_are_released_and_failures_reported(relayed: Relay) -> None:
    asked = Asked(relayed, order(), 0)
    until(lambda: Child.made and Child.made[0].waiting)
    relayed.drop("somebody else's")
    assert asked.is_alive()
    relayed.drop("one")
    asked.join(600)
    assert asked.reported == {"say": "dropped"}
    asked = Asked(relayed, order(), 1)
    until(lambda: Child.made[0].waiting)
    Child.made[0].reply(None)
    asked.join(600)
    assert asked.reported == {"say": "failed", "why": "it fell over"}
    assert Child.made[0].ended
    assert relayed.prepare(order())[0]["say"] == "ready", "another process takes its place"
    assert relayed.prepare(order(budget=9.0))[0]["say"] == "ready"
    assert len(Child.made) == 3, "what a process is started with it keeps"


def test_worker_without_a_device_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    class Place(Child):
        def send(self, head: Mapping[str, Any], payload: Any = b"", with_buffer: bool = False) -> None:  # noqa: ARG002
            if head["do"] == "work":
                self.reply({"say": "failed", "why": "no device matches 'x'"})

    monkeypatch.setattr(supervisor, "WorkerProcess", Place)
    reported: list[str] = []
    watched = supervisor.Supervisor(["x"], 2, "test", reported.append)
    until(lambda: watched.given_up)
    watched.close()
    assert reported == [f"worker {turn}: no device matches 'x'; given up" for turn in (0, 1)]


def test_missing_dask_names_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    from mandelcl.rendering.crew.dask import connection

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DeviceError, match=r"a cluster needs Dask: .*cluster"):
        connection.Connection.to("local")
