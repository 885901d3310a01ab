"""Studies on the workers of a cluster: whose rows there are, in which turn, and what is said of a worker that fails."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Any, cast

import pytest

from mandelcl.base.errors import CancelledError, DeviceError
from mandelcl.crew.dask import measuring
from mandelcl.crew.dask.introduction import RemoteDevice
from mandelcl.crew.dask.measuring import Measuring
from mandelcl.crew.dask.members import Member
from mandelcl.studies.bench import Bench
from mandelcl.studies.document import row_as_dict
from mandelcl.studies.on_cluster import ClusterRun
from mandelcl.studies.row import Row
from tests.tables import failed, planted

DEVICE = RemoteDevice("0:0", "Thing", "Platform", "1.0", "0:0 Thing", "gpu", True, False, 8, None)
Answers = list[dict[str, Any] | Exception]


class Members:
    def __init__(self, *present: Member) -> None:
        self.present = {member.address: member for member in present}
        self.refused: dict[str, str] = {}


class Connection:
    """A cluster whose workers give answers that are laid down."""

    awaited = 0

    def __init__(self, loop: asyncio.AbstractEventLoop, answers: dict[str, Answers]) -> None:
        self._loop, self._answers = loop, answers
        self.members = Members(*(Member(address, address, DEVICE) for address in answers))
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.stopped: list[str] = []

    def await_members(self, check: Callable[[], None]) -> None:
        check()

    def check(self) -> None:
        pass

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def ask(self, member: Member, _task: object, _session: str, question: dict[str, Any]) -> dict[str, Any]:
        self.asked.append((member.address, question))
        await asyncio.sleep(0)
        if not self._answers[member.address]:
            await asyncio.Event().wait()
        answer = self._answers[member.address].pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def control(self, member: Member, _task: object, *_values: Any) -> Future[None]:
        self.stopped.append(member.address)
        done: Future[None] = Future()
        done.set_result(None)
        return done


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    thread = threading.Thread(target=made.run_forever)
    thread.start()
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join()
    made.close()


def said(row: Row, counts: str = "") -> dict[str, Any]:
    return {"row": row_as_dict(row), "counts": ["a job", counts] if counts else []}


def run(cluster: Connection, bench: Bench | None = None) -> tuple[ClusterRun, list[Row], list[str]]:
    lines: list[str] = []
    found = ClusterRun(cast(Any, cluster), "fp128", bench or Bench(()), lines.append)
    return found, list(found.rows()), lines


def test_rows_name_their_machines_and_workers_of_a_host_take_turns(loop: asyncio.AbstractEventLoop) -> None:
    cluster = Connection(
        loop,
        {
            "tcp://10.0.0.1:1": [{"machine": "node"}, said(planted("x", 2.0)), said(failed("y")), {}],
            "tcp://10.0.0.1:2": [{"machine": "node"}, said(planted("x", 1.0)), {}],
        },
    )
    found, rows, lines = run(cluster)
    assert [(row.case, row.machine, row.error) for row in rows] == [
        ("x", "node", ""),
        ("y", "node", "no double"),
        ("x", "node (2)", ""),
    ]
    assert rows[0].kernel_s == planted("x", 2.0).kernel_s
    assert found.complete == {"node": True, "node (2)": True}
    assert [address[-1] for address, _ in cluster.asked] == ["1"] * 4 + ["2"] * 3
    assert cluster.asked[0][1]["study"] == "fp128"
    assert (lines, cluster.stopped) == ([], [])


def test_counts_unlike_those_of_the_first_machine_are_wrong(loop: asyncio.AbstractEventLoop) -> None:
    digests = {"tcp://h:1": "same", "tcp://h:2": "same", "tcp://h:3": "other"}
    cluster = Connection(
        loop, {address: [{"machine": address[-1]}, said(planted(), digest), {}] for address, digest in digests.items()}
    )
    _, rows, _ = run(cluster)
    assert [(row.validation, row.differing_pixels) for row in rows] == [("ok", 0), ("ok", 0), ("WRONG", None)]
    assert rows[2].checked == "other counts than 1"


def test_a_worker_that_fails_is_told_and_others_go_on(loop: asyncio.AbstractEventLoop) -> None:
    cluster = Connection(
        loop,
        {
            "tcp://a:1": [{"machine": "a"}, said(planted("x")), DeviceError("it has left the cluster")],
            "tcp://b:1": [{"machine": "b"}, {"row": {"case": 3}}],
            "tcp://c:1": [{"machine": "c"}, said(planted("x")), {}],
        },
    )
    found, rows, lines = run(cluster)
    assert sorted(row.machine for row in rows) == ["a", "c"]
    assert found.complete == {"a": False, "b": False, "c": True}
    assert sorted(lines) == ["a: it has left the cluster", "b: device is missing"]


def test_what_is_stopped_ends_on_the_workers_too(loop: asyncio.AbstractEventLoop) -> None:
    cluster = Connection(loop, {"tcp://a:1": [{"machine": "a"}, said(planted("x"))]})
    bench = Bench(())
    found = ClusterRun(cast(Any, cluster), "fp128", bench, lambda _line: None)
    rows = found.rows()
    assert next(rows).case == "x"
    bench.cancel.set()
    with pytest.raises(CancelledError):
        next(rows)
    assert cluster.stopped == ["tcp://a:1"]
    assert found.complete == {"a": False}


class Process:
    """The process of a study, as far as a worker knows: an answer is the question, or comes only when it is stopped."""

    made: list["Process"]

    def __init__(self, role: str, check: Callable[[], None]) -> None:
        assert role == "study"
        self.check, self.ended, self.asked = check, False, threading.Event()
        Process.made.append(self)

    def __enter__(self) -> "Process":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.ended = True

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        self.asked.set()
        while question.get("hang"):
            self.check()
        return {"asked": question}


class Relay:
    def alone(self) -> Any:
        return nullcontext()


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[Measuring]:
    monkeypatch.setattr(measuring, "Dialogue", Process)
    Process.made = []
    made = Measuring(cast(Any, Relay()))
    yield made
    made.end()


def test_a_worker_measures_for_one_client_at_a_time(measured: Measuring) -> None:
    assert measured.answer("one", {"study": "norm"}) == {"asked": {"study": "norm"}}
    assert measured.answer("one", {}) == {"asked": {}}
    measured.answer("two", {"study": "norm"})
    assert [process.ended for process in Process.made] == [True, False]
    with pytest.raises(DeviceError, match="has ended"):
        measured.answer("one", {})
    measured.end("one")
    assert not Process.made[1].ended
    measured.end("two")
    assert Process.made[1].ended


def test_what_nobody_wants_any_more_ends_in_the_middle_of_a_row(measured: Measuring) -> None:
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            measured.answer("one", {"study": "norm", "hang": True})
        except DeviceError as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not (Process.made and Process.made[0].asked.wait(0.01)):
        assert thread.is_alive()
    measured.end("one")
    thread.join(600)
    assert [str(error) for error in errors] == ["its measurement was ended"]
    assert Process.made[0].ended


def test_a_client_that_asks_no_more_is_not_waited_for(measured: Measuring, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_PATIENCE_S", 0.01)
    measured.answer("one", {"study": "norm"})
    waited = threading.Event()
    for _ in range(12_000):
        if Process.made[0].ended:
            break
        waited.wait(0.01)
    assert Process.made[0].ended
