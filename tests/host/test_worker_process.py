"""A worker process from outside: its parent's package, its messages, its end, and nonsense. No device."""

import io
import json
import os
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest

import mandelcl
from mandelcl.base import windows
from mandelcl.base.errors import CancelledError, DeviceError, InvalidInputError
from mandelcl.workers import wire
from mandelcl.workers.channel import BEAT_S, BUILDING, IDLE, LAUNCHING, Channel
from mandelcl.workers.dialogue import Dialogue
from mandelcl.workers.process import WorkerMessage, WorkerProcess, command_to_call
from mandelcl.workers.roles import ROLES, find_role
from mandelcl.workers.supervised import RestartPolicy

PACKAGE = Path(mandelcl.__file__).parent


def nothing() -> None:
    pass


class Started:
    """A worker process and what it says."""

    def __init__(self, role: str = "", reply_bytes: int = 0, replies: int = 0, script: str = "") -> None:
        self.messages: queue.Queue[WorkerMessage] = queue.Queue()
        line = (sys.executable, "-c", script) if script else ()
        self.worker = WorkerProcess(role, self.messages, reply_bytes, replies, command_line=line)

    def reported(self) -> WorkerMessage:
        return self.messages.get(timeout=600)

    def __enter__(self) -> "Started":
        return self

    def __exit__(self, *_exception: object) -> None:
        self.worker.end()
        assert not self.worker.running


def test_every_role_is_there() -> None:
    assert all(callable(find_role(name)) for name in ROLES)
    with pytest.raises(InvalidInputError, match="unknown role 'nothing'"):
        find_role("nothing")


def test_worker_uses_the_parent_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by one in the current folder, nor with modules from there."""
    (tmp_path / "mandelcl").mkdir()
    (tmp_path / "mandelcl" / "__init__.py").write_text("raise ImportError('another package')")
    (tmp_path / "queue.py").write_text("raise ImportError('no such queue')")
    monkeypatch.chdir(tmp_path)
    with Dialogue("tests.host.roles:echo", nothing) as worker:
        first, second = worker.ask({"a": 1}), worker.ask({"b": [None, "ü"]})
        assert (first["a"], second["b"]) == (1, [None, "ü"])
        assert Path(first["package"]) == PACKAGE / "__init__.py"
        assert first["pid"] == second["pid"] != os.getpid()


def test_function_runs_in_a_worker_process(tmp_path: Path) -> None:
    for name in ("mandelcl", "json", "queue", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the current folder')")
    for texts in (["a", "--", "", "ü b"], []):
        done = subprocess.run(
            command_to_call("tests.host.roles:show", *texts), capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {"package": str(PACKAGE / "__init__.py"), "texts": texts}


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_installed_packages_do_not_hide_the_standard_library(tmp_path: Path) -> None:
    """An installed package with a module named `enum` beside it works: its folder is searched after the library."""
    (tmp_path / "mandelcl").symlink_to(PACKAGE)
    (tmp_path / "role_beside_it.py").symlink_to(Path(__file__).with_name("roles.py"))
    (tmp_path / "enum.py").write_text("raise ImportError('an old backport')")
    script = f"""
import sys
sys.path.insert(next(k for k, path in enumerate(sys.path) if "site-packages" in path), {str(tmp_path)!r})
from mandelcl.workers.dialogue import Dialogue
with Dialogue("role_beside_it:echo", lambda: None) as worker:
    print(worker.ask({{}})["package"])
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", script],
        capture_output=True, text=True, check=False, env=environment, cwd=tmp_path.parent, timeout=600,
    )  # fmt: skip
    assert done.stdout == f"{tmp_path}/mandelcl/__init__.py\n", done.stderr


def test_worker_error_is_one_line() -> None:
    with Dialogue("tests.host.roles:fail", nothing) as worker, pytest.raises(DeviceError) as failure:
        worker.ask({})
    assert str(failure.value) == r"ValueError: a role\x1b[31m that fails"
    with (
        Dialogue("tests.host.roles:die", nothing) as worker,
        pytest.raises(DeviceError, match=r"ended the process \(exit code 7: last words of a driver\)"),
    ):
        worker.ask({})
    with Dialogue("tests.host.roles:nothing", nothing) as worker, pytest.raises(DeviceError, match="no attribute"):
        worker.ask({})


def test_worker_may_exit_or_be_abandoned_at_any_time() -> None:
    with Dialogue("tests.host.roles:echo", nothing) as worker:
        worker._worker.send({"do": "answer", "question": {"leave": True}})
        worker.leave()
        assert worker._worker.ended_well

    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked > 3:
            raise CancelledError("stopped")

    with Dialogue("tests.host.roles:build", stop) as worker, pytest.raises(CancelledError):
        worker.ask({})


def test_reply_has_a_deadline_and_its_process_timeouts() -> None:
    with Dialogue("tests.host.roles:build", nothing, policy=RestartPolicy(start=0.5)) as worker:
        worker.allow(0.0, DeviceError("too long"))
        with pytest.raises(DeviceError, match=r"^too long$"):
            worker.ask({})
        worker.allow(600.0, DeviceError("too long"))
        with pytest.raises(DeviceError, match=r"^its driver hangs: (not ready after|silent for) 0.5 s$"):
            worker.hear()


def test_a_process_that_cannot_be_started_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(DeviceError, match="cannot start a worker process"):
        Dialogue("tests.host.roles:echo", nothing)


def test_worker_reports_its_state_repeatedly() -> None:
    with Started("tests.host.roles:build") as started:
        worker = started.worker
        deadline = time.monotonic() + 600
        while (worker.activity.doing, worker.activity.seconds > 2 * BEAT_S) != (BUILDING, True):
            assert time.monotonic() < deadline, worker.activity
            time.sleep(0.02)
        assert started.messages.empty(), "signs of life do not pile up"


def test_replies_arrive_in_lent_buffers() -> None:
    with Started("tests.host.roles:acquire", 8, 2) as started:
        for _ in range(5):
            started.worker.send({"do": "it"}, with_buffer=True)
            message = started.reported()
            assert message.head is not None
            assert (message.head["buffer"], bytes(message.payload)) == (1, b"\7\0\0\0")
        started.worker.send({"do": "it", "buffer": None}, b"by bytes")
        assert bytes(started.reported().payload) == b"by bytes"


def test_returned_buffers_are_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here nobody answers, so that all are lent soon."""
    with Started("tests.host.roles:build", 8, 2) as started:
        acquired: list[Any] = []
        monkeypatch.setattr(wire, "send", lambda _pipe, head, _payload: acquired.append(head["buffer"]))
        for _ in range(3):
            started.worker.send({}, with_buffer=True)
        started.worker.reclaim()
        for _ in range(3):
            started.worker.send({}, with_buffer=True)
    assert [set(acquired[:2]), acquired[2], set(acquired[3:5]), acquired[5]] == [{0, 1}, None] * 2


def test_worker_ends_if_its_parent_is_killed_during_a_build() -> None:
    script = """
import queue, sys, time
from mandelcl.workers.process import WorkerProcess
worker = WorkerProcess("tests.host.roles:build", queue.Queue())
while worker.activity.doing != "building":
    time.sleep(0.01)
print(worker.pid, flush=True)
time.sleep(3600)
"""
    root = str(Path(__file__).parents[2])
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=root)
    assert parent.stdout is not None
    with parent:
        pid = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 600
    while exists(pid):
        assert time.monotonic() < deadline, "it lives on"
        time.sleep(0.02)


def exists(pid: int) -> bool:
    """Return whether there is such a process that has not ended; one may have ended and not been waited for."""
    if os.name == "nt":  # where kill would end it
        return windows.started(pid) is not None
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


class Undead:
    """A process in the kernel's hands: SIGKILL does nothing, and its pipes stay open."""

    def __init__(self, *_arguments: object, **_settings: object) -> None:
        self.pid, self.returncode = 1, None
        reading, self.open_end = os.pipe()
        self.stdout = os.fdopen(reading, "rb", buffering=0)
        self.stdin = io.BytesIO()
        self.killed = False

    def kill(self) -> None:
        self.killed = True

    def poll(self) -> None:
        return None

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None:
            threading.Event().wait()
        raise subprocess.TimeoutExpired("undead", timeout or 0)


def test_unkillable_process_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", Undead)
    worker = WorkerProcess("blocks", queue.Queue(), 4096, 1)
    undead = cast(Undead, worker._process)
    ends = threading.Thread(target=worker.end, daemon=True)
    ends.start()
    ends.join(600)
    assert not ends.is_alive(), "it waits for ever"
    assert undead.killed
    os.close(undead.open_end)


def head(values: object) -> bytes:
    text = values if isinstance(values, bytes) else json.dumps(values).encode()
    return struct.pack("<IQ", len(text), 0) + text


JUNK = {
    "text": b"a driver prints what it likes\n",
    "long head": struct.pack("<IQ", 1 << 31, 0),
    "long payload": struct.pack("<IQ", 2, 1 << 33) + b"{}",
    "no JSON": head(b"[}"),
    "no text": head(b"\xff\xfe"),
    "a constant": head(b'{"say": NaN}'),
    "deep": head(b"[" * 100_000),
    "no object": head([1]),
    "alive without a word": head({"say": "alive"}),
    "alive for ever": head(b'{"say": "alive", "doing": "idle", "for": 1e999}'),
    "alive, long": head(b'{"say": "alive", "doing": "idle", "for": 1' + b"0" * 400 + b"}"),
    "alive, listed": head({"say": "alive", "doing": [[]], "for": {}}),
    "a buffer of nobody": head({"say": "done", "buffer": 0}),
    "a buffer, listed": head({"say": "done", "buffer": [0], "size": 4}),
}


@pytest.mark.parametrize("kind", JUNK)
def test_invalid_message_ends_a_worker_at_once(kind: str, tmp_path: Path) -> None:
    junk = tmp_path / "junk"  # Windows takes no more than 32,767 characters for a process
    junk.write_bytes(JUNK[kind])
    script = (
        "import sys, time\n"
        f"sys.stdout.buffer.write(open({str(junk)!r}, 'rb').read())\nsys.stdout.flush()\ntime.sleep(3600)"
    )
    with Started(script=script, reply_bytes=64) as started:
        message = started.reported()
        assert message.head is not None
        assert message.head["say"] == "failed"
        assert message.head["why"].startswith("sent an invalid message: ")


def test_reply_larger_than_its_buffer_is_refused() -> None:
    script = f"""
import sys, time
sys.stdin.buffer.read(1)
sys.stdout.buffer.write({head({"say": "done", "buffer": 0, "size": 1 << 40})!r})
sys.stdout.flush()
time.sleep(3600)
"""
    with Started(script=script, reply_bytes=64, replies=1) as started:
        started.worker.send({}, with_buffer=True)
        reported = started.reported().head
        assert reported is not None
        assert reported["why"] == "sent an invalid message: there is no buffer 0 of 1099511627776 bytes"


def test_channel_ends_on_closed_pipe_and_on_invalid_message(capsys: pytest.CaptureFixture[str]) -> None:
    for sent in (b"", b"\xff" * 12, head({"no": "order"})):
        ended = threading.Event()
        channel = Channel(io.BytesIO(sent), io.BytesIO(), ended.set)
        assert ended.wait(600)
        channel.close()
    assert "WireError" in capsys.readouterr().err


def test_message_to_an_ended_worker_is_dropped() -> None:
    with Started(script="import time; time.sleep(3600)") as started:
        started.worker.end()
        started.worker.send({"do": "nothing"})


def test_long_timeout_ends_with_its_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a device that hangs right after a build would be taken for one that builds."""
    monkeypatch.setattr("mandelcl.workers.channel.BEAT_S", 3600)
    theirs, ours = os.pipe()
    with os.fdopen(theirs, "rb") as incoming, os.fdopen(ours, "wb") as end:
        reported, ended = io.BytesIO(), threading.Event()
        channel = Channel(incoming, reported, ended.set)
        channel.note(BUILDING)
        channel.note(LAUNCHING)
        channel.note(LAUNCHING)
        channel.announce(BUILDING)
        channel.note(IDLE)
        channel.close()
        end.close()
        assert ended.wait(600)
    reported.seek(0)
    messages = iter(lambda: wire.receive(reported, 0), None)
    assert [message[0]["doing"] for message in messages if message] == [LAUNCHING, BUILDING, IDLE]


def test_stop_signals_are_handled_by_the_parent() -> None:
    if os.name == "nt":
        pytest.skip("signals are another matter there")
    with Dialogue("tests.host.roles:echo", nothing) as worker:
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            os.kill(worker.ask({})["pid"], getattr(signal, name))
            assert worker.ask({"a": 1})["a"] == 1


INTERRUPTED = """
import os, queue, signal, sys, time
from pathlib import Path
from mandelcl.workers.process import WorkerProcess

signal.signal(signal.SIGINT, lambda *_: None)  # as a parent that goes on
begun = Path(sys.argv[1])
waiting = "import sys; open(sys.argv[1], 'x').close(); sys.stdin.read()"
worker = WorkerProcess("any", queue.Queue(), command_line=(sys.executable, "-c", waiting, str(begun)))
while not begun.exists():
    time.sleep(0.01)
if os.name == "nt":
    os.kill(0, signal.CTRL_C_EVENT)
else:
    os.killpg(0, signal.SIGINT)
worker._input.close()
worker.wait(600)
print(worker.ended_well, worker.last_words())
worker.end()
"""


def test_worker_ignores_ctrl_c_of_the_terminal(tmp_path: Path) -> None:
    """Not even for one that has not come so far as to ignore it."""
    own_terminal: int = getattr(subprocess, "CREATE_NEW_CONSOLE", 0)
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "begun")],
        start_new_session=True,
        creationflags=own_terminal,
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    assert done.stdout.split(maxsplit=1)[:1] == ["True"], done.stdout
