"""Whatever happens in a cluster, the picture is right, or what is kept is: killed, cut, lying, gone."""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mandelcl.base.errors import DeviceError, InvalidInputError
from mandelcl.base.view import View
from mandelcl.core.job import Job
from mandelcl.engine.computing.settings import Settings
from mandelcl.files.loading import read_field
from mandelcl.rendering.crew.dask import connection
from mandelcl.rendering.render import render
from mandelcl.rendering.session import Session
from mandelcl.rendering.streaming import render_to
from tests import posix
from tests.device.clusters import Cable, able, acquired, dask_worker, descendants, free_port, kinds, scheduler

pytest.importorskip("distributed")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

VIEW = View.centred(Fraction(-3, 4), 0, Fraction(8, 5), 400, 300)
JOB = Job(VIEW, 60_000, number="float", rounding="separate")  # a second or two without shortcuts, in thirty blocks
SLOW = Settings(shortcuts=False, block_pixels=4000)


@cache
def right() -> str:
    """Return the digest of the picture that a device alone makes."""
    return render(JOB, able()[0])[0].counts_sha256()


def while_rendering(session: Session, happen: Callable[[], None], after: float) -> tuple[str, list[str]]:
    """Return the digest of a picture and the faults, where something happens so many seconds after its first block."""
    begun = threading.Event()

    def act() -> None:
        begun.wait(600)
        time.sleep(after)
        happen()

    thread = threading.Thread(target=act)
    thread.start()
    try:
        field, report = render(JOB, session, SLOW, progress=lambda _progress: begun.set())
    finally:
        begun.set()
        thread.join()
    return field.counts_sha256(), report.faults


def kill_one(role: str, chance: np.random.Generator) -> None:
    """Kill one of this process's workers, or of their devices' processes."""
    alive = kinds(descendants(os.getpid()), role)
    if alive:
        os.kill(int(chance.choice(alive)), posix.signal.SIGKILL)


def kills(number: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    with Session(able()[:1], cluster="local:2", cluster_wait=600) as session:
        for _ in range(number):
            role = str(chance.choice(["cluster worker", "cluster device"]))
            when = float(chance.uniform(0, 0.5))
            digest, _ = while_rendering(session, lambda role=role: kill_one(role, chance), when)  # type: ignore[misc]
            assert digest == right()


@pytest.mark.full
def test_killed_cluster_workers_are_replaced() -> None:
    kills(2, 1)


@pytest.mark.long
def test_fifty_renders_with_a_worker_killed() -> None:
    kills(50, 2)


def keep(session: Session, path: Path, resume: bool, happen: Callable[[], None] = lambda: None) -> None:
    """Write the picture's field, and have something happen after the first of its blocks."""
    happened = False

    def show(_progress: object) -> None:
        nonlocal happened
        if not happened:
            happened = True
            happen()

    render_to(path, JOB, None, session, SLOW, resume=resume, store_after=0.0, progress=show)


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_ANSWER_S", 4.0)
    monkeypatch.setattr(connection, "_CLOSED_S", 1.0)


def scheduler_killed(folder: Path) -> None:
    port, path = free_port(), folder / "field.npz"
    with ExitStack() as stack:
        first = stack.enter_context(scheduler(port))
        stack.enter_context(acquired(port, able()[0]))
        lost = pytest.raises(DeviceError, match=r"cannot reach the cluster at tcp:")
        with Session(cluster=f"tcp://127.0.0.1:{port}", cluster_wait=600) as session, lost as caught:
            keep(session, path, False, first.kill)
        assert "to continue, add --resume" in str(caught.value) or not (folder / "field.npz.part").exists()
        stack.enter_context(scheduler(port))
        with Session(
            cluster=f"tcp://127.0.0.1:{port}", cluster_wait=600
        ) as session:  # the worker has come to the new one by itself
            keep(session, path, True)
    assert read_field(path).counts_sha256() == right()


@pytest.mark.long
@pytest.mark.usefixtures("_impatient")
def test_killed_scheduler_keeps_finished_bands(tmp_path: Path) -> None:
    scheduler_killed(tmp_path)


@pytest.mark.long
@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("_turn", range(10))
def test_ten_schedulers_killed(tmp_path: Path, _turn: int) -> None:
    scheduler_killed(tmp_path)


def network_cut(folder: Path, seconds: float, pulled: bool) -> str:
    """Cut the network for some seconds; return what is said if the render ends, and go on with it then."""
    port, path = free_port(), folder / "field.npz"
    reported = ""
    with scheduler(port), acquired(port, able()[0]):
        cable = Cable(port)
        try:

            def happen() -> None:
                cable.pull() if pulled else cable.cut()
                threading.Timer(seconds, cable.mend).start()

            with Session(cluster=f"tcp://127.0.0.1:{cable.port}", cluster_wait=600) as session:
                try:
                    keep(session, path, False, happen)
                except DeviceError as error:
                    reported = str(error)
            if reported:
                time.sleep(max(0.0, seconds - 4))
                with Session(cluster=f"tcp://127.0.0.1:{cable.port}", cluster_wait=600) as session:
                    keep(session, path, True)
        finally:
            cable.close()
    assert read_field(path).counts_sha256() == right()
    return reported


@pytest.mark.long
@pytest.mark.usefixtures("_impatient")
def test_short_network_outage_only_delays(tmp_path: Path) -> None:
    assert network_cut(tmp_path, 1.0, pulled=False) == ""


@pytest.mark.long
@pytest.mark.usefixtures("_impatient")
@pytest.mark.parametrize("pulled", [False, True])
@pytest.mark.parametrize("seconds", [0.5, 2.0, 5.0, 7.0, 10.0])
def test_ten_networks_cut(tmp_path: Path, seconds: float, pulled: bool) -> None:
    reported = network_cut(tmp_path, seconds, pulled)
    assert not reported or "cannot reach the cluster" in reported


def liar_among_others(turn: int) -> None:
    port = free_port()
    with (
        scheduler(port),
        dask_worker(port, able()[0], f"liar-{turn}", "tests.device.lying"),
        dask_worker(port, able()[0], f"honest-{turn}"),
        Session(cluster=f"tcp://127.0.0.1:{port}", cluster_wait=600) as session,
    ):
        connection_of(session).await_members()
        wait_for(lambda: len(connection_of(session).members.present) == 2)
        for _ in range(4):
            field, report = render(JOB, session, SLOW)
            if report.faults:
                break
        assert report.faults, "it was never found out"
        assert all("returned a wrong count" in fault and "it is excluded" in fault for fault in report.faults)
        assert field.counts_sha256() == right()
        field, report = render(JOB, session, SLOW)
        assert (field.counts_sha256(), report.faults) == (right(), [])


def connection_of(session: Session) -> connection.Connection:
    assert session._cluster is not None
    return session._cluster


def wait_for(condition: Callable[[], bool], seconds: float = 300) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happens"
        time.sleep(0.05)


@pytest.mark.long
@pytest.mark.parametrize("turn", range(5))
def test_five_lying_workers(turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "mandelcl.rendering.crew.dask.work.REPEATED", 4
    )  # the pictures have few blocks, and a check comes late
    monkeypatch.setattr("mandelcl.rendering.crew.judging._GRACE_S", 60.0)
    liar_among_others(turn)


def test_cluster_without_workers_names_the_start_command() -> None:
    port = free_port()
    with scheduler(port), Session(cluster=f"tcp://127.0.0.1:{port}", cluster_wait=1.5) as session:
        how = rf"no worker .* after 1.5 s; start some with `mandelcl cluster-worker tcp://127.0.0.1:{port}`"
        with pytest.raises(DeviceError, match=how):
            render(JOB, session)


def test_local_workers_that_start_too_slowly_may_take_longer() -> None:
    how = r"after 0 s; on a busy machine `--cluster-wait 10` gives them time"
    with Session(able()[:1], cluster="local:1", cluster_wait=0) as session, pytest.raises(DeviceError, match=how):
        render(JOB, session)


def test_devices_are_named_with_their_host() -> None:
    with pytest.raises(InvalidInputError, match="name them to `mandelcl cluster-worker`"):
        Session(["gpu"], cluster="tcp://127.0.0.1:1")
    with pytest.raises(DeviceError, match="no device matches"), Session("nonesuch", cluster="local") as session:
        render(JOB, session)


@pytest.mark.long
def test_hundred_renders_leave_nothing_behind() -> None:
    """No process, open file, thread or folder."""

    def state() -> tuple[int, int, int]:
        return len(descendants(os.getpid())), len(list(Path("/proc/self/fd").iterdir())), threading.active_count()

    def renders(number: int) -> None:
        for _ in range(number):
            with Session(able()[:1], cluster="local:1") as session:
                assert render(JOB, session)[0].counts_sha256() == right()

    renders(2)
    before = state()
    renders(100)
    assert state() == before
