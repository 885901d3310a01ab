"""Names of processes: of this system, and as Windows and macOS answer."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from mandelcl.base import macos, processes, windows
from mandelcl.base.processes import has_ended, own_name

NAMING = "from mandelcl.base.processes import own_name; print(own_name(), flush=True); input()"
known = pytest.mark.skipif(not own_name(), reason="a system that does not name its processes")


@pytest.fixture(autouse=True)
def _new() -> Iterator[None]:
    processes._system.cache_clear()
    yield
    processes._system.cache_clear()


@known
def test_live_process_id_is_recognised() -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", NAMING], text=True, **pipes) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert not has_ended(name)
        assert name != own_name()
        process.kill()
        process.wait()
        assert has_ended(name)
    assert not has_ended(own_name())


@known
def test_unknown_process_identity_counts_as_alive() -> None:
    system, _, _ = own_name().partition("-")
    for name in ("", f"{'0' * 12}-1", *(system + number for number in ("", "-", "-0", "-\u0669", f"-{9**12}"))):
        assert not has_ended(name), name


class Machine:
    """The processes of a Windows machine: when each was started, and its exit code."""

    def __init__(self) -> None:
        self.running: dict[int, tuple[int, int]] = {os.getpid(): (10**17, 259)}
        self.closed: set[int] = set()
        self.error = 0

    def kernel32(self) -> Any:
        made = SimpleNamespace(CloseHandle=lambda handle: self.closed.add(handle.value))
        for function in (self.OpenProcess, self.GetExitCodeProcess, self.GetProcessTimes):
            setattr(made, function.__name__, lambda *given, function=function: function(*given))
        return made

    def OpenProcess(self, access: int, inherited: int, number: Any) -> int | None:  # noqa: N802
        assert (access, inherited) == (0x1000, 0)
        if number.value == 4:
            self.error = 5
            return None
        if number.value not in self.running:
            self.error = 87
            return None
        return int(number.value) + 1000

    def GetExitCodeProcess(self, handle: Any, code: Any) -> int:  # noqa: N802
        code._obj.value = self.running[handle.value - 1000][1]
        return 1

    def GetProcessTimes(self, handle: Any, started: Any, *_others: Any) -> int:  # noqa: N802
        started._obj.value = self.running[handle.value - 1000][0]
        return 1


def test_windows_reuses_process_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process is known by its start, too; one that may not be asked is taken for running."""
    machine = Machine()
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(windows, "_kernel32", machine.kernel32)
    monkeypatch.setattr(windows, "_last_error", lambda: machine.error)
    monkeypatch.setattr(windows, "machine", lambda: "a machine")
    monkeypatch.setattr(os, "kill", None)  # which on Windows would be Ctrl-C
    own = own_name()
    system, _, process = own.partition("-")
    assert process == f"{os.getpid()}_{10**17}"
    assert not has_ended(own)
    machine.running[8] = 500, 259
    assert not has_ended(f"{system}-8_500")
    assert has_ended(f"{system}-8_499"), "another had this number before"
    assert has_ended(f"{system}-12_500"), "there is none of this number"
    machine.running[8] = 500, 1
    assert has_ended(f"{system}-8_500"), "somebody still has a handle of it"
    assert not has_ended(f"{system}-4_500"), "it may not be asked"
    assert {os.getpid() + 1000, 1008} <= machine.closed


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such processes")
def test_macos_identifies_a_process_by_start_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(text: bytes) -> Callable[..., int]:
        def sysctl(name: bytes, buffer: Any, size: Any, new: Any, new_size: Any) -> int:
            assert (name, size._obj.value, new, new_size.value) == (b"kern.bootsessionuuid", 64, None, 0)
            ctypes.memmove(buffer, text + b"\0", len(text) + 1)
            return 0 if text else -1

        return sysctl

    names = []
    monkeypatch.setattr(sys, "platform", "darwin")
    for boot in (b"0A1B-2C", b"0A1B-2D", b""):
        library = SimpleNamespace(sysctlbyname=answer(boot))
        monkeypatch.setattr(macos, "_system", lambda library=library: library)
        processes._system.cache_clear()
        names.append(own_name())
    assert names[0].endswith(f"-{os.getpid()}")
    assert len(set(names)) == 3
    assert names[2] == "", "it does not say"
    assert not has_ended(names[0])
