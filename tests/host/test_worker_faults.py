"""All users of worker processes report in a line why one was lost, obey their policy, and leave no process behind."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mandelcl.base.errors import CancelledError, DeviceError, MandelclError, Token
from mandelcl.core.reference import Reference
from mandelcl.explore.device_slots import DeviceSlot
from mandelcl.explore.tasks_aside import run_aside
from mandelcl.lab.soak.process import SoakProcess
from mandelcl.perturbation.counting import CountTask, exact_outcomes
from mandelcl.perturbation.helper import Helper
from mandelcl.perturbation.kept import ReferenceKey
from mandelcl.rendering.crew.crew import Crew
from mandelcl.rendering.crew.dask.relay import Relay
from mandelcl.rendering.crew.dask.supervisor import Supervisor
from mandelcl.workers import process
from mandelcl.workers.process import WorkerProcess
from mandelcl.workers.supervised import RestartPolicy
from tests.host import test_crew
from tests.host.test_crew import choices, job

Lines = list[str]
FAULTS = {
    "die_early": "exit code 7: last words of a driver",
    "die": "exit code 7: last words of a driver",
    "fail": r"ValueError: a role\x1b[31m that fails",
    "babble": "sent an invalid message: a message of an impossible length",
    "refused": "cannot start a worker process",
}


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[WorkerProcess]]:
    """Yield the list of the processes started so far; all have to end."""
    started: list[WorkerProcess] = []
    begin: Callable[..., None] = WorkerProcess.__init__

    def note(self: WorkerProcess, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        started.append(self)

    monkeypatch.setattr(WorkerProcess, "__init__", note)
    yield started
    deadline = time.monotonic() + 600
    while any(one.running for one in started):
        assert time.monotonic() < deadline, "a process was left behind"
        time.sleep(0.01)


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that has all workers be in a role of these tests instead of their own."""
    command = process.command

    def plant(fault: str) -> None:
        line = ("/nonexistent/python",) if fault == "refused" else command(f"tests.host.roles:{fault}")
        monkeypatch.setattr(process, "command", lambda _role: line)

    return plant


# Users: each does something with a worker until it has lost it for good, and returns what it says of that.


def crew(policy: RestartPolicy, _stop: Token) -> Lines:
    reported: Lines = []
    try:
        Crew(choices(job(), [test_crew.device("a")]), policy=policy, on_message=reported.append).close()
    except DeviceError as error:
        reported.append(str(error))
    return reported


def explorer(policy: RestartPolicy, _stop: Token) -> Lines:
    reported: Lines = []

    async def main() -> None:
        over = asyncio.Event()

        def refused(_slot: DeviceSlot, why: str) -> None:
            reported.append(why)
            over.set()

        task = SimpleNamespace(order=dict, next=lambda _slot: None, refused=refused)
        slot = DeviceSlot(("0:0",), job(), lambda _say, _spec, line: reported.append(line), policy)
        slot.begin(cast(Any, task))
        while not over.is_set():
            slot.watch()
            await asyncio.sleep(0.05)
        slot.close()

    threaded(lambda: asyncio.run(main()))
    return reported


def cluster_worker(_policy: RestartPolicy, _stop: Token) -> Lines:
    reported: Lines = []
    supervisor = Supervisor(["x"], 1, "test", reported.append)
    while not supervisor.given_up:
        time.sleep(0.01)
    supervisor.close()
    return reported


def cluster_device(_policy: RestartPolicy, _stop: Token) -> Lines:
    relay, reported = Relay(("x",), 0), list[str]()
    for _ in range(2):
        try:
            relay.introduce()
        except DeviceError as error:
            reported.append(str(error))
    relay.close()
    return reported


def check(stop: Token) -> Callable[[], None]:
    def raise_if() -> None:
        if stop.is_set():
            raise CancelledError("stopped")

    return raise_if


def soak(policy: RestartPolicy, stop: Token) -> Lines:
    device = SimpleNamespace(spec="0:0", type="gpu")
    SoakProcess(cast(Any, device), 0.1, check(stop), policy=policy)
    return []


def references(_policy: RestartPolicy, stop: Token) -> Lines:
    helper = Helper(stop)
    try:
        wanted = ReferenceKey(Reference(Fraction(-1), Fraction(0), Fraction(1, 7), 14, 14), 100, Fraction(4), None)
        helper.compute(wanted, False, stop, lambda _iterations: None)
    finally:
        helper.end()
    return []


def exact_counts(_policy: RestartPolicy, stop: Token) -> Lines:
    points = [(Fraction(k), Fraction(0)) for k in range(2)]
    exact_outcomes(CountTask(10, Fraction(4), 60), points, processes=2, cancel=stop)
    return []


def saves(_policy: RestartPolicy, stop: Token) -> Lines:
    async def main() -> None:
        task = asyncio.create_task(run_aside("save", {}, lambda _head: None))
        while not task.done():
            if stop.is_set():
                task.cancel()
            await asyncio.sleep(0.01)
        if task.cancelled():
            raise CancelledError("stopped")
        await task

    threaded(lambda: asyncio.run(main()))
    return []


def threaded(work: Callable[[], object]) -> None:
    """Run a loop in a thread of its own: a browser's may run in this one."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


User = Callable[[RestartPolicy, Token], Lines]
# How many processes each starts for a worker that is always lost, where two faults in a row are allowed.
STARTS: dict[User, int] = {
    crew: 2, explorer: 2, cluster_worker: 1, cluster_device: 2, soak: 1, references: 1, exact_counts: 2, saves: 1,
}  # fmt: skip
RESTARTS: dict[User, str] = {crew: "; started again", explorer: "; restarting it"}  # how a fault's line ends
TWO = RestartPolicy(faults_in_a_row=2)


def reported(user: User, policy: RestartPolicy) -> Lines:
    try:
        return user(policy, threading.Event())
    except MandelclError as error:
        return [str(error)]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("user", STARTS)
def test_lost_worker_is_reported_with_its_last_output(
    user: User, fault: str, faulty: Callable[[str], None], processes: list[WorkerProcess]
) -> None:
    faulty(fault)
    lines = reported(user, TWO)
    assert lines
    assert all(FAULTS[fault] in line for line in lines), lines
    assert all(line.isprintable() for line in lines)
    starts = 0 if fault == "refused" else STARTS[user]
    assert len(processes) == starts or (user is exact_counts and len(processes) <= starts)
    if user in RESTARTS and starts:
        assert [line.endswith(RESTARTS[user]) for line in lines[:2]] == [True, False]


@pytest.mark.full
@pytest.mark.parametrize(
    ("user", "fault", "why"),
    [
        (crew, "hang", "(not ready after|silent for)"),  # a start in the explorer lasts as long as the reference
        (soak, "hang", "(not ready after|silent for)"),
        (crew, "fall_silent", "silent for"),
        (explorer, "fall_silent", "silent for"),
        (soak, "fall_silent", "silent for"),
    ],
)
def test_a_worker_that_hangs_is_ended_after_its_timeout(
    user: User, fault: str, why: str, faulty: Callable[[str], None], processes: list[WorkerProcess]
) -> None:
    faulty(fault)
    with pytest.raises(AssertionError, match=f"{why} 1 s"):
        raise AssertionError(reported(user, RestartPolicy(start=1.0, launch=1.0, faults_in_a_row=1)))
    assert len(processes) == 1


@pytest.mark.parametrize("user", [soak, references, exact_counts, saves])
def test_interrupt_leaves_no_worker_process(
    user: User, faulty: Callable[[str], None], processes: list[WorkerProcess]
) -> None:
    faulty("hang")
    stop = threading.Event()

    def when_started() -> None:
        while not processes:
            time.sleep(0.01)
        stop.set()

    threading.Thread(target=when_started, daemon=True).start()
    with pytest.raises(CancelledError):
        user(TWO, stop)
