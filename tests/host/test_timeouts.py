"""What takes long on a busy machine is waited for, and what hangs is not: by the time that a process could have had."""

import os
import queue
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mandelcl.workers.channel import BUILDING, LAUNCHING
from mandelcl.workers.process import WorkerMessage, WorkerProcess
from mandelcl.workers.run_delay import RunDelay, delay, run_bounded
from mandelcl.workers.supervised import RestartPolicy, SupervisedWorker
from tests import posix

counts_delays = pytest.mark.skipif(
    sys.platform != "linux", reason="the system does not say how long a process waited to run"
)
SPIN = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nprint(flush=True)\nwhile True: pass"


@pytest.mark.parametrize(
    ("ran", "waited", "delayed"),
    [
        (0, 0, 0),  # asleep, stopped, or gone
        (10, 0, 0),
        (20, 0, 0),
        (5, 5, 5),
        (1, 9, 9),
        (0, 10, 10),
        (0, 40, 10),
        (2, 2, 2),  # and asleep for the rest
        (20, 60, 0),  # eight threads have both processors
        (10, 70, 5),  # and here one of them
        (0, 1e9, 10),
    ],
)
def test_delay_follows_from_run_and_wait_times(ran: float, waited: float, delayed: float) -> None:
    assert delay(10, ran, waited, 2) == pytest.approx(delayed)


@contextmanager
def spinning(count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Yield processes that share one processor, each as busy as it may."""
    # Each in a session of its own: Linux may give each session the same share, whatever runs in it.
    processes = [
        subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE, start_new_session=True)
        for _ in range(count)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"\n"
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@counts_delays
def test_time_waiting_for_a_cpu_is_counted_as_delay() -> None:
    with spinning(3) as processes:
        begun = time.monotonic()
        found = RunDelay(processes[0].pid)
        while found.between(begun, time.monotonic()) < 1:
            assert time.monotonic() - begun < 600, "a third of a processor is no delay"
            time.sleep(0.1)
        now = time.monotonic()
        delayed = found.between(begun, now)
        assert delayed < now - begun
        assert found.between(begun, (begun + now) / 2) < delayed
        assert found.between(now + 1000, now + 2000) == 0


def _rests(pid: int) -> bool:
    """Whether a process sleeps or is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ST"


@pytest.mark.full
@counts_delays
@pytest.mark.parametrize("state", ["asleep", "stopped", "gone"])
def test_sleeping_process_is_not_delayed(state: str) -> None:
    """However busy the processor is: all its time counts."""
    with spinning(3) as processes:
        code = SPIN.replace("while True: pass", "import time; time.sleep(3600)") if state == "asleep" else SPIN
        idle = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert idle.stdout is not None
        assert idle.stdout.readline() == b"\n"
        if state == "stopped":
            idle.send_signal(posix.signal.SIGSTOP)
        try:
            if state == "gone":
                idle.kill()
                idle.wait()
            limit = time.monotonic() + 600
            while state != "gone" and not _rests(idle.pid):
                assert time.monotonic() < limit
                time.sleep(0.01)
            found, begun = RunDelay(idle.pid), time.monotonic()
            while time.monotonic() - begun < 1.2:
                time.sleep(0.1)
                now = time.monotonic()
                assert found.between(begun, now) < 0.5 * (now - begun)
            assert len(processes) == 3
        finally:
            idle.kill()
            idle.communicate()


@pytest.mark.full
@counts_delays
def test_delayed_worker_is_waited_for_and_hung_one_is_not() -> None:
    """It is silent both times, for longer than its timeout."""
    messages: queue.Queue[WorkerMessage] = queue.Queue()
    with spinning(4):
        worker = WorkerProcess("tests.host.roles:slow", messages)
        slot = SupervisedWorker(lambda: worker, RestartPolicy(launch=4.0))
        slot.start()
        try:
            worker.send({"do": "answer", "question": {"seconds": 2.5}})
            begun, silent = time.monotonic(), 0.0
            while messages.empty():
                assert time.monotonic() - begun < 600
                assert slot.overdue() is None, worker.activity
                silent = max(silent, time.monotonic() - worker.heard)
                time.sleep(0.05)
            head = messages.get().head
            assert head is not None
            assert head["answer"] == {"spun": True}
            assert silent > 4, "it would have been lost by the clock"
            os.kill(worker.pid, posix.signal.SIGSTOP)
            begun = time.monotonic()
            while (why := slot.overdue()) is None:
                assert time.monotonic() - begun < 600, "it is waited for without end"
                time.sleep(0.05)
            assert why == "silent for 4 s"
        finally:
            worker.end()


def test_launch_waiting_for_a_build_is_not_a_hang() -> None:
    messages: queue.Queue[WorkerMessage] = queue.Queue()
    worker = WorkerProcess("tests.host.roles:build_beside", messages)

    def until(doing: str) -> None:
        begun = time.monotonic()
        while worker.activity.doing != doing:
            assert time.monotonic() - begun < 600, worker.activity
            time.sleep(0.01)

    try:
        until(LAUNCHING)
        worker.send({"do": "answer", "question": {}})
        until(BUILDING)
        worker.send({"do": "answer", "question": {}})
        until(LAUNCHING)
        assert messages.get(timeout=600).head == {"say": "answer", "answer": {"launching": True}}
        assert worker.activity.seconds < 3000, "what it waited for is not part of the launch"
    finally:
        worker.end()


def test_native_program_has_a_timeout() -> None:
    code = "import sys; print(sys.stdin.read())"
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
    done = run_bounded([sys.executable, "-c", code], 60, **options)
    assert (done.returncode, done.stdout) == (0, "\n")
    with pytest.raises(subprocess.TimeoutExpired):
        run_bounded([sys.executable, "-c", "import time; time.sleep(3600)"], 0.5, **options)


@pytest.mark.full
@counts_delays
def test_delayed_program_gets_its_full_timeout() -> None:
    """It uses a second of its one processor, of which it gets a fifth."""
    code = SPIN.replace("while True:", "import time\nwhile time.process_time() < 1:")
    with spinning(4):
        begun = time.monotonic()
        done = run_bounded([sys.executable, "-c", code], 3, stdout=subprocess.PIPE)
        took = time.monotonic() - begun
    assert done.returncode == 0
    assert took > 3, "it would have been killed by the clock"
